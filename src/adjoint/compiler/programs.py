"""What a program is: a list of calls, each a kernel's function with the unit's block of arguments. `programs.c` runs it.

A call is four numbers: the function, its block, how many chunks it has, and flags. Before the first of them the loop writes down
in the table where the caller's arrays are: a move is three numbers, which object, the position in the table, and bytes to add. A
record says where all that is.
"""

from __future__ import annotations

# Flags of a call: other threads may help; if it noted a failure, what follows isn't run; it is worth waking them.
SHARED, CHECKED, WAKING = 1, 2, 4
CALL, MOVE = 4, 3  # numbers in each
# A record's fields, as `struct record` has them.
FIELDS = ("TABLE", "OBJECTS", "FIELD", "CLASS", "MOVES", "MOVES_END", "CALLS", "CALLS_END", "LAUNCH", "POOL", "FUNCTIONS",
          "LIMIT", "THREADS", "SET_THREADS")  # fmt: skip
IN_ORDER = 0x101  # flags of an array: row-major, and aligned
PLACE = {name: position for position, name in enumerate(FIELDS)}
