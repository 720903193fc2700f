"""`python -m exportlint`."""

import sys

from exportlint.cli import main

if __name__ == "__main__":
    sys.exit(main())
