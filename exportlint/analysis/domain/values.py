"""What a name can hold, as far as torch.export cares: the abstract values of the interpreter.

Values are equal when they behave alike; how they came about (`trail`) does not count.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Sequence_
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeVar

from exportlint.analysis.domain.dim import ANY_SIZE, Declared, Dim, Test
from exportlint.analysis.domain.immutable import immutable, shallow_copy
from exportlint.analysis.domain.interval import Interval, contains
from exportlint.analysis.domain.shape import UNSHAPED, TensorShape

if TYPE_CHECKING:
    from exportlint.analysis.domain.heap import Allocation
    from exportlint.analysis.domain.operand_forms import Form
    from exportlint.analysis.domain.trails import Site, Trail
    from exportlint.syntax.definitions import Class, Module

Lazy = Literal["generator", "dict_keys", "dict_values", "dict_items"]
"""What gives its items one by one, and is no list or tuple."""

Kind = Literal["int", "float", "bool"]
"""The kind of a dtype or of a Python number."""


@dataclass(frozen=True, slots=True)
class Range:
    """The smallest and the largest value of a size that varies, None if there is no largest; what code says of it."""

    lowest: int = 0
    highest: int | None = None
    declared: Declared = "auto"


class Origin(Enum):
    """Where the storage of a tensor comes from: decides what a write to it means."""

    INPUT = "input"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    ATTRIBUTE = "attribute"
    GLOBAL = "global"
    FRESH = "fresh"


MAX_WEIGHT = 1_000
"""The most parts of a value, each counted as often as it is reached, so that walking over a value is cheap."""
_LIGHT = 8
MAX_BITS = 1_024
"""The most bits of an integer whose value is kept."""
MAX_LENGTH = 4_096
"""The most characters of a string whose value is kept."""


NOWHERE: frozenset[Allocation] = frozenset()
"""The identity of a value that is not a container, or of a container that is not known to be a certain one."""


class Value:
    """Base of all abstract values."""

    __slots__ = ()

    weight: int = 1
    """The number of its parts, itself included; each part counts as often as it is reached."""
    identity: frozenset[Allocation] = NOWHERE
    """The allocations that a list, dictionary or set can be."""
    reaches: frozenset[Allocation] = NOWHERE
    """The allocations that it is or holds."""


@immutable
class Hashed(Value):
    """A value that caches its hash, which is expensive to compute."""

    _hash: int | None = field(default=None, init=False, repr=False, compare=False)


H = TypeVar("H", bound=Hashed)


def hashed_once(cls: type[H]) -> type[H]:
    """Make a class of frozen values cache their hash, which lookups of calls and joins need often."""
    worked_out: Callable[[H], int] = cls.__hash__

    def kept(self: H) -> int:
        found = self._hash
        if found is None:
            found = worked_out(self)
            object.__setattr__(self, "_hash", found)
        return found

    cls.__hash__ = kept  # type: ignore[assignment]
    return cls


@immutable
class Composite(Hashed):
    """A value that contains others. If they have too many parts, the heaviest ones become unknown.

    So running `t = (t, t)` thirty times does not create a value with a billion parts.
    """

    weight: int = field(init=False, repr=False, compare=False)
    reaches: frozenset[Allocation] = field(init=False, repr=False, compare=False)
    _inner: frozenset[Allocation] = field(init=False, repr=False, compare=False)
    """The allocations that it holds."""

    def __post_init__(self) -> None:
        self._measure()
        if self.weight > MAX_WEIGHT:
            self._forget()
            self._measure()

    def _measure(self) -> None:
        """Compute the fields that depend on its parts: weight, identity, reaches."""
        weight, inner, identity = 1, NOWHERE, self.identity
        for part in self.parts():
            weight += part.weight
            reaches = part.reaches
            if reaches and reaches is not inner:
                inner = inner | reaches if inner else reaches
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "_inner", inner)
        object.__setattr__(self, "reaches", _union(inner, identity) if identity else inner)

    def identified(self: C, identity: frozenset[Allocation]) -> C:
        """The same contents, in a list, tuple, set or dictionary of another identity."""
        if identity == self.identity:
            return self
        made = copied(self)
        object.__setattr__(made, "identity", identity)
        object.__setattr__(made, "reaches", _union(made._inner, identity))
        return made

    def alike(self: C, identity: frozenset[Allocation] = NOWHERE, **fields: object) -> C:
        """A value that is equal to this one, with parts that are equal to its own and identities of their own."""
        made = copied(self)
        made._set(**fields)
        if identity:
            made._set(identity=identity)
        made._measure()
        return made

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        raise NotImplementedError

    def _forget(self) -> None:
        raise NotImplementedError

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)


C = TypeVar("C", bound=Composite)
V = TypeVar("V", bound=Value)


def copied(value: V) -> V:
    """A copy with all cached fields, whose fields that do not take part in equality can then be changed."""
    hash(value)
    return shallow_copy(value)


def retold(value: V, trail: Trail) -> V:
    """The same value with another trail."""
    made = copied(value)
    object.__setattr__(made, "trail", trail)
    return made


def _union(one: frozenset[Allocation], other: frozenset[Allocation]) -> frozenset[Allocation]:
    return (one if one >= other else one | other) if one else other


def _light(value: Value) -> Value:
    return value if value.weight <= _LIGHT else UNKNOWN


@immutable
class Unknown(Value):
    """Could be anything."""


@immutable
class Python(Value):
    """Some Python value that holds no tensor data: a configuration, a device, a string; `type` where it is known.

    `affixes`: how a text surely begins and ends.
    """

    type: str | None = None
    affixes: tuple[str, str] = ("", "")


SOME_MODULE = Python("Module")
"""A module that is only known from an annotation."""


@immutable
class Const(Value):
    """A Python constant that is known: None, a bool, a number, a string, a member of an enumeration."""

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@hashed_once
@immutable
class Tensor(Hashed):
    """A tensor whose values tracing does not know.

    `known` is a tensor whose values non-strict tracing does know: `torch.tensor(3)` and, until an op touches it, a
    tensor that is a plain attribute or global. `assumed` is an argument that nothing shows to be a tensor. `data` is
    the place of the `.data` that gave it. `detached`: it is what `detach` gave, or a clone of that. `region` is that of
    the engine in which its storage was made, as far as that is certain of a view. `form` is its dtype and rank next to
    the operands of the operator whose body is being run. `depends_on_input`: it was computed from the data of inputs.
    `untraced_backward`: gradients of it with respect to inputs read a tensor that non-strict export does not trace.
    `array`: to Python it is an array of numpy, which strict mode traces as a tensor. `compacted`: it is what
    `contiguous` gave of an input, the input itself or a copy. `dtype` is the name of its dtype, where an operator says
    it. `buffer` is the cell of the buffer that it is, `joined` are those that it was concatenated or stacked of.
    `created_at` is the call of `nn.Parameter` that made a parameter. `literal`: it was made of numbers of Python, which
    strict mode remembers where an index is asked for. `constant`: it has one element, of such numbers that do not vary,
    which both modes know where Python asks for the number. `requires_grad`: autograd surely records how it was
    computed, or it is a parameter. `unplaced`: it is a view that begins or ends at an index whose sign torch.export
    does not know.
    """

    origin: Origin = Origin.FRESH
    kind: Kind | None = None
    shape: TensorShape = UNSHAPED
    known: bool = False
    assumed: bool = False
    optional: bool = False
    data: Site | None = None
    detached: bool = False
    region: int = 0
    form: Form | None = None
    depends_on_input: bool = False
    untraced_backward: bool = False
    array: bool = False
    compacted: bool = False
    dtype: str | None = None
    buffer: object | None = None
    joined: frozenset[object] = frozenset()
    literal: bool = False
    constant: bool = False
    requires_grad: bool = False
    unplaced: bool = False
    created_at: ast.AST | None = field(default=None, compare=False)
    name: str = field(default="", compare=False)
    trail: Trail | None = field(default=None, compare=False)

    @property
    def dynamic(self) -> frozenset[int]:
        """The dimensions whose size depends on data."""
        return self.shape.dynamic

    @property
    def zero_dim(self) -> bool:
        """Whether it surely has no dimensions."""
        return self.shape.rank == 0

    def but(self, **fields: object) -> Tensor:
        """A tensor of which some fields differ."""
        made = shallow_copy(self)
        for name, value in {**fields, "_hash": None}.items():
            object.__setattr__(made, name, value)
        return made


@immutable
class Scalar(Value):
    """A Python number read out of tensor data: an unbacked symbol. `api` is what read it: "item", "tolist", "size".

    `dim` is the number next to others that were read, None where nothing is known of it. `of_float`: it is the truth
    of a comparison of a float. `assumed`: torch.export may know more of it, from `torch._check`. `within`: that it is
    in this range, and nothing else; what the range does not decide, data decides. `apart`: numbers in the range that
    it is not, as `torch._check(n != 0)` says. `unbounded`: nothing at all is known of its range, as of a number that
    was just read, or of such a one plus a constant.
    """

    kind: Kind | None = None
    api: str = "item"
    assumed: bool = False
    trail: Trail | None = field(default=None, compare=False)
    dim: Dim | None = None
    of_float: bool = False
    within: Interval | None = None
    apart: frozenset[int] = frozenset()
    unbounded: bool = False

    @property
    def truth(self) -> bool | None:
        """The truth of the number, if the range that it is within decides it."""
        is_open = self.within is None or (contains(self.within, (0, 0)) and 0 not in self.apart)
        return None if is_open else True


@immutable
class Size(Value):
    """A size of a tensor, or arithmetic on sizes: a number that guards can hold, not data. `kind` "str" is its text."""

    dim: Dim = ANY_SIZE
    kind: Literal["int", "float", "str"] = "int"
    trail: Trail | None = field(default=None, compare=False)


@immutable
class Guard(Value):
    """The truth of a comparison of `dim`, which varies: torch.export settles it for the example, and guards it."""

    dim: Dim
    test: Test
    trail: Trail | None = field(default=None, compare=False)


@immutable
class Shape(Value):
    """`x.shape`: the sizes of a tensor. `plain`: as a list or tuple, and no longer a `torch.Size`."""

    tensor: Tensor
    plain: bool = False


@hashed_once
@immutable
class Tuple(Composite):
    """A tuple or list of known length; `fields` are the names of a named tuple's items.

    `lazy`: it is a generator or a view of a dictionary, whose items are known one by one. `identity` are the
    allocations that a list can be; so of other containers.
    """

    items: tuple[Value, ...]
    mutable: bool = False
    fields: tuple[str, ...] = ()
    lazy: Lazy | None = None
    identity: frozenset[Allocation] = field(default=NOWHERE, repr=False, compare=False)

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return self.items

    def _forget(self) -> None:
        self._set(items=tuple([_light(item) for item in self.items]))


@immutable
class TupleType(Value):
    """A class that `namedtuple` makes."""

    fields: tuple[str, ...]


ITERABLE = "iterable"
"""The type of a `Sequence` that is a list, a tuple or a tensor."""


@hashed_once
@immutable
class Sequence(Composite):
    """A list, set, generator or other iterable of unknown length; `item` is what each element can be."""

    item: Value
    type: str = "list"
    identity: frozenset[Allocation] = field(default=NOWHERE, repr=False, compare=False)

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return (self.item,)

    def _forget(self) -> None:
        self._set(item=_light(self.item))


@hashed_once
@immutable
class Dict(Composite):
    """A dictionary: known string keys, and what any other entry can be."""

    entries: tuple[tuple[object, Value], ...] = ()
    rest: Value | None = None
    identity: frozenset[Allocation] = field(default=NOWHERE, repr=False, compare=False)

    def get(self, key: object) -> Value | None:
        """The entry of a known key."""
        for k, value in self.entries:
            if k == key and type(k) is type(key):
                return value
        return None

    def updated(self, key: object, value: Value) -> Dict:
        """A copy in which `key` is `value`."""
        return Dict(tuple({**dict(self.entries), key: value}.items()), self.rest)

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return [*(value for _, value in self.entries), *([] if self.rest is None else [self.rest])]

    def _forget(self) -> None:
        rest = None if self.rest is None else _light(self.rest)
        if len(self.entries) <= MAX_WEIGHT // _LIGHT:
            self._set(entries=tuple([(key, _light(value)) for key, value in self.entries]), rest=rest)
        else:
            plain = all(isinstance(value, (Const, Python)) for value in self.parts())
            self._set(entries=(), rest=PYTHON if plain else UNKNOWN)


@immutable
class External(Value):
    """Something of another library or of Python itself, by its qualified name: `torch.nn.functional`, `math.sqrt`."""

    name: str


@immutable
class Namespace(Value):
    """A module of the project."""

    module: Module


@immutable
class ClassValue(Value):
    """A class of the project."""

    definition: Class


@hashed_once
@immutable
class Function(Composite):
    """A function of the project, perhaps bound; `closure` holds the variables of the functions around it."""

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    symbol: str
    owner: Class | None = None
    receiver: Value | None = None
    closure: Closure | None = None

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return () if self.receiver is None else (self.receiver,)

    def _forget(self) -> None:
        self._set(receiver=UNKNOWN)


class Closure:
    """The variables of an enclosing function call, and the engine's region in which it was called.

    Equal only to itself. `lasting`: that call is over before export begins, so that the variables are state.
    """

    __slots__ = ("lasting", "parent", "region", "variables")

    def __init__(
        self, variables: dict[str, Value], parent: Closure | None, region: int, *, lasting: bool = False
    ) -> None:
        self.lasting = lasting
        self.variables = variables
        self.parent = parent
        self.region = region


BASE = "<base>"
"""The attribute that holds the module of torch that an object of the project is, by inheritance."""


class Instance:
    """An object of a project class: what its attributes hold. Equal only to itself.

    `lasting`: it is there before export and after each call. `computed` are the keys under which any way has bound
    attributes whose names the code puts together. Of a module: `buffers` are the names of its registered
    buffers, also of those that are None, `registered` what it has registered under names that are computed, and
    `places` where the constructor assigned its attributes. `promised`: an annotation or a test says that there is such
    an object. It is one for all roots, so only their heaps say what they do to it.
    """

    __slots__ = ("attributes", "buffers", "computed", "definition", "lasting", "places", "promised", "registered")

    def __init__(self, definition: Class, *, lasting: bool = False, promised: bool = False) -> None:
        self.definition = definition
        self.lasting = lasting
        self.promised = promised
        self.attributes: dict[str, Value] = {}
        self.buffers: set[str] = set()
        self.computed: set[str] = set()
        self.registered: list[Value] = []
        self.places: dict[str, Trail] = {}


@immutable
class Object(Value):
    """An instance of a project class."""

    instance: Instance


@immutable
class AttributesOf(Value):
    """`vars(value)`, `value.__dict__`: the attributes of an object as a dictionary."""

    receiver: Object


@immutable
class Registry(Value):
    """`module._buffers` and the like: the dictionary in which a module keeps its buffers, parameters or modules."""

    receiver: Object
    name: str


@immutable
class EnumMember:
    """A member of an enumeration of the project; `value` is what the class body gives it."""

    definition: Class
    name: str
    value: Value = field(compare=False)


@hashed_once
@immutable
class TorchModule(Composite):
    """An `nn.Module` of torch itself; `items` are the modules of a container, `arguments` those of its constructor.

    `created_at` is the call that made it, `hooks` what was registered to run when it is called.
    """

    name: str
    items: tuple[Value, ...] | None = None
    keys: tuple[object, ...] = ()
    arguments: tuple[tuple[str, Value], ...] = ()
    created_at: ast.AST | None = field(default=None, compare=False)
    hooks: tuple[Value, ...] = ()

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return [*(self.items or ()), *(value for _, value in self.arguments)]

    def _forget(self) -> None:
        items = None if self.items is None else tuple([_light(item) for item in self.items])
        self._set(items=items, arguments=tuple([(name, _light(value)) for name, value in self.arguments]))


@hashed_once
@immutable
class BoundMethod(Composite):
    """A method of a value that is not a project object: `x.sum`, `"".join`."""

    receiver: Value
    name: str

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return (self.receiver,)

    def _forget(self) -> None:
        self._set(receiver=UNKNOWN)


@hashed_once
@immutable
class Partial(Composite):
    """`functools.partial(function, …)`, or a function under a `wrapper` of torch such as `torch.jit.script`.

    `options` are the arguments of the wrapper.
    """

    function: Value
    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    wrapper: str = ""
    options: tuple[tuple[str, Value], ...] = ()

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return [self.function, *self.positional, *(value for _, value in (*self.keywords, *self.options))]

    def _forget(self) -> None:
        self._set(
            function=_light(self.function),
            positional=tuple([_light(value) for value in self.positional]),
            keywords=tuple([(name, _light(value)) for name, value in self.keywords]),
            options=tuple([(name, _light(value)) for name, value in self.options]),
        )


@immutable
class Super(Composite):
    """`super()` in a method of `owner`."""

    owner: Class
    receiver: Value

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return (self.receiver,)

    def _forget(self) -> None:
        self._set(receiver=UNKNOWN)


@immutable
class Distribution(Value):
    """An object of `torch.distributions`, by the qualified name of its class.

    `validates`: its methods look at the values that they are given. `is_traced`: it was made of traced tensors.
    `was_checked`: making it, or one that it is made of, has looked at the values of traced tensors.
    """

    name: str
    validates: bool = True
    is_traced: bool = False
    was_checked: bool = False


@immutable
class Descriptor(Composite):
    """What `staticmethod`, `property`, `functools.partialmethod` or the like makes of a function."""

    kind: Literal["static", "class", "property", "cached_property", "partial"]
    function: Value

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return (self.function,)

    def _forget(self) -> None:
        self._set(function=UNKNOWN)


@immutable
class TypeOf(Value):
    """`type(x)` or `x.__class__` of a tensor; `attribute` is `__name__` and the like.

    `of_parameter`: it is the `type()` of what surely is a parameter, whose texts strict mode does not read.
    """

    tensor: Tensor
    attribute: str = ""
    of_parameter: bool = False


CLASS_TEXTS = frozenset({"__name__", "__qualname__", "__module__"})
"""What a class says of itself in words."""


@hashed_once
@immutable
class Union(Composite):
    """One of several values, whichever way the code went. At most `MAX_OPTIONS`, in an order that does not count."""

    options: tuple[Value, ...]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Union) or hash(self) != hash(other):
            return False
        return self.options == other.options or set(self.options) == set(other.options)

    def __hash__(self) -> int:
        return hash(frozenset(self.options))

    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return self.options

    def _forget(self) -> None:
        self._set(options=tuple(dict.fromkeys([_light(option) for option in self.options])))


UNKNOWN = Unknown()
PYTHON = Python()
ARRAY = Python("ndarray")
"""An array of numpy that holds no tensor data. In strict mode also a number that numpy computed."""
COMPUTED_ARRAY = Python("computed ndarray")
"""What numpy computes of an array: an array, or, of one without dimensions, a number of numpy."""
NONE = Const(None)
TRUE, FALSE = Const(True), Const(False)


def text(parts: Sequence_[Value]) -> Const | Python:
    """The text that values make one after the other, as far as it is known."""
    if all(isinstance(part, Const) for part in parts):
        return constant("".join(str(part.value) for part in parts if isinstance(part, Const)))
    unknown = [i for i, part in enumerate(parts) if not isinstance(part, Const)]
    first, last = parts[unknown[0]], parts[unknown[-1]]
    before = "".join(str(part.value) for part in parts[: unknown[0]] if isinstance(part, Const))
    after = "".join(str(part.value) for part in parts[unknown[-1] + 1 :] if isinstance(part, Const))
    before += first.affixes[0] if isinstance(first, Python) else ""
    after = (last.affixes[1] if isinstance(last, Python) else "") + after
    return Python("str", (before[:MAX_LENGTH], after[-MAX_LENGTH:]))


@functools.lru_cache(maxsize=4_096, typed=True)
def constant(value: object) -> Const | Python:
    """The constant that a literal is or that folding gave; of one that is too large, only its type is known."""
    if isinstance(value, int):
        small = value.bit_length() <= MAX_BITS
    else:
        small = not isinstance(value, (str, bytes)) or len(value) <= MAX_LENGTH
    return Const(value) if small else Python(type(value).__name__)
