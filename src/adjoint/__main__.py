"""`python -m adjoint` is the command `adjoint`."""

import sys

from adjoint.cli import main

sys.exit(main())
