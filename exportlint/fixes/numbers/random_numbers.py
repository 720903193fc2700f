"""Random numbers of Python and numpy, drawn by torch.

`random.random()` becomes `torch.rand(())`, `np.random.normal(0, s, n)` `s * torch.randn((n,), dtype=torch.float64)`,
`np.random.choice(n, k, replace=False)` `torch.randperm(n)[:k]`, `np.random.beta(a, b)`
`torch.distributions.Beta(a, b, validate_args=False).sample()`, a range that is shuffled `torch.randperm`, and
`random.choice(self.layers)(x)` a choice between what all layers give. What the methods of a generator draw that the
module keeps (`self.rng = np.random.default_rng(0)`) is drawn likewise, from the generator of torch.

Never safe: other numbers are drawn, by another seed, and tensors stand where numbers were: a condition on one is a
condition on data.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, External, Python, Scalar, Shape, Size, Tuple
from exportlint.analysis.domain.values import Sequence as Many
from exportlint.findings import Fix
from exportlint.fixes.arrays.array_calls import dtype
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import qualified
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import expression, keyword, method
from exportlint.fixes.edit.tree import indices, place
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.index_select import chosen_by
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.fixes.proofs.purity import may_repeat
from exportlint.fixes.proofs.tensor_evidence import surely_tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given
    from exportlint.fixes.edit.template import Expression

PARAMETERS: dict[str, tuple[str, ...]] = {
    "random.random": (), "random.uniform": ("a", "b"), "random.gauss": ("mu", "sigma"),
    "random.normalvariate": ("mu", "sigma"), "random.randint": ("a", "b"), "random.randrange": ("start", "stop"),
    "random.choice": ("seq",), "numpy.random.random": ("size",), "numpy.random.random_sample": ("size",),
    "numpy.random.uniform": ("low", "high", "size"), "numpy.random.normal": ("loc", "scale", "size"),
    "numpy.random.randint": ("low", "high", "size"),
    "numpy.random.integers": ("low", "high", "size"), "numpy.random.standard_normal": ("size",),
    "numpy.random.permutation": ("x",), "numpy.random.choice": ("a", "size", "replace", "p"),
    "numpy.random.exponential": ("scale", "size"), "random.expovariate": ("lambd",), "random.getrandbits": ("k",),
    "random.sample": ("population", "k"), "secrets.randbelow": ("exclusive_upper_bound",), "secrets.choice": ("seq",),
    "numpy.random.beta": ("a", "b", "size"), "random.betavariate": ("alpha", "beta"),
    "numpy.random.gamma": ("shape", "scale", "size"), "random.gammavariate": ("alpha", "beta"),
    "numpy.random.standard_gamma": ("shape", "size"), "numpy.random.laplace": ("loc", "scale", "size"),
    "numpy.random.lognormal": ("mean", "sigma", "size"), "random.lognormvariate": ("mu", "sigma"),
    "numpy.random.gumbel": ("loc", "scale", "size"), "numpy.random.poisson": ("lam", "size"),
    "numpy.random.binomial": ("n", "p", "size"), "numpy.random.dirichlet": ("alpha", "size"),
    "numpy.random.standard_exponential": ("size",),
    "numpy.random.chisquare": ("df", "size"),
}  # fmt: skip
"""What each function takes, in order."""

DISTRIBUTIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "beta": ("Beta", ()), "betavariate": ("Beta", ()), "gamma": ("Gamma", (1.0,)), "gammavariate": ("Gamma", ()),
    "standard_gamma": ("Gamma", (1.0,)), "laplace": ("Laplace", (0.0, 1.0)), "lognormal": ("LogNormal", (0.0, 1.0)),
    "lognormvariate": ("LogNormal", (0.0, 1.0)), "gumbel": ("Gumbel", (0.0, 1.0)), "poisson": ("Poisson", (1.0,)),
    "binomial": ("Binomial", ()), "dirichlet": ("Dirichlet", ()), "chisquare": ("Chi2", ()),
}  # fmt: skip
"""The distribution of torch that some draw from, and what NumPy takes for the last arguments if they are left out."""
COUNTS = frozenset({"poisson", "binomial"})
"""What gives integers."""

_TAKES_TENSORS = (ast.BinOp, ast.UnaryOp, ast.Assign, ast.AugAssign, ast.Return)
BY_DIMENSIONS = {"numpy.random.rand": "torch.rand", "numpy.random.randn": "torch.randn"}
MESSAGE = "Draw with torch, which gives different numbers"
WITH_NUMPY = "the array is also used with NumPy"
WRAPPERS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor"})


def draw_with_torch(code: Code, *, is_used: bool) -> Fix:
    """A 0-d tensor, or one of the sizes of an array. `is_used`: what is computed depends on it.

    Raises:
        DeclinedError: torch has no equivalent, or Python needs the number.
    """
    call = code.node(ast.Call)
    name = _function(code, call)
    if name in {"random.shuffle", "numpy.random.shuffle"}:
        return _shuffled(code, call)
    if name == "uuid.uuid4":
        return _remainder(code, call)
    is_starred = any(isinstance(argument, ast.Starred) for argument in call.args) and name not in BY_DIMENSIONS
    if is_starred or any(k.arg is None for k in call.keywords):
        raise DeclinedError("its arguments are not known")
    if name in {"random.choice", "secrets.choice"} and not _is_of_numbers(call):
        return _chosen(code, call)
    draw = _Draw(code, call)
    replaced, drawn = _without_arrays(code, call, draw.drawn(name))
    if draw.is_index and _bounds_slice(code, call):
        drawn = method(drawn, "item")
    parent = code.tree.parents[replaced]
    if _is_seeded(code, call, name):
        raise DeclinedError("a seed in the same call makes the numbers always the same")
    if isinstance(parent, ast.Subscript) and parent.slice is call and draw.is_index:
        row = _Draw(code, call, shape="(1,)").drawn(name)
        if not surely_tensor(code, parent.value):
            replaced, drawn = chosen_by(code, parent, parent.value, row)
            return code.fix(MESSAGE, code.replace(replaced, drawn), safe=False)
        replaced = parent
        drawn = code.make("{rows}[{row}].squeeze(0)", rows=parent.value, row=row)
    elif (
        not _is_wrapper(code, replaced)
        and not isinstance(parent, _TAKES_TENSORS)
        and not _is_index(code, replaced)
        and not (is_used and isinstance(parent, ast.Compare))
    ):
        raise DeclinedError("Python needs the number")
    return code.fix(MESSAGE, code.replace(replaced, drawn), *_unwrapped(code, replaced), safe=False)


def _function(code: Code, call: ast.Call) -> str:
    """The function that draws, also as the method of a generator: `numpy.random.rand` for `self.rng.rand`."""
    held = code.value(call.func)
    if isinstance(held, External):
        return held.name
    return qualified(call.func, code.tree.root, code.module.package) or ""


def _bounds_slice(code: Code, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a number, or what is computed from it, bounds a slice: that takes no tensor where it is written to."""
    around = code.tree.parents[node]
    while isinstance(around, (ast.BinOp, ast.UnaryOp)):
        around = code.tree.parents[around]
    if isinstance(around, ast.Slice):
        return True
    function = code.tree.function(node)
    if not isinstance(around, ast.Assign) or not isinstance(around.targets[0], ast.Name) or function is None:
        return False
    name = around.targets[0].id
    uses = (n for n in code.tree.contents(function).named(name) if isinstance(n.ctx, ast.Load))
    return name not in seen and any(_bounds_slice(code, use, seen | {name}) for use in uses)


