"""Random numbers of Python and numpy, drawn by torch.

`random.random()` becomes `torch.rand(())`, `np.random.normal(0, s, n)` `s * torch.randn((n,), dtype=torch.float64)`.

Never safe: other numbers are drawn, by another seed, and tensors stand where numbers were.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Const
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import qualified
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.tensor_evidence import surely_tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given
    from exportlint.fixes.edit.template import Expression

PARAMETERS: dict[str, tuple[str, ...]] = {
    "random.random": (), "random.uniform": ("a", "b"), "random.gauss": ("mu", "sigma"),
    "random.normalvariate": ("mu", "sigma"), "random.randint": ("a", "b"), "random.randrange": ("start", "stop"),
    "random.choice": ("seq",), "numpy.random.random": ("size",), "numpy.random.random_sample": ("size",),
    "numpy.random.uniform": ("low", "high", "size"), "numpy.random.normal": ("loc", "scale", "size"),
    "numpy.random.randint": ("low", "high", "size"), "numpy.random.standard_normal": ("size",),
    "numpy.random.permutation": ("x",),
}  # fmt: skip
"""What each function takes, in order."""

BY_DIMENSIONS = {"numpy.random.rand": "torch.rand", "numpy.random.randn": "torch.randn"}
WRAPPERS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor"})


def draw_with_torch(code: Code) -> Fix:
    """A 0-d tensor, or one of the sizes of an array. Raises DeclinedError."""
    call = code.node(ast.Call)
    name = qualified(call.func, code.tree.root, code.module.package) or ""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        raise DeclinedError("its arguments are not known")
    replaced: ast.expr = call
    parent = code.tree.parents[call]
    wrapper = qualified(parent.func, code.tree.root, code.module.package) if isinstance(parent, ast.Call) else None
    draw = _Draw(code, call)
    drawn = draw.drawn(name)
    if wrapper in WRAPPERS and isinstance(parent, ast.Call) and parent.args == [call] and not parent.keywords:
        replaced = parent
    elif isinstance(parent, ast.Subscript) and parent.slice is call and draw.is_index:
        if not surely_tensor(code, parent.value):
            raise DeclinedError("what it indexes may be no tensor")
        replaced = parent
        row = _Draw(code, call, shape="(1,)").drawn(name)
        drawn = code.make("{rows}[{row}].squeeze(0)", rows=parent.value, row=row)
    elif not isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Assign, ast.AugAssign, ast.Return)):
        raise DeclinedError("Python needs the number")
    return code.fix("Draw with torch, which gives other numbers", code.replace(replaced, drawn), safe=False)


class _Draw:
    """The same draw as torch makes it."""

    def __init__(self, code: Code, call: ast.Call, shape: str = "()") -> None:
        self._code = code
        self._call = call
        self._default = shape
        self.is_index = False
        """Whether a single integer is drawn."""

    def drawn(self, name: str) -> Expression:
        """Raises DeclinedError if torch has nothing like it."""
        if name in BY_DIMENSIONS:
            return self._filled(BY_DIMENSIONS[name], self._call.args)
        arguments = self._bound(PARAMETERS[name]) if name in PARAMETERS else None
        if arguments is None:
            raise DeclinedError("torch has nothing like it")
        ways: dict[str, Callable[[dict[str, ast.expr]], Expression]] = {
            "random": self._uniform, "random_sample": self._uniform, "uniform": self._uniform,
            "gauss": self._normal, "normalvariate": self._normal, "normal": self._normal,
            "standard_normal": self._normal, "randint": self._integer, "randrange": self._integer,
            "choice": self._choice, "permutation": self._permutation,
        }  # fmt: skip
        self._includes_end = name == "random.randint"
        return ways[name.rpartition(".")[2]](arguments)

    def _bound(self, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
        call = self._call
        if len(call.args) > len(parameters) or any(k.arg not in parameters for k in call.keywords):
            return None
        named = {k.arg: k.value for k in call.keywords if k.arg is not None}
        return dict(zip(parameters, call.args, strict=False)) | named

    def _filled(self, function: str, sizes: Sequence[Given]) -> Expression:
        """Numbers of numpy have double precision; single ones go with every tensor."""
        name = self._code.name(function)
        if not sizes:
            return self._code.make("{f}(())", f=name)
        double = self._code.name("torch.float64")
        return self._code.make("{f}({*sizes}, dtype={double})", f=name, sizes=sizes, double=double)

    def _uniform(self, given: dict[str, ast.expr]) -> Expression:
        drawn = self._filled("torch.rand", self._shape(given))
        low, high = given.get("a", given.get("low")), given.get("b", given.get("high"))
        if (low is None or self._is(low, 0)) and (high is None or self._is(high, 1)):
            return drawn
        if low is None or high is None:
            raise DeclinedError("one bound is left to numpy")
        if self._is(low, 0):
            return self._code.make("{high} * {drawn}", high=high, drawn=drawn)
        end, start = _number(high), _number(low)
        if end is None or start is None:
            return self._code.make("{low} + ({high} - {low}) * {drawn}", low=low, high=high, drawn=drawn)
        return self._code.make("{low} + {width} * {drawn}", low=low, width=end - start, drawn=drawn)

    def _normal(self, given: dict[str, ast.expr]) -> Expression:
        drawn = self._filled("torch.randn", self._shape(given))
        mean, deviation = given.get("mu", given.get("loc")), given.get("sigma", given.get("scale"))
        if deviation is not None and not self._is(deviation, 1):
            drawn = self._code.make("{deviation} * {drawn}", deviation=deviation, drawn=drawn)
        if mean is not None and not self._is(mean, 0):
            drawn = self._code.make("{mean} + {drawn}", mean=mean, drawn=drawn)
        return drawn

    def _integer(self, given: dict[str, ast.expr]) -> Expression:
        low = given.get("a", given.get("low", given.get("start")))
        high = given.get("b", given.get("high", given.get("stop")))
        if low is None:
            raise DeclinedError("a bound is missing")
        start: Given = 0 if high is None else low
        end: Given = low if high is None else high
        if self._includes_end and high is not None:
            end = self._behind(high)
        shape = self._shape(given)
        self.is_index = not shape
        size = shape or [self._code.make(self._default)]
        drawn = self._code.name("torch.randint")
        return self._code.make("{f}({start}, {end}, {*size})", f=drawn, start=start, end=end, size=size)

    def _behind(self, node: ast.expr) -> Given:
        """One more than an integer."""
        match node:
            case ast.Constant(value=int() as number):
                return number + 1
            case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1)):
                return left
        return self._code.make("{number} + 1", number=node)

    def _choice(self, given: dict[str, ast.expr]) -> Expression:
        numbers = given["seq"]
        if not isinstance(numbers, (ast.List, ast.Tuple)) or None in map(_number, numbers.elts):
            raise DeclinedError("it does not choose from numbers")
        return self._code.make(
            "{tensor}([{*numbers}]).take({randint}(0, {count}, ()))",
            tensor=self._code.name("torch.tensor"),
            numbers=numbers.elts,
            randint=self._code.name("torch.randint"),
            count=len(numbers.elts),
        )

    def _permutation(self, given: dict[str, ast.expr]) -> Expression:
        if not isinstance(self._code.value(given["x"]), Const):
            raise DeclinedError("it may be an array that is shuffled")
        return self._code.make("{f}({count})", f=self._code.name("torch.randperm"), count=given["x"])

    def _shape(self, given: dict[str, ast.expr]) -> list[Given]:
        """The argument that says the shape; none for a single number."""
        size = given.get("size")
        if size is None or self._is(size, None):
            return []
        return [size if isinstance(size, (ast.Tuple, ast.List)) else self._code.make("({size},)", size=size)]

    def _is(self, node: ast.expr, expected: object) -> bool:
        return isinstance(node, ast.Constant) and node.value == expected


def _number(node: ast.expr) -> float | None:
    """The number that a literal is."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Constant(value=int() | float() as number):
            return number
    return None
