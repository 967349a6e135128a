/* The loop that runs a program, and what Python calls of native code as functions of its own: a program whose arrays are given in a
   tuple, a comparison of what dictionaries hold, whether nobody else sees the memory of arrays, and a read-only view of an array.

   A program is a list of calls, each a kernel's function with the unit's block of arguments (see `compiler/programs.py`). Before the
   first of them the loop writes down in the table where the caller's arrays are: it is given the array objects themselves, since
   Python would take longer to read where an array's data is. A caller may give all at once, in a tuple, and leave it to the loop to
   see whether they are arrays whose elements lie in order: Python takes 0.2 µs for each.

   `memory.py` sees to it that objects are as they are read here. Of those that are given, held and compared only the addresses are
   looked at; all else is done by Python's functions. */

#include <stdatomic.h>
#include <stdint.h>

typedef int64_t word;
typedef struct object object;

/* In objects, bytes from their beginning: the class of any; an array's data, what lies below it, and its flags; the contents of
   `bytes`. Where the items of a tuple are each function is told: that depends on Python's version. */
enum { TYPE = 8, DATA = 16, AXES = 24, SHAPE = 32, STRIDES = 40, BASE = 48, DTYPE = 56, FLAGS = 64, CONTENTS = 32 };
enum { IN_ORDER = 0x101, WRITEABLE = 0x400 }; /* flags of an array: row-major and aligned */

static inline object *field(object *x, word place) { return *(object **)((char *)x + place); }

static inline int32_t flags_of(object *array) { return *(int32_t *)((char *)array + FLAGS); }

static inline const void *told(object *self) { return (char *)self + CONTENTS; }

/* Programs */

enum { OWNS, FAILURE };            /* in a table: each thread's own one; where failures are noted */
enum { SHARED = 1, CHECKED = 2, WAKING = 4 }; /* flags of a call: see `compiler/programs.py` */
enum { ODD = -1 };                 /* noted as a failure: one of the tuple is no such array, and nothing has run */

typedef void unit(void **table, word first, word last, void *own, void *block);
typedef void launching(void *pool, void *functions, unit *function, void **table, word chunks, word limit, void *block, word wake);

struct call {
    unit *function;
    void *block;
    word chunks, flags;
};

struct move {
    word object, position, bytes;  /* which one, where in the table, and what is added */
};

/* Where all is. `data` says where in an object the address of its data stands; negative where addresses are given. The objects
   are the items of one tuple, where these are is the first, if there is a `class`, that of arrays. OpenMP's functions are there if a call of oneDNN is: it runs on one thread. */
struct record {
    void **table;
    object **objects;
    word data;
    object *class;
    const struct move *moves, *moves_end;
    const struct call *calls, *calls_end;
    launching *launch;
    void *pool, *functions;
    word limit;
    int (*threads)(void);
    void (*set_threads)(int);
};

__attribute__((noinline)) void run(const struct record *r) {
    void **table = r->table, *own = *(void **)table[OWNS];
    word *failure = table[FAILURE], data = r->data;
    object **given = r->class ? (object **)*r->objects : r->objects, *class = r->class;
    const struct move *moves_end = r->moves_end;
    for (const struct move *move = r->moves; move != moves_end; move++) {
        object *x = given[move->object];
        char *array = (char *)x;
        if (data >= 0) {
            array = (char *)field(x, data);
            if (class && (field(x, TYPE) != class || (flags_of(x) & IN_ORDER) != IN_ORDER)) {
                *failure = ODD;
                return;
            }
        }
        table[move->position] = array + move->bytes;
    }
    int before = 0;
    if (r->threads) {
        before = r->threads();
        r->set_threads(1);
    }
    const struct call *calls_end = r->calls_end;
    for (const struct call *call = r->calls; call != calls_end; call++) {
        if (call->flags & SHARED)
            r->launch(r->pool, r->functions, call->function, table, call->chunks, r->limit, call->block, call->flags & WAKING);
        else
            call->function(table, 0, call->chunks, own, call->block);
        if ((call->flags & CHECKED) && *failure) break;
    }
    if (r->threads) r->set_threads(before);
}

struct numbers {
    word place;
    int32_t *to;
    word size;
};

