"""What tells people something: `print`, `logging`, `warnings`, the standard streams."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import FALSE, NONE, PYTHON, UNKNOWN, Const, External, Python, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.library_functions import function, functions
from exportlint.analysis.models.externals import call_opaque

BELOW_DEFAULT = frozenset({External("logging.DEBUG"), External("logging.INFO"), Const(10), Const(20)})
"""Levels that a logger leaves out unless it is told otherwise."""

functions("builtins.print", returns=PYTHON, effect="report")
functions("warnings.warn", effect="report")
functions("warnings.simplefilter warnings.filterwarnings", effect="act")
functions("sys.stdout.write sys.stdout.flush sys.stderr.write sys.stderr.flush", effect="report", strict="refuses")
functions(
    """
    logging.debug logging.info logging.warning logging.warn logging.error logging.critical logging.exception logging.log
    logging.Logger.debug logging.Logger.info logging.Logger.warning logging.Logger.warn logging.Logger.error
    logging.Logger.critical logging.Logger.exception logging.Logger.log
    logging.Logger.info_once logging.Logger.warning_once logging.Logger.warn_once logging.Logger.warning_advice
    """,
    effect="report",
)
functions(
    "logging.getLogger",
    returns=Python("logging.Logger"),
    strict="refuses",
    refused_with=lambda call: (call.positional or (call.keyword("name") or NONE,))[0] != NONE,  # else it is the root's
)
functions("transformers.utils.logging.get_logger diffusers.utils.logging.get_logger", returns=Python("logging.Logger"))
functions("logging.basicConfig traceback.format_stack traceback.print_stack", strict="refuses")


@function("logging.Logger.isEnabledFor")
def _is_enabled(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if (arguments.get(0) or UNKNOWN) in BELOW_DEFAULT:
        return FALSE
    return call_opaque(frame, name, arguments, node)
