"""The loop that runs a program: a list of calls, each a kernel's function with the unit's block of arguments.

A program is data. A call is four numbers: the function, its block, how many chunks it has, and flags. Before the first of them
the loop writes down in the table where the caller's arrays are: it is given the array objects themselves, since Python would
take longer to read where an array's data is. `move` is three numbers: which object, the position in the table, and bytes to
add. A record says where all that is.

A caller may give all objects at once, in a tuple, and leave it to the loop to see whether they are arrays whose elements lie in
order: Python takes 0.2 µs for each.
"""

from __future__ import annotations

from adjoint.compiler.tables import FAILURE, OWNS
from adjoint.runtime.memory import LAYOUT, Layout

# Flags of a call: other threads may help; if it noted a failure, what follows isn't run; it is worth waking them.
SHARED, CHECKED, WAKING = 1, 2, 4
CALL, MOVE = 4, 3  # numbers in each
# A record's fields. FIELD is where in an array object the address of its data stands; negative where addresses are given.
# CLASS is the class of arrays if OBJECTS has but one, a tuple of them; else null.
FIELDS = ("TABLE", "OBJECTS", "FIELD", "CLASS", "MOVES", "MOVES_END", "CALLS", "CALLS_END", "LAUNCH", "POOL", "FUNCTIONS",
          "LIMIT", "THREADS", "SET_THREADS")  # fmt: skip
PLACE = {name: position for position, name in enumerate(FIELDS)}
IN_ORDER = 0x101  # flags of an array: row-major, and aligned
ODD = -1  # noted as a failure: one of the tuple is no such array, and nothing has run
_layout = LAYOUT or Layout(0, 0, 0, 0, 0)


def loaded(name: str, pointer: str, position: int, kind: str = "ptr") -> str:
    """Lines that load an element of 8 bytes."""
    return f"""  %{name}.at = getelementptr i64, ptr %{pointer}, i64 {position}
  %{name} = load {kind}, ptr %{name}.at
"""


def _field(name: str, kind: str = "ptr") -> str:
    return loaded(name.lower(), "record", PLACE[name], kind)


# The functions THREADS and SET_THREADS of OpenMP are there if a call of oneDNN is: it runs on one thread.
LOOP = f"""
define void @$run(ptr %record) #0 {{
entry:
{"".join([_field(name, "i64" if name in ("FIELD", "LIMIT") else "ptr") for name in FIELDS])}
{loaded("owns", "table", OWNS)}{loaded("failure", "table", FAILURE)}
  %own = load ptr, ptr %owns
  %given = icmp slt i64 %field, 0
  %apart = icmp eq ptr %class, null
  br i1 %apart, label %moving, label %open
open:
  %tuple = load ptr, ptr %objects
  %items = getelementptr i8, ptr %tuple, i64 {_layout.items}
  br label %moving
moving:
  %move = phi ptr [%moves, %entry], [%moves, %open], [%move.next, %moved]
  %all = phi ptr [%objects, %entry], [%items, %open], [%all, %moved]
  %all.moved = icmp eq ptr %move, %moves_end
  br i1 %all.moved, label %begin, label %read
read:
{loaded("index", "move", 0, "i64")}{loaded("position", "move", 1, "i64")}{loaded("bytes", "move", 2, "i64")}
  %object.at = getelementptr ptr, ptr %all, i64 %index
  %object = load ptr, ptr %object.at
  br i1 %given, label %moved, label %look
look:
  %data.at = getelementptr i8, ptr %object, i64 %field
  %data = load ptr, ptr %data.at
  br i1 %apart, label %moved, label %examine
examine:
  %type.at = getelementptr i8, ptr %object, i64 {_layout.type}
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, %class
  br i1 %is.array, label %flagged, label %odd
flagged:
  %order.at = getelementptr i8, ptr %object, i64 {_layout.flags}
  %order = load i32, ptr %order.at
  %ordered = and i32 %order, {IN_ORDER}
  %in.order = icmp eq i32 %ordered, {IN_ORDER}
  br i1 %in.order, label %moved, label %odd
odd:
  store i64 {ODD}, ptr %failure
  ret void
moved:
  %array = phi ptr [%object, %read], [%data, %look], [%data, %flagged]
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
{loaded("function", "call", 0)}{loaded("block", "call", 1)}{loaded("chunks", "call", 2, "i64")}{loaded("flags", "call", 3, "i64")}
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
