"""What Python calls of native code as functions of its own (see `runtime.entries`): a program whose arrays are given in a tuple,
a comparison of what dictionaries hold, and a read-only view of an array.

They find addresses in a list at the beginning of their `self`; of objects they give, hold and compare the addresses alone.
"""

from __future__ import annotations

from adjoint.compiler.calls import LOOP
from adjoint.runtime.memory import LAYOUT

# Of a program: the loop's record, where it takes the tuple from and notes failures, and a number that isn't 0 while it runs; what
# gives up and takes Python's lock, or null; what counts a reference; what is given where it has run, has failed, and isn't free.
ENTER = ("RECORD", "OBJECTS", "FAILURE", "STATUS", "BUSY", "RELEASE", "TAKE", "COUNT", "DONE", "FAILED", "BUSY_RESULT")
# Of a comparison: what looks up an entry, without an error where there is none, what forgets an error, and counts a reference;
# what is given if all entries are what they were, and else; how many there are. Behind these, of each the dictionary, the key and
# the value.
HOLDS = ("LOOK", "FORGET", "COUNT", "YES", "NO", "ENTRIES")
ENTRY = 3
# Of a view (see `runtime.frozen`): what makes an array of memory, what says what holds that, NumPy's class, and what counts a
# reference, one more and one less.
FREEZE = ("NEW", "HOLD", "CLASS", "COUNT", "DROP")
NUMBERS = ("ENTRIES",)
_type, _data, _, _items, _contents = LAYOUT or (0, 0, 0, 0, 0)


def _fields(names: tuple[str, ...]) -> str:
    """Lines that read the list."""
    lines = [f"  %list = getelementptr i8, ptr %self, i64 {_contents}"]
    for k, name in enumerate(map(str.lower, names)):
        kind = "i64" if name.upper() in NUMBERS else "ptr"
        lines += [f"  %{name}.at = getelementptr i64, ptr %list, i64 {k}", f"  %{name} = load {kind}, ptr %{name}.at"]
    return "\n".join(lines)


def _of_array(name: str, place: int, kind: str = "ptr") -> str:
    """Lines that read what an array object has so many bytes behind the address of its data."""
    return f"""  %{name}.at = getelementptr i8, ptr %array, i64 {_data + place}
  %{name} = load {kind}, ptr %{name}.at
"""


TEXT = f"""{LOOP}
define ptr @$enter(ptr %self, ptr %given) #0 {{
entry:
{_fields(ENTER)}
  %before = atomicrmw xchg ptr %busy, i64 1 acquire
  %is.free = icmp eq i64 %before, 0
  br i1 %is.free, label %begin, label %end
begin:
  store ptr %given, ptr %objects
  %alone = icmp eq ptr %release, null
  br i1 %alone, label %here, label %apart
here:
  call void @$run(ptr %record)
  br label %ran
apart:
  %state = call ptr %release()
  call void @$run(ptr %record)
  call void %take(ptr %state)
  br label %ran
ran:
  %noted = load i64, ptr %failure
  %stopped = load i32, ptr %status
  %stopped.wide = sext i32 %stopped to i64
  %both = or i64 %noted, %stopped.wide
  %is.done = icmp eq i64 %both, 0
  %found = select i1 %is.done, ptr %done, ptr %failed
  store atomic i64 0, ptr %busy release, align 8
  br label %end
end:
  %result = phi ptr [%busy_result, %entry], [%found, %ran]
  call void %count(ptr %result)
  ret ptr %result
}}
define ptr @$holds(ptr %self, ptr %nothing) #0 {{
entry:
{_fields(HOLDS)}
  %first = getelementptr i64, ptr %list, i64 {len(HOLDS)}
  %size = mul i64 %entries, {ENTRY}
  %behind = getelementptr i64, ptr %first, i64 %size
  br label %next
next:
  %entry.at = phi ptr [%first, %entry], [%following, %looked]
  %is.end = icmp eq ptr %entry.at, %behind
  br i1 %is.end, label %end, label %looking
looking:
  %dict = load ptr, ptr %entry.at
  %key.at = getelementptr i64, ptr %entry.at, i64 1
  %key = load ptr, ptr %key.at
  %value.at = getelementptr i64, ptr %entry.at, i64 2
  %value = load ptr, ptr %value.at
  %now = call ptr %look(ptr %dict, ptr %key)
  %following = getelementptr i64, ptr %entry.at, i64 {ENTRY}
  %is.same = icmp eq ptr %now, %value
  br i1 %is.same, label %looked, label %other
looked:
  br label %next
other:
  %is.gone = icmp eq ptr %now, null
  br i1 %is.gone, label %forgetting, label %end
forgetting:
  call void %forget()
  br label %end
end:
  %result = phi ptr [%yes, %next], [%no, %other], [%no, %forgetting]
  call void %count(ptr %result)
  ret ptr %result
}}
define ptr @$freeze(ptr %self, ptr %given) #0 {{
entry:
{_fields(FREEZE)}
  %array.at = getelementptr i8, ptr %given, i64 {_items + 8}
  %array = load ptr, ptr %array.at
  %type.at = getelementptr i8, ptr %array, i64 {_type}
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, %class
  br i1 %is.array, label %reading, label %failed
reading:
{_of_array("data", 0)}{_of_array("axes", 8, "i32")}{_of_array("shape", 16)}{_of_array("strides", 24)}{_of_array("dtype", 40)}
  call void %count(ptr %dtype)
  %view = call ptr %new(ptr %class, ptr %dtype, i32 %axes, ptr %shape, ptr %strides, ptr %data, i32 0, ptr null)
  %is.none = icmp eq ptr %view, null
  br i1 %is.none, label %failed, label %holding
holding:
  call void %count(ptr %given)
  %held = call i32 %hold(ptr %view, ptr %given)
  %is.held = icmp eq i32 %held, 0
  br i1 %is.held, label %end, label %dropping
dropping:
  call void %drop(ptr %view)
  br label %failed
failed:
  ret ptr null
end:
  ret ptr %view
}}"""
