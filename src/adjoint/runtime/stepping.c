/* Loops whose steps are programs, or pieces of loops: between two of them only pointers move on, and nothing is asked of Python.

   `execution/native/stepping.py` and `sweeps.py` say what for, and write the tables that are read here; `inner.py` those of loops
   and choices within other programs. */

#include <stdint.h>

typedef int64_t word;
typedef void program(void *record);

/* An address, bytes further on in each step, and in odd steps. */
struct where {
    word start, stride, other;
};

struct row {
    word position;                 /* in the program's table */
    struct where where;
};

struct copy {
    struct where to, from;
    word bytes;
};

static inline word at(const struct where *where, word t) {
    return where->start + t * where->stride + (t & 1) * where->other;
}

/* Do the steps from `first` up to `last`, at least one, unless one fails, or is followed by a condition that doesn't hold: the byte
   `asked`, if there is one. Before each step rows say where things are; behind it parts of results are copied. How many steps were
   done in all. */
__attribute__((noinline)) word drive(
    program *run, void *record, word *table, const struct row *rows, const struct row *rows_end, const struct copy *copies,
    const struct copy *copies_end, word first, word last, const word *failure, const int32_t *status, const char *asked) {
    word t = first;
    do {
        for (const struct row *row = rows; row != rows_end; row++) table[row->position] = at(&row->where, t);
        run(record);
        if (*failure | *status) return t;
        for (const struct copy *copy = copies; copy != copies_end; copy++)
            __builtin_memcpy((void *)at(&copy->to, t), (void *)at(&copy->from, t), (uint64_t)copy->bytes);
        if (asked && !*asked) return t;
    } while (++t < last);
    return t;
}

/* A loop within another program: what its steps are, as `drive` takes it, and what else there is to do. */
struct patch {
    word operand, bytes;           /* of the unit around, and what is added to its address */
    word *to;
};

struct moved {
    word operand;
    void *own;                     /* the loop's own memory */
    word bytes;
};

struct loop {
    void *scan;
    program *run;
    void *record;
    word *table;
    const struct row *rows, *rows_end;
    const struct copy *copies, *copies_end;
    word count;
    const word *failure;
    const int32_t *status;
    const struct patch *patches, *patches_end;
    const struct moved *begins, *begins_end, *ends, *ends_end;
};

/* Where an operand of a unit is, whose list says where in the table. */
static inline word operand(const word *table, const word *list, word number) { return table[list[number]]; }

/* Run a loop within a program: note where its operands are, copy the carries in, do all steps, copy the carries out. */
__attribute__((noinline)) void scan(const word *table, const word *list, const struct loop *loop) {
    for (const struct patch *patch = loop->patches; patch != loop->patches_end; patch++)
        *patch->to = operand(table, list, patch->operand) + patch->bytes;
    for (const struct moved *in = loop->begins; in != loop->begins_end; in++)
        __builtin_memcpy(in->own, (void *)operand(table, list, in->operand), (uint64_t)in->bytes);
    drive(loop->run, loop->record, loop->table, loop->rows, loop->rows_end, loop->copies, loop->copies_end, 0, loop->count,
          loop->failure, loop->status, 0);
    for (const struct moved *out = loop->ends; out != loop->ends_end; out++)
        __builtin_memcpy((void *)operand(table, list, out->operand), out->own, (uint64_t)out->bytes);
}

struct choice {
    void *choose;
    word count;
    const struct loop *const *loops;
};

/* Run one of some loops: the nearest where an index is outside. */
void choose(const word *table, const word *list, const struct choice *choice, word index) {
    word last = choice->count - 1, number = index < 0 ? 0 : index;
    scan(table, list, choice->loops[number > last ? last : number]);
}

/* A program that does nothing. */
void nothing(void *record) {}

/* A loop that is written out: its table, the first step, the number of the next one less that of this, and how many. */
typedef word written(void *table, word first, word step, word count);

struct relative {
    word *entry, base, bytes;      /* of a table; an address, bytes a step */
};

struct state {
    char *now, *copies;
    word bytes;
};

static inline void remember(const struct state *states, const struct state *end, word piece, int back) {
    for (; states != end; states++) {
        char *copy = states->copies + piece * states->bytes;
        __builtin_memcpy(back ? states->now : copy, back ? copy : states->now, (uint64_t)states->bytes);
    }
}

/* Go back over `count` steps within little memory: forward piece by piece, each time noting the carries before it; then, from the
   last piece to the first, forward once more with the carries before each step stacked (`trace`), and back over these. */
void sweep(written *run, void *run_table, written *trace, void *trace_table, written *back, void *back_table,
           const struct relative *relative, const struct relative *relative_end, const struct state *states,
           const struct state *states_end, word first, word step, word piece, word count) {
    word final = (count + piece - 1) / piece - 1;
    for (word i = 0; remember(states, states_end, i, 0), i != final; i++) run(run_table, first + i * piece * step, step, piece);
    for (word k = final; k >= 0; k--) {
        remember(states, states_end, k, 1);
        word left = count - k * piece, length = left < piece ? left : piece;
        word from = first + k * piece * step, to = from + (length - 1) * step, low = from < to ? from : to;
        for (const struct relative *one = relative; one != relative_end; one++) *one->entry = one->base - low * one->bytes;
        trace(trace_table, from, step, length);
        back(back_table, to, -step, length);
    }
}
