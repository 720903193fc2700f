"""The flags of `exportlint verify`."""

from __future__ import annotations

import argparse

from exportlint.cli.flags import add_configuration, codes

_EPILOG = """\
exit codes:
  0  all targets export, and the programs agree with them
  1  some do not
  2  wrong use, wrong configuration, nothing to verify, or a failure of exportlint itself

What has been run is kept, by the content of all files that it imported: a run that was interrupted goes on where it
stopped.
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="TARGET",
        help="files, directories, PATH::CLASS or MODULE:NAME [those of the configuration, else what is found in .]",
    )
    parser.add_argument("--list", action="store_true", help="print what would be verified, and why the rest cannot be")
    parser.add_argument(
        "--init", action="store_true", help="add a target to the configuration for each model that needs one"
    )
    what = parser.add_argument_group("what is run")
    what.add_argument("--mode", dest="modes", choices=("non-strict", "strict", "both"), help="the tracer [non-strict]")
    what.add_argument(
        "--device", dest="devices", action="extend", type=codes, metavar="DEVICES", help="cpu, cuda [cpu]"
    )
    what.add_argument("--calls", action="store_true", help="run scripts up to their calls of torch.export, too")
    what.add_argument("--gradients", action="store_true", help="compare gradients as well")
    how = parser.add_argument_group("how")
    how.add_argument("--python", metavar="FILE", help="the interpreter of the project [the one that its editor uses]")
    how.add_argument("-j", "--jobs", metavar="N", help="number of processes at a time [1]")
    how.add_argument("--timeout", metavar="SECONDS", help="the time for each run [300]")
    how.add_argument("--memory", metavar="SIZE", help='the memory for each run, such as "8 GiB" [no limit]')
    how.add_argument(
        "--keep-warm",
        metavar="SECONDS",
        help="how long a worker that has imported torch waits for the next run [300 on a terminal, else 0]",
    )
    how.add_argument("--no-cache", action="store_true", help="run what has been run before as well")
    how.add_argument(
        "--executor",
        metavar="MODULE:NAME",
        help="what gives an executor as those of concurrent.futures, to run elsewhere instead of in N processes",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format",
        dest="report_format",
        choices=("text", "concise", "json", "sarif", "junit"),
        default="text",
        help="text, concise, json, sarif, junit [text]",
    )
    output.add_argument("-o", "--output-file", metavar="FILE", help="write the report to a file")
    output.add_argument("--html", metavar="FILE", help="write a page to look at in a browser as well")
    output.add_argument("--show-output", action="store_true", help="print what the models printed")
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour the report [auto]")
    output.add_argument("-q", "--quiet", action="store_true", help="print no progress and no summary")
    output.add_argument("-v", "--verbose", action="store_true", help="print every step of every trail")
    add_configuration(parser)
