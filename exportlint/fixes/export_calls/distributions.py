"""Classes of `torch.distributions` that torch.export can take apart once they are registered.

A file whose model returns a `Normal` gets, in front of its first class or function,

    if Normal not in torch.utils._pytree.SUPPORTED_NODES:
        torch.utils._pytree.register_pytree_node(Normal, …)

with functions that take out the parameters and make the distribution of them anew, without looking at their values.
With `Independent` the other classes that the file makes are registered, as one of them is what it wraps.

Needs: a class whose parameters are known here. Never safe: what maps over trees of tensors looks into distributions
then, and those of a program do not check the values that they are given.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.fixes.edit.names import qualified
from exportlint.fixes.edit.template import keyword
from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.edit.template import Statement

LOCATED = ("loc", "scale")
PARAMETERS = {
    "Bernoulli": ("logits",), "Categorical": ("logits",), "OneHotCategorical": ("logits",), "Geometric": ("logits",),
    "Cauchy": LOCATED, "Gumbel": LOCATED, "Laplace": LOCATED, "LogNormal": LOCATED, "Normal": LOCATED,
    "Beta": ("concentration1", "concentration0"), "Dirichlet": ("concentration",), "Exponential": ("rate",),
    "Gamma": ("concentration", "rate"), "Poisson": ("rate",), "StudentT": ("df", "loc", "scale"),
    "Uniform": ("low", "high"),
}  # fmt: skip
"""What each class is made of; the arguments and the attributes have the same names."""
WRAPPER = "torch.distributions.Independent"


def register_distributions(code: Code, names: Iterable[str]) -> Fix:
    """Registers classes of `torch.distributions` for the file.

    Raises:
        DeclinedError: what one is made of is not known.
    """
    first = next(s for s in code.module.tree.body if isinstance(s, (ast.ClassDef, ast.FunctionDef)))
    several = {*names}
    if WRAPPER in several:
        several |= _made(code)
    if several == {WRAPPER}:
        raise DeclinedError("the distribution inside the `Independent` is not known")
    several_in_order = sorted(several)
    lines = [_registration(code, name, first) for name in several_in_order]
    edit = code.statements.insert_before(first, lines, above_comments=True, blank_lines=2)
    shown = "`, `".join(name.rpartition(".")[2] for name in several_in_order)
    return code.fix(f"Register `{shown}`", edit, safe=False)


def _made(code: Code) -> set[str]:
    """The known classes of distributions that the file calls."""
    root, package = code.tree.root, code.module.package
    called = {qualified(call.func, root, package) or "" for call in code.tree.contents(root).of(ast.Call)}
    return {f"torch.distributions.{name}" for name in PARAMETERS} & called


def _registration(code: Code, full_name: str, place: ast.stmt) -> Statement:
    name = full_name.rpartition(".")[2]
    if full_name == WRAPPER:
        parameters: tuple[str, ...] = ("base_dist",)
    elif name in PARAMETERS and full_name == f"torch.distributions.{name}":
        parameters = PARAMETERS[name]
    else:
        raise DeclinedError(f"the fields of a `{name}` are not known")
    cls = code.name(full_name, place)
    read = [code.make("{value}.{field}", value="value", field=field) for field in parameters]
    given = [
        keyword(field, code.make("{parts}[{index}]", parts="parts", index=index))
        for index, field in enumerate(parameters)
    ]
    flatten = "lambda value: ([{*read}], None)"
    make = code.make("lambda parts, _: {cls}({*given}, validate_args=False)", cls=cls, given=given)
    if full_name == WRAPPER:
        flatten = "lambda value: ([{*read}], value.reinterpreted_batch_ndims)"
        make = code.make("lambda parts, dims: {cls}(parts[0], dims, validate_args=False)", cls=cls)
    return code.statement(
        "if {cls} not in {nodes}:\n    {register}({cls}, {flatten}, {unflatten}, serialized_type_name={name})",
        cls=cls,
        nodes=code.name("torch.utils._pytree.SUPPORTED_NODES", place),
        register=code.name("torch.utils._pytree.register_pytree_node", place),
        flatten=code.make(flatten, read=read),
        unflatten=make,
        name=code.string(full_name),
    )
