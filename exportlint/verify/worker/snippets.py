"""Statements of a project, run by themselves for the model that they make and what they call it with."""

from __future__ import annotations

import ast
import builtins
import importlib
import math
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from .calls import call, seed
from .candidates import LARGEST
from .inferring import infer
from .inputs import as_inputs, to_device
from .lazily import pytree, torch
from .models import Subject
from .modules import imports_relatively, load_module
from .options import command_line
from .texts import with_article
from .values import with_shared
from .varying import resized, varying_of
from .words import Example, Job


def run_snippet(job: Job, enter: Callable[[str], None]) -> tuple[Subject, Example]:
    """The model that statements make, and what they call it with, which may be tried for.

    Raises:
        TypeError: they make something else. LookupError: no inputs were found. And whatever the statements raise.
    """
    content = job["inputs"]["snippet"]
    file, names = content["file"]["file"], _namespace(content)
    with command_line(file):
        seed(0)
        for row, text in content["statements"]:
            exec(_compiled(text, row, file, job["device"]), names)  # noqa: S102 - it is the user's code
        model = _value(content["model"], names, job["device"])
        model = getattr(model, "module", model) if isinstance(model, torch.nn.DataParallel) else model
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"{content['model']} is {with_article(model)}, not an nn.Module")
        given = None if content["inputs"] is None else _value(content["inputs"], names, job["device"])
    enter("inputs")
    subject = Subject(model.train(job["train"]).to(job["device"]), None)
    if content["inputs"] is None:
        return subject, infer(subject.fresh(), content["hints"], job["varying"], job["device"])
    inputs = to_device(as_inputs(given), job["device"])
    # For torch.export, inputs that are one tensor are one input, which code that calls a model does not mean.
    return subject, _several(Example(*(with_shared(inputs, share=False) or inputs)), subject, job)


def _namespace(content: Mapping[str, Any]) -> dict[str, Any]:
    """The globals of the statements. Their file is `__main__` from now on, where what they define may look for them."""
    file = content["file"]
    if content["is_imported"]:
        module = load_module(file["module"], file["file"])
        sys.modules["__main__"] = module
        return dict(vars(module))
    package = file["module"].rpartition(".")[0]
    if package and any(imports_relatively(_outermost(text)) for _, text in content["statements"]):
        importlib.import_module(package)
    main = sys.modules["__main__"] = types.ModuleType(file["module"])
    main.__dict__.update(__file__=file["file"], __package__=package, __builtins__=builtins)
    return main.__dict__


class _OnDevice(ast.NodeTransformer):
    """Leaves it to the job on which device things are: `model.cuda()` is the model."""

    def __init__(self, device: str) -> None:
        self._device = device

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_device = isinstance(node.value, str) and node.value.partition(":")[0] == "cuda"
        return ast.copy_location(ast.Constant(self._device), node) if is_device else node


def _compiled(text: str, row: int, file: str, device: str) -> Any:
    tree = ast.parse(_outermost(text))
    indented = text[:1].isspace()
    ast.increment_lineno(tree, row - 1 - indented)
    if indented and isinstance(tree.body[0], ast.If):
        tree.body = tree.body[0].body
    return compile(ast.fix_missing_locations(_OnDevice(device).visit(tree)), file, "exec")


def _outermost(text: str) -> str:
    """A statement that may be indented, as one that stands in no other, or in one of a line."""
    return f"if 1:\n{text}" if text[:1].isspace() else text


def _value(text: str, names: dict[str, Any], device: str) -> Any:
    tree = _OnDevice(device).visit(ast.parse(text, mode="eval"))
    return eval(compile(ast.fix_missing_locations(tree), "<inputs>", "eval"), names)  # noqa: S307


def _several(example: Example, subject: Subject, job: Job) -> Example:
    """The example, with two of each of which it has one, or of which it has very many, if the model takes that.

    torch.export takes a size of 1 for a constant, and code that tries a model has a batch of one more often than not.
    What is larger than any input that is tried would only take long.
    """
    varying = varying_of(subject.model, example, job["varying"])
    leaves = pytree.tree_leaves((example.arguments, dict(example.keywords)))
    is_large = any(isinstance(leaf, torch.Tensor) and leaf.numel() > LARGEST for leaf in leaves)
    most = 2 if is_large else math.inf
    others = {key: 2 for key, size in varying.sizes.items() if size == 1 or size > most}
    if others:
        inputs = resized(example, varying, {**varying.sizes, **others})
        if call(subject.fresh(), inputs, 0).error is None:
            return Example(*inputs)
    error = call(subject.fresh(), (example.arguments, dict(example.keywords)), 0).error
    if error is not None:
        raise error
    return example