def _is_wrapper(code: Code, node: ast.AST) -> bool:
    """Whether a call makes a tensor of an array."""
    return isinstance(node, ast.Call) and qualified(node.func, code.tree.root, code.module.package) in WRAPPERS


def _without_arrays(code: Code, node: ast.expr, new: Expression) -> tuple[ast.expr, Expression]:
    """What is made of an array by arithmetic, `astype` and `torch.from_numpy`, as it is made of the tensor `new`.

    Raises:
        DeclinedError: NumPy does more with the array.
    """
    found = node, new
    while True:
        around = code.tree.parents[node]
        match around:
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                assert isinstance(around, ast.expr)
                node, new = around, code.concrete(around, {node: new})
            case ast.Attribute(attr="astype"):
                made = code.tree.parents[around]
                wanted = made.args[0] if isinstance(made, ast.Call) and len(made.args) == 1 else None
                kind = dtype(code, wanted) if wanted is not None else None
                if not isinstance(made, ast.Call) or made.keywords or kind is None:
                    raise DeclinedError(WITH_NUMPY)
                found = node, new = made, method(new, "to", kind)
            case ast.Attribute(attr="tolist" | "copy"):
                raise DeclinedError(WITH_NUMPY)
            case ast.Call(args=[given], keywords=options) if given is node and _is_wrapper(code, around):
                if any(option.arg not in {"dtype", "device"} for option in options):
                    raise DeclinedError("the tensor built from them has options")
                return around, code.make("{new}.to({*options})", new=new, options=options) if options else new
            case ast.Call() if (qualified(around.func, code.tree.root, code.module.package) or "").startswith("numpy."):
                raise DeclinedError(WITH_NUMPY)
            case _:
                return found


