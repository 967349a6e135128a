"""The pool's native code: what a worker does, and how a job is launched. `pool.py` says what it is for."""

from __future__ import annotations

SPINS = 1000  # looks at the state before an idle thread sleeps: some 50 µs

# The pool's memory, each on cache lines of its own: the state (in the high half the number of the job, in the low half
# whether it is open, and how many threads work on it), the next chunk, the job, and what sleeping needs.
STATE, NEXT, JOB, TAKEN, SLEEPERS, MUTEX, CONDITION, SIZE = 0, 64, 128, 192, 256, 320, 448, 640
FUNCTION, TABLE, COUNT, LIMIT, OPENMP, QUIT, BLOCK = 0, 8, 16, 24, 32, 40, 48  # within the job

CODE = """
define internal void @$chunks(ptr %pool, ptr %function, ptr %table, i64 %count, i64 %thread, ptr %block) #0 {{
entry:
  %next = getelementptr i8, ptr %pool, i64 {NEXT}
  %owns = load ptr, ptr %table
  %at = getelementptr ptr, ptr %owns, i64 %thread
  %own = load ptr, ptr %at
  br label %claim
claim:
  %c = atomicrmw add ptr %next, i64 1 acq_rel
  %more = icmp slt i64 %c, %count
  br i1 %more, label %work, label %done
work:
  %c1 = add i64 %c, 1
  call void %function(ptr %table, i64 %c, i64 %c1, ptr %own, ptr %block)
  br label %claim
done:
  ret void
}}

define ptr @$worker(ptr %argument) #0 {{
entry:
  %pool = load ptr, ptr %argument
  %thread.at = getelementptr i64, ptr %argument, i64 1
  %thread = load i64, ptr %thread.at
  %functions.at = getelementptr ptr, ptr %argument, i64 2
  %functions = load ptr, ptr %functions.at
  %lock = load ptr, ptr %functions
  %unlock.at = getelementptr ptr, ptr %functions, i64 1
  %unlock = load ptr, ptr %unlock.at
  %wait.at = getelementptr ptr, ptr %functions, i64 2
  %wait = load ptr, ptr %wait.at
  %mutex = getelementptr i8, ptr %pool, i64 {MUTEX}
  %condition = getelementptr i8, ptr %pool, i64 {CONDITION}
  %sleepers = getelementptr i8, ptr %pool, i64 {SLEEPERS}
  %job = getelementptr i8, ptr %pool, i64 {JOB}
  br label %idle
idle:
  %seen = phi i64 [0, %entry], [%number, %skip], [%number, %leave]
  br label %look
look:
  %spins = phi i64 [0, %idle], [%spins1, %pause], [0, %woken]
  %state = load atomic i64, ptr %pool acquire, align 8
  %number = lshr i64 %state, 32
  %new = icmp ne i64 %number, %seen
  br i1 %new, label %try, label %wait.more
wait.more:
  %spins1 = add i64 %spins, 1
  %patient = icmp slt i64 %spins1, {SPINS}
  br i1 %patient, label %pause, label %sleep
pause:
  call void {PAUSE}
  br label %look
sleep:
  call i32 %lock(ptr %mutex)
  atomicrmw add ptr %sleepers, i32 1 seq_cst
  br label %asleep
asleep:
  %state2 = load atomic i64, ptr %pool seq_cst, align 8
  %number2 = lshr i64 %state2, 32
  %still = icmp eq i64 %number2, %seen
  br i1 %still, label %doze, label %awake
doze:
  call i32 %wait(ptr %condition, ptr %mutex)
  br label %asleep
awake:
  atomicrmw sub ptr %sleepers, i32 1 seq_cst
  call i32 %unlock(ptr %mutex)
  br label %woken
woken:
  br label %look
try:
  %low = and i64 %state, {OPEN}
  %open = icmp ne i64 %low, 0
  br i1 %open, label %enter, label %skip
skip:
  %quit1.at = getelementptr i8, ptr %job, i64 {QUIT}
  %quit1 = load atomic i64, ptr %quit1.at acquire, align 8
  %ends1 = icmp ne i64 %quit1, 0
  br i1 %ends1, label %gone, label %idle
gone:
  ret ptr null
enter:
  %inside = add i64 %state, 1
  %pair = cmpxchg ptr %pool, i64 %state, i64 %inside acq_rel monotonic
  %entered = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %entered, label %member, label %again
again:
  call void {PAUSE}
  %state3 = load atomic i64, ptr %pool acquire, align 8
  br label %retry
retry:
  %low3 = and i64 %state3, {OPEN}
  %open3 = icmp ne i64 %low3, 0
  %number3 = lshr i64 %state3, 32
  %same3 = icmp eq i64 %number3, %number
  %go = and i1 %open3, %same3
  br i1 %go, label %enter2, label %skip
enter2:
  %inside2 = add i64 %state3, 1
  %pair2 = cmpxchg ptr %pool, i64 %state3, i64 %inside2 acq_rel monotonic
  %entered2 = extractvalue {{ i64, i1 }} %pair2, 1
  br i1 %entered2, label %member, label %again
member:
  %quit.at = getelementptr i8, ptr %job, i64 {QUIT}
  %quit = load i64, ptr %quit.at
  %ends = icmp ne i64 %quit, 0
  br i1 %ends, label %exit, label %invited
invited:
  %limit.at = getelementptr i8, ptr %job, i64 {LIMIT}
  %limit = load i64, ptr %limit.at
  %welcome = icmp slt i64 %thread, %limit
  br i1 %welcome, label %run, label %leave
run:
  %openmp.at = getelementptr i8, ptr %job, i64 {OPENMP}
  %openmp = load ptr, ptr %openmp.at
  %none = icmp eq ptr %openmp, null
  br i1 %none, label %begin, label %single
single:
  call void %openmp(i32 1)
  br label %begin
begin:
  %function.at = getelementptr i8, ptr %job, i64 {FUNCTION}
  %function = load ptr, ptr %function.at
  %table.at = getelementptr i8, ptr %job, i64 {TABLE}
  %table = load ptr, ptr %table.at
  %count.at = getelementptr i8, ptr %job, i64 {COUNT}
  %count = load i64, ptr %count.at
  %block.at = getelementptr i8, ptr %job, i64 {BLOCK}
  %block = load ptr, ptr %block.at
  call void @$chunks(ptr %pool, ptr %function, ptr %table, i64 %count, i64 %thread, ptr %block)
  br label %leave
leave:
  atomicrmw sub ptr %pool, i64 1 acq_rel
  br label %idle
exit:
  atomicrmw sub ptr %pool, i64 1 acq_rel
  ret ptr null
}}

; Runs all chunks of a function, with the pool's threads if nobody else has them; %limit threads at most.
define void @$launch(ptr %pool, ptr %functions, ptr %function, ptr %table, i64 %count, i64 %limit, ptr %block) #0 {{
entry:
  %job = getelementptr i8, ptr %pool, i64 {JOB}
  %taken = getelementptr i8, ptr %pool, i64 {TAKEN}
  %several = icmp sgt i64 %limit, 1
  br i1 %several, label %ask, label %alone
ask:
  %pair = cmpxchg ptr %taken, i32 0, i32 1 acquire monotonic
  %free = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %free, label %together, label %alone
alone:
  %owns = load ptr, ptr %table
  %own = load ptr, ptr %owns
  call void %function(ptr %table, i64 0, i64 %count, ptr %own, ptr %block)
  ret void
together:
  %function.at = getelementptr i8, ptr %job, i64 {FUNCTION}
  store ptr %function, ptr %function.at
  %table.at = getelementptr i8, ptr %job, i64 {TABLE}
  store ptr %table, ptr %table.at
  %count.at = getelementptr i8, ptr %job, i64 {COUNT}
  store i64 %count, ptr %count.at
  %limit.at = getelementptr i8, ptr %job, i64 {LIMIT}
  store i64 %limit, ptr %limit.at
  %block.at = getelementptr i8, ptr %job, i64 {BLOCK}
  store ptr %block, ptr %block.at
  %next = getelementptr i8, ptr %pool, i64 {NEXT}
  store atomic i64 0, ptr %next release, align 8
  call void @$open(ptr %pool, ptr %functions)
  call void @$chunks(ptr %pool, ptr %function, ptr %table, i64 %count, i64 0, ptr %block)
  %closing = atomicrmw and ptr %pool, i64 {CLOSED} acq_rel
  %yield.at = getelementptr ptr, ptr %functions, i64 4
  %yield = load ptr, ptr %yield.at
  br label %wait
wait:
  %spins = phi i64 [0, %together], [%spins1, %pause], [%spins1, %give]
  %state = load atomic i64, ptr %pool acquire, align 8
  %members = and i64 %state, {MEMBERS}
  %finished = icmp eq i64 %members, 0
  br i1 %finished, label %done, label %more
more:
  %spins1 = add i64 %spins, 1
  %patient = icmp slt i64 %spins1, {SPINS}
  br i1 %patient, label %pause, label %give
pause:
  call void {PAUSE}
  br label %wait
give:
  call i32 %yield()
  br label %wait
done:
  store atomic i32 0, ptr %taken release, align 4
  ret void
}}

; A new number for the job, open to all; wakes who sleeps.
define void @$open(ptr %pool, ptr %functions) #0 {{
entry:
  %state = load atomic i64, ptr %pool monotonic, align 8
  %number = lshr i64 %state, 32
  %following = add i64 %number, 1
  %shifted = shl i64 %following, 32
  %opened = or i64 %shifted, {OPEN}
  %before = atomicrmw xchg ptr %pool, i64 %opened seq_cst
  %sleepers = getelementptr i8, ptr %pool, i64 {SLEEPERS}
  %asleep = load atomic i32, ptr %sleepers seq_cst, align 4
  %any = icmp sgt i32 %asleep, 0
  br i1 %any, label %wake, label %done
wake:
  %mutex = getelementptr i8, ptr %pool, i64 {MUTEX}
  %condition = getelementptr i8, ptr %pool, i64 {CONDITION}
  %lock = load ptr, ptr %functions
  %unlock.at = getelementptr ptr, ptr %functions, i64 1
  %unlock = load ptr, ptr %unlock.at
  %broadcast.at = getelementptr ptr, ptr %functions, i64 3
  %broadcast = load ptr, ptr %broadcast.at
  call i32 %lock(ptr %mutex)
  call i32 %broadcast(ptr %condition)
  call i32 %unlock(ptr %mutex)
  br label %done
done:
  ret void
}}
"""
OPEN, MEMBERS = 1 << 31, (1 << 31) - 1
