/* What programs spend their time with that record a graph in each step: nodes are made, and is it the graph that was met before?
   `recording.py` says where everything is; Python calls these as functions of its own.

   `make native` compiles this file to `recording.ll`, the LLVM text that the package loads: at run time there is no C compiler.
   Of Python's objects only what `recording.py` has found the places of is read here; all else is done by Python's functions. */

#include <stdint.h>

typedef struct object object;
typedef int64_t word;

enum { CONTENTS = 32, SIZE = 16, ITEMS = 24 }; /* in objects, bytes from their beginning: of `bytes`, of tuples and lists, of tuples */
enum { EQUAL = 2 };                            /* Python's `==` */

/* Python's functions and objects, and the places of fields: of any object's class and of a node's. */
struct python {
    object *(*list)(word);
    int (*put)(object *, word, object *);
    object *(*tuple)(word);
    int (*fill)(object *, word, object *);
    int (*compare)(object *, object *, int);
    double (*number)(object *);
    void (*count)(object *);
    void (*drop)(object *);
    void *(*take)(uint64_t);
    void (*give)(void *);
    object *(*lacking)(void);
    object *(*allocate)(object *, word);
    object *(*set)(object *);
    int (*has)(object *, object *);
    int (*add)(object *, object *);
    int (*append)(object *, object *);
    int (*truth)(object *);
    object *(*call)(object *, object *const *, uint64_t, object *);
    int (*context)(object *, object *, object **);
    object *(*code)(object *), *(*back)(object *);
    int (*instruction)(object *);
    object *(*integer)(long);
    long (*as_integer)(object *);
    object *(*attribute)(object *, object *);
    word (*begins)(object *, object *, word, word, int);
    object *none, *yes, *no, *floating, *zero, *otherwise, *node;
    word kind, op, inputs, attributes, type, tracked, value, site, offset, place;
};

/* This number is replaced by the address of the above where the code is put into memory. */
static inline const struct python *python(void) {
    const struct python *volatile found = (const struct python *)0x5ADC0DE15ADC0DE2;
    return found;
}

const void *filled(void) { return python(); }

/* What a node is. Of what is null nothing is asked. */
enum { PENDING, HELD };            /* has no value, has one */
enum { ANY, NONE, SOME, SAME, LITERAL, FREE };
struct node {
    object *op, *type, *tracked, *attributes, *class; /* the class of a number */
    word state;
    word asked;                    /* of attributes; ANY: nothing. A number is the LITERAL that it was, or any that isn't one */
    word inputs;                   /* how many; -1: any */
    word leaf, pulled, given;      /* whether it is among the leaves, the pullbacks; whether its attributes are given back */
};

struct graph {
    const struct python *python;
    const char *nodes;
    const word *edges;             /* the numbers of all inputs, in the order of the nodes */
    word count, roots, leaves, numbers, pullbacks, given;
    word places;                   /* a power of two, more than nodes */
};

static inline object *field(object *x, word place) { return *(object **)((char *)x + place); }

static inline void set(object *x, word place, object *value) { *(object **)((char *)x + place) = value; }

static inline word size(object *x) { return *(word *)((char *)x + SIZE); }

static inline const struct node *said(const struct graph *g, word i) {
    return (const struct node *)(g->nodes + i * (word)sizeof(struct node));
}

/* Whether all nodes are different ones. Behind them is room for the places of a hash table. */
static inline int are_different(object **nodes, const struct graph *g) {
    object **seen = nodes + g->count;
    for (word i = 0; i < g->places; i++) seen[i] = 0;
    for (word i = 0; i < g->count; i++) {
        word at = (word)((((uint64_t)nodes[i] >> 4) * 0x9E3779B97F4A7C15u) >> 32) & (g->places - 1);
        for (; seen[at]; at = (at + 1) & (g->places - 1))
            if (seen[at] == nodes[i]) return 0;
        seen[at] = nodes[i];
    }
    return 1;
}

/* Whether attributes are what is asked; negative where Python raises. */
static inline int has_attributes(const struct python *p, const struct node *e, object *found) {
    if (e->asked == ANY) return 1;
    if (e->asked == NONE || e->asked == SOME) return (found == p->none) == (e->asked == NONE);
    if (e->class && (!found || field(found, p->kind) != e->class)) return 0;
    if (e->asked == FREE || e->class == p->floating) { /* numbers, of which 0, 1, -1 and 2 may be part of the structure */
        double number = p->number(found);
        if (e->asked == FREE) return (number != 0 || 1 / number < 0) && number != 1 && number != -1 && number != 2;
        return p->number(e->attributes) == number && (number != 0 || 1 / number > 0);
    }
    if (found == e->attributes) return 1;
    return found && found != p->none ? p->compare(found, e->attributes, EQUAL) : 0;
}

