"""Random numbers of Python and numpy, drawn by torch."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exportlint.analysis.domain.values import Const
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.names import qualified
from exportlint.fixes.places import demanded, enclosed
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.tensor_evidence import surely_tensor

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
    text = _Draw(code, call).text(name)
    if wrapper in WRAPPERS and isinstance(parent, ast.Call) and parent.args == [call] and not parent.keywords:
        replaced = parent
    elif isinstance(parent, ast.Subscript) and parent.slice is call and text.endswith(", ())"):
        if not surely_tensor(code, parent.value):
            raise DeclinedError("what it indexes may be no tensor")
        replaced = parent
        rows = f"{text.removesuffix('())')}(1,))"
        text = f"{code.operand(parent.value, Precedence.ATOM)}[{rows}].squeeze(0)"
    elif not isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Assign, ast.AugAssign, ast.Return)):
        raise DeclinedError("Python needs the number")
    edit = code.replace(replaced, enclosed(text, demanded(code.tree, replaced)))
    return code.fix("Draw with torch, which gives other numbers", edit, safe=False)


class _Draw:
    """The same draw as torch makes it."""

    def __init__(self, code: Code, call: ast.Call) -> None:
        self._code = code
        self._call = call

    def text(self, name: str) -> str:
        """Raises DeclinedError if torch has nothing like it."""
        if name in BY_DIMENSIONS:
            return self._filled(BY_DIMENSIONS[name], ", ".join(map(self._code.operand, self._call.args)))
        arguments = self._bound(PARAMETERS[name]) if name in PARAMETERS else None
        if arguments is None:
            raise DeclinedError("torch has nothing like it")
        ways: dict[str, Callable[[dict[str, ast.expr]], str]] = {
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

    def _filled(self, function: str, sizes: str) -> str:
        """Numbers of numpy have double precision; single ones go with every tensor."""
        name = self._code.name(function)
        return f"{name}({sizes}, dtype={self._code.name('torch.float64')})" if sizes else f"{name}(())"

    def _uniform(self, given: dict[str, ast.expr]) -> str:
        drawn = self._filled("torch.rand", self._shape(given))
        low, high = given.get("a", given.get("low")), given.get("b", given.get("high"))
        if (low is None or self._is(low, 0)) and (high is None or self._is(high, 1)):
            return drawn
        if low is None or high is None:
            raise DeclinedError("one bound is left to numpy")
        if self._is(low, 0):
            return f"{self._code.operand(high, Precedence.PRODUCT)} * {drawn}"
        start, least = self._code.operand(low, Precedence.SUM), self._code.operand(low, Precedence.PRODUCT)
        ends = [_number(high), _number(low)]
        if None in ends:
            return f"{start} + ({self._code.operand(high, Precedence.SUM)} - {least}) * {drawn}"
        return f"{start} + {ends[0] - ends[1]} * {drawn}"  # type: ignore[operator]

    def _normal(self, given: dict[str, ast.expr]) -> str:
        drawn = self._filled("torch.randn", self._shape(given))
        mean, deviation = given.get("mu", given.get("loc")), given.get("sigma", given.get("scale"))
        if deviation is not None and not self._is(deviation, 1):
            drawn = f"{self._code.operand(deviation, Precedence.PRODUCT)} * {drawn}"
        if mean is not None and not self._is(mean, 0):
            drawn = f"{self._code.operand(mean, Precedence.SUM)} + {drawn}"
        return drawn

    def _integer(self, given: dict[str, ast.expr]) -> str:
        low = given.get("a", given.get("low", given.get("start")))
        high = given.get("b", given.get("high", given.get("stop")))
        if low is None:
            raise DeclinedError("a bound is missing")
        start = "0" if high is None else self._code.operand(low)
        end = self._code.operand(low if high is None else high)
        if self._includes_end and high is not None:
            end = self._behind(high)
        return f"{self._code.name('torch.randint')}({start}, {end}, {self._shape(given) or '()'})"

    def _behind(self, node: ast.expr) -> str:
        """One more than an integer."""
        match node:
            case ast.Constant(value=int() as number):
                return str(number + 1)
            case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1)):
                return self._code.operand(left)
        return f"{self._code.operand(node, Precedence.SUM)} + 1"

    def _choice(self, given: dict[str, ast.expr]) -> str:
        numbers = given["seq"]
        if not isinstance(numbers, (ast.List, ast.Tuple)) or None in map(_number, numbers.elts):
            raise DeclinedError("it does not choose from numbers")
        chosen = f"{self._code.name('torch.randint')}(0, {len(numbers.elts)}, ())"
        items = f"[{', '.join(map(self._code.operand, numbers.elts))}]"
        return f"{self._code.name('torch.tensor')}({items}).take({chosen})"

    def _permutation(self, given: dict[str, ast.expr]) -> str:
        if not isinstance(self._code.value(given["x"]), Const):
            raise DeclinedError("it may be an array that is shuffled")
        return f"{self._code.name('torch.randperm')}({self._code.operand(given['x'])})"

    def _shape(self, given: dict[str, ast.expr]) -> str:
        size = given.get("size")
        if size is None or self._is(size, None):
            return ""
        return self._code.operand(size) if isinstance(size, (ast.Tuple, ast.List)) else f"({self._code.operand(size)},)"

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
