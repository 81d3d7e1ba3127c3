"""Exit codes, the same for every command."""

from __future__ import annotations

#: What was given cannot be used: a file, a name, a value in it.
MISTAKE = 1
#: The command line itself is wrong; the parser's own code.
USAGE = 2
#: A replay came out otherwise than it was recorded.
DIFFERENT = 3
#: A run began and could not go on: an engine or a program failed.
FAILED = 4
#: Ctrl-C before the work was done.
CANCELLED = 130

TABLE = (
    "Exit codes: 0 done, 1 a mistake in what was given, 2 a wrong command line, 3 a replay that "
    "differs, 4 a run that could not go on, 130 cancelled."
)