/* How many of a graph's nodes are what they were: all, none, or negative where Python raises. Those in `nodes` are counted. */
static inline word read(const struct graph *g, object **nodes, word *met) {
    const struct python *p = g->python;
    const word *edge = g->edges;
    for (word i = 0; i < g->count; i++) {
        const struct node *e = said(g, i);
        object *x = nodes[i], *value = field(x, p->value);
        if (!value || (value == p->none) != (e->state == PENDING)) return 0;
        if ((e->op && field(x, p->op) != e->op) || (e->type && field(x, p->type) != e->type)) return 0;
        if (e->tracked && field(x, p->tracked) != e->tracked) return 0;
        int fits = has_attributes(p, e, field(x, p->attributes));
        if (fits <= 0) return fits;
        if (e->inputs < 0) continue;
        object *inputs = field(x, p->inputs);
        if (!inputs || size(inputs) != e->inputs) return 0;
        for (word k = 0; k < e->inputs; k++) {
            object *y = field(inputs, ITEMS + 8 * k);
            word j = *edge++;
            if (j < *met) {
                if (nodes[j] != y) return 0;
            } else {
                p->count(y);
                nodes[(*met)++] = y;
            }
        }
    }
    return are_different(nodes, g);
}

/* A list of those nodes of which `part`, a place in what is said of them, isn't 0. */
static inline object *those(const struct graph *g, object **nodes, word count, word part) {
    const struct python *p = g->python;
    object *found = p->list(count);
    for (word i = 0, k = 0; found && k < count; i++) {
        if (part >= 0 && !*(const word *)((const char *)said(g, i) + part)) continue;
        p->count(nodes[i]);
        p->put(found, k++, nodes[i]);
    }
    return found;
}

/* The attributes that are given back; or the free numbers, as pairs (number, node). */
static inline object *attributes(const struct graph *g, object **nodes, word count, int numbers) {
    const struct python *p = g->python;
    object *found = p->list(count);
    for (word i = 0, k = 0; found && k < count; i++) {
        if (numbers ? said(g, i)->asked != FREE : !said(g, i)->given) continue;
        object *value = field(nodes[i], p->attributes), *item = value;
        if (numbers) {
            item = p->tuple(2);
            if (!item) {
                p->drop(found);
                return 0;
            }
            p->count(nodes[i]);
            p->fill(item, 1, nodes[i]);
        }
        p->count(value);
        if (numbers) p->fill(item, 0, value);
        p->put(found, k++, item);
    }
    return found;
}

#define PART(name) ((word) __builtin_offsetof(struct node, name))

/* The nodes below a list of them, the roots of a graph, if all are what they were: a tuple of all in order, the leaves, the free
   numbers, the pullbacks, and attributes of which a part is to be compared. Else None. */
object *match(object *self, object *roots) {
    const struct graph *g = (const struct graph *)((char *)self + CONTENTS);
    const struct python *p = g->python;
    object *result = 0;
    word met = 0;
    if (size(roots) != g->roots) {
        p->count(p->none);
        return p->none;
    }
    object **nodes = p->take(8 * (uint64_t)(g->count + g->places));
    if (!nodes) return p->lacking();
    for (object **items = (object **)field(roots, ITEMS); met < g->roots; met++) {
        nodes[met] = items[met];
        p->count(nodes[met]);
    }
    word fits = read(g, nodes, &met);
    if (!fits) {
        p->count(p->none);
        result = p->none;
    } else if (fits > 0 && (result = p->tuple(5))) {
        object *parts[5] = {those(g, nodes, g->count, -1), those(g, nodes, g->leaves, PART(leaf)),
                            attributes(g, nodes, g->numbers, 1), those(g, nodes, g->pullbacks, PART(pulled)),
                            attributes(g, nodes, g->given, 0)};
        int whole = 1;
        for (word k = 0; k < 5; k++) {
            whole = whole && parts[k];
            if (parts[k]) p->fill(result, k, parts[k]);
        }
        if (!whole) {
            p->drop(result);
            result = 0;
        }
    }
    while (met > 0) p->drop(nodes[--met]);
    p->give(nodes);
    return result;
}

