/* The pool's native code: what a worker does, and how a job is launched. `pool.py` says what it is for.

   `make native` compiles this file to `pool.ll`, the LLVM text that the package loads: at run time there is no C compiler. The
   text holds for every processor with 64 bits; `relax` in it becomes the processor's instruction for a loop that waits. */

#include <stdatomic.h>
#include <stdint.h>

enum { SPINS = 2000 };             /* looks at the state before an idle thread lets others have its core: some 50 to 100 µs */
enum { TURNS = 2000 };             /* looks from then on, before it sleeps: about a millisecond */
enum { MOST = 64 };                /* parts that a job's chunks fall into: one for each thread that may take part, or some */
#define OPEN ((int64_t)1 << 31)    /* in the state: whether others may enter the job */
#define MEMBERS (OPEN - 1)         /* in the state: how many threads are in it */

/* A unit's work on a range of its chunks: (table, first, beyond the last, the thread's own table, the unit's block). */
typedef void chunks_of(void **table, int64_t first, int64_t last, void *own, void *block);

struct job {
    chunks_of *function;
    void **table;
    int64_t parts;
    int64_t limit;                 /* threads that may take part */
    void (*openmp)(int);           /* sets how many threads OpenMP has in the thread that calls it; or none */
    _Atomic int64_t quit;          /* threads that find it set end */
    void *block;
};

/* Chunks that lie together, of which one thread begins with the first; others claim what it hasn't when they are done. On a cache
   line of its own. */
enum { NEXT, END, LINE = 8 };      /* the chunk to claim; beyond the last */
typedef _Atomic int64_t part[LINE];

/* The pool's memory. What different threads write lies on cache lines of its own. The offsets stand in `pool.py`, too. */
struct pool {
    _Alignas(64) _Atomic int64_t state;    /* high half: the job's number; low half: OPEN, and MEMBERS */
    _Alignas(64) struct job job;
    _Alignas(64) _Atomic int32_t taken;    /* whether a caller has the pool */
    _Alignas(64) _Atomic int32_t sleepers;
    _Alignas(64) char mutex[128];
    _Alignas(64) char condition[192];
    _Alignas(64) part parts[MOST];
};
_Static_assert(sizeof(struct pool) == 4672, "pool.py says so");

/* POSIX's functions, whose addresses Python finds. */
struct functions {
    int (*lock)(void *);
    int (*unlock)(void *);
    int (*wait)(void *, void *);
    int (*broadcast)(void *);
    int (*yield)(void);
};

extern void relax(void);

/* Claim chunk by chunk, of one's own part and then of the others', until there is none left. Neighbouring chunks read and write
   neighbouring memory: two threads that took turns at them would fetch ahead what the other one is about to write. And where the
   next unit has as many chunks, a thread finds in its cache what it has made. */
static inline void work(struct pool *pool, chunks_of *function, void **table, int64_t parts, int64_t thread, void *block) {
    void *own = ((void **)table[0])[thread];
    for (int64_t k = 0; k < parts; k++) {
        _Atomic int64_t *part = pool->parts[(thread + k) % parts];
        int64_t end = atomic_load_explicit(&part[END], memory_order_relaxed);
        while (atomic_load_explicit(&part[NEXT], memory_order_relaxed) < end) {
            int64_t chunk = atomic_fetch_add_explicit(&part[NEXT], 1, memory_order_acq_rel);
            if (chunk < end)
                function(table, chunk, chunk + 1, own, block);
        }
    }
}

/* Wait until there is a job other than the one seen last: look for a while, then leave the core to whoever wants it between two
   looks, then sleep. Between the units of a program nobody should have to be woken: that takes 10 to 70 µs, and longer where a
   core of a virtual machine has been given back to its host. */
