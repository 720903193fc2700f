"""The flags of `exportlint verify`."""

from __future__ import annotations

import argparse

from exportlint.cli.flags import add_configuration, codes

_EPILOG = """\
exit codes:
  0    all targets export, and the programs agree with the models
  1    some do not
  2    wrong usage, bad configuration, nothing to verify, or an internal failure
  130  interrupted by Ctrl-C

Results are cached by the content of all imported project files, so an interrupted run continues where it stopped.
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="TARGET",
        help="files, directories, PATH::CLASS or MODULE:NAME [configured targets, else those found in .]",
    )
    parser.add_argument("--list", action="store_true", help="list the targets, and say why other models cannot be run")
    parser.add_argument(
        "--init", action="store_true", help="add a target to the configuration for each model that needs one"
    )
    what = parser.add_argument_group("what is run")
    what.add_argument(
        "--mode", dest="modes", choices=("non-strict", "strict", "both"), help="the mode of torch.export [non-strict]"
    )
    what.add_argument(
        "--device", dest="devices", action="extend", type=codes, metavar="DEVICES", help="cpu, cuda [cpu]"
    )
    what.add_argument("--calls", action="store_true", help="also run scripts up to their calls of torch.export")
    what.add_argument("--gradients", action="store_true", help="also compare gradients")
    how = parser.add_argument_group("how")
    how.add_argument("--python", metavar="FILE", help="the interpreter with the project's torch [found automatically]")
    how.add_argument("-j", "--jobs", metavar="N", help="number of processes at a time [1]")
    how.add_argument("--timeout", metavar="SECONDS", help="time limit for each run [300]")
    how.add_argument("--memory", metavar="SIZE", help='memory limit on Linux, such as "8 GiB" [half of the machine]')
    how.add_argument(
        "--keep-warm",
        metavar="SECONDS",
        help="how long a worker that has imported torch waits for the next run [300 on a terminal, else 0]",
    )
    how.add_argument("--no-cache", action="store_true", help="ignore the results of earlier runs")
    how.add_argument(
        "--executor",
        metavar="MODULE:NAME",
        help="run targets on this concurrent.futures executor instead of in local processes",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format",
        dest="report_format",
        choices=("text", "concise", "json", "sarif", "junit"),
        default="text",
        help="format of the report [text]",
    )
    output.add_argument("-o", "--output-file", metavar="FILE", help="write the report to a file")
    output.add_argument("--html", metavar="FILE", help="also write a page for a browser")
    output.add_argument("--show-output", action="store_true", help="print what the models printed")
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="color the report [auto]")
    output.add_argument("-q", "--quiet", action="store_true", help="print no progress and no summary")
    output.add_argument("-v", "--verbose", action="store_true", help="print every step of every trail")
    add_configuration(parser)