struct walk {
    const struct python *python;
    object *last;                  /* an operation beyond which the walk doesn't go */
    word count;
    object *ops[];
};

/* Those nodes of some operations that one depends on by tracked ones, itself among them, nearest first: a list. */
object *below(object *self, object *root) {
    const struct walk *w = (const struct walk *)((char *)self + CONTENTS);
    const struct python *p = w->python;
    object *found = p->list(0), *order = p->list(0), *seen = p->set(0);
    int failed = !found || !order || !seen || p->add(seen, root) < 0 || p->append(order, root) < 0;
    for (word i = 0; !failed && i < size(order); i++) {
        object *node = ((object **)field(order, ITEMS))[i], *op = field(node, p->op), *inputs = field(node, p->inputs);
        for (word k = 0; k < w->count && !failed; k++)
            if (w->ops[k] == op) failed = p->append(found, node) < 0;
        for (word k = 0; op != w->last && !failed && k < size(inputs); k++) {
            object *x = field(inputs, ITEMS + 8 * k);
            object *tracked = field(x, p->tracked);
            int is = tracked == p->yes ? 1 : tracked == p->no ? 0 : p->truth(tracked);
            int has = is > 0 ? p->has(seen, x) : is < 0 ? -1 : 1;
            failed = has < 0 || (!has && (p->add(seen, x) < 0 || p->append(order, x) < 0));
        }
    }
    if (order) p->drop(order);
    if (seen) p->drop(seen);
    if (failed && found) p->drop(found);
    return failed ? 0 : found;
}

/* A node, as its class is called: op, inputs, attributes, type, site, offset, tracked, and maybe a value. Calls of another form are
   left to a function of Python's. */
object *make(object *class, object *const *given, uint64_t count, object *names) {
    const struct python *p = python();
    uint64_t positional = count & ~((uint64_t)1 << 63);
    if (names || (positional != 7 && positional != 8)) return p->call(p->otherwise, given, count, names);
    object *made = p->allocate(class, 0);
    if (!made) return 0;
    object *value = positional == 8 ? given[7] : p->none;
    for (uint64_t i = 0; i < 7; i++) p->count(given[i]);
    p->count(value);
    p->count(p->zero);
    set(made, p->op, given[0]);
    set(made, p->inputs, given[1]);
    set(made, p->attributes, given[2]);
    set(made, p->type, given[3]);
    set(made, p->site, given[4]);
    set(made, p->offset, given[5]);
    set(made, p->tracked, given[6]);
    set(made, p->value, value);
    set(made, p->place, p->zero);
    return made;
}

/* Calls that record what an earlier call of their kind did (see `graph.calls`): a kind says what is asked of the arguments, and
   which nodes are made of them. */

enum { TENSOR, AGAIN, FLOAT, FREE_FLOAT, TUPLE, VALUE };   /* a tensor, one that came before, floating numbers, items, anything else */
enum { OUTSIDE, IN_CODE, IN_SCOPE, IN_USERS_SCOPE, IN_LOCATED }; /* what the mode says of where nodes are recorded */
enum { NOWHERE, GIVEN, SCOPED, USERS, LOCATED };           /* where one is: as the mode says, in a scope of the function's own, at
                                                              the user's line, there in the mode's scope */
enum { MOST_NODES = 32 };

struct argument {
    word how;
    object *what;                  /* of a tensor: the type of its node; else the object */
    object *tracked;
    word pending, first;           /* whether there is no value; the number of the argument that is the same */
};

struct step {
    object *op, *attributes, *type, *tracked; /* no op: the attributes are the node */
    word count, where, from;       /* inputs; where it is recorded; the argument that the attributes are, or -1 */
    const word *places;
};

struct kind {
    object *dtype, *grad;          /* the default type, and whether gradients are on */
    object *names[2];              /* of scopes that the function opens, the second inside of the first; or null */
    word within, looks;            /* what the mode says; 0, USERS or LOCATED: whether the user's line is looked for */
    word arguments, nodes, steps, result, weight; /* the weight of a result that isn't tracked, else 0 */
    const char *argument, *step;   /* tables of the above */
};

