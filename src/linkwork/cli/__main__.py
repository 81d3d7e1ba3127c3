"""``python -m linkwork.cli``: the command line where its script is not on the path."""

from linkwork.cli import main

main()
