"""`python -m dure` is the command `dure`."""

import sys

from dure.cli import main

sys.exit(main())
