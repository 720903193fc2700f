"""Classes of `torch.distributions` that torch.export can take apart once they are registered.

A file whose model returns a `Normal` gets, in front of its first class or function,

    if Normal not in torch.utils._pytree.SUPPORTED_NODES:
        torch.utils._pytree.register_pytree_node(Normal, …)

with functions that take out the parameters and make the distribution of them anew, without looking at their values.

Needs: a class whose parameters are known here. Never safe: what maps over trees of tensors looks into distributions
then, and those of a program do not check the values that they are given.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

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


def register_distributions(code: Code, names: Iterable[str]) -> Fix:
    """Registers classes of `torch.distributions` for the file.

    Raises:
        DeclinedError: what one is made of is not known.
    """
    first = next(s for s in code.module.tree.body if isinstance(s, (ast.ClassDef, ast.FunctionDef)))
    several = sorted(set(names))
    lines = [_registration(code, name, first) for name in several]
    edit = code.statements.insert_before(first, lines, above_comments=True, blank_lines=2)
    shown = "`, `".join(name.rpartition(".")[2] for name in several)
    return code.fix(f"Register `{shown}`", edit, safe=False)


def _registration(code: Code, qualified: str, place: ast.stmt) -> Statement:
    name = qualified.rpartition(".")[2]
    parameters = PARAMETERS.get(name)
    if parameters is None or qualified != f"torch.distributions.{name}":
        raise DeclinedError(f"the fields of a `{name}` are not known")
    cls = code.name(qualified, place)
    read = [code.make("{value}.{field}", value="value", field=field) for field in parameters]
    given = [
        keyword(field, code.make("{parts}[{index}]", parts="parts", index=index))
        for index, field in enumerate(parameters)
    ]
    return code.statement(
        "if {cls} not in {nodes}:\n    {register}({cls}, {flatten}, {unflatten}, serialized_type_name={name})",
        cls=cls,
        nodes=code.name("torch.utils._pytree.SUPPORTED_NODES", place),
        register=code.name("torch.utils._pytree.register_pytree_node", place),
        flatten=code.make("lambda value: ([{*read}], None)", read=read),
        unflatten=code.make("lambda parts, _: {cls}({*given}, validate_args=False)", cls=cls, given=given),
        name=code.string(qualified),
    )