static inline int64_t other_than(struct pool *pool, struct functions *posix, int64_t seen) {
    for (;;) {
        for (int spins = 0; spins < SPINS; spins++) {
            int64_t state = atomic_load_explicit(&pool->state, memory_order_acquire);
            if ((int64_t)((uint64_t)state >> 32) != seen)
                return state;
            relax();
        }
        for (int turns = 0; turns < TURNS; turns++) {
            int64_t state = atomic_load_explicit(&pool->state, memory_order_acquire);
            if ((int64_t)((uint64_t)state >> 32) != seen)
                return state;
            posix->yield();
        }
        posix->lock(pool->mutex);
        atomic_fetch_add(&pool->sleepers, 1);
        while ((int64_t)((uint64_t)atomic_load(&pool->state) >> 32) == seen)
            posix->wait(pool->condition, pool->mutex);
        atomic_fetch_sub(&pool->sleepers, 1);
        posix->unlock(pool->mutex);
    }
}

/* Become a member of the job with this number; whether it was still open. */
static inline int enter(struct pool *pool, int64_t state, int64_t number) {
    while ((state & OPEN) && (int64_t)((uint64_t)state >> 32) == number) {
        if (atomic_compare_exchange_strong_explicit(&pool->state, &state, state + 1, memory_order_acq_rel, memory_order_acquire))
            return 1;
        relax();
    }
    return 0;
}

/* What a thread does from its start to its end. */
void *worker(void **argument) {
    struct pool *pool = argument[0];
    int64_t thread = (int64_t)argument[1], seen = 0;
    struct functions *posix = argument[2];
    struct job *job = &pool->job;
    for (;;) {
        int64_t state = other_than(pool, posix, seen);
        seen = (int64_t)((uint64_t)state >> 32);
        int member = enter(pool, state, seen);
        int64_t quit = atomic_load_explicit(&job->quit, memory_order_acquire);
        if (member && !quit && thread < job->limit) {
            if (job->openmp)
                job->openmp(1);
            work(pool, job->function, job->table, job->parts, thread, job->block);
        }
        if (member)
            atomic_fetch_sub_explicit(&pool->state, 1, memory_order_acq_rel);
        if (quit)
            return 0;
    }
}

/* A new number for the job, open to all; wakes who sleeps. */
void open(struct pool *pool, struct functions *posix) {
    int64_t state = atomic_load_explicit(&pool->state, memory_order_relaxed);
    uint64_t number = ((uint64_t)state >> 32) + 1;
    atomic_exchange(&pool->state, (int64_t)(number << 32) | OPEN);
    if (atomic_load(&pool->sleepers) > 0) {
        posix->lock(pool->mutex);
        posix->broadcast(pool->condition);
        posix->unlock(pool->mutex);
    }
}

/* Run all chunks of a function, beside the pool's threads if nobody else has them, `limit` in all at most. What isn't worth
   waking others (`wake`) runs beside them if some are awake anyway. */
void launch(struct pool *pool, struct functions *posix, chunks_of *function, void **table, int64_t count, int64_t limit,
            void *block, int64_t wake) {
    int helped = limit > 1 && (wake || atomic_load_explicit(&pool->sleepers, memory_order_relaxed) < limit - 1);
    int32_t nobody = 0;
    if (!helped || !atomic_compare_exchange_strong_explicit(&pool->taken, &nobody, 1, memory_order_acquire, memory_order_relaxed)) {
        function(table, 0, count, ((void **)table[0])[0], block);
        return;
    }
    struct job *job = &pool->job;
    int64_t parts = limit < MOST ? limit : MOST;
    parts = count < parts ? count : parts;
    job->function = function;
    job->table = table;
    job->parts = parts;
    job->limit = limit;
    job->block = block;
    for (int64_t k = 0; k < parts; k++) {
        atomic_store_explicit(&pool->parts[k][END], count * (k + 1) / parts, memory_order_relaxed);
        atomic_store_explicit(&pool->parts[k][NEXT], count * k / parts, memory_order_release);
    }
    open(pool, posix);
    work(pool, function, table, parts, 0, block);
    atomic_fetch_and_explicit(&pool->state, ~OPEN, memory_order_acq_rel); /* who isn't here yet comes too late */
    for (int spins = 0; atomic_load_explicit(&pool->state, memory_order_acquire) & MEMBERS; spins++) {
        if (spins < SPINS)
            relax();
        else
            posix->yield();
    }
    atomic_store_explicit(&pool->taken, 0, memory_order_release);
}
