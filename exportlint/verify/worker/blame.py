"""Which lines are to blame where the exception does not say it."""

from __future__ import annotations

import contextlib
import dis
import importlib
import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .entry import entry_of
from .frames import Frames, chain_of, frame_event, frames_in_text, odd, ranked
from .lazily import pytree, torch
from .own import is_own
from .texts import text_of


def frames_in_graph(error: BaseException, root: str) -> Frames:
    """Where what the message names came into the graph, for what is found only after tracing."""
    text = text_of(error)
    named = re.findall(r"attribute: ([\w.]+)|(lifted_tensor_\d+)|(?:node|target)[ :=]+([\w.]+)", text)
    names = {name for group in named for name in group if name}
    for link in chain_of(error) if names else ():
        for graph in reversed(list(_graphs(link.__traceback__))):
            for node in graph.nodes:
                if not any(str(node.target).endswith(name) or node.name.endswith(name) for name in names):
                    continue
                for user in (*node.users, node):
                    frames = ranked(frames_in_text(user.meta.get("stack_trace") or ""), root)
                    if frames:
                        return frames
    return []


def _graphs(trace: Any) -> Iterator[Any]:
    """The graphs that the functions of a traceback held."""
    for frame, _ in traceback.walk_tb(trace):
        for value in list(frame.f_locals.values()):
            if type(value).__name__ == "ExportArtifact":
                value = value.aten.gm
            value = getattr(value, "graph_module", value) if type(value).__name__ == "ExportedProgram" else value
            if isinstance(value, torch.fx.GraphModule):
                yield value.graph
            elif isinstance(value, torch.fx.Graph):
                yield value


def frames_of_data(export: Callable[[], Any], root: str) -> Frames:
    """Where `.data` is used first: that is how tensors of a trace get among the constants of a program."""
    hit: list[Frames] = []
    overrides = importlib.import_module("torch.overrides")

    class Spy(overrides.TorchFunctionMode):  # type: ignore[name-defined,misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not hit and getattr(function, "__self__", None) is torch.Tensor.data:
                hit.append(ranked(_frames_above(), root))
            return function(*args, **(kwargs or {}))

    with contextlib.suppress(BaseException), Spy():
        export()
    return hit[0] if hit else []


def frames_of_output(run: Callable[[], Any], root: str) -> Frames:
    """Where a model makes what torch cannot take apart in its output. `run` calls it in eager."""
    unknown = _unknown(run())
    if unknown is None:
        return []
    kind = type(unknown)
    initialize = kind.__init__
    made: list[tuple[Any, Frames]] = []  # with the objects, so that no other has the identity of one

    def record(self: Any, *arguments: Any, **keywords: Any) -> None:
        made.append((self, ranked(_frames_above(), root)))
        initialize(self, *arguments, **keywords)

    with contextlib.suppress(Exception):  # of classes that cannot be changed
        kind.__init__ = record
        try:
            unknown = _unknown(run())
        finally:
            kind.__init__ = initialize
        return next((frames for one, frames in made if one is unknown), [])
    return []


def _unknown(output: Any) -> Any:
    """The first part of an output that is an object of a class that torch does not know; None if there is none."""
    plain = (torch.Tensor, int, float, complex, str, type(None))
    return next((leaf for leaf in pytree.tree_leaves(output) if not isinstance(leaf, plain)), None)


def _frames_above() -> Frames:
    """The frames that lead from this package to what calls the caller, the innermost last."""
    frames = [
        frame_event(frame.f_code.co_filename, row, frame.f_code.co_name)
        for frame, row in traceback.walk_stack(sys._getframe(2))
        if not odd(frame)
    ]
    mine = next((i for i, f in enumerate(frames) if is_own(f["file"])), len(frames))
    return frames[:mine][::-1]


def frames_of_line(pattern: str, model: Any, rows: Mapping[str, set[int]]) -> Frames:
    """The last line of the model's own `forward` that ran and looks like that, for what torch blames on no line."""
    code = getattr(inspect.unwrap(entry_of(model)), "__code__", None)
    if code is None:
        return []
    lines = {row for _, row in dis.findlinestarts(code) if row}
    for row in sorted(lines & rows.get(os.path.abspath(code.co_filename), set()), reverse=True):
        if re.search(pattern, linecache.getline(code.co_filename, row)):
            return [frame_event(code.co_filename, row, code.co_name)]
    return []