/* What is the same for all functions of an interface. */
struct surface {
    const struct python *python;
    object *tensor, *also, *view;  /* classes: of results, of others that name a node as these do, of views; null: none */
    word node;                     /* where such an object has its node */
    word base, memory, holder, seen, cached; /* of a view */
    object *modes, *traces;        /* variables of the context */
    word grad, site, offset;       /* of a mode */
    object *code, *scope, *located; /* classes of sites */
    word name, code_of, offset_of, parent, user; /* of a scope */
    object *narrow, *defaults, *waiting; /* lists: types of 16 bits, the default type, the weight of what waits to be computed */
    object *frame, *locate, *count; /* Python's functions */
    object *cut, *watch;           /* `op` of a constant cut from a graph, and what watches it */
    object *read;                  /* `op` of a constant, whose number may decide what is recorded */
    object *file, *ours;           /* under which attribute code has its file's name, and how those of the package begin */
    word limit;                    /* the weight from which Python counts */
};

struct calls {
    const struct surface *surface;
    word *kinds;                   /* how many there are, how often one was met, the code last found to be a user's, where each is */
    object *level;                 /* how many frames up the user is */
    word looks;                    /* whether it is asked that a user's code is there, and none of ours */
};

/* The node that an object names; null for what isn't simply a tensor, or a view of one that has seen its base's node. */
static inline object *node_of(const struct surface *s, object *x) {
    object *class = field(x, s->python->kind);
    if (class == s->tensor || class == s->also) return field(x, s->node);
    if (class != s->view) return 0;
    object *base = field(x, s->base), *memory = field(x, s->memory);
    if (!base || !memory || field(memory, s->holder) != s->python->none) return 0;
    object *below = field(base, s->python->kind);
    below = below == s->tensor || below == s->also ? field(base, s->node) : 0;
    return below && below == field(x, s->seen) ? field(x, s->cached) : 0;
}

static inline int same_number(const struct python *p, object *a, object *b) {
    double x = p->number(a), y = p->number(b);
    return x == y && (x != 0 || (1 / x > 0) == (1 / y > 0));
}

/* Whether two tuples have as many items, of the same classes. */
static inline int same_classes(const struct python *p, object *a, object *b) {
    if (size(a) != size(b)) return 0;
    for (word i = 0; i < size(a); i++)
        if (field(field(a, ITEMS + 8 * i), p->kind) != field(field(b, ITEMS + 8 * i), p->kind)) return 0;
    return 1;
}

/* Whether arguments are of a kind; negative where Python raises. Their nodes are noted. */
static inline int are_of(const struct surface *s, const struct kind *k, object *const *given, object **nodes) {
    const struct python *p = s->python;
    word met = 0;
    for (word i = 0; i < k->arguments; i++) {
        const struct argument *a = (const struct argument *)(k->argument + i * (word)sizeof(struct argument));
        object *x = given[i];
        if (a->how == TENSOR || a->how == AGAIN) {
            object *node = node_of(s, x);
            if (!node) return 0;
            if (a->how == AGAIN) {
                if (nodes[a->first] != node) return 0;
                continue;
            }
            object *value = field(node, p->value);
            if (field(node, p->type) != a->what || field(node, p->tracked) != a->tracked) return 0;
            if (!value || (value == p->none) != a->pending || field(node, p->op) == s->read) return 0;
            for (word j = 0; j < met; j++)
                if (nodes[j] == node) return 0;
            nodes[met++] = node;
        } else if (a->how == FLOAT || a->how == FREE_FLOAT) {
            if (field(x, p->kind) != p->floating) return 0;
            if (a->how == FLOAT && !same_number(p, x, a->what)) return 0;
            double number = p->number(x);
            if (a->how == FREE_FLOAT && (number == 0 || number == 1 || number == -1 || number == 2)) return 0;
        } else if (x != a->what) {
            if (field(x, p->kind) != field(a->what, p->kind)) return 0;
            if (a->how == TUPLE && !same_classes(p, x, a->what)) return 0;
            int equal = p->compare(x, a->what, EQUAL);
            if (equal <= 0) return equal;
        }
    }
    return 1;
}

/* Where nodes are recorded: what the mode says, the user's line, that in a scope, and the scope that the function opens. */
struct place {
    object *site, *offset, *users, *line, *located, *scope;
};

static inline void forget(const struct python *p, struct place *at) {
    if (at->users) p->drop(at->users);
    if (at->line) p->drop(at->line);
    if (at->located) p->drop(at->located);
    if (at->scope) p->drop(at->scope);
}

/* Whether code is a user's; negative where Python raises. */
static inline int is_users(const struct calls *c, object *code) {
    const struct surface *s = c->surface;
    const struct python *p = s->python;
    if (!c->looks || (object *)c->kinds[2] == code) return 1;
    object *file = p->attribute(code, s->file);
    if (!file) return -1;
    word ours = p->begins(file, s->ours, 0, INT64_MAX, -1);
    p->drop(file);
    if (ours) return ours < 0 ? -1 : 0;
    if (c->kinds[2]) p->drop((object *)c->kinds[2]);
    p->count(code);
    c->kinds[2] = (word)code;
    return 1;
}

