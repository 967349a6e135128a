"""What Python calls of native code as functions of its own (see `runtime.entries`): a program whose arrays are given in a tuple,
a comparison of what dictionaries hold, whether nobody else sees the memory of arrays, and a read-only view of an array.

They find addresses in a list at the beginning of their `self`; of objects they give, hold and compare the addresses alone.
"""

from __future__ import annotations

from adjoint.compiler.calls import LOOP
from adjoint.runtime.memory import LAYOUT

# Of a program: the loop's record, where it takes the tuple from and notes failures, and a number that isn't 0 while it runs; what
# gives up and takes Python's lock, or null; what counts a reference; what is given where it has run, has failed, and isn't free;
# how many `bytes` with numbers the tuple has. Behind these, of each of them its place in the tuple, where its contents are copied
# to, and how many times four bytes.
ENTER = (
    "RECORD",
    "OBJECTS",
    "FAILURE",
    "STATUS",
    "BUSY",
    "RELEASE",
    "TAKE",
    "COUNT",
    "DONE",
    "FAILED",
    "BUSY_RESULT",
    "COPIES",
)
COPY = 3
# Of a comparison: what looks up an entry, without an error where there is none, what forgets an error, and counts a reference;
# what is given if all entries are what they were, and else; how many there are. Behind these, of each the dictionary, the key and
# the value.
HOLDS = ("LOOK", "FORGET", "COUNT", "YES", "NO", "ENTRIES")
ENTRY = 3
# Of arrays in a tuple: how many, their class, that of what lends memory once, what counts a reference, and what is given.
OWNED = ("ARRAYS", "CLASS", "LEASE", "COUNT", "YES", "NO")
WRITEABLE = 0x400  # a flag of an array
# Of a view (see `runtime.frozen`): what makes an array of memory, what says what holds that, NumPy's class, and what counts a
# reference, one more and one less.
FREEZE = ("NEW", "HOLD", "CLASS", "COUNT", "DROP")
NUMBERS = ("ENTRIES", "COPIES", "ARRAYS")
_type, _data, _flags, _items, _contents = LAYOUT or (0, 0, 0, 0, 0)


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


def _array(other: str) -> str:
    """Lines that take the object at %array.at, and go to `reading` if it is one of NumPy's arrays, else elsewhere."""
    return f"""  %array = load ptr, ptr %array.at
  %type.at = getelementptr i8, ptr %array, i64 {_type}
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, %class
  br i1 %is.array, label %reading, label %{other}
reading:"""


TEXT = f"""{LOOP}
define ptr @$enter(ptr %self, ptr %given) #0 {{
entry:
{_fields(ENTER)}
  %before = atomicrmw xchg ptr %busy, i64 1 acquire
  %is.free = icmp eq i64 %before, 0
  br i1 %is.free, label %begin, label %end
begin:
  store ptr %given, ptr %objects
  %first = getelementptr i64, ptr %list, i64 {len(ENTER)}
  br label %copying
copying:
  %copy = phi i64 [0, %begin], [%copy.next, %copied]
  %all.copied = icmp eq i64 %copy, %copies
  br i1 %all.copied, label %running, label %copy.of
copy.of:
  %row = mul i64 %copy, {COPY}
  %place.at = getelementptr i64, ptr %first, i64 %row
  %place = load i64, ptr %place.at
  %target.at = getelementptr i64, ptr %place.at, i64 1
  %target = load ptr, ptr %target.at
  %size.at = getelementptr i64, ptr %place.at, i64 2
  %size = load i64, ptr %size.at
  %items = getelementptr i8, ptr %given, i64 {_items}
  %text.at = getelementptr ptr, ptr %items, i64 %place
  %text = load ptr, ptr %text.at
  %source = getelementptr i8, ptr %text, i64 {_contents}
  br label %number
number:
  %k = phi i64 [0, %copy.of], [%k.next, %number]
  %from = getelementptr i32, ptr %source, i64 %k
  %value = load i32, ptr %from
  %to = getelementptr i32, ptr %target, i64 %k
  store i32 %value, ptr %to
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %size
  br i1 %more, label %number, label %copied
copied:
  %copy.next = add i64 %copy, 1
  br label %copying
running:
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
define ptr @$owned(ptr %self, ptr %given) #0 {{
entry:
{_fields(OWNED)}
  %items = getelementptr i8, ptr %given, i64 {_items}
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.next, %mine]
  %is.end = icmp eq i64 %k, %arrays
  br i1 %is.end, label %end, label %looking
looking:
  %array.at = getelementptr ptr, ptr %items, i64 %k
{_array("end")}
{_of_array("base", 32)}{_of_array("flags", _flags - _data, "i32")}
  %writeable = and i32 %flags, {WRITEABLE}
  %is.writeable = icmp ne i32 %writeable, 0
  br i1 %is.writeable, label %below, label %end
below:
  %k.next = add i64 %k, 1
  %is.own = icmp eq ptr %base, null
  br i1 %is.own, label %mine, label %lent
lent:
  %lender.at = getelementptr i8, ptr %base, i64 {_type}
  %lender = load ptr, ptr %lender.at
  %is.lent = icmp eq ptr %lender, %lease
  br i1 %is.lent, label %mine, label %end
mine:
  br label %next
end:
  %result = phi ptr [%yes, %next], [%no, %looking], [%no, %reading], [%no, %lent]
  call void %count(ptr %result)
  ret ptr %result
}}
define ptr @$freeze(ptr %self, ptr %given) #0 {{
entry:
{_fields(FREEZE)}
  %array.at = getelementptr i8, ptr %given, i64 {_items + 8}
{_array("failed")}
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
