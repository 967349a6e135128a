/* Python's objects and functions, as `recording.c` and `known_calls.c` see them. */

#include <stdint.h>

typedef struct object object;
typedef int64_t word;

enum { CONTENTS = 32, SIZE = 16, LISTED = 24 }; /* in objects, bytes from their beginning: of `bytes`; how many a tuple, list or
                                                   dictionary has; where the items of a list are */
enum { BASE = 48 };                            /* of arrays: whose memory it is, if that is another's */
enum { EQUAL = 2 };                            /* Python's `==` */

/* Python's functions and objects, and the places of fields: of any object's class, a tuple's items, and of a node's. */
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
    object *(*address)(void *), *(*look)(object *, object *);
    object *none, *yes, *no, *floating, *zero, *otherwise, *node, *kept, *arrays, *empty; /* the last are classes, and () */
    word kind, items, op, inputs, attributes, type, tracked, value, site, offset, place, array;
};

static inline object *field(object *x, word place) { return *(object **)((char *)x + place); }

static inline void set(object *x, word place, object *value) { *(object **)((char *)x + place) = value; }

static inline word size(object *x) { return *(word *)((char *)x + SIZE); }

static inline object *item(object *list, word i) { return ((object **)field(list, LISTED))[i]; }

static inline object *of_tuple(const struct python *p, object *tuple, word i) { return field(tuple, p->items + 8 * i); }
