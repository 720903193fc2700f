"""Classes of the project: bases, lineage, members."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace

from exportlint.analysis.domain.allocations import identified
from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    ClassValue,
    Const,
    Descriptor,
    EnumMember,
    External,
    Function,
    Object,
    Origin,
    Partial,
    Tensor,
    Union,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.names import decorated, settled
from exportlint.analysis.facts.tracing import CachedRead
from exportlint.analysis.limits import MAX_BASES
from exportlint.analysis.torch import table
from exportlint.syntax.definitions import Class, dotted
from exportlint.syntax.walk import walk

MODULE_LIBRARIES = frozenset({
    "pytorch_lightning.LightningModule", "lightning.LightningModule", "lightning.pytorch.LightningModule",
    "transformers.PreTrainedModel", "transformers.modeling_utils.PreTrainedModel", "diffusers.ModelMixin",
    "torch_geometric.nn.MessagePassing", "fairseq.models.BaseFairseqModel", "mmcv.runner.BaseModule",
    "mmengine.model.BaseModule", "huggingface_hub.PyTorchModelHubMixin",
})  # fmt: skip
"""Classes of other libraries that are `nn.Module`s."""


def bases(frame: Frame, cls: Class) -> tuple[Value, ...]:
    """The values of the bases of a class."""
    engine = frame.engine
    known = engine.bases
    if cls not in known:
        known[cls] = ()  # what a class sees whose bases name it: `class nn(nn.Module)`
        memos = (engine.lineages, engine.members, engine.module_classes)
        counts = [len(memo) for memo in memos]
        targets = [n.value if isinstance(n, ast.Subscript) else n for n in cls.node.bases]  # `Base[T]`
        known[cls] = tuple(Frame(engine, cls.module).peek(target) for target in targets)
        if counts != [len(memo) for memo in memos]:  # they may rest on that
            engine.lineages.clear()
            engine.members.clear()
            engine.module_classes.clear()
    return known[cls]


def lineage(frame: Frame, cls: Class) -> tuple[Class, ...]:
    """The class and its project bases, in the order in which attributes are looked up; at most MAX_BASES of those."""
    known = frame.engine.lineages
    if cls not in known:
        for owner in _unknown_bases(frame, cls, known):
            known[owner] = _lineage(frame, owner)
    return known[cls]


def _lineage(frame: Frame, cls: Class) -> tuple[Class, ...]:
    known = frame.engine.lineages
    known[cls] = (cls,)  # what a class that inherits from itself by name gets
    parents = [base.definition for base in bases(frame, cls) if isinstance(base, ClassValue)]
    if len(parents) == 1:
        return (cls, *(owner for owner in lineage(frame, parents[0])[:MAX_BASES] if owner is not cls))
    waiting = [list(lineage(frame, parent)) for parent in parents] + [list(parents)]
    found = [cls]
    while any(waiting) and len(found) <= MAX_BASES:
        heads = [order[0] for order in waiting if order]
        # C3: the first that no other order has further back; an order that Python would refuse is taken as it comes
        following = next((h for h in heads if not any(h in order[1:] for order in waiting)), heads[0])
        found.append(following)
        waiting = [[c for c in order if c is not following] for order in waiting]
    return tuple(dict.fromkeys(found))


def is_module(frame: Frame, cls: Class) -> bool:
    """Whether a class is an `nn.Module`, as far as its bases tell."""
    known = frame.engine.module_classes
    if cls not in known:
        for owner in _unknown_bases(frame, cls, known):
            known[owner] = False
            known[owner] = any(_is_module_base(frame, base) for base in bases(frame, owner))
    return known[cls]


def _unknown_bases(frame: Frame, cls: Class, known: Mapping[Class, object]) -> list[Class]:
    """The class and the project classes above it that are not known, from the last base down."""
    found, waiting = dict[Class, None](), [cls]
    while waiting:
        owner = waiting.pop()
        if owner not in known and owner not in found:
            found[owner] = None
            waiting += [base.definition for base in bases(frame, owner) if isinstance(base, ClassValue)]
    return list(reversed(found))


def is_autograd_function(frame: Frame, cls: Class) -> bool:
    """Whether a class is a `torch.autograd.Function`."""
    roots = (base for owner in lineage(frame, cls) for base in bases(frame, owner) if isinstance(base, External))
    return any(table.resolve(root.name) == "torch.autograd.Function" for root in roots)


def _is_module_base(frame: Frame, base: Value) -> bool:
    if isinstance(base, ClassValue):
        return is_module(frame, base.definition)
    if not isinstance(base, External):
        return False
    api = table.lookup(base.name)
    return (
        (api is not None and api.kind == "module")
        or base.name.startswith("torch.nn.modules.")  # private ones, such as `_Loss` and `_BatchNorm`
        or base.name in MODULE_LIBRARIES
        or base.name in frame.engine.options.module_bases
    )


def find_method(frame: Frame, cls: Class, name: str, after: Class | None = None) -> tuple[Class, ast.AST] | None:
    """The class that defines a method, and its function; with `after`, as `super()` in that class finds it."""
    found = member(frame, cls, name, after)
    if found is None:
        return None
    owner, value = found
    while isinstance(value, (Descriptor, Partial)):
        value = value.function
    written = owner.methods.get(name)
    if written is not None and not isinstance(value, Function):
        return owner, written
    if not isinstance(value, Function) or isinstance(value.node, ast.Lambda):
        return None
    return owner, written if written is not None and value.owner is None else value.node


def member(frame: Frame, cls: Class, name: str, after: Class | None = None) -> tuple[Class, Value] | None:
    """What the body of a class or of one of its bases binds a name to, and which class does; None if none does."""
    key = (cls, name, after, frame.engine.mode)
    known = frame.engine.members
    if key not in known:
        cuts = len(frame.engine.limits_reached)
        found = _member(frame, cls, name, after)
        if len(frame.engine.limits_reached) > cuts:
            return found
        known[key] = found
    return known[key]


def _member(frame: Frame, cls: Class, name: str, after: Class | None) -> tuple[Class, Value] | None:
    order = lineage(frame, cls)
    if after is not None and after in order:
        order = order[order.index(after) + 1 :]
    for owner in order:
        value = _own_member(frame, owner, name)
        if value is not None:
            return owner, value
    return None


def _own_member(frame: Frame, cls: Class, name: str, before: float = math.inf) -> Value | None:
    """What the body of a class binds a name to above a line."""
    method = cls.methods.get(name)
    node = cls.attributes.get(name)
    if method is not None and method.lineno < before and (node is None or not method.lineno < node.lineno < before):
        return decorated(frame, Function(cls.module, method, f"{cls.qualname}.{name}", cls))
    if node is not None and node.lineno < before:
        value = _assigned_member(frame, cls, node)
        return _enum_member(cls, name, value) if enum_base(frame, cls) else value
    if node is not None:
        return None
    if name in cls.attributes:
        annotation = cls.annotations.get(name)
        return annotated(frame, cls, annotation) if annotation is not None else UNKNOWN
    inner = cls.module.class_named(f"{cls.qualname}.{name}")
    return None if inner is None or inner.node.lineno >= before else ClassValue(inner)


def _assigned_member(frame: Frame, cls: Class, node: ast.expr) -> Value:
    """The value of an expression in the body of a class, which sees what stands above it there."""
    scope = Frame(frame.engine, cls.module)
    for child in walk(node):
        if isinstance(child, ast.Name) and child.id not in scope.env:
            found = _own_member(frame, cls, child.id, node.lineno)
            if found is not None:
                scope.env[child.id] = found
    value = frame.engine.fixed(settled(scope.peek(node), Origin.ATTRIBUTE, frame.engine.mode == "non-strict"))
    return identified(value, frame.engine.defaults.setdefault(node, value).identity)  # one for all its subclasses


def enum_base(frame: Frame, cls: Class) -> str | None:
    """The class of `enum` that a class is made of, if it is an enumeration."""
    roots = [base for owner in lineage(frame, cls) for base in bases(frame, owner) if isinstance(base, External)]
    return next((root.name for root in roots if root.name.startswith("enum.")), None)


def _enum_member(cls: Class, name: str, value: Value) -> Value:
    """What `Class.NAME` is. A member that is a number or a text as well is taken for that."""
    is_plain = all(isinstance(base, ast.Name | ast.Attribute) for base in cls.node.bases)
    is_mixed = len(cls.node.bases) != 1 or not is_plain or dotted(cls.node.bases[0]) not in {"Enum", "enum.Enum"}
    if is_mixed or name.startswith("_") or isinstance(value, (Function, Descriptor)):
        return value
    return Const(EnumMember(cls, name, value))


def class_attribute(frame: Frame, definition: Class, name: str) -> Value | None:
    """What the body of a class or of one of its bases assigns or annotates; None if none does."""
    found = member(frame, definition, name)
    return None if found is None or name in found[0].methods else found[1]


def annotated(frame: Frame, cls: Class, annotation: ast.expr) -> Value:
    """The value of an attribute that is only annotated: `mask: torch.Tensor` is how modules usually type a buffer.

    Other objects that nothing here has made are passed in, and their tensors with them.
    """
    value = Frame(frame.engine, cls.module).peek(annotation)
    if not isinstance(value, External) or value.name not in {"torch.Tensor", "torch.nn.Parameter"}:
        return UNKNOWN
    if value.name.endswith("Parameter"):
        return Tensor(Origin.PARAMETER)
    return Tensor(Origin.BUFFER if is_module(frame, cls) else Origin.INPUT)


def bind_member(frame: Frame, name: str, value: Value, receiver: Value, cls: Class, node: ast.AST) -> Value:
    """What reading a member of a class gives, by an object of it or by the class itself (`receiver`)."""
    if isinstance(value, Union):
        return join([bind_member(frame, name, option, receiver, cls, node) for option in value.options])
    by_class = isinstance(receiver, ClassValue)
    if isinstance(value, Object):  # of a class that says what reading it gives
        getter = bound(frame, value, value.instance.definition, "__get__", node)
        asked = Arguments((NONE if by_class else receiver, ClassValue(cls)))
        return value if getter is None else frame.call(getter, asked, node)
    if isinstance(value, (Function, Partial)):
        return value if by_class else _with_receiver(value, receiver)
    if not isinstance(value, Descriptor):
        return value
    if value.kind == "static":
        return value.function
    if value.kind == "partial":
        given = value.function
        if by_class or not isinstance(given, Partial):
            return UNKNOWN
        return replace(given, function=_with_receiver(given.function, receiver))
    if value.kind == "class":
        owner = receiver if isinstance(receiver, ClassValue) else ClassValue(cls)
        return _with_receiver(value.function, owner)
    if by_class:
        return UNKNOWN
    is_cached = value.kind == "cached_property"
    with frame.engine.in_cache() if is_cached else nullcontext():
        computed = frame.call(_with_receiver(value.function, receiver), Arguments(), node)
    if is_cached:
        frame.emit(CachedRead, node, None, name=name, computed=computed)
    return computed


def _with_receiver(value: Value, receiver: Value) -> Value:
    """A function bound to an object. What `functools.partial` makes is none: it does not bind."""
    if isinstance(value, Function):
        return replace(value, receiver=receiver) if value.receiver is None else value
    if isinstance(value, Partial) and value.wrapper:
        return replace(value, function=_with_receiver(value.function, receiver))
    return value


def bound(
    frame: Frame, receiver: Value, cls: Class, name: str, node: ast.AST, after: Class | None = None
) -> Value | None:
    """A member of a class, bound to an object of it; None if there is none."""
    found = member(frame, cls, name, after)
    changed = changed_member(frame, cls, name, found) if after is None else None
    if changed is not None:
        return changed
    return None if found is None else bind_member(frame, name, found[1], receiver, cls, node)


def changed_member(frame: Frame, cls: Class, name: str, found: tuple[Class, Value] | None) -> Value | None:
    """What code has later assigned to a class attribute that precedes `found`; None if nothing."""
    if found is not None and name in found[0].methods:
        return None
    for owner in lineage(frame, cls):
        changed = frame.changed_value(Cell(owner, name))
        if changed is not None:
            return changed
        if found is not None and owner is found[0]:
            return None
    return None


def undecorated(receiver: Value, owner: Class, node: ast.AST) -> Function:
    """A method of a class as it is written, bound to an object."""
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return Function(owner.module, node, f"{owner.qualname}.{node.name}", owner, receiver)
