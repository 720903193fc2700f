"""Python's numbers of sizes, in forms that torch.export keeps symbolic: `len(x)`, `int(n * 0.5)`, `math.sqrt(n)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from exportlint.analysis.domain.values import External, Python, Shape, Tensor, Tuple
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.places import demanded, enclosed
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.size_values import is_float, is_natural, is_number, is_size, is_whole
from exportlint.fixes.sources import is_repeatable
from exportlint.fixes.stated import is_float_number, is_whole_number, stated
from exportlint.fixes.tensor_evidence import is_tensor, surely_tensor

MAX_DENOMINATOR = 1024
"""Of factors whose products with sizes floats hold exactly."""


class SymbolicForm:
    """An expression with sizes, and how it is written without asking for the number behind them.

    `exact`: what was written so far is what the original gives, to the bit.
    """

    def __init__(self, code: Code) -> None:
        self._code = code
        self.exact = True
        self._forms: dict[str, Callable[[ast.Call], str | None]] = {
            "builtins.len": self._len,
            "builtins.int": self._int,
            "builtins.float": self._float,
            "builtins.divmod": self._divmod,
            "operator.index": self._index,
            "math.sqrt": self._sqrt,
            "math.pow": self._pow,
            "numpy.sqrt": self._sqrt,
            "numpy.prod": self._prod,
            "torch.as_tensor": self._tensor,
            "torch.tensor": self._tensor,
        }

    def outermost(self, call: ast.Call) -> ast.Call:
        """The last of the conversions that a conversion goes through: `int(…)` of `int(len(x) * 0.5)`."""
        tree, found, inner = self._code.tree, call, call
        for around in tree.ancestors(call):
            if isinstance(around, ast.Call) and inner in around.args and self._form(around) is not None:
                found = around
            elif not isinstance(around, (ast.BinOp, ast.UnaryOp)):
                break
            inner = around  # type: ignore[assignment]
        return found

    def text(self, node: ast.expr, place: Precedence = Precedence.TERNARY) -> str:
        """The source of an expression in which each conversion has its symbolic form."""
        form = self._form(node) if isinstance(node, ast.Call) else None
        return enclosed(form(node) or self._spliced(node) if form else self._spliced(node), place)  # type: ignore[arg-type]

    def _form(self, call: ast.Call) -> Callable[[ast.Call], str | None] | None:
        callee = self._code.value(call.func)
        if not isinstance(callee, External) or not call.args or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        return self._forms.get(callee.name)

    def _spliced(self, node: ast.expr) -> str:
        """The source of a node with the forms of what is inside it."""
        code = self._code
        children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        changed = (child for child in children if self.text(child, Precedence.TUPLE) != code.text(child))
        return code.text(node, {child: self.text(child, demanded(code.tree, child)) for child in changed})

    def _is_size(self, node: ast.expr) -> bool:
        """Whether an expression is a number of sizes, also where a conversion has settled which."""
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return any(map(self._is_size, sides)) and all(self._is_size(s) or self._is_plain(s) for s in sides)
        if isinstance(node, ast.Call) and self._form(node) is not None:
            return self._is_size(node.args[0]) or self._code.surely(
                lambda v: isinstance(v, (Shape, Tensor)), node.args[0]
            )
        return self._code.surely(is_size, node)

    def _is_plain(self, node: ast.expr) -> bool:
        # torch's conversions do with everything but symbols what Python's do
        return self._code.surely(lambda v: is_number(v) or isinstance(v, Python) or is_float(v), node)

    # --- forms: None if the call is to be left as it is

    def _len(self, call: ast.Call) -> str | None:
        if not surely_tensor(self._code, call.args[0]):  # lists and dicts have a length, too
            return None
        return f"{self.text(call.args[0], Precedence.ATOM)}.shape[0]"

    def _int(self, call: ast.Call) -> str | None:
        code, number = self._code, call.args[0]
        if isinstance(number, ast.Call) and self._form(number) == self._prod:
            exact = self.exact
            found = self._prod(number)
            self.exact = exact  # the `int()` made a plain number of numpy's
            return found
        if code.surely(is_whole, number) and is_whole_number(code, number):
            return self.text(number)
        if len(call.args) > 1 or call.keywords or not self._is_size(number):
            return None
        return self._divided(number) or f"{code.name('torch.sym_int')}({self.text(number)})"

    def _divided(self, number: ast.expr) -> str | None:
        """`n // 2` for what `int(n * 0.5)` and `int(n / 2)` convert."""
        if not isinstance(number, ast.BinOp) or not isinstance(number.op, (ast.Mult, ast.Div)):
            return None
        code = self._code
        whole, factor = number.left, stated(code, number.right)
        if factor is None and isinstance(number.op, ast.Mult):
            whole, factor = number.right, stated(code, number.left)
        if factor is None or not 0 < factor < math.inf:
            return None
        times, by = factor.as_integer_ratio()
        if isinstance(number.op, ast.Div):
            times, by = by, times
        is_exact = by <= MAX_DENOMINATOR and times <= MAX_DENOMINATOR
        is_count = code.surely(is_whole, whole) and is_whole_number(code, whole) and is_natural(code, whole)
        if not is_exact or not is_count:
            return None
        product = self.text(whole, Precedence.PRODUCT)
        product += f" * {times}" if times != 1 else ""
        return f"{product} // {by}" if by != 1 else product

    def _float(self, call: ast.Call) -> str | None:
        code = self._code
        if not self._is_size(call.args[0]):
            return None
        if self._is_float_anyway(call):
            return self.text(call.args[0])
        return f"{code.name('torch.sym_float')}({self.text(call.args[0])})"

    def _is_float_anyway(self, call: ast.Call) -> bool:
        """Whether arithmetic makes a float of the number that `float()` is applied to."""
        parent = self._code.tree.parents[call]
        if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, (ast.Div, ast.Mult, ast.Add, ast.Sub)):
            return False
        other = parent.right if parent.left is call else parent.left
        if isinstance(parent.op, ast.Div):
            return self._code.surely(lambda v: is_tensor(v) or is_size(v) or is_number(v), other)
        is_float_tensor = self._code.surely(lambda v: isinstance(v, Tensor) and v.kind == "float", other)
        return is_float_tensor or is_float_number(self._code, other)

    def _divmod(self, call: ast.Call) -> str | None:
        if len(call.args) != 2 or not self._code.surely(lambda v: is_whole(v) or is_number(v), *call.args):
            return None
        one, other = (self.text(argument, Precedence.UNARY) for argument in call.args)
        if not all(is_repeatable(ast.parse(f"({text})", mode="eval").body) for text in (one, other)):
            raise DeclinedError("it would compute the operands twice")
        return f"{one} // {other}, {one} % {other}"

    def _index(self, call: ast.Call) -> str | None:
        number = call.args[0]
        is_int = self._code.surely(is_whole, number) and is_whole_number(self._code, number)
        return self.text(number) if is_int else None

    def _sqrt(self, call: ast.Call) -> str | None:
        code = self._code
        if call.keywords or len(call.args) != 1 or not self._is_size(call.args[0]):
            return None
        if code.value(call.func) == External("numpy.sqrt"):
            self.exact &= self._meets_tensor(call)
        return f"{code.name('torch.sym_sqrt')}({self.text(call.args[0])})"

    def _pow(self, call: ast.Call) -> str | None:
        code = self._code
        if len(call.args) != 2 or not code.surely(is_size, call.args[0]):
            return None
        power = stated(code, call.args[1])
        # `math.pow` refuses what `**` makes complex numbers of, or another error
        if power is None or not is_natural(code, call.args[0]) or power < 0:
            return None
        return (
            f"{code.name('torch.sym_float')}({self.text(call.args[0])}) ** {self.text(call.args[1], Precedence.UNARY)}"
        )

    def _prod(self, call: ast.Call) -> str | None:
        sizes = self._code.value(call.args[0])
        is_sizes = isinstance(sizes, Shape) or (isinstance(sizes, Tuple) and all(map(is_whole, sizes.items)))
        if call.keywords or len(call.args) != 1 or not is_sizes:
            return None
        self.exact &= self._meets_tensor(call)
        if isinstance(call.args[0], ast.Attribute) and isinstance(sizes, Shape):
            return f"{self.text(call.args[0].value, Precedence.ATOM)}.numel()"
        return f"{self._code.name('math.prod')}({self.text(call.args[0])})"

    def _tensor(self, call: ast.Call) -> str | None:
        if not self._code.surely(lambda v: isinstance(v, Shape), call.args[0]):
            return None
        sizes, function = call.args[0], self._code.name("torch.tensor")
        rest = "".join(f", {self._code.text(k)}" for k in call.keywords)
        return f"{function}(list({self.text(sizes)}){rest})"

    def _meets_tensor(self, call: ast.Call) -> bool:
        """Whether all that is done with a number is arithmetic with a tensor, for which numpy's are plain ones."""
        parent = self._code.tree.parents[call]
        if not isinstance(parent, ast.BinOp):
            return False
        return self._code.surely(is_tensor, parent.right if parent.left is call else parent.left)