def _is_index(code: Code, node: ast.expr) -> bool:
    """Whether an array chooses elements of a tensor: `x[:, order]`."""
    around = code.tree.parents[node]
    around = code.tree.parents[around] if isinstance(around, ast.Tuple) else around
    return isinstance(around, ast.Subscript) and node in indices(around) and tensor(code, around.value) is not None


def _unwrapped(code: Code, drawn: ast.expr) -> list[Draft]:
    """What makes tensors of the array that a variable holds, left out. Raises DeclinedError if NumPy uses it."""
    node = drawn
    while isinstance(around := code.tree.parents[node], (ast.BinOp, ast.UnaryOp, ast.Compare)):
        node = around
    statement = code.tree.parents[node]
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return []
    function, name = code.tree.function(statement), statement.targets[0].id
    found: list[Draft] = []
    for use in ast.walk(function) if function is not None else ():
        if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load):
            whole, new = _without_arrays(code, use, code.concrete(use))
            if whole is not use:
                found.append(code.replace(whole, new))
    return found


def _is_of_numbers(call: ast.Call) -> bool:
    """Whether a choice is between numbers that are written there."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(g, (ast.List, ast.Tuple)) and None not in map(_number, g.elts) for g in given[:1])


def _chosen(code: Code, call: ast.Call) -> Fix:
    """`random.choice(items)` as the item that an integer below their number says."""
    if len(call.args) != 1 or call.keywords:
        raise DeclinedError("its arguments are not known")
    (items,), count = call.args, None
    if isinstance(items, (ast.List, ast.Tuple)) and not any(isinstance(item, ast.Starred) for item in items.elts):
        count = code.make("{count}", count=len(items.elts))
    elif may_repeat(code, items):
        count = code.make("len({items})", items=items)
    if count is None:
        raise DeclinedError("what it chooses from would be evaluated twice")
    index = code.make("{f}(0, {count}, (1,))", f=code.name("torch.randint"), count=count)
    replaced, drawn = chosen_by(code, call, items, index)
    return code.fix(MESSAGE, code.replace(replaced, drawn), safe=False)


def _shuffled(code: Code, call: ast.Call) -> Fix:
    """`order = list(range(n))` that is shuffled in the next statement, as `order = torch.randperm(n)`."""
    shuffling = code.tree.parents[call]
    block = code.tree.block(shuffling) if isinstance(shuffling, ast.Expr) else []
    before = block[block.index(shuffling) - 1] if shuffling in block[1:] else None
    match before, call.args:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made), [ast.Name(id=given)] if name == given:
            count = _count(code, made)
            if count is not None:
                drawn = code.make("{f}({count})", f=code.name("torch.randperm"), count=count)
                drafts = [code.replace(made, drawn), code.statements.replace([code.tree.statement(call)], [])]
                return code.fix("Draw with torch, which gives a different order", *drafts, safe=False)
    raise DeclinedError("the shuffled value is not a range from the previous statement")


def _remainder(code: Code, call: ast.Call) -> Fix:
    """`uuid.uuid4().int % n` as an integer below `n`."""
    number = code.tree.parents[call]
    match code.tree.parents[number]:
        case ast.BinOp(left=left, op=ast.Mod(), right=count) as remainder if left is number:
            if isinstance(number, ast.Attribute) and number.attr == "int" and isinstance(_number(count), int):
                drawn = code.make("{f}(0, {count}, ())", f=code.name("torch.randint"), count=count)
                return code.fix(MESSAGE, code.replace(remainder, drawn), safe=False)
    raise DeclinedError("torch has no integers that large")


def _count(code: Code, made: ast.Call) -> ast.expr | None:
    """How many numbers `list(range(n))` and `np.arange(n)` have."""
    name = qualified(made.func, code.tree.root, code.module.package)
    match made.args:
        case [ast.Call(func=ast.Name(id="range"), args=[count], keywords=[])] if name == "list":
            return count
        case [count] if name == "numpy.arange" and not made.keywords:
            return count
    return None


class _Draw:
    """The same draw as torch makes it."""

    def __init__(self, code: Code, call: ast.Call, shape: str = "()") -> None:
        self._code = code
        self._call = call
        self._default = shape
        self.is_index = False
        """Whether a single integer is drawn."""

    def drawn(self, name: str) -> Expression:
        """Raises DeclinedError if torch has no equivalent."""
        if name in BY_DIMENSIONS:
            return self._filled(BY_DIMENSIONS[name], self._call.args)
        arguments = self._bound(PARAMETERS[name]) if name in PARAMETERS else None
        if arguments is None:
            why = "its options have no equivalent in torch" if name in PARAMETERS else "torch has no equivalent"
            raise DeclinedError(why)
        ways: dict[str, Callable[[dict[str, ast.expr]], Expression]] = {
            "random": self._uniform, "random_sample": self._uniform, "uniform": self._uniform,
            "gauss": self._normal, "normalvariate": self._normal, "normal": self._normal,
            "standard_normal": self._normal, "randint": self._integer, "integers": self._integer,
            "randrange": self._integer,
            "choice": self._choice, "permutation": self._permutation, "sample": self._sample,
            "getrandbits": self._bits, "randbelow": self._below, "exponential": self._exponential,
            "standard_exponential": self._exponential,
            "expovariate": self._exponential,
        }  # fmt: skip
        short = name.rpartition(".")[2]
        if short in DISTRIBUTIONS:
            return self._sampled(short, PARAMETERS[name], arguments)
        self._includes_end = name == "random.randint"
        return ways[short](arguments)

    def _sampled(self, name: str, parameters: Sequence[str], given: dict[str, ast.expr]) -> Expression:
        """A sample of a distribution of torch. That of numbers has single precision, as they go with every tensor."""
        distribution, defaults = DISTRIBUTIONS[name]
        names = [each for each in parameters if each != "size"]
        if name == "standard_gamma":
            names.append("")
        filled: dict[str, Given] = dict(zip(reversed(names), reversed(defaults), strict=False))
        filled.update({each: given[each] for each in names if each in given})
        if len(filled) < len(names):
            raise DeclinedError("a parameter of the distribution is missing")
        ordered = [filled[each] for each in names]
        if distribution == "Dirichlet":
            dtype = self._code.name("torch.float32")
            ordered = [self._code.make("{f}({x}, dtype={d})", f=self._code.name("torch.tensor"), x=ordered[0], d=dtype)]
        elif any(isinstance(one, ast.expr) and self._is_many(one) for one in ordered):
            raise DeclinedError("a parameter is an array")
        if distribution == "Gamma":  # torch takes the rate
            ordered[1] = self._inverse(ordered[1])
        code, size = self._code, self._shape(given)
        made = code.name(f"torch.distributions.{distribution}")
        drawn = code.make("{made}({*given}, validate_args=False).sample({*size})", made=made, given=ordered, size=size)
        dtype = "int64" if name in COUNTS else "float64" if size else ""
        return code.make("{drawn}.to({dtype})", drawn=drawn, dtype=code.name(f"torch.{dtype}")) if dtype else drawn

    def _is_many(self, node: ast.expr) -> bool:
        held = options(self._code.value(node))
        return isinstance(node, (ast.List, ast.Tuple)) or any(isinstance(one, (Tuple, Many)) for one in held)

    def _inverse(self, number: Given) -> Given:
        known = _number(number) if isinstance(number, ast.expr) else number
        return 1 / known if isinstance(known, (int, float)) and known else self._code.make("1 / {x}", x=number)

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
            raise DeclinedError("only one bound is given")
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
        end: Given = low if high is None else high
        if self._includes_end and high is not None:
            end = self._behind(high)
        return self._between(0 if high is None else low, end, given)

    def _between(self, start: Given, end: Given, given: dict[str, ast.expr]) -> Expression:
        """Integers from `start` on, below `end`."""
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

    def _below(self, given: dict[str, ast.expr]) -> Expression:
        return self._between(0, given["exclusive_upper_bound"], {})

    def _bits(self, given: dict[str, ast.expr]) -> Expression:
        bits = _number(given["k"])
        if not isinstance(bits, int) or not 0 < bits < 63:
            raise DeclinedError("torch has no integers with that many bits")
        return self._between(0, 2**bits, {})

    def _exponential(self, given: dict[str, ast.expr]) -> Expression:
        empty = self._filled("torch.empty", self._shape(given))
        drawn = self._code.make("{empty}.exponential_()", empty=empty)
        scale, rate = given.get("scale"), given.get("lambd")
        if scale is not None:
            return self._code.make("{scale} * {drawn}", scale=scale, drawn=drawn)
        return drawn if rate is None else self._code.make("{drawn} / {rate}", drawn=drawn, rate=rate)

    def _sample(self, given: dict[str, ast.expr]) -> Expression:
        match given["population"]:
            case ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]):
                drawn = self._code.name("torch.randperm")
                return self._code.make("{f}({count})[:{k}]", f=drawn, count=count, k=given["k"])
        raise DeclinedError("it does not sample from a range")

    def _choice(self, given: dict[str, ast.expr]) -> Expression:
        numbers = given.get("seq", given.get("a"))
        assert numbers is not None
        count = numbers if "a" in given and self._is_count(numbers) else None
        weights, returns = given.get("p"), given.get("replace")
        if weights is not None and not self._is(weights, None):
            return self._weighted(given, count, weights, returns)
        if returns is not None and not self._is(returns, True):
            return self._without_replacement(given, count, returns)
        if count is not None:
            return self._between(0, count, given)
        if not isinstance(numbers, (ast.List, ast.Tuple)) or None in map(_number, numbers.elts):
            raise DeclinedError("it does not choose from numbers")
        shape = self._shape(given)
        is_double = bool(shape) and any(isinstance(_number(one), float) for one in numbers.elts)
        options = [keyword("dtype", self._code.name("torch.float64"))] if is_double else []
        return self._code.make(
            "{tensor}([{*numbers}], {*options}).take({randint}(0, {count}, {*shape}))",
            tensor=self._code.name("torch.tensor"),
            numbers=numbers.elts,
            options=options,
            shape=shape or [self._code.make("()")],
            randint=self._code.name("torch.randint"),
            count=len(numbers.elts),
        )

    def _is_count(self, node: ast.expr) -> bool:
        """Whether an argument is a number, which stands for the range below it."""
        held = options(self._code.value(node))
        return isinstance(_number(node), int) or all(
            isinstance(one, Size)
            or (isinstance(one, Const) and type(one.value) is int)
            or (isinstance(one, Python) and one.type == "int")
            for one in held
        )

    def _without_replacement(self, given: dict[str, ast.expr], count: ast.expr | None, returns: ast.expr) -> Expression:
        if count is None or not self._is(returns, False):
            raise DeclinedError("it does not choose from a range")
        size = given.get("size")
        if size is None or isinstance(size, (ast.Tuple, ast.List)) or self._is_many(size):
            raise DeclinedError("the shape is not known")
        return self._code.make("{f}({count})[:{k}]", f=self._code.name("torch.randperm"), count=count, k=size)

    def _weighted(
        self, given: dict[str, ast.expr], count: ast.expr | None, weights: ast.expr, returns: ast.expr | None
    ) -> Expression:
        """Places by their probabilities, which torch takes as a tensor."""
        size = given.get("size")
        is_one = size is None or self._is(size, None)
        if count is None or not (is_one or (size is not None and self._is_count(size))):
            raise DeclinedError("it does not choose from a range")
        made = self._code.make("{f}({p})", f=self._code.name("torch.as_tensor"), p=weights)
        options = [] if returns is None and is_one else [returns if returns is not None else expression("True")]
        drawn = self._code.make(
            "{f}({weights}, {size}, {*options})",
            f=self._code.name("torch.multinomial"),
            weights=made,
            size=expression("1") if size is None or is_one else size,
            options=options,
        )
        return method(drawn, "squeeze", 0) if is_one else drawn

    def _permutation(self, given: dict[str, ast.expr]) -> Expression:
        if not isinstance(self._code.value(given["x"]), Const):
            raise DeclinedError("the shuffled value may be an array")
        return self._code.make("{f}({count})", f=self._code.name("torch.randperm"), count=given["x"])

    def _shape(self, given: dict[str, ast.expr]) -> list[Given]:
        """The argument that says the shape; none for a single number."""
        size = given.get("size")
        if size is None or self._is(size, None):
            return []
        held = options(self._code.value(size))
        if isinstance(size, (ast.Tuple, ast.List)) or all(isinstance(one, (Shape, Tuple, Many)) for one in held):
            return [size]
        if not all(isinstance(one, (Size, Scalar, Const, Python)) for one in held):
            raise DeclinedError("the shape is not known")
        return [self._code.make("({size},)", size=size)]

    def _is(self, node: ast.expr, expected: object) -> bool:
        return isinstance(node, ast.Constant) and node.value == expected


def _is_seeded(code: Code, call: ast.Call, name: str) -> bool:
    """Whether the function around a draw seeds what it draws from, in front of it."""
    function = code.tree.function(call)
    seed = f"{name.rpartition('.')[0]}.seed"
    return any(
        isinstance(node, ast.Call)
        and place(node) <= place(call)
        and qualified(node.func, code.tree.root, code.module.package) == seed
        for node in (ast.walk(function) if function is not None else ())
    )


def _number(node: ast.expr) -> float | None:
    """The number that a literal is."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Constant(value=int() | float() as number):
            return number
    return None
