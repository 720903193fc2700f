"""The command line: `exportlint [check] PATHS...`, `rule`, `config`, `version`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run exportlint with the arguments `argv`, by default those of the process.

    Returns:
        0 without findings above `info`, 1 with, 2 where exportlint was used wrongly or failed, 130 for Ctrl-C.
    """
    from exportlint.cli.output import UsageError, fail
    from exportlint.cli.parser import parse
    from exportlint.config.errors import ConfigError

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - open to the end
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv)
        code: int = arguments.run(arguments)
    except (UsageError, ConfigError) as error:
        fail(str(error))
        return EXIT_ERROR
    except OSError as error:
        # The working directory is gone, the disk is full: what no part of the program can answer to.
        fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        return EXIT_ERROR
    except KeyboardInterrupt:
        fail("interrupted")
        return EXIT_INTERRUPTED
    except SystemExit as exit_:
        # argparse leaves this way for --help and --version.
        return exit_.code if isinstance(exit_.code, int) else EXIT_OK
    return code
