"""``python -m linkwork``: the command line, where its script is not on the path."""

from linkwork.cli import main

if __name__ == "__main__":
    main()
