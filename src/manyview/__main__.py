"""``python -m manyview``: the command line."""

from manyview.cli import main

if __name__ == "__main__":
    main()
