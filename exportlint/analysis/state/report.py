"""The facts that follow from the state of Python over several calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.accesses import Read, Write
from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.trails import Trail, site_of
from exportlint.analysis.domain.values import (
    NONE,
    Instance,
    Object,
    Origin,
    Sequence,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.eval.engine import Engine
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Fact, Mutation
from exportlint.analysis.facts.state import BufferWrite, Held, Holder, PlainTensorWrite, StateChange
from exportlint.analysis.state.buffers import changes
from exportlint.analysis.state.carried import Calls, Carried
from exportlint.analysis.state.effects import Effect
from exportlint.analysis.state.registration import report_unregistered
from exportlint.syntax.definitions import Class, Module, dotted, unindexed

_LEFT_BEHIND = frozenset({"binding", "contents", "made tensor"})
"""Writes that no program makes."""


def report_state(engine: Engine, calls: Calls, root: Value, *, surely_exported: bool) -> None:
    """Emit what is found of the reads and writes of state in the calls of a module.

    `surely_exported`: it is not a part of another module.
    """
    carried = Carried(calls)
    report_unregistered(engine, carried.state, root)
    if not carried.writes:
        return
    beside_tensors = surely_exported and _reads_own_tensors(carried, root)
    facts = [
        fact
        for cell, writes in carried.writes.items()
        for fact in _facts(
            engine,
            carried,
            cell,
            _kept(writes, surely_exported) if cell in calls.restored else writes,
            is_restored=cell in calls.restored,
            beside_tensors=beside_tensors,
            surely_exported=surely_exported,
        )
    ]
    # of facts about one place, which stands for several objects, the engine keeps the first
    for fact in sorted(facts, key=_is_harmless):
        engine.emit(fact)


def _reads_own_tensors(carried: Carried, root: Value) -> bool:
    """Whether a call reads tensors that the exported module itself has as attributes."""
    if not isinstance(root, Object):
        return False
    own = {read.cell.name for read in carried.state.reads.values() if read.cell.owner is root.instance}
    held = (root.instance.attributes.get(name) for name in own)
    return any(isinstance(option, Tensor) for value in held if value is not None for option in options(value))


def _kept(writes: list[Write], surely_exported: bool) -> list[Write]:
    """The writes that matter of a cell that is at the end as it was: those of a buffer of the exported module."""
    return [
        write
        for write in writes
        if write.kind not in {"binding", "contents", "buffer"}
        or (write.kind == "buffer" and write.at_root and surely_exported)
    ]


def _is_harmless(fact: Fact) -> bool:
    return not fact.carried if isinstance(fact, StateChange) else getattr(fact, "at_root", False)


def _facts(
    engine: Engine,
    carried: Carried,
    cell: Cell,
    writes: list[Write],
    *,
    is_restored: bool,
    beside_tensors: bool,
    surely_exported: bool,
) -> Iterator[Fact]:
    for write in writes:
        if write.kind == "buffer" and not (is_restored and _written_in_place(engine, cell)):
            is_lost = carried.varies(cell) or (write.value == NONE and carried.is_found(cell))
            as_given = surely_exported and write.at_root and writes == [write] and _is_as_given(engine, write.value)
            yield _buffer_write(write, varies=is_lost, is_restored=is_restored, as_given=as_given)
        if write.kind == "tensor" and carried.is_used(cell) and isinstance(write.value, Tensor):
            yield PlainTensorWrite(
                site_of(write.module, write.node), write.symbol, write.guarded, write.value.trail,
                name=_shown(write), target=write.value,
            )  # fmt: skip
    changed = [w for w in writes if w.kind in _LEFT_BEHIND and not _is_module(engine, w.value)]
    if not changed:
        yield from _made_modules(engine, cell, writes)
        return
    found = carried.read_of(cell)
    read, effect = (None, None) if found is None else found
    varying = next((w for w in changed if w.depends_on_input), changed[0])
    # a tensor that is made once and changed in place is to be made elsewhere
    write = changed[0] if read is None or varying.kind == "made tensor" else varying
    yield StateChange(
        site_of(write.module, write.node), write.symbol, write.guarded, _trail(carried, varying, read, effect),
        name=_shown(write),
        holder=_container_holder(engine, cell) if write.kind == "contents" else _holder(engine, cell),
        carried=read is not None,
        contents=write.kind == "contents",
        is_tensor=any(True for _ in tensors_in(write.value)),
        before=_held_before(changed[0]),
        iterator=_iterator(write),
        beside_tensors=beside_tensors and write.at_root and write.kind == "binding",
    )  # fmt: skip


def _made_modules(engine: Engine, cell: Cell, writes: list[Write]) -> Iterator[Fact]:
    """The first attribute of a module that is bound to a module or a parameter, where there was something else."""
    bound = [w for w in writes if w.kind == "binding" and _holder(engine, cell) == "module" and w.before is not None]
    for write in bound[:1]:
        before = write.before
        assert before is not None
        yield StateChange(
            site_of(write.module, write.node), write.symbol, write.guarded, None,
            name=_shown(write), holder="module", carried=False, contents=False, is_tensor=False,
            before="module" if _is_module(engine, before) else _held(before), is_module=True,
        )  # fmt: skip


def _iterator(write: Write) -> str:
    """How an iterator is made that `next` moves on; empty if it is something else."""
    node = write.node
    if not isinstance(node, ast.Call) or dotted(node.func) != "next":
        return ""
    if isinstance(write.before, Tuple):
        return "iterator"
    return write.before.type if isinstance(write.before, Sequence) else "unknown"


def _trail(carried: Carried, write: Write, read: Read | None, effect: Effect | None) -> Trail | None:
    if read is None:
        return None
    trail = Trail(_module_of(carried, read.function), read.node, "`{}` holds what an earlier call stored")
    if effect is not None:
        module = _module_of(carried, effect.function)
        trail = Trail(module, effect.statement, "it decides whether `{}` runs", trail)
    return Trail(write.module, write.node, "`{}` is changed for the next call", trail)


def _module_of(carried: Carried, function: ast.AST) -> Module:
    return next(found[function] for found in carried.state.functions.values() if function in found)


def _is_as_given(engine: Engine, value: Value) -> bool:
    """Whether a value is surely an input or a buffer of which the call has not written anything."""
    if not isinstance(value, Tensor) or value.assumed or value.optional or value.depends_on_input or value.detached:
        return False
    is_input = value.origin is Origin.INPUT and bool(value.name) and not value.compacted and value.data is None
    if not is_input and (value.buffer is None or value.origin is not Origin.BUFFER):
        return False
    if not is_input:
        return not _written_in_place(engine, value.buffer)
    return not any(t.origin is Origin.INPUT and t.name in {value.name, ""} for t in _changed(engine))


def _written_in_place(engine: Engine, buffer: object) -> bool:
    return any(tensor.buffer == buffer for tensor in _changed(engine))


def _changed(engine: Engine) -> Iterator[Tensor]:
    """The tensors that the call changes in place."""
    return (fact.target for fact in engine.effects.facts.values() if isinstance(fact, Mutation))


def _buffer_write(write: Write, *, varies: bool, is_restored: bool, as_given: bool) -> BufferWrite:
    return BufferWrite(
        site_of(write.module, write.node), write.symbol, write.guarded, None,
        name=_shown(write), before=_held(write.before), at_root=write.at_root, changes=changes(write),
        varies=varies, restored=is_restored, as_given=as_given,
    )  # fmt: skip


def _is_module(engine: Engine, value: Value) -> bool:
    """Whether a value is a module or a parameter: what becomes of those is another matter."""
    for option in options(value):
        if isinstance(option, TorchModule) or (isinstance(option, Tensor) and option.origin is Origin.PARAMETER):
            return True
        if isinstance(option, Object):
            definition = option.instance.definition
            return is_module(Frame(engine, definition.module), definition)
    return False


def _holder(engine: Engine, cell: Cell) -> Holder:
    if isinstance(cell.owner, Instance) and "." not in cell.name:  # else it is an attribute of a module of torch
        definition = cell.owner.definition
        return "module" if is_module(Frame(engine, definition.module), definition) else "object"
    if isinstance(cell.owner, Class):
        return "class"
    if isinstance(cell.owner, Module):
        return "global"
    names = {a.arg for a in ast.walk(cell.owner) if isinstance(a, ast.arg)} if isinstance(cell.owner, ast.AST) else ()
    return "default" if cell.name in names else "object"


def _held_before(write: Write) -> Held:
    is_set = write.before is None and write.cell.name == "training"  # by the constructor of every module
    return "other" if is_set else _held(write.before)


def _container_holder(engine: Engine, cell: Cell) -> Holder:
    """What has a container that changes: the class only if it is one of a module, which may be how the code gets it."""
    holder, owner = _holder(engine, cell), cell.owner
    if holder == "module" and isinstance(owner, Instance) and cell.name not in owner.attributes:
        return "class"
    if holder == "class" and isinstance(owner, Class) and not is_module(Frame(engine, owner.module), owner):
        return "object"
    return holder


def _held(value: Value | None) -> Held:
    if value is None:
        return "nothing"
    if value == NONE:
        return "none"
    return "tensor" if any(True for _ in tensors_in(value)) else "other"


def _shown(write: Write) -> str:
    node = write.node
    if isinstance(node, ast.Call) and write.kind in {"binding", "buffer"}:
        is_method = isinstance(node.func, ast.Attribute) and dotted(node.func) != "object.__setattr__"
        owner = node.func.value if is_method and isinstance(node.func, ast.Attribute) else node.args[0]
        if isinstance(write.cell.owner, Module):
            return ast.unparse(owner)
        return f"{ast.unparse(owner)}.{write.cell.name}"
    if isinstance(node, ast.Call):
        given = node.args[:1] if write.kind == "tensor" or dotted(node.func) == "next" else []
        owners = [unindexed(one) for one in (getattr(node.func, "value", node), *given)]
        return ast.unparse(next((one for one in owners if _last_name(one) == write.cell.name), owners[0]))
    return ast.unparse(node if write.kind == "binding" else unindexed(node))


def _last_name(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
