"""Runs a block with torch: in eager, through `torch.export`, and what differs."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import re
import sys
import traceback
import types
from collections.abc import Iterator, ValuesView
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch.utils import _pytree as pytree

from exportlint.config.toml import parse
from exportlint.config.torch_version import parse_torch_version
from exportlint.findings import Mode
from exportlint.pages import Block
from tests.isolation import undisturbed

_OPERATORS = re.compile(r"\bexp\d{3}(?:_\w+)?(?=::|\.)")
"""The namespaces of the operators that blocks define."""


@dataclass(frozen=True)
class Outcome:
    """What a call left behind: what it returned or raised, its arguments, and the state of the module.

    `written` are the names in the state that the call changed; `gradients` those of the outputs' sum, by the names of
    the parameters and the positions of the arguments.
    """

    outputs: Any
    error: Exception | None
    arguments: tuple[Any, ...]
    state: dict[str, torch.Tensor]
    written: frozenset[str]
    gradients: dict[str, torch.Tensor]


@dataclass(frozen=True)
class Script:
    """A script that was executed: what it left behind, what it raised, and in which of its rows that was."""

    namespace: dict[str, Any]
    error: Exception | None
    row: int | None


class Prover:
    """Runs blocks; `directory` is where their files lie. Exports each block once in each mode."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._exported: dict[tuple[Block, Mode], torch.export.ExportedProgram | Exception] = {}
        self._executed: dict[Block, Script] = {}

    has_cuda: Final = torch.cuda.is_available()
    version: Final = parse_torch_version(torch.__version__)

    def eager(self, block: Block) -> list[Outcome]:
        """What a model of the block does with its inputs, one after the other."""
        with undisturbed():
            namespace = self._load(block)
            model = _model(namespace, block)
            return [_observe(model, inputs, namespace) for inputs in block.inputs]

    def export(self, block: Block, mode: Mode) -> torch.export.ExportedProgram | Exception:
        """What `torch.export.export` makes of the block with its first inputs, or what it raises."""
        key = block, mode
        if key not in self._exported:
            with undisturbed():
                self._exported[key] = self._export(block, mode)
        return self._exported[key]

    def _export(self, block: Block, mode: Mode) -> torch.export.ExportedProgram | Exception:
        namespace = self._load(block)
        torch._dynamo.reset()
        model, arguments = _model(namespace, block), _arguments(block.inputs[0], namespace)
        shapes = eval(block.dynamic, {"AUTO": _automatic()}) if block.dynamic else None
        try:
            return torch.export.export(model, arguments, dynamic_shapes=shapes, strict=mode == "strict")
        except Exception as error:
            return error

    def exported(self, block: Block, mode: Mode) -> list[Outcome]:
        """What a fresh copy of the exported program does with the inputs. Raises what export raises."""
        program = self.export(block, mode)
        if isinstance(program, Exception):
            raise program
        # A FakeTensor that leaked into the program has no data to copy, and nothing that a call could spoil.
        with contextlib.suppress(RuntimeError):
            program = copy.deepcopy(program)
        module = program.module()  # up to torch 2.6, a copy of the module would not check its inputs
        with undisturbed():
            namespace = self._load(block)
            return [_observe(module, inputs, namespace) for inputs in block.inputs]

    def execute(self, block: Block) -> Script:
        """Run a script, once, without its output."""
        if block not in self._executed:
            torch._dynamo.reset()
            torch.manual_seed(0)
            code, namespace = self._compile(block)
            error, row = None, None
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(code, namespace)
            except Exception as raised:
                frames = traceback.extract_tb(raised.__traceback__)
                error = raised
                row = next((f.lineno for f in reversed(frames) if Path(f.filename).stem == block.name), None)
            self._executed[block] = Script(namespace, error, row)
        return self._executed[block]

    def compared(self, block: Block) -> Iterator[tuple[Outcome, Outcome]]:
        """What the model and the program of a script do with the inputs. Raises what the script raised."""
        script = self.execute(block)
        if script.error is not None:
            raise script.error
        for inputs in block.inputs:
            # Model and program share their buffers, so one call would be seen by the other.
            subjects = [copy.deepcopy(s) for s in (script.namespace["model"], script.namespace["program"].module())]
            one, other = (_observe(s, inputs, script.namespace) for s in subjects)
            yield one, other

    def differences(self, block: Block, mode: Mode) -> list[tuple[str, str]]:
        """What the model and its exported program do where they disagree, for each of the inputs."""
        if block.is_script:
            pairs = self.compared(block)
        else:
            pairs = zip(self.eager(block), self.exported(block, mode), strict=True)
        return [found for one, other in pairs if (found := difference(one, other)) is not None]

    def _load(self, block: Block) -> dict[str, Any]:
        """The globals of the block, run anew, so that nothing in them survives from one observation to the next.

        Operators survive, and can be defined only once.
        """
        known = sys.modules.get(block.name)
        if known is not None and "torch.library." in block.source:
            return known.__dict__
        code, namespace = self._compile(block)
        exec(code, namespace)
        return namespace

    def _compile(self, block: Block) -> tuple[types.CodeType, dict[str, Any]]:
        """The code of the block, and globals to run it in."""
        # Dynamo switches this off for the whole process the first time that it is used.
        torch.distributions.Distribution.set_default_validate_args(True)
        path = self._directory / f"{block.name}.py"
        # A fix leaves an operator its name, of which a process can have only one.
        source = _OPERATORS.sub(r"\g<0>_fixed", block.source) if block.kind == "fixed" else block.source
        path.write_text(source, encoding="utf-8")
        module = types.ModuleType(block.name)
        sys.modules[block.name] = module
        return compile(source, str(path), "exec"), module.__dict__


