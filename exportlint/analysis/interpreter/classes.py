"""Classes of the project: bases, lineage, methods."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from exportlint.analysis import table
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.scopes import decorated
from exportlint.analysis.limits import MAX_BASES
from exportlint.analysis.outline import Class
from exportlint.analysis.values import (
    ClassValue,
    External,
    Function,
    Value,
)

MODULE_LIBRARIES = frozenset({
    "pytorch_lightning.LightningModule", "lightning.LightningModule", "lightning.pytorch.LightningModule",
    "transformers.PreTrainedModel", "transformers.modeling_utils.PreTrainedModel", "diffusers.ModelMixin",
    "torch_geometric.nn.MessagePassing", "fairseq.models.BaseFairseqModel", "mmcv.runner.BaseModule",
    "mmengine.model.BaseModule", "huggingface_hub.PyTorchModelHubMixin",
})  # fmt: skip
"""Classes of other libraries that are `nn.Module`s."""


def bases(frame: Frame, cls: Class) -> tuple[Value, ...]:
    """What the bases of a class are."""
    known = frame.engine.bases
    if cls not in known:
        targets = [n.value if isinstance(n, ast.Subscript) else n for n in cls.node.bases]  # `Base[T]`
        known[cls] = tuple(Frame(frame.engine, cls.module).peek(target) for target in targets)
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
    """The class that defines a method, and its node; with `after`, as `super()` in that class finds it."""
    order = lineage(frame, cls)
    if after is not None and after in order:
        order = order[order.index(after) + 1 :]
    for candidate in order:
        method = candidate.methods.get(name)
        if method is not None:
            return candidate, method
    return None


def bound(frame: Frame, receiver: Value, owner: Class, node: ast.AST) -> Value:
    """A method of a class, bound to an object, under its decorators."""
    return decorated(frame, undecorated(receiver, owner, node))


def undecorated(receiver: Value, owner: Class, node: ast.AST) -> Function:
    """A method of a class as it is written, bound to an object."""
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    names = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
    target = None if "staticmethod" in names else ClassValue(owner) if "classmethod" in names else receiver
    return Function(owner.module, node, f"{owner.qualname}.{node.name}", owner, target)
