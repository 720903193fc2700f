"""The command line: `exportlint [check] PATHS...`, `rule`, `config`, `version`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

_COLLECT_AFTER = 100_000
"""So many more objects than were freed are made before Python looks for garbage, which modules that load are not."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run exportlint with the arguments `argv`, by default those of the process, which then is to end.

    Returns:
        0 if no finding makes the run fail, 1 if one does, 2 where exportlint was used wrongly or failed, 130 for
        Ctrl-C.
    """
    owns_process = argv is None
    try:
        try:
            if owns_process:
                sys.unraisablehook = _pass_on
                gc.set_threshold(_COLLECT_AFTER)
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            if owns_process:
                _ignore_interrupts()
                _leave_memory_to_system()
    except KeyboardInterrupt:
        if owns_process:
            _ignore_interrupts()
        return _interrupted(owns_process=owns_process)
    except RuntimeError as error:
        # Python up to 3.11 wraps what comes while a class is made in a RuntimeError.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        return _interrupted(owns_process=owns_process)


def _run(argv: Sequence[str]) -> int:
    from exportlint.cli.output import UsageError, fail
    from exportlint.cli.parser import parse
    from exportlint.config.errors import ConfigError

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - open to the end
    try:
        arguments = parse(argv)
        code: int = arguments.run(arguments)
    except (UsageError, ConfigError) as error:
        fail(str(error))
        return EXIT_ERROR
    except OSError as error:
        # The working directory is gone, the disk is full: what no part of the program can answer to.
        fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        return EXIT_ERROR
    except MemoryError:
        fail("out of memory; check fewer files at once, or use `--jobs 1`")
        return EXIT_ERROR
    except SystemExit as exit_:
        # argparse leaves this way for --help and --version.
        return exit_.code if isinstance(exit_.code, int) else EXIT_OK
    return code


def _interrupted(*, owns_process: bool) -> int:
    from exportlint.big_stack import is_at_work
    from exportlint.cli.output import fail

    # Where Ctrl-C came in an `exec`, CPython would end the process by the signal: the next one makes it forget that.
    exec("")  # noqa: S102
    fail("interrupted")
    if owns_process and is_at_work():
        # The thread would go on while Python takes the interpreter apart, which sometimes ends in a segmentation fault.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(EXIT_INTERRUPTED)
    return EXIT_INTERRUPTED


def _ignore_interrupts() -> None:
    """Have nothing come in between the end of the work and that of the process, which would show a traceback."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave_memory_to_system() -> None:
    """Keep Python from walking all that is left before the process ends, which takes up to a tenth of a run."""
    gc.disable()
    gc.freeze()


def _pass_on(unraisable: sys.UnraisableHookArgs) -> None:
    """Have Ctrl-C not be lost, nor shown as a traceback, because it came in a destructor or a callback."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        import _thread

        _thread.interrupt_main()
    else:
        sys.__unraisablehook__(unraisable)