/* Find the user's line, that of the frame so many up, or of the next one that is a user's: 0 where there is none, negative where
   Python raises. */
static inline int find_user(const struct calls *c, struct place *at) {
    const struct python *p = c->surface->python;
    object *frame = p->call(c->surface->frame, &c->level, 1, 0);
    int fits = frame ? 0 : -1;
    while (frame && !fits) {
        at->users = p->code(frame);
        fits = is_users(c, at->users);
        if (fits > 0) {
            at->line = p->integer(p->instruction(frame));
            if (!at->line) fits = -1;
        } else {
            p->drop(at->users);
            at->users = 0;
        }
        object *outer = fits ? 0 : p->back(frame);
        p->drop(frame);
        if (!fits && !outer) return 0;
        frame = outer;
    }
    return fits;
}

/* A scope of a name; takes no reference. */
static inline object *scope_of(const struct surface *s, object *name, object *code, object *offset, object *parent) {
    const struct python *p = s->python;
    object *made = p->allocate(s->scope, 0);
    if (!made) return 0;
    object *parts[5] = {name, code, offset, parent, p->no};
    for (word i = 0; i < 5; i++) p->count(parts[i]);
    set(made, s->name, name);
    set(made, s->code_of, code);
    set(made, s->offset_of, offset);
    set(made, s->parent, parent);
    set(made, s->user, p->no);
    return made;
}

/* Find out where nodes of a kind are recorded: 0 where Python has to, negative where it raises. */
static inline int find_place(const struct calls *c, const struct kind *k, struct place *at) {
    const struct surface *s = c->surface;
    const struct python *p = s->python;
    int there = k->looks ? find_user(c, at) : 1;
    if (there <= 0) return there;
    if (k->looks == LOCATED) {
        object *both[2] = {at->site, at->users};
        at->located = p->call(s->locate, both, 2, 0);
        if (!at->located) return -1;
    }
    if (!k->names[0]) return 1;
    int at_user = k->within == OUTSIDE || k->within == IN_USERS_SCOPE;
    object *code = at_user ? at->users : k->within == IN_CODE ? at->site : p->none;
    object *offset = at_user ? at->line : k->within == IN_CODE ? at->offset : p->zero;
    object *parent = k->within == IN_SCOPE || k->within == IN_USERS_SCOPE ? at->site : p->none;
    object *outer = scope_of(s, k->names[0], code, offset, parent);
    if (!outer) return -1;
    at->scope = k->names[1] ? scope_of(s, k->names[1], p->none, p->zero, outer) : outer;
    if (k->names[1]) p->drop(outer);
    return at->scope ? 1 : -1;
}

/* A node, made of those before it. */
static inline object *step_of(const struct surface *s, const struct step *e, object **nodes, object *const *given, struct place *at) {
    const struct python *p = s->python;
    if (!e->op) {
        p->count(e->attributes);
        return e->attributes;
    }
    object *inputs = p->tuple(e->count);
    if (!inputs) return 0;
    for (word i = 0; i < e->count; i++) {
        p->count(nodes[e->places[i]]);
        p->fill(inputs, i, nodes[e->places[i]]);
    }
    object *made = p->allocate(p->node, 0);
    if (!made) {
        p->drop(inputs);
        return 0;
    }
    object *sites[] = {p->none, at->site, at->scope, at->users, at->located};
    object *offsets[] = {p->zero, at->offset, p->zero, at->line, at->line}, *site = sites[e->where], *offset = offsets[e->where];
    object *parts[6] = {e->op, e->from < 0 ? e->attributes : given[e->from], e->type, e->tracked, site, offset};
    for (word i = 0; i < 6; i++) p->count(parts[i]);
    p->count(p->none);
    p->count(p->zero);
    set(made, p->op, parts[0]);
    set(made, p->inputs, inputs);
    set(made, p->attributes, parts[1]);
    set(made, p->type, parts[2]);
    set(made, p->tracked, parts[3]);
    set(made, p->site, parts[4]);
    set(made, p->offset, parts[5]);
    set(made, p->value, p->none);
    set(made, p->place, p->zero);
    object *done = e->op == s->cut ? p->call(s->watch, &made, 1, 0) : 0;
    if (done) {
        p->drop(done);
    } else if (e->op == s->cut) {
        p->drop(made);
        return 0;
    }
    return made;
}

