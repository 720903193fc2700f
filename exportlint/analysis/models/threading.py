"""`threading`, `concurrent.futures`, `multiprocessing`: tracing sees one thread only."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.values import UNKNOWN, External, Function, Python, TorchModule, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.state_access import cell_of, note_read, note_write
from exportlint.analysis.eval.with_and_try import LOCKS
from exportlint.analysis.facts import HostRead
from exportlint.analysis.library_functions import function, functions
from exportlint.analysis.models.collections import attribute_holder
from exportlint.analysis.models.externals import call_opaque
from exportlint.syntax.walk import walk

POOL = "multiprocessing.pool.ThreadPool"
CONTEXT_VARIABLE = "contextvars.ContextVar"
EXECUTOR = "concurrent.futures.ThreadPoolExecutor"

functions(POOL, returns=Python(POOL), strict="refuses")
functions(EXECUTOR, returns=Python(EXECUTOR), strict="refuses")
for lock in LOCKS:
    functions(lock, returns=Python(lock), strict="refuses")
    functions(" ".join(f"{lock}.{name}" for name in ("__enter__", "acquire", "release")), strict="refuses")
functions("threading.current_thread threading.get_ident", strict="refuses")
functions("threading.active_count contextvars.copy_context", strict="refuses")
functions(CONTEXT_VARIABLE, returns=Python(CONTEXT_VARIABLE), strict="refuses")
functions("asyncio.iscoroutinefunction", strict="refuses", traced_from=(2, 9))
functions("multiprocessing.cpu_count asyncio.sleep asyncio.run", strict="refuses")
functions("atexit.register", effect="act")


@function("threading.local", strict="refuses")
def _local(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return attribute_holder(frame, name, Arguments()) if frame.engine.constructing else UNKNOWN


@function(f"{CONTEXT_VARIABLE}.get {CONTEXT_VARIABLE}.set", strict="refuses", traced_from=(2, 15))
@function(f"{CONTEXT_VARIABLE}.reset")
def _context_variable(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Reads or writes what other code of the context finds. What `reset` puts back is no change."""
    called = node.func if isinstance(node, ast.Call) else None
    if not isinstance(called, ast.Attribute):
        return UNKNOWN
    cell = cell_of(frame, called.value)
    if name.endswith(".get"):
        note_read(frame, cell, node)
    elif name.endswith(".reset"):
        frame.engine.effects.put_back.update([] if cell is None else [cell])
    else:
        note_write(frame, cell, node, arguments.get(0, "value") or UNKNOWN, None, node, "binding")
    return UNKNOWN


@function("threading.Thread", threaded=True, effect="act")
@function(f"{EXECUTOR}.submit {EXECUTOR}.map", threaded=True)
@function(f"{POOL}.map {POOL}.apply {POOL}.apply_async {POOL}.starmap", threaded=True)
def _run(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """What another thread computes with tensors never gets into the program."""
    target = arguments.keywords.get("target") if name == "threading.Thread" else arguments.get(0)
    held = list(arguments.values)
    if isinstance(target, Function) and target.closure is not None:
        names = {n.id for n in walk(target.node) if isinstance(n, ast.Name)}
        held.extend(value for key, value in target.closure.variables.items() if key in names)
    tensor = next((t for value in held for t in tensors_in(value) if not t.assumed), None)
    computes = isinstance(target, (Function, TorchModule)) or (
        isinstance(target, External) and target.name.startswith("torch.")
    )
    if tensor is not None and computes:
        frame.emit(HostRead, node, tensor, api=name, operand=tensor)
    return call_opaque(frame, name, arguments, node)
