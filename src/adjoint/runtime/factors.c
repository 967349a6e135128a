/* What is done for one larger matrix, by functions of OpenBLAS whose addresses are given, and for chunks of one that is treated block
   by block. `compiler/loops/build_lapack.py` and `build_blocked.py` write who calls this; `routines.py` says what for.

   LAPACK knows matrices by columns. Where what is found depends on that, it is given a copy in that order; a Cholesky factor, an inverse
   and a determinant are as well found of the transpose, which is the matrix as it lies. Matrices that aren't finite give NaN.

   Each function is there for real numbers in single and double precision (`_s`, `_d`), and for complex ones (`_c`, `_z`), whose
   real and imaginary parts lie side by side. Matrices lie in rows; pointers come first, then sizes. What is given says whether
   a matrix is to blame, if it is more than 0. */

#ifndef REAL
#include <stdint.h>

typedef int64_t word;

enum { ROW_MAJOR = 101, LEFT = 141, RIGHT, UPPER = 121, LOWER, PLAIN = 111, TRANSPOSED, ADJOINT, DIVIDE = 131, UNIT };

static inline word least(word a, word b) { return a < b ? a : b; }

#define PARTS 1
#define REAL float
#define OF(name) name##_s
#include "factors.c"
#define REAL double
#define OF(name) name##_d
#include "factors.c"
#undef PARTS
#define PARTS 2
#define REAL float
#define OF(name) name##_c
#include "factors.c"
#define REAL double
#define OF(name) name##_z
#include "factors.c"
#else

#define number OF(number)
#define vector OF(vector)
#define LANES ((word)(64 / sizeof(REAL)))
#define SHARED static __attribute__((noinline))

typedef REAL number;
typedef REAL vector __attribute__((vector_size(64), aligned(sizeof(REAL))));

/* A product with numbers, which functions of cblas take as they are, complex ones by their address. */
#if PARTS == 1
#define FACTOR number
#define GIVEN(x) (x)[0]
#else
#define FACTOR const number *
#define GIVEN(x) (x)
#endif

typedef void OF(potrf)(const char *, const int *, number *, const int *, int *, word);
typedef void OF(getrf)(const int *, const int *, number *, const int *, int *, int *);
typedef void OF(getri)(const int *, number *, const int *, const int *, number *, const int *, int *);
typedef void OF(geqrf)(const int *, const int *, number *, const int *, number *, number *, const int *, int *);
typedef void OF(orgqr)(const int *, const int *, const int *, number *, const int *, const number *, number *, const int *, int *);
typedef void OF(trsm)(int, int, int, int, int, int, int, FACTOR, const number *, int, number *, int); /* and trmm */
typedef void OF(trsv)(int, int, int, int, int, const number *, int, number *, int);
typedef void OF(gemm)(int, int, int, int, int, int, FACTOR, const number *, int, const number *, int, FACTOR, number *, int);

/* Elements that lie together */

SHARED void OF(copy)(number *to, const number *from, word count) {
    word i = 0;
    for (; i + LANES <= count; i += LANES) *(vector *)(to + i) = *(const vector *)(from + i);
    for (; i < count; i++) to[i] = from[i];
}

/* Whether all are finite, maybe copied, too. */
SHARED int OF(finite)(number *to, const number *from, word count) {
    vector total = {0};
    number rest = 0;
    word i = 0;
    for (; i + LANES <= count; i += LANES) {
        vector x = *(const vector *)(from + i);
        if (to) *(vector *)(to + i) = x;
        total += x * 0;
    }
    for (; i < count; i++) {
        number x = from[i];
        if (to) to[i] = x;
        rest += x * 0;
    }
    number each[LANES];
    *(vector *)each = total;
    for (word k = 0; k < LANES; k++) rest += each[k];
    return rest == 0;
}

SHARED void OF(fill)(number *to, word count, number x) {
    for (word i = 0; i < count; i++) to[i] = x;
}

