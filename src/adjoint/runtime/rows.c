/* The loops of the machines that interpret programs (`machine/tape.py`, `machine/machine.py`): each row of a table is a function and
   what it is given. */

#include <stdint.h>

typedef int64_t word;

struct instruction {
    void (*function)(void *out, void *a, void *b, void *c, word n, void *libm);
    void *out, *a, *b, *c;
    word n;
};

void tape(const struct instruction *row, const struct instruction *last, void *libm) {
    do row->function(row->out, row->a, row->b, row->c, row->n, libm);
    while (++row != last);
}

struct run {
    void (*function)(void *cells, void *what, word count, void *libm);
    void *what;
    word count;
};

void runs(const struct run *row, const struct run *last, void *cells, void *libm) {
    do row->function(cells, row->what, row->count, libm);
    while (++row != last);
}
