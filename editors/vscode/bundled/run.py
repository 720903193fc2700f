"""Runs the exportlint that is bundled with the extension, under the Python that runs this file."""

import sys
from importlib.util import find_spec
from pathlib import Path


def run():
    """The exit code of exportlint, or a line that says why it cannot run."""
    if sys.version_info < (3, 10):
        sys.exit("the bundled exportlint needs Python 3.10 or newer, this is %d.%d" % sys.version_info[:2])
    # before what the environment has: these packages are tested together
    sys.path.insert(0, str(Path(__file__).resolve().parent / "libs"))
    if "--version" in sys.argv and find_spec("libcst") is None:
        print("without libcst")
    from exportlint.cli import main

    return main()


# processes that it starts import this file, too
if __name__ == "__main__":
    sys.exit(run())
