"""The loop that runs a program: a list of calls, each a kernel's function with the unit's block of arguments.

A program is data. A call is four numbers: the function, its block, how many chunks it has, and flags. Before the first of them
the loop writes down in the table where the caller's arrays are: it is given the array objects themselves, since Python would
take longer to read where an array's data is. `move` is three numbers: which object, the position in the table, and bytes to
add. A record says where all that is.
"""

from __future__ import annotations

from adjoint.compiler.tables import FAILURE, OWNS

# Flags of a call: other threads may help; if it noted a failure, what follows isn't run; it is worth waking them.
SHARED, CHECKED, WAKING = 1, 2, 4
CALL, MOVE = 4, 3  # numbers in each
# A record's fields. FIELD is where in an array object the address of its data stands; negative where addresses are given.
FIELDS = ("TABLE", "OBJECTS", "FIELD", "MOVES", "MOVES_END", "CALLS", "CALLS_END", "LAUNCH", "POOL", "FUNCTIONS", "LIMIT",
          "THREADS", "SET_THREADS")  # fmt: skip
PLACE = {name: position for position, name in enumerate(FIELDS)}


def _load(name: str, pointer: str, position: int, kind: str = "ptr") -> str:
    """Lines that load an element of 8 bytes."""
    return f"""  %{name}.at = getelementptr i64, ptr %{pointer}, i64 {position}
  %{name} = load {kind}, ptr %{name}.at
"""


def _field(name: str, kind: str = "ptr") -> str:
    return _load(name.lower(), "record", PLACE[name], kind)


# The functions THREADS and SET_THREADS of OpenMP are there if a call of oneDNN is: it runs on one thread.
LOOP = f"""
define void @$run(ptr %record) #0 {{
entry:
{"".join([_field(name, "i64" if name in ("FIELD", "LIMIT") else "ptr") for name in FIELDS])}
{_load("owns", "table", OWNS)}{_load("failure", "table", FAILURE)}
  %own = load ptr, ptr %owns
  %given = icmp slt i64 %field, 0
  br label %moving
moving:
  %move = phi ptr [%moves, %entry], [%move.next, %moved]
  %all.moved = icmp eq ptr %move, %moves_end
  br i1 %all.moved, label %begin, label %read
read:
{_load("index", "move", 0, "i64")}{_load("position", "move", 1, "i64")}{_load("bytes", "move", 2, "i64")}
  %object.at = getelementptr ptr, ptr %objects, i64 %index
  %object = load ptr, ptr %object.at
  br i1 %given, label %moved, label %look
look:
  %data.at = getelementptr i8, ptr %object, i64 %field
  %data = load ptr, ptr %data.at
  br label %moved
moved:
  %array = phi ptr [%object, %read], [%data, %look]
  %start = getelementptr i8, ptr %array, i64 %bytes
  %entry.at = getelementptr ptr, ptr %table, i64 %position
  store ptr %start, ptr %entry.at
  %move.next = getelementptr i64, ptr %move, i64 {MOVE}
  br label %moving
begin:
  %plain = icmp eq ptr %threads, null
  br i1 %plain, label %calling, label %single
single:
  %before = call i32 %threads()
  call void %set_threads(i32 1)
  br label %calling
calling:
  %threads.before = phi i32 [0, %begin], [%before, %single], [%threads.before, %called], [%threads.before, %passed]
  %call = phi ptr [%calls, %begin], [%calls, %single], [%call.next, %called], [%call.next, %passed]
  %all.called = icmp eq ptr %call, %calls_end
  br i1 %all.called, label %end, label %prepare
prepare:
{_load("function", "call", 0)}{_load("block", "call", 1)}{_load("chunks", "call", 2, "i64")}{_load("flags", "call", 3, "i64")}
  %call.next = getelementptr i64, ptr %call, i64 {CALL}
  %is.shared = trunc i64 %flags to i1
  br i1 %is.shared, label %together, label %alone
together:
  %wake = and i64 %flags, {WAKING}
  call void %launch(ptr %pool, ptr %functions, ptr %function, ptr %table, i64 %chunks, i64 %limit, ptr %block, i64 %wake)
  br label %called
alone:
  call void %function(ptr %table, i64 0, i64 %chunks, ptr %own, ptr %block)
  br label %called
called:
  %checking = and i64 %flags, {CHECKED}
  %checked = icmp ne i64 %checking, 0
  br i1 %checked, label %check, label %calling
check:
  %code = load i64, ptr %failure
  %failed = icmp ne i64 %code, 0
  br i1 %failed, label %end, label %passed
passed:
  br label %calling
end:
  %threads.then = phi i32 [%threads.before, %calling], [%threads.before, %check]
  br i1 %plain, label %done, label %restore
restore:
  call void %set_threads(i32 %threads.then)
  br label %done
done:
  ret void
}}"""