SHARED void OF(spoil)(number *to, word count) { OF(fill)(to, count, (number)__builtin_nan("")); }

SHARED void OF(swap)(number *a, number *b, word count) {
    word i = 0;
    for (; i + LANES <= count; i += LANES) {
        vector x = *(vector *)(a + i);
        *(vector *)(a + i) = *(vector *)(b + i);
        *(vector *)(b + i) = x;
    }
    for (; i < count; i++) {
        number x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}

/* Matrices */

/* A matrix of so many rows and columns transposed; maybe the complex conjugate. */
SHARED void OF(transpose)(number *to, const number *from, word rows, word columns, int conjugate) {
    for (word i = 0; i < rows; i++)
        for (word j = 0; j < columns; j++)
            for (word p = 0; p < PARTS; p++) {
                number x = from[(i * columns + j) * PARTS + p];
                to[(j * rows + i) * PARTS + p] = p && conjugate ? -x : x;
            }
}

/* Zeros above the diagonal, or below it. */
SHARED void OF(clear_above)(number *x, word n) {
    for (word i = 0; i < n; i++) OF(fill)(x + (i * n + i + 1) * PARTS, (n - 1 - i) * PARTS, 0);
}

SHARED void OF(clear_below)(number *x, word n) {
    for (word i = 1; i < n; i++) OF(fill)(x + i * n * PARTS, i * PARTS, 0);
}

/* X in place with T X = X of a triangle of A; or T X, by trmm. */
SHARED void OF(by_triangle)(OF(trsm) *function, int which, int how, int diagonal, const number *a, number *x, word n, word columns,
                            word pitch) {
    number one[2];
    one[0] = 1;
    one[1] = 0;
    function(ROW_MAJOR, LEFT, which, how, diagonal, (int)n, (int)columns, GIVEN(one), a, (int)n, x, (int)pitch);
}

/* Exchange rows of a matrix in place as elimination did, or back. Pivots count from `first`; counted from 0 they may be wrong: whether
   one is, and which number. */
SHARED word OF(exchange)(number *x, const int *pivots, word *noted, word steps, word rows, word columns, int inverse, int first) {
    word wrong = 0;
    for (word step = 0; step < steps; step++) {
        word i = inverse ? steps - 1 - step : step, p = (word)pivots[i] - first;
        if (!first && (uint64_t)p >= (uint64_t)rows) {
            wrong = 1;
            *noted = p;
            p = i;
        }
        if (p != i) OF(swap)(x + i * columns * PARTS, x + p * columns * PARTS, columns * PARTS);
    }
    return wrong;
}

/* LU factors in place of a matrix by columns. */
SHARED word OF(eliminate)(OF(getrf) *getrf, number *a, int *pivots, word rows, word columns) {
    int m = (int)rows, n = (int)columns, info = 0;
    getrf(&m, &n, a, &m, pivots, &info);
    return info;
}

/* What is done for one matrix */

/* Of the upper triangle of the columns, which is the lower one of the rows; of the conjugate, whose factor is the conjugate. */
word OF(cholesky)(const number *a, number *out, OF(potrf) *potrf, word n) {
    if (!OF(finite)(out, a, n * n * PARTS)) {
        OF(spoil)(out, n * n * PARTS);
        return 0;
    }
    char upper = 'U';
    int order = (int)n, info = 0;
    potrf(&upper, &order, out, &order, &info, 1);
    OF(clear_above)(out, n);
    return info;
}

/* Half of F and its adjoint, where F = L⁻ᴴ Φ(Lᴴ u) L⁻¹ and Φ keeps the lower triangle and half the diagonal. */
word OF(cholesky_adjoint)(const number *factor, const number *u, number *out, number *other, OF(trsm) *trmm, OF(trsm) *trsm, word n) {
    OF(copy)(out, u, n * n * PARTS);
    OF(clear_above)(out, n);
    OF(by_triangle)(trmm, LOWER, ADJOINT, DIVIDE, factor, out, n, n, n);
    OF(clear_above)(out, n);
    for (word i = 0; i < n; i++)
        for (word p = 0; p < PARTS; p++) out[i * (n + 1) * PARTS + p] *= (number)0.5;
    OF(by_triangle)(trsm, LOWER, ADJOINT, DIVIDE, factor, out, n, n, n);
    OF(transpose)(other, out, n, n, 1);
    OF(by_triangle)(trsm, LOWER, ADJOINT, DIVIDE, factor, other, n, n, n);
    for (word i = 0; i < n; i++)
        for (word j = 0; j < n; j++)
            for (word p = 0; p < PARTS; p++) {
                number x = other[(i * n + j) * PARTS + p], y = other[(j * n + i) * PARTS + p];
                out[(i * n + j) * PARTS + p] = (x + (p ? -y : y)) * (number)0.5;
            }
    return 0;
}

/* Whether there is a zero on the diagonal. */
word OF(has_zero)(const number *a, word n) {
    for (word i = 0; i < n; i++) {
        const number *x = a + i * (n + 1) * PARTS;
        if (x[0] == 0 && x[PARTS - 1] == 0) return 1;
    }
    return 0;
}

/* Some of k columns, from one on, of a triangular system. */
word OF(solve_triangular)(const number *a, const number *b, number *out, OF(trsm) *trsm, word n, word k, word first, word columns,
                          word which, word how, word diagonal) {
    if (columns == k)
        OF(copy)(out, b, n * k * PARTS);
    else
        for (word i = 0; i < n; i++) OF(copy)(out + (i * k + first) * PARTS, b + (i * k + first) * PARTS, columns * PARTS);
    OF(by_triangle)(trsm, (int)which, (int)how, (int)diagonal, a, out + first * PARTS, n, columns, k);
    return 0;
}

/* The same for one right side: in a third of the time. */
word OF(solve_vector)(const number *a, const number *b, number *out, OF(trsv) *trsv, word n, word which, word how, word diagonal) {
    OF(copy)(out, b, n * PARTS);
    trsv(ROW_MAJOR, (int)which, (int)how, (int)diagonal, (int)n, a, (int)n, out, 1);
    return 0;
}

word OF(lu)(const number *a, number *out, int *pivots, number *space, OF(getrf) *getrf, word m, word n) {
    word count = least(m, n), sound = OF(finite)(0, a, m * n * PARTS);
    if (sound) {
        OF(transpose)(space, a, m, n, 0);
        OF(eliminate)(getrf, space, pivots, m, n);
        OF(transpose)(out, space, n, m, 0);
    } else
        OF(spoil)(out, m * n * PARTS);
    for (word i = 0; i < count; i++) pivots[i] = sound ? pivots[i] - 1 : (int)i; /* LAPACK counts from 1 */
    return 0;
}

/* Whether a pivot is wrong. */
word OF(solve_factored)(const number *packed, const int *pivots, const number *b, number *out, OF(trsm) *trsm, word *noted, word n,
                        word k, word adjoint) {
    OF(copy)(out, b, n * k * PARTS);
    if (adjoint) {
        OF(by_triangle)(trsm, UPPER, ADJOINT, DIVIDE, packed, out, n, k, k);
        OF(by_triangle)(trsm, LOWER, ADJOINT, UNIT, packed, out, n, k, k);
    }
    word wrong = OF(exchange)(out, pivots, noted, n, n, k, (int)adjoint, 0);
    if (!adjoint) {
        OF(by_triangle)(trsm, LOWER, PLAIN, UNIT, packed, out, n, k, k);
        OF(by_triangle)(trsm, UPPER, PLAIN, DIVIDE, packed, out, n, k, k);
    }
    return wrong;
}

/* Whether a pivot is wrong. */
word OF(permute_rows)(const number *b, const int *pivots, number *out, word *noted, word rows, word columns, word steps, word inverse) {
    OF(copy)(out, b, rows * columns * PARTS);
    return OF(exchange)(out, pivots, noted, steps, rows, columns, (int)inverse, 0);
}

/* The factors lie by columns: read by rows, they are transposed. */
word OF(solve)(const number *a, const number *b, number *out, number *packed, int *pivots, OF(getrf) *getrf, OF(trsm) *trsm, word n,
               word k) {
    if (!OF(finite)(0, a, n * n * PARTS)) {
        OF(spoil)(out, n * k * PARTS);
        return 0;
    }
    OF(transpose)(packed, a, n, n, 0);
    word info = OF(eliminate)(getrf, packed, pivots, n, n);
    OF(copy)(out, b, n * k * PARTS);
    OF(exchange)(out, pivots, 0, n, n, k, 0, 1);
    OF(by_triangle)(trsm, UPPER, TRANSPOSED, UNIT, packed, out, n, k, k);
    OF(by_triangle)(trsm, LOWER, TRANSPOSED, DIVIDE, packed, out, n, k, k);
    return info;
}

word OF(inv)(const number *a, number *out, int *pivots, number *work, OF(getrf) *getrf, OF(getri) *getri, word n, word room) {
    if (!OF(finite)(out, a, n * n * PARTS)) {
        OF(spoil)(out, n * n * PARTS);
        return 0;
    }
    word singular = OF(eliminate)(getrf, out, pivots, n, n);
    int order = (int)n, size = (int)room, info = 0;
    getri(&order, out, &order, pivots, work, &size, &info);
    return singular;
}

/* LU factors, for a determinant. */
word OF(factored)(const number *a, number *space, int *pivots, OF(getrf) *getrf, word n) {
    OF(copy)(space, a, n * n * PARTS);
    return OF(eliminate)(getrf, space, pivots, n, n);
}

/* Q has k columns, and R as many rows. */
word OF(qr)(const number *a, number *q, number *r, number *space, number *tau, number *work, OF(geqrf) *geqrf, OF(orgqr) *orgqr,
            word m, word n, word k, word room) {
    int rows = (int)m, columns = (int)n, every = (int)k, size = (int)room, info = 0;
    OF(transpose)(space, a, m, n, 0);
    geqrf(&rows, &columns, space, &rows, tau, work, &size, &info);
    for (word i = 0; i < n; i++)
        for (word j = 0; j < n; j++)
            for (word p = 0; p < PARTS; p++) r[(i * n + j) * PARTS + p] = space[(j * m + i) * PARTS + p];
    OF(fill)(r + n * n * PARTS, (k - n) * n * PARTS, 0);
    OF(clear_below)(r, n);
    orgqr(&rows, &every, &columns, space, &rows, tau, work, &size, &info);
    OF(transpose)(q, space, k, m, 0);
    return 0;
}

#if PARTS == 1
typedef void OF(syevd)(const char *, const char *, const int *, number *, const int *, number *, number *, const int *, int *,
                       const int *, int *, word, word);
typedef void OF(gesdd)(const char *, const int *, const int *, number *, const int *, number *, number *, const int *, number *,
                       const int *, number *, const int *, int *, int *, word);
#define REAL_OF(x)
#define REAL_WORK(x, size)
#else
typedef void OF(syevd)(const char *, const char *, const int *, number *, const int *, number *, number *, const int *, number *,
                       const int *, int *, const int *, int *, word, word);
typedef void OF(gesdd)(const char *, const int *, const int *, number *, const int *, number *, number *, const int *, number *,
                       const int *, number *, const int *, number *, int *, int *, word);
#define REAL_OF(x) x,
#define REAL_WORK(x, size) x, size,
#endif

/* Eigenvalues, and vectors if there is an `out`. */
word OF(eigenvalues)(const number *a, number *values, number *out, number *space, number *work, number *real, int *whole,
                     OF(syevd) *syevd, word n, word upper, word room, word real_room, word whole_room) {
    if (!OF(finite)(0, a, n * n * PARTS)) {
        OF(spoil)(values, n);
        if (out) OF(spoil)(out, n * n * PARTS);
        return 0;
    }
    OF(transpose)(space, a, n, n, 0);
    char kind = out ? 'V' : 'N', which = upper ? 'U' : 'L';
    int order = (int)n, sizes[3] = {(int)room, (int)real_room, (int)whole_room}, info = 0;
    syevd(&kind, &which, &order, space, &order, values, work, sizes, REAL_WORK(real, sizes + 1) whole, sizes + 2, &info, 1, 1);
    if (out) OF(transpose)(out, space, n, n, 0);
    return info;
}

/* Singular values, and vectors if there is room for them: of the left ones `wide` columns, of the right ones `high` rows. */
word OF(singular_values)(const number *a, number *u_out, number *values, number *vh_out, number *space, number *work, number *real,
                         int *whole, number *u, number *vh, OF(gesdd) *gesdd, word m, word n, word wide, word high, word room,
                         word letter) {
    if (!OF(finite)(0, a, m * n * PARTS)) {
        OF(spoil)(values, least(m, n));
        if (u_out) OF(spoil)(u_out, m * wide * PARTS);
        if (vh_out) OF(spoil)(vh_out, high * n * PARTS);
        return 0;
    }
    OF(transpose)(space, a, m, n, 0);
    char kind = (char)letter;
    int rows = (int)m, columns = (int)n, tall = (int)high, size = (int)room, info = 0;
    gesdd(&kind, &rows, &columns, space, &rows, values, u, &rows, vh, &tall, work, &size, REAL_OF(real) whole, &info, 1);
    if (u_out) OF(transpose)(u_out, u, wide, m, 0);
    if (vh_out) OF(transpose)(vh_out, vh, n, high, 0);
    return info;
}

#if PARTS == 2
/* A product of matrices, each of which lies by rows or by columns. */
word OF(product)(const number *a, const number *b, number *out, OF(gemm) *gemm, word m, word n, word k, word a_mode, word b_mode,
                 word a_step, word b_step) {
    number one[2], zero[2];
    one[0] = 1;
    one[1] = zero[0] = zero[1] = 0;
    gemm(ROW_MAJOR, (int)a_mode, (int)b_mode, (int)m, (int)n, (int)k, one, a, (int)a_step, b, (int)b_step, zero, out, (int)n);
    return 0;
}
#else

/* One large matrix, block by block: a chunk is a strip of its rows. Where it stands is what all threads see. */

#define stage OF(stage)
struct stage {
    word place, bad, failed;       /* where the block of the diagonal begins; whether something isn't finite, or a block has no factor */
    word strips[];                 /* of each strip, whether something isn't finite */
};

/* A Cholesky factor: of the rows below a block first what stands in its columns, then what that takes from the columns behind. */

SHARED void OF(factor_block)(number *out, struct stage *stage, OF(potrf) *potrf, word start, word n, word block) {
    char upper = 'U';
    int size = (int)least(n - start, block), order = (int)n, info = 0;
    potrf(&upper, &size, out + start * (n + 1), &order, &info, 1);
    if (info > 0) stage->failed = 1;
}

word OF(blocked_begin)(const number *a, number *out, struct stage *stage, word chunk, word n, word strip) {
    word low = chunk * strip;
    stage->strips[chunk] = !OF(finite)(out + low * n, a + low * n, least(n - low, strip) * n);
    return 0;
}

word OF(blocked_first)(number *out, struct stage *stage, OF(potrf) *potrf, word n, word block, word strips) {
    stage->place = stage->bad = stage->failed = 0;
    for (word k = 0; k < strips; k++) stage->bad |= stage->strips[k];
    OF(factor_block)(out, stage, potrf, 0, n, block);
    return 0;
}

word OF(blocked_panel)(number *out, const struct stage *stage, OF(trsm) *trsm, word chunk, word n, word block, word strip) {
    word start = stage->place, low = chunk * strip + start + block;
    trsm(ROW_MAJOR, RIGHT, LOWER, TRANSPOSED, DIVIDE, (int)least(n - low, strip), (int)block, 1, out + start * (n + 1), (int)n,
         out + low * n + start, (int)n);
    return 0;
}

/* The first chunk goes ahead to the next block of the diagonal. */
word OF(blocked_update)(number *out, struct stage *stage, OF(gemm) *gemm, OF(potrf) *potrf, word chunk, word n, word block,
                        word strip) {
    word start = stage->place, behind = start + block, low = chunk * strip + behind, count = least(n - low, strip);
    gemm(ROW_MAJOR, PLAIN, TRANSPOSED, (int)count, (int)(low + count - behind), (int)block, -1, out + low * n + start, (int)n,
         out + behind * n + start, (int)n, 1, out + low * n + behind, (int)n);
    if (chunk == 0) OF(factor_block)(out, stage, potrf, behind, n, block);
    return 0;
}

word OF(blocked_advance)(struct stage *stage, word by) {
    stage->place += by;
    return 0;
}

/* Zeros above the diagonal; NaN everywhere, if an element wasn't finite. */
word OF(blocked_clear)(number *out, const struct stage *stage, word chunk, word n, word strip) {
    word low = chunk * strip, high = low + least(n - low, strip);
    if (stage->bad) OF(spoil)(out + low * n, (high - low) * n);
    for (word i = low; !stage->bad && i < high; i++) OF(fill)(out + i * n + i + 1, n - 1 - i, 0);
    return 0;
}

/* Whether a matrix that is finite has no factor. */
word OF(blocked_failed)(const struct stage *stage) { return stage->failed && !stage->bad; }

/* The cotangent of A = L Lᵀ, block by block from the end (see `linalg_kernels.cholesky_adjoint`). What the rows below a block make
   of its columns stays there, twice what it is in the result. */

SHARED void OF(multiply)(OF(gemm) *gemm, int left, int right, word rows, word columns, word sum, number factor, const number *a,
                         const number *b, number *c, word n) {
    gemm(ROW_MAJOR, left, right, (int)rows, (int)columns, (int)sum, factor, a, (int)n, b, (int)n, 1, c, (int)n);
}

/* The lower triangle of a block, and zeros above it, with the diagonal times a number. */
SHARED void OF(triangle_of)(number *to, const number *from, word height, word pitch, word block, number diagonal) {
    for (word i = 0; i < height; i++) {
        OF(copy)(to + i * block, from + i * pitch, i + 1);
        OF(fill)(to + i * block + i + 1, height - 1 - i, 0);
        to[i * (block + 1)] *= diagonal;
    }
}

/* A block of the diagonal; `taken` are what so many strips of the rows below take from it. */
SHARED void OF(adjoint_block)(const number *factor, number *g, const number *taken, word strips, OF(trsm) *trsm, OF(trsm) *trmm,
                              number *phi, word start, word n, word block) {
    word end = least(start + block, n), height = end - start;
    number *h = g + start * (n + 1);
    const number *own = factor + start * (n + 1);
    int order = (int)n, size = (int)height, wide = (int)block;
    for (word k = 0; k < strips; k++, taken += block * block)
        for (word i = 0; i < height; i++)
            for (word j = 0; j < height; j++) h[i * n + j] -= taken[i * block + j];
    OF(triangle_of)(phi, h, height, n, block, 1);
    trmm(ROW_MAJOR, LEFT, LOWER, TRANSPOSED, DIVIDE, size, size, 1, own, order, phi, wide);
    OF(triangle_of)(phi, phi, height, block, block, (number)0.5);
    trsm(ROW_MAJOR, LEFT, LOWER, TRANSPOSED, DIVIDE, size, size, 1, own, order, phi, wide);
    trsm(ROW_MAJOR, RIGHT, LOWER, PLAIN, DIVIDE, size, size, 1, own, order, phi, wide);
    for (word i = 0; i < height; i++)
        for (word j = 0; j < height; j++) h[i * n + j] = (phi[i * block + j] + phi[j * block + i]) * (number)0.5;
}

word OF(adjoint_begin)(const number *u, number *g, word chunk, word n, word strip) {
    word low = chunk * strip;
    OF(copy)(g + low * n, u + low * n, least(n - low, strip) * n);
    return 0;
}

word OF(adjoint_first)(const number *factor, number *g, struct stage *stage, OF(trsm) *trsm, OF(trsm) *trmm, number *phi, word start,
                       word n, word block) {
    stage->place = start;
    OF(adjoint_block)(factor, g, 0, 0, trsm, trmm, phi, start, n, block);
    return 0;
}

/* Of some of the rows below a block what they make of its columns, and take from it. */
word OF(adjoint_panel)(const number *factor, number *g, const struct stage *stage, number *taken, OF(gemm) *gemm, OF(trsm) *trsm,
                       word chunk, word n, word block, word strip) {
    word start = stage->place, low = start + block + chunk * strip;
    number *t = g + low * n + start;
    int size = (int)block, rows = (int)least(n - low, strip), order = (int)n;
    trsm(ROW_MAJOR, RIGHT, LOWER, PLAIN, DIVIDE, rows, size, 1, factor + start * (n + 1), order, t, order);
    gemm(ROW_MAJOR, TRANSPOSED, PLAIN, size, size, rows, 1, t, order, factor + low * n + start, order, 0, taken + chunk * block * block,
         size);
    return 0;
}

/* What these take from some of the columns before it, their own rows or the block's, while the first chunk makes its block of the
   diagonal. */
word OF(adjoint_columns)(const number *factor, number *g, const struct stage *stage, const number *taken, OF(gemm) *gemm,
                         OF(trsm) *trsm, OF(trsm) *trmm, number *phi, word chunk, word n, word block, word strip, word columns) {
    word start = stage->place, end = start + block, below = n - end;
    word low = (chunk - 1) / 2 * columns, width = least(start - low, columns);
    const number *t = g + end * n + start;
    if (!chunk)
        OF(adjoint_block)(factor, g, taken, (below + strip - 1) / strip, trsm, trmm, phi, start, n, block);
    else if (chunk % 2)
        OF(multiply)(gemm, PLAIN, PLAIN, below, width, block, -1, t, factor + start * n + low, g + end * n + low, n);
    else
        OF(multiply)(gemm, TRANSPOSED, PLAIN, block, width, below, -1, t, factor + end * n + low, g + start * n + low, n);
    return 0;
}

/* What the block of the diagonal takes from some of the columns before it. */
word OF(adjoint_rows)(const number *factor, number *g, const struct stage *stage, OF(gemm) *gemm, word chunk, word n, word block,
                      word columns) {
    word start = stage->place, height = least(n - start, block), low = chunk * columns, width = least(start - low, columns);
    OF(multiply)(gemm, PLAIN, PLAIN, height, width, height, -2, g + start * (n + 1), factor + start * n + low, g + start * n + low, n);
    return 0;
}

/* Half of what stands below the blocks of the diagonal, and the same above them. `across` transposes. */
word OF(adjoint_mirror)(number *g, void (*across)(const number *, word, number *, word, word, word), word chunk, word n, word block,
                        word strip) {
    word low = chunk * strip, high = low + least(n - low, strip);
    for (word before = low / block * block; before < high; before += block) {
        word begin = before < low ? low : before, end = least(before + block, high);
        if (!before) continue;
        for (word i = begin; i < end; i++)
            for (word j = 0; j < before; j++) g[i * n + j] *= (number)0.5;
        across(g + begin * n, n, g + begin, n, before, end - begin);
    }
    return 0;
}
#endif

#undef number
#undef vector
#undef stage
#undef LANES
#undef SHARED
#undef FACTOR
#undef GIVEN
#undef REAL_OF
#undef REAL_WORK
#undef REAL
#undef OF
#endif
