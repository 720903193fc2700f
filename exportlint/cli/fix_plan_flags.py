"""The flags of `exportlint fix-plan`."""

from __future__ import annotations

import argparse

from exportlint.cli.flags import add_configuration, codes

_EPILOG = """\
exit codes:
  0    the model exports with equal results, as it is or with the fixes
  1    it does not
  2    wrong usage, bad configuration or an internal failure
  130  interrupted by Ctrl-C

Fixes are tried in memory. Without --write, no file is changed.
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    parser.epilog = _EPILOG
    parser.add_argument("path", metavar="TARGET", help="PATH::CLASS, MODULE:NAME or the name of a configured target")
    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--write", action="store_true", help="write the fixes, if the model exports with them")
    fixes.add_argument(
        "--partial", action="store_true", help="with --write: write the kept fixes even if it does not export yet"
    )
    fixes.add_argument(
        "--unsafe-fixes",
        dest="unsafe",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also try fixes that may change behavior [yes]",
    )
    fixes.add_argument(
        "--minimal", action="store_true", help="leave out fixes that are not needed; costs one run per fix"
    )
    fixes.add_argument("--rounds", metavar="N", help="maximum number of rounds [20]")
    what = parser.add_argument_group("what is run")
    what.add_argument(
        "--mode", dest="modes", choices=("non-strict", "strict", "both"), help="the mode of torch.export [non-strict]"
    )
    what.add_argument("--strict", dest="modes", action="store_const", const="strict", help="short for --mode strict")
    what.add_argument(
        "--device", dest="devices", action="extend", type=codes, metavar="DEVICES", help="cpu, cuda [cpu]"
    )
    what.add_argument(
        "--gradients",
        action="store_true",
        help="also undo fixes that change gradients, and compare the program's gradients",
    )
    what.add_argument("--python", metavar="FILE", help="the interpreter with the project's torch [found automatically]")
    what.add_argument("--timeout", metavar="SECONDS", help="time limit for each run [300]")
    what.add_argument("--memory", metavar="SIZE", help='memory limit on Linux, such as "8 GiB" [half of the machine]')
    what.add_argument(
        "--keep-warm",
        metavar="SECONDS",
        help="how long a worker that has imported torch waits for the next run [300 on a terminal, else 0]",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format",
        dest="report_format",
        choices=("text", "json"),
        default="text",
        help="format of the report [text]",
    )
    output.add_argument("-o", "--output-file", metavar="FILE", help="write the report to a file")
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="color the report [auto]")
    output.add_argument("-q", "--quiet", action="store_true", help="print no progress")
    add_configuration(parser)