/* Count a node among what waits to be computed; negative where Python raises. */
static inline int count_waiting(const struct surface *s, word weight, object *node) {
    const struct python *p = s->python;
    word before = p->as_integer(*(object **)field(s->waiting, ITEMS));
    if (before + weight >= s->limit) {
        object *done = p->call(s->count, &node, 1, 0);
        if (!done) return -1;
        p->drop(done);
        return 0;
    }
    object *sum = p->integer(before + weight);
    return sum ? p->put(s->waiting, 0, sum) : -1;
}

/* Give a node the user's line that has none; false where Python has to look. */
static inline int settle(const struct surface *s, object *node, const struct place *at) {
    const struct python *p = s->python;
    object *site = field(node, p->site), *offset = field(node, p->offset);
    if (site != p->none) return field(site, p->kind) != s->scope;
    p->count(at->users);
    p->count(at->line);
    set(node, p->site, at->users);
    set(node, p->offset, at->line);
    p->drop(site);
    p->drop(offset);
    return 1;
}

/* The tensor that a call of a kind gives; None where Python has to find the user's line. */
static inline object *recorded(const struct calls *c, const struct kind *k, object *const *given, object **nodes, object *mode) {
    const struct surface *s = c->surface;
    const struct python *p = s->python;
    struct place at = {field(mode, s->site), field(mode, s->offset), 0, 0, 0, 0};
    word known = k->nodes, made = known;
    object *tensor = 0, *node = 0;
    for (word i = 0; i < known; i++) p->count(nodes[i]); /* a finalizer may let a name go */
    int there = find_place(c, k, &at);
    if (there > 0 && !k->steps) there = settle(s, nodes[k->result], &at);
    for (; there > 0 && made < known + k->steps; made++)
        if (!(nodes[made] = step_of(s, (const struct step *)(k->step + (made - known) * (word)sizeof(struct step)), nodes, given, &at))) break;
    if (!there) {
        tensor = p->none;
        p->count(tensor);
    } else if (made == known + k->steps && there > 0) {
        node = nodes[k->result];
        if (!k->weight || count_waiting(s, k->weight, node) == 0) tensor = p->allocate(s->tensor, 0);
    }
    if (tensor && node) {
        p->count(node);
        set(tensor, s->node, node);
    }
    while (made > 0) p->drop(nodes[--made]);
    forget(p, &at);
    return tensor;
}

/* What the mode says of where nodes are recorded. */
static inline word within(const struct surface *s, object *site) {
    const struct python *p = s->python;
    object *class = field(site, p->kind);
    if (site == p->none) return OUTSIDE;
    if (class == s->code) return IN_CODE;
    if (class != s->scope) return IN_LOCATED;
    return field(site, s->user) == p->yes ? IN_USERS_SCOPE : IN_SCOPE;
}

/* What a function of Python's gives for these arguments, if a call of this kind was met before and nobody looks on; else None. */
object *again(object *self, object *const *given, word count) {
    const struct calls *c = (const struct calls *)((char *)self + CONTENTS);
    const struct surface *s = c->surface;
    const struct python *p = s->python;
    object *nodes[MOST_NODES], *mode = 0, *trace = 0, *result = 0;
    const struct kind **kinds = (const struct kind **)(c->kinds + 3);
    if (!c->kinds[0] || size(s->narrow)) goto unknown;
    if (p->context(s->traces, 0, &trace) < 0) return 0;
    p->drop(trace); /* whoever traces holds it */
    if (trace != p->none) goto unknown;
    if (p->context(s->modes, 0, &mode) < 0) return 0;
    word where = within(s, field(mode, s->site));
    object *grad = field(mode, s->grad), *dtype = *(object **)field(s->defaults, ITEMS);
    for (word i = 0; i < c->kinds[0]; i++) {
        const struct kind *k = kinds[i];
        if (k->arguments != count || k->within != where || k->grad != grad || k->dtype != dtype) continue;
        int fits = are_of(s, k, given, nodes);
        if (fits < 0) goto end;
        if (!fits) continue;
        if (i) {
            kinds[i] = kinds[i - 1];
            kinds[i - 1] = k;
        }
        c->kinds[1]++;
        result = recorded(c, k, given, nodes, mode);
        goto end;
    }
unknown:
    result = p->none;
    p->count(result);
end:
    if (mode) p->drop(mode);
    return result;
}
