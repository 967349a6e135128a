/* Calls that record what an earlier call of their kind did (see `graph.known_calls`): a kind says what is asked of the arguments, and
   which nodes are made of them. `known_calls.py` says where everything is. */

#include "recording.h"

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
    object *base, *view[5];        /* where a view is made: the class of its base, and what it has in `surface.said`; else null */
    word within, looks;            /* what the mode says; 0, USERS or LOCATED: whether the user's line is looked for */
    word arguments, nodes, steps, result, weight; /* the weight of a result that isn't tracked, else 0 */
    const char *argument, *step;   /* tables of the above */
};

/* What is the same for all functions of an interface. */
struct surface {
    const struct python *python;
    object *tensor, *also, *view;  /* classes: of results, of others that name a node as these do, of views; null: none */
    word node;                     /* where such an object has its node */
    word base, memory, holder, seen, cached, said[5], changed, of_leaf, at, turns; /* of a view */
    object *memories, *turned;     /* dictionaries: of what the views of a tensor have together; of tensors whose axes were changed */
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

/* The node that an object names; null for what isn't simply a tensor, or a view of one, maybe by other views, that has seen the node
   of its base. */
static inline object *node_of(const struct surface *s, object *x) {
    const struct python *p = s->python;
    object *class = field(x, p->kind), *cached = 0;
    while (class == s->view && class) {
        object *base = field(x, s->base), *memory = field(x, s->memory), *seen = field(x, s->seen);
        if (!base || !memory || !seen || field(memory, s->holder) != p->none) return 0;
        if (!cached) cached = field(x, s->cached);
        class = field(base, p->kind);
        if (seen != field(base, class == s->view ? s->cached : s->node)) return 0;
        x = base;
    }
    if (class != s->tensor && class != s->also) return 0;
    return cached ? cached : field(x, s->node);
}

static inline int same_number(const struct python *p, object *a, object *b) {
    double x = p->number(a), y = p->number(b);
    return x == y && (x != 0 || (1 / x > 0) == (1 / y > 0));
}

/* Whether two tuples have as many items, of the same classes. */
static inline int same_classes(const struct python *p, object *a, object *b) {
    if (size(a) != size(b)) return 0;
    for (word i = 0; i < size(a); i++)
        if (field(of_tuple(p, a, i), p->kind) != field(of_tuple(p, b, i), p->kind)) return 0;
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
    word before = p->as_integer(item(s->waiting, 0));
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

/* What the views of a tensor have together; null where Python has to look, or raises. */
static inline object *memory_of(const struct surface *s, object *base) {
    const struct python *p = s->python;
    if (size(s->turned)) return 0;
    object *key = p->address(base);
    object *found = key ? p->look(s->memories, key) : 0;
    if (key) p->drop(key);
    return found;
}

/* A view that sees a node of a base's; takes no reference. */
static inline object *view_of(const struct surface *s, const struct kind *k, object *base, object *below, object *node, object *memory) {
    const struct python *p = s->python;
    object *made = p->allocate(s->view, 0);
    if (!made) return 0;
    const word places[] = {s->base, s->seen, s->cached, s->memory, s->changed, s->of_leaf, s->at, s->turns};
    object *parts[] = {base, below, node, memory, p->no, p->no, p->none, p->zero};
    for (word i = 0; i < 8; i++) {
        p->count(parts[i]);
        set(made, places[i], parts[i]);
    }
    for (word i = 0; i < 5; i++) {
        p->count(k->view[i]);
        set(made, s->said[i], k->view[i]);
    }
    return made;
}

/* The tensor that a call of a kind gives; None where Python has to find the user's line, or what views have together. */
static inline object *recorded(const struct calls *c, const struct kind *k, object *const *given, object **nodes, object *mode) {
    const struct surface *s = c->surface;
    const struct python *p = s->python;
    struct place at = {field(mode, s->site), field(mode, s->offset), 0, 0, 0, 0};
    word known = k->nodes, made = known;
    object *tensor = 0, *node = 0;
    for (word i = 0; i < known; i++) p->count(nodes[i]); /* a finalizer may let a name go */
    int there = find_place(c, k, &at);
    if (there > 0 && !k->steps && k->looks) there = settle(s, nodes[k->result], &at);
    object *memory = there > 0 && k->base ? memory_of(s, given[0]) : 0;
    if (there > 0 && k->base && !memory) there = 0;
    for (; there > 0 && made < known + k->steps; made++)
        if (!(nodes[made] = step_of(s, (const struct step *)(k->step + (made - known) * (word)sizeof(struct step)), nodes, given, &at))) break;
    if (!there) {
        tensor = p->none;
        p->count(tensor);
    } else if (made == known + k->steps && there > 0) {
        node = nodes[k->result];
        if (!k->weight || count_waiting(s, k->weight, node) == 0)
            tensor = k->base ? view_of(s, k, given[0], nodes[0], node, memory) : p->allocate(s->tensor, 0);
    }
    if (tensor && node && !k->base) {
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
    object *grad = field(mode, s->grad), *dtype = item(s->defaults, 0);
    for (word i = 0; i < c->kinds[0]; i++) {
        const struct kind *k = kinds[i];
        if (k->arguments != count || k->within != where || k->grad != grad || k->dtype != dtype) continue;
        if (k->base && field(given[0], p->kind) != k->base) continue;
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
