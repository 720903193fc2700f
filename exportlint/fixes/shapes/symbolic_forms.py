"""Python's numbers of sizes, in forms that torch.export keeps symbolic: `len(x)`, `int(n * 0.5)`, `math.sqrt(n)`.

They become `x.shape[0]`, `n // 2` and `torch.sym_sqrt(n)`.

Safe: the form gives the same number to the bit, of operands that are surely whole, natural or tensors. Otherwise a type
of numpy, or what other code may set, makes a difference.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import External, Python, Shape, Tensor, Tuple
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import bare_tuple, binary
from exportlint.fixes.edit.template import call as call_of
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.purity import may_repeat
from exportlint.fixes.proofs.size_values import is_float, is_natural, is_number, is_size, is_whole
from exportlint.fixes.proofs.stated_numbers import is_float_number, is_whole_number, stated
from exportlint.fixes.proofs.tensor_evidence import is_tensor, surely_tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

MAX_DENOMINATOR = 1024
"""Of factors whose products with sizes floats hold exactly."""
OF_TWO = frozenset({"builtins.divmod", "math.pow"})
"""What converts two numbers; what else there is converts one."""
TENSORS = frozenset({"torch.as_tensor", "torch.tensor"})
"""What keeps its keywords."""


class SymbolicForm:
    """An expression with sizes, and how it is written without asking for the number behind them.

    `exact`: what was written so far is what the original gives, to the bit.
    """

    def __init__(self, code: Code) -> None:
        self._code = code
        self.exact = True
        self._forms: dict[str, Callable[[ast.Call], Expression | None]] = {
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

    def of(self, node: ast.expr) -> Expression:
        """An expression in which each conversion has its symbolic form."""
        found = self._found(node)
        return found[node] if node in found else self._code.concrete(node, found)

    def _found(self, node: ast.expr) -> dict[ast.expr, Expression]:
        """The forms of the outermost conversions in an expression that have one."""
        form = self._form(node) if isinstance(node, ast.Call) else None
        new = form(node) if form is not None and isinstance(node, ast.Call) else None
        if new is not None:
            return {node: new}
        children = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
        return {part: form for child in children for part, form in self._found(child).items()}

    def _form(self, call: ast.Call) -> Callable[[ast.Call], Expression | None] | None:
        callee = self._code.value(call.func)
        if not isinstance(callee, External) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        is_complete = len(call.args) == (2 if callee.name in OF_TWO else 1)
        if not is_complete or (call.keywords and callee.name not in TENSORS):
            return None
        return self._forms.get(callee.name)

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

    def _len(self, call: ast.Call) -> Expression | None:
        if not surely_tensor(self._code, call.args[0]):  # lists and dicts have a length, too
            return None
        return self._code.make("{tensor}.shape[0]", tensor=self.of(call.args[0]))

    def _int(self, call: ast.Call) -> Expression | None:
        code, number = self._code, call.args[0]
        if isinstance(number, ast.Call) and self._form(number) == self._prod:
            exact = self.exact
            found = self._prod(number)
            self.exact = exact  # the `int()` made a plain number of numpy's
            return found
        if code.surely(is_whole, number) and is_whole_number(code, number):
            return self.of(number)
        if not self._is_size(number):
            return None
        return self._divided(number) or call_of(code.name("torch.sym_int"), self.of(number))

    def _divided(self, number: ast.expr) -> Expression | None:
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
        product = self.of(whole)
        if times != 1:
            product = binary("*", product, times)
        return binary("//", product, by) if by != 1 else product

    def _float(self, call: ast.Call) -> Expression | None:
        code = self._code
        if not self._is_size(call.args[0]):
            return None
        if self._is_float_anyway(call):
            return self.of(call.args[0])
        return call_of(code.name("torch.sym_float"), self.of(call.args[0]))

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

    def _divmod(self, call: ast.Call) -> Expression | None:
        if not self._code.surely(lambda v: is_whole(v) or is_number(v), *call.args):
            return None
        one, other = map(self.of, call.args)
        for statement in analysed([templates.statement("{x}", x=operand) for operand in (one, other)]):
            if not isinstance(statement, ast.Expr) or not may_repeat(self._code, statement.value):
                raise DeclinedError("it would compute the operands twice")
        return bare_tuple([binary("//", one, other), binary("%", one, other)])

    def _index(self, call: ast.Call) -> Expression | None:
        number = call.args[0]
        is_int = self._code.surely(is_whole, number) and is_whole_number(self._code, number)
        return self.of(number) if is_int else None

    def _sqrt(self, call: ast.Call) -> Expression | None:
        code = self._code
        if not self._is_size(call.args[0]):
            return None
        if code.value(call.func) == External("numpy.sqrt"):
            self.exact &= self._meets_tensor(call)
        return call_of(code.name("torch.sym_sqrt"), self.of(call.args[0]))

    def _pow(self, call: ast.Call) -> Expression | None:
        code = self._code
        if not code.surely(is_size, call.args[0]):
            return None
        power = stated(code, call.args[1])
        # `math.pow` refuses what `**` makes complex numbers of, or another error
        if power is None or not is_natural(code, call.args[0]) or power < 0:
            return None
        return binary("**", call_of(code.name("torch.sym_float"), self.of(call.args[0])), self.of(call.args[1]))

    def _prod(self, call: ast.Call) -> Expression | None:
        sizes = self._code.value(call.args[0])
        is_sizes = isinstance(sizes, Shape) or (isinstance(sizes, Tuple) and all(map(is_whole, sizes.items)))
        if not is_sizes:
            return None
        self.exact &= self._meets_tensor(call)
        if isinstance(call.args[0], ast.Attribute) and isinstance(sizes, Shape):
            return self._code.make("{tensor}.numel()", tensor=self.of(call.args[0].value))
        return call_of(self._code.name("math.prod"), self.of(call.args[0]))

    def _tensor(self, call: ast.Call) -> Expression | None:
        if not self._code.surely(lambda v: isinstance(v, Shape), call.args[0]):
            return None
        function, sizes = self._code.name("torch.tensor"), self.of(call.args[0])
        return self._code.make("{f}(list({sizes}), {*rest})", f=function, sizes=sizes, rest=call.keywords)

    def _meets_tensor(self, call: ast.Call) -> bool:
        """Whether all that is done with a number is arithmetic with a tensor, for which numpy's are plain ones."""
        parent = self._code.tree.parents[call]
        if not isinstance(parent, ast.BinOp):
            return False
        return self._code.surely(is_tensor, parent.right if parent.left is call else parent.left)
