"""`python -m exportlint`."""

import sys
from os.path import dirname

if __name__ == "__main__":
    # `python -m` puts the working directory first, which may be a stranger's: a `json.py` to be linted must not run.
    # Nothing is imported before that is not loaded already, so no pathlib.
    checkout = dirname(dirname(__file__))  # noqa: PTH120
    if not getattr(sys.flags, "safe_path", False) and sys.path[:1] != [checkout]:
        del sys.path[:1]
    from exportlint.cli import main

    sys.exit(main())