def _automatic() -> object:
    """`Dim.AUTO`; up to torch 2.4, which has none, a dimension that must not be specialized."""
    return torch.export.Dim.AUTO if hasattr(torch.export.Dim, "AUTO") else torch.export.Dim("size")


def _model(namespace: dict[str, Any], block: Block) -> Any:
    torch.manual_seed(0)
    return namespace["Model"]().train(parse(block.settings).get("train", False))


def _arguments(inputs: str, namespace: dict[str, Any]) -> tuple[Any, ...]:
    arguments: tuple[Any, ...] = eval(inputs, {**namespace, "torch": torch, "np": np})
    return arguments


def _observe(module: Any, inputs: str, namespace: dict[str, Any]) -> Outcome:
    arguments = _arguments(inputs, namespace)
    torch.manual_seed(0)  # eager and program draw the same numbers, unless one of them seeds or has others
    before = {name: tensor.detach().clone() for name, tensor in _state(module).items()}
    outputs, error = None, None
    try:
        outputs = module(*arguments)
    except Exception as raised:
        error = raised
    state = {name: tensor.clone() for name, tensor in _state(module).items()}
    written = frozenset(name for name, tensor in state.items() if name not in before or not _same(before[name], tensor))
    return Outcome(outputs, error, arguments, state, written, _gradients(module, arguments, outputs))


def _gradients(module: Any, arguments: tuple[Any, ...], outputs: Any) -> dict[str, torch.Tensor]:
    leaves = {str(i): leaf for i, leaf in enumerate(pytree.tree_leaves(arguments)) if isinstance(leaf, torch.Tensor)}
    wanted = {name: tensor for name, tensor in (*leaves.items(), *module.named_parameters()) if tensor.requires_grad}
    made = [o for o in pytree.tree_leaves(outputs) if isinstance(o, torch.Tensor) and o.requires_grad]
    if not made or not wanted:
        return {}
    total = torch.stack([o.sum().to(torch.float64) for o in made]).sum()
    found = torch.autograd.grad(total, list(wanted.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(wanted, found, strict=True))


def _state(module: Any) -> dict[str, torch.Tensor]:
    return {name: tensor.detach() for name, tensor in (*module.named_parameters(), *module.named_buffers())}


def difference(one: Outcome, other: Outcome, *, rewritten: bool = False) -> tuple[str, str] | None:
    """What `one` and the `other` did where they differ, as text; None where they agree.

    `rewritten`: the other is a rewrite of the source, which may change whether the arguments are written to and
    whether the output has a gradient, and raise other exceptions where the first raises.
    """
    if (one.error is None) != (other.error is None):
        return _describe(one), _describe(other)
    if one.error is None and not _same(one.outputs, other.outputs, rewritten):
        return _describe(one), _describe(other)
    if one.error is not None:
        return None
    if not rewritten and not _same(one.arguments, other.arguments):
        return f"arguments {one.arguments}", f"arguments {other.arguments}"
    # Strict mode leaves out of the program's state what the program does not use.
    for name in (*(one.state.keys() & other.state.keys()), *(one.written - other.state.keys())):
        ours, theirs = one.state[name], other.state.get(name)
        if not _same(ours, theirs):
            return f"{name} = {ours}", f"{name} = {theirs}"
    for name in one.gradients.keys() & other.gradients.keys():
        if not _same(one.gradients[name], other.gradients[name]):
            return f"gradient of {name} = {one.gradients[name]}", f"gradient of {name} = {other.gradients[name]}"
    return None


def _describe(outcome: Outcome) -> str:
    if outcome.error is None:
        return repr(outcome.outputs)
    return f"{type(outcome.error).__name__}: {outcome.error}"


def _same(one: Any, other: Any, rewritten: bool = False) -> bool:
    if rewritten and (_is_closed(one) or _is_closed(other)):
        one, other = _contents(one), _contents(other)
    ours, theirs = pytree.tree_leaves(one), pytree.tree_leaves(other)
    return pytree.tree_structure(one) == pytree.tree_structure(other) and all(
        _same_leaf(a, b, rewritten) for a, b in zip(ours, theirs, strict=True)
    )


def _is_closed(value: Any) -> bool:
    """Whether it holds objects that torch cannot look into, as no program can return them."""
    return any(_held(leaf) is not None for leaf in pytree.tree_leaves(value))


def _contents(value: Any) -> list[Any]:
    """What a caller finds in a value, whatever it stands in."""
    opened = pytree.tree_map(lambda leaf: leaf if (held := _held(leaf)) is None else held, value)
    return list(pytree.tree_leaves(opened))


def _held(leaf: Any) -> list[Any] | None:
    if dataclasses.is_dataclass(leaf) or type(leaf).__module__.startswith("EXP"):  # a class of a block
        return list(leaf.values() if isinstance(leaf, dict) else vars(leaf).values())
    return list(leaf) if isinstance(leaf, (set, ValuesView)) else None


def _same_leaf(one: Any, other: Any, rewritten: bool) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and bool(one == other)
    # A FakeTensor that leaked out of the trace has no values to compare.
    is_real = type(other) in (torch.Tensor, torch.nn.Parameter)
    alike = (one.dtype, one.shape, one.device) == (other.dtype, other.shape, other.device)
    gradient = rewritten or one.requires_grad == other.requires_grad
    return is_real and alike and gradient and torch.allclose(one, other, equal_nan=True)


def normalised(text: str) -> str:
    """Text of torch without what differs from run to run: spaces, addresses, the numbers of symbols."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"\b(u|zuf|s)\d+\b", r"\1", text)
    return " ".join(text.split())
