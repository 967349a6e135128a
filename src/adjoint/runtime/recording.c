/* What programs spend their time with that record a graph in each step: nodes are made, and is it the graph that was met before?
   `recording.py` says where everything is; Python calls these as functions of its own.

   `make native` compiles this file to `recording.ll`, the LLVM text that the package loads: at run time there is no C compiler.
   Of Python's objects only what `recording.py` has found the places of is read here; all else is done by Python's functions. */

#include "recording.h"

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
    const word *held;              /* how many references each node had the last time, as Python counts them; the first is -1
                                      where nobody has counted */
};

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
            object *y = of_tuple(p, inputs, k);
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

/* The attributes that are given back; or the free numbers, or their nodes. */
enum { ATTRIBUTES, NUMBERS, OF_NUMBERS };

static inline object *attributes(const struct graph *g, object **nodes, word count, int which) {
    const struct python *p = g->python;
    object *found = p->list(count);
    for (word i = 0, k = 0; found && k < count; i++) {
        if (which == ATTRIBUTES ? !said(g, i)->given : said(g, i)->asked != FREE) continue;
        object *one = which == OF_NUMBERS ? nodes[i] : field(nodes[i], p->attributes);
        p->count(one);
        p->put(found, k++, one);
    }
    return found;
}

#define PART(name) ((word) __builtin_offsetof(struct node, name))

/* The values of the leaves: a list, or None if one isn't an array. */
static inline object *values(const struct graph *g, object *leaves) {
    const struct python *p = g->python;
    object *found = p->list(g->leaves);
    for (word i = 0; found && i < g->leaves; i++) {
        object *value = field(item(leaves, i), p->value);
        if (field(value, p->kind) == p->kept) value = field(value, p->array);
        if (!value || field(value, p->kind) != p->arrays) {
            p->drop(found);
            p->count(p->none);
            return p->none;
        }
        p->count(value);
        p->put(found, i, value);
    }
    return found;
}

/* Whether each node has as many references as the last time. Those of `nodes` aren't there when Python counts. */
static inline object *are_held(const struct graph *g, object **nodes) {
    const struct python *p = g->python;
    int same = g->held[0] >= 0;
    for (word i = 0; same && i < g->count; i++) same = *(word *)nodes[i] - 1 == g->held[i];
    object *found = same ? p->yes : p->no;
    p->count(found);
    return found;
}

/* The nodes below a list of them, the roots of a graph, if all are what they were: a tuple of all in order, the leaves, the free
   numbers, their nodes, the pullbacks, attributes of which a part is to be compared, the values of the leaves, and whether all are
   held as the last time. Else None. */
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
    for (object **items = (object **)field(roots, LISTED); met < g->roots; met++) {
        nodes[met] = items[met];
        p->count(nodes[met]);
    }
    word fits = read(g, nodes, &met);
    if (!fits) {
        p->count(p->none);
        result = p->none;
    } else if (fits > 0 && (result = p->tuple(8))) {
        object *parts[8] = {those(g, nodes, g->count, -1), those(g, nodes, g->leaves, PART(leaf)),
                            attributes(g, nodes, g->numbers, NUMBERS), attributes(g, nodes, g->numbers, OF_NUMBERS),
                            those(g, nodes, g->pullbacks, PART(pulled)), attributes(g, nodes, g->given, ATTRIBUTES), 0, 0};
        if (parts[1]) parts[6] = values(g, parts[1]);
        parts[7] = are_held(g, nodes);
        int whole = 1;
        for (word k = 0; k < 8; k++) {
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

/* What a plan gives values to: a node's number, whether the value is one kept for the reverse pass, and whether the node forgets its
   inputs. `again` is the attribute of a pullback that says whether it may come another time. */
enum { TARGET, IS_KEPT, FORGETS, PARTS };
struct targets {
    const struct python *python;
    object *again;
    word count, target[];
};

/* Let a node have a value; negative where Python raises. */
static inline int settle(const struct python *p, const word *target, object *node, object *array) {
    object *before = field(node, p->value), *made = array, *inputs = 0;
    if (!before || (before != p->none && (target[IS_KEPT] || field(before, p->kind) != p->kept))) return 0; /* another thread was faster */
    if (target[IS_KEPT]) {
        made = p->allocate(p->kept, 0);
        if (!made) return -1;
        p->count(array);
        set(made, p->array, array);
    } else {
        p->count(made);
    }
    set(node, p->value, made);
    if (target[FORGETS]) {
        inputs = field(node, p->inputs);
        p->count(p->empty);
        set(node, p->inputs, p->empty);
    }
    p->drop(before);
    if (inputs) p->drop(inputs);
    return 0;
}

/* Whether one of the pullbacks may come again; negative where Python raises. */
static inline int come_again(const struct targets *t, object *pullbacks) {
    const struct python *p = t->python;
    for (word i = 0; i < size(pullbacks); i++) {
        object *said = p->attribute(field(item(pullbacks, i), p->attributes), t->again);
        int is = said ? p->truth(said) : -1;
        if (said) p->drop(said);
        if (is) return is;
    }
    return 0;
}

/* Put the results of a graph that `match` found where they belong, given its nodes in order, its leaves, its pullbacks and the
   results; and let go what was kept for a reverse pass that is over. False, with nothing done, if a result isn't an array with
   memory of its own. */
object *store(object *self, object *const *given, word count) {
    const struct targets *t = (const struct targets *)((char *)self + CONTENTS);
    const struct python *p = t->python;
    object *order = given[0], *leaves = given[1], *pullbacks = given[2], *results = given[3], *said = p->yes;
    for (word i = 0; i < t->count; i++) {
        object *array = item(results, i);
        if (field(array, p->kind) == p->arrays && !field(array, BASE)) continue;
        said = p->no;
    }
    int failed = 0;
    for (word i = 0; said == p->yes && !failed && i < t->count; i++)
        failed = settle(p, t->target + PARTS * i, item(order, t->target[PARTS * i + TARGET]), item(results, i));
    int again = failed || said == p->no || !size(pullbacks) ? 1 : come_again(t, pullbacks);
    for (word i = 0; !again && i < size(leaves); i++) {
        object *leaf = item(leaves, i), *value = field(leaf, p->value);
        if (field(value, p->kind) != p->kept) continue;
        p->count(p->none);
        set(leaf, p->value, p->none);
        p->drop(value);
    }
    if (failed || again < 0) return 0;
    p->count(said);
    return said;
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
        object *node = item(order, i), *op = field(node, p->op), *inputs = field(node, p->inputs);
        for (word k = 0; k < w->count && !failed; k++)
            if (w->ops[k] == op) failed = p->append(found, node) < 0;
        for (word k = 0; op != w->last && !failed && k < size(inputs); k++) {
            object *x = of_tuple(p, inputs, k);
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