/* Of a program: its record, where it takes the tuple's items from and notes failures, and a number that isn't 0 while it runs; what gives up
   and takes Python's lock, or null; what counts a reference; what is given where it has run, has failed, and isn't free; how many
   `bytes` with numbers the tuple has: of each its place there, where its contents are copied to, and how many times four bytes. */
struct entered {
    const struct record *record;
    object **objects;
    const word *failure;
    const int32_t *status;
    _Atomic word *busy;
    void *(*release)(void);
    void (*take)(void *);
    void (*count)(object *);
    object *done, *failed, *otherwise;
    word items, copies;
    struct numbers copied[];
};

object *enter(object *self, object *given) {
    const struct entered *e = told(self);
    object *result = e->otherwise;
    if (!atomic_exchange_explicit(e->busy, 1, memory_order_acquire)) {
        object **items = (object **)((char *)given + e->items);
        *e->objects = (object *)items;
        const struct numbers *one = e->copied;
        for (word left = e->copies; left > 0; left--, one++) {
            const int32_t *from = told(items[one->place]);
            for (word k = 0; k < one->size; k++) one->to[k] = from[k];
        }
        void *state = e->release ? e->release() : 0;
        run(e->record);
        if (e->release) e->take(state);
        result = *e->failure | *e->status ? e->failed : e->done;
        atomic_store_explicit(e->busy, 0, memory_order_release);
    }
    e->count(result);
    return result;
}

struct entry {
    object *dict, *key, *value;
};

/* Of a comparison: what looks up an entry, without an error where there is none, what forgets an error, and counts a reference; what
   is given if all entries are what they were, and else. */
struct held {
    object *(*look)(object *, object *);
    void (*forget)(void);
    void (*count)(object *);
    object *yes, *no;
    word entries;
    struct entry entry[];
};

object *holds(object *self, object *nothing) {
    const struct held *h = told(self);
    object *result = h->yes;
    const struct entry *entry = h->entry;
    for (word left = h->entries; left > 0; left--, entry++) {
        object *now = h->look(entry->dict, entry->key);
        if (now == entry->value) continue;
        if (!now) h->forget();
        result = h->no;
        break;
    }
    h->count(result);
    return result;
}

/* Of arrays in a tuple: how many, their class, that of what lends memory once, what counts a reference, what is given, and where a
   tuple's items are. If `references` isn't 0, behind the arrays are as many nodes: then the answer is `shared` where the memory is
   nobody else's, but one of all these has not so many references. */
struct own {
    word arrays;
    object *class, *lease;
    void (*count)(object *);
    object *yes, *no, *shared;
    word items, references;
};

static inline int is_own(const struct own *o, object *array) {
    if (field(array, TYPE) != o->class || !(flags_of(array) & WRITEABLE)) return 0;
    object *base = field(array, BASE);
    return !base || field(base, TYPE) == o->lease;
}

object *owned(object *self, object *given) {
    const struct own *o = told(self);
    word k = 0;
    while (k < o->arrays && is_own(o, field(given, o->items + 8 * k))) k++;
    object *result = k == o->arrays ? o->yes : o->no;
    if (result == o->yes && o->references) {
        for (k = 0; k < 2 * o->arrays && *(word *)field(given, o->items + 8 * k) == o->references;) k++;
        if (k < 2 * o->arrays) result = o->shared;
    }
    o->count(result);
    return result;
}

/* Of a view (see `frozen.py`): what makes an array of memory, what says what holds that, NumPy's class, what counts a reference, one
   more and one less, and where a tuple's items are. */
struct views {
    object *(*make)(object *, object *, int, void *, void *, void *, int, object *);
    int (*hold)(object *, object *);
    object *class;
    void (*count)(object *);
    void (*drop)(object *);
    word items;
};

object *freeze(object *self, object *given) {
    const struct views *v = told(self);
    object *array = field(given, v->items + 8);
    if (field(array, TYPE) != v->class) return 0;
    object *dtype = field(array, DTYPE);
    v->count(dtype);
    object *view = v->make(v->class, dtype, *(int *)((char *)array + AXES), field(array, SHAPE), field(array, STRIDES),
                           field(array, DATA), 0, 0);
    if (!view) return 0;
    v->count(given);
    if (!v->hold(view, given)) return view;
    v->drop(view);
    return 0;
}
