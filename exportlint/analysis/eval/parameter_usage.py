"""What the uses of a parameter show it to be: a tensor, a sequence, a dictionary, a number.

A use that only one kind of value allows decides. Iterating, taking an item by its position, slicing, counting and
unpacking are what lists, tuples and tensors all allow: with nothing that shows a tensor, they show a sequence.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeGuard

from exportlint.analysis.domain.immutable import immutable
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    SOME_MODULE,
    Const,
    Dict,
    External,
    Function,
    Object,
    Python,
    Sequence,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.eval.annotations import annotated_argument
from exportlint.analysis.eval.classes import find_method, undecorated
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.torch import table
from exportlint.syntax.definitions import FunctionLike, dotted
from exportlint.syntax.walk import children

TENSOR_ONLY = frozenset({
    "shape", "size", "dim", "ndim", "view", "reshape", "unsqueeze", "squeeze", "permute", "transpose",
    "contiguous", "flatten", "expand", "expand_as", "detach", "numel", "dtype", "device", "long", "float", "half",
    "to", "cpu", "cuda", "sum", "mean", "std", "var", "softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt",
    "pow", "abs", "clamp", "masked_fill", "masked_fill_", "masked_select", "gather", "scatter", "scatter_",
    "repeat", "chunk", "unbind", "argmax", "argmin", "topk", "any", "all", "max", "min", "norm", "matmul", "bmm",
    "mm", "t", "T", "item", "tolist", "new_zeros", "new_ones", "new_full", "new_tensor", "type_as", "is_cuda",
    "requires_grad", "bool", "int", "eq", "ne", "lt", "gt", "le", "ge", "nonzero", "unfold", "narrow", "cumsum",
    "index_select", "roll", "flip", "is_floating_point", "add_", "mul_", "sub_", "div_", "copy_", "fill_", "zero_",
    "clamp_", "clone", "data_ptr", "numpy", "data", "double", "requires_grad_", "retain_grad", "bernoulli",
    "repeat_interleave", "stride", "is_contiguous", "unique", "logical_not", "isnan", "byte", "bfloat16",
    "element_size", "storage", "untyped_storage", "neg", "movedim", "swapaxes", "tile",
})  # fmt: skip
"""Members of a tensor that say what their owner is: no number, string, list, dictionary or module has them."""

NOT_MODULES = frozenset({"float", "half", "to", "cpu", "cuda", "double", "bfloat16", "requires_grad_"})
"""Members that an `nn.Module` has as well, so that they say nothing alone."""


CATEGORICAL = frozenset(
    {"Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough", "RelaxedOneHotCategorical"}
)
"""Distributions whose first argument is not a number: it has one dimension at least."""


TAKE_SIZES = frozenset({"view", "reshape", "expand", "repeat", "tile", "unflatten", "zeros", "ones", "empty"})
"""Methods and functions whose arguments are sizes if there are several."""

LIST_ONLY = frozenset({"append", "extend", "insert", "reverse"})
DICT_ONLY = frozenset({"items", "keys", "values", "get", "setdefault", "update"})
_TENSORS_ALONE = TENSOR_ONLY - NOT_MODULES
_CONTAINERS_ALONE = LIST_ONLY | DICT_ONLY
_ASKING = frozenset({"get", "setdefault", "pop"})
"""Methods of a dictionary for entries that it may not have."""

MAX_HELPERS = 6
"""How many calls of helpers inside each other are looked into."""

COUNTING = frozenset({"len", "enumerate", "zip", "list", "tuple", "reversed", "iter", "sum", "map", "sorted"})
"""Built-in functions that take tensors, lists and tuples alike."""
EXTREMES = frozenset({"max", "min"})
_NUMBERS = EXTREMES | {"abs", "len", "round", "int", "float"}
SAME_KIND = frozenset({"list", "tuple", "reversed", "sorted", "iter"})
NO_TENSORS = frozenset({"torch.nn.Identity", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
"""Modules of torch that take what they are made of takes, or are not called."""

Kind = Literal["tensor", "iterable", "list", "dict", "number", "module"]
"""`iterable`: a list or a tuple, unless it is a tensor that is used like one."""
_Mark = Literal["tensor", "term", "list", "dict", "number", "module", "arithmetic", "position", "count", "tested"]
"""`term`: it is one of several operands that give a tensor, of which others may be numbers."""


@immutable
class Usage:
    """What a value is used as, None if in no telling way, and what its items are used as.

    `entries` are those of a dictionary that are read by strings, unless something asks whether there is such an entry.
    `counted`: how many items there are makes a difference.
    """

    kind: Kind | None = None
    item: Usage | None = None
    entries: tuple[tuple[str, Usage], ...] = ()
    counted: bool = False


NOTHING = Usage()


def parameter_usage(frame: Frame, node: FunctionLike) -> dict[str, Usage]:
    """What the body of a function, and the helpers that it hands them to, show its parameters to be.

    `frame` is that of a call of it. Parameters that are used in no telling way are left out.
    """
    inner = _frame_inside(frame)
    return _usages(inner, node, _shown(inner, node))


def usage_and_helpers(frame: Frame, node: FunctionLike) -> tuple[dict[str, Usage], dict[str, list[Helper]]]:
    """The same, and the helpers that surely get a parameter as it is, by its name."""
    inner = _frame_inside(frame)
    shown = _shown(inner, node)
    helpers = {name: list(_helpers(inner, value, MAX_HELPERS, frozenset({node}))) for name, value in shown.items()}
    return _usages(inner, node, shown), helpers


def _frame_inside(frame: Frame) -> Frame:
    """A frame for a body where nothing is known of the arguments, from that of a call of it."""
    return Frame(
        frame.engine, frame.module, frame.symbol, owner=frame.owner, receiver=frame.receiver, closure=frame.parent
    )


def _usages(frame: Frame, node: FunctionLike, shown: dict[str, _Shown]) -> dict[str, Usage]:
    found = {name: _usage(frame, value, MAX_HELPERS, frozenset({node})) for name, value in shown.items()}
    return {name: usage for name, usage in found.items() if usage != NOTHING}


@immutable
class Helper:
    """A function that gets what is asked about as its parameter `argument`; `frame` is one inside of it.

    `caller` is the helper that hands it on, None where the function at hand does.
    """

    frame: Frame
    node: FunctionLike
    argument: ast.arg
    caller: Helper | None = None


def _helpers(
    frame: Frame, shown: _Shown, depth: int, seen: frozenset[ast.AST], caller: Helper | None = None
) -> Iterator[Helper]:
    for handed in shown.handed:
        function, argument = handed.callee, parameter_at(handed.callee, handed.place)
        if argument is None or function.node in seen or not handed.surely:
            continue
        helper = Helper(_inside(frame, handed), function.node, argument, caller)
        yield helper
        found = _shown(helper.frame, function.node).get(argument.arg) if depth > 1 else None
        if found is not None:
            yield from _helpers(helper.frame, found, depth - 1, seen | {function.node}, helper)


def _inside(frame: Frame, handed: _Handed) -> Frame:
    """A frame inside of a helper, with what is known of its arguments."""
    function = handed.callee
    inner = Frame(
        frame.engine, function.module, function.symbol,
        owner=function.owner, receiver=function.receiver, closure=function.closure,
    )  # fmt: skip
    inner.env.update({name: frame.env[given] for name, given in handed.names.items() if given in frame.env})
    return inner


@dataclass(slots=True)
class _Shown:
    """The marks that the uses of a value leave.

    `weak` are those of a variable that may hold something else by then; `handed` are the places where it is passed on;
    `sought` are the variables and attributes that `in` looks for in it, `keys` those by which items are taken.
    `entries` are the items that strings name, `optional` the strings of which it may have no entry, and `replaced`
    those of which the code has put another one in.
    """

    strong: dict[_Mark, None] = field(default_factory=dict)
    weak: dict[_Mark, None] = field(default_factory=dict)
    item: _Shown | None = None
    handed: list[_Handed] = field(default_factory=list)
    sought: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    entries: dict[str, _Shown] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)

    @property
    def items(self) -> _Shown:
        if self.item is None:
            self.item = _Shown()
        return self.item


@immutable
class _Handed:
    """An argument of a call of a helper: its position or keyword. `surely`: it may be nothing else by then.

    `names` says what the parameters of the helper are called where it is called. `items` are those that get an item
    of the argument.
    """

    callee: Function
    place: int | str
    surely: bool
    names: dict[str, str]
    items: frozenset[str]


@immutable
class _Held:
    """What a variable holds; `surely`, unless it was assigned something else on some way."""

    shown: _Shown
    surely: bool = True


@immutable
class _Inlined:
    """What a returned expression holds; `keeps`: if nothing that is known, it is likely of the kind of the variable."""

    held: _Held | None
    keeps: bool


def _arguments(call: ast.Call) -> list[tuple[int | str, ast.expr]]:
    """The arguments of a call by position or keyword."""
    return [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords if k.arg is not None)]


def _usage(frame: Frame, shown: _Shown, depth: int, seen: frozenset[ast.AST]) -> Usage:
    marks = [shown]
    if "tensor" not in shown.strong and depth:
        marks += _in_helpers(frame, shown, depth, seen)
    strong = dict.fromkeys(m for one in marks for m in one.strong)
    if {key for one in marks for key in one.keys} & {key for one in marks for key in one.sought}:
        strong["dict"] = None  # in a tensor nobody looks for indices
    kind = _kind(strong, dict.fromkeys(m for o in marks for m in o.weak))
    item = _telling(_usage(frame, one.item, depth, seen) for one in marks if one.item is not None and kind != "tensor")
    entries = _entries(frame, marks, depth, seen) if kind == "dict" else ()
    return Usage(kind, item, entries, counted=any("count" in one.strong for one in marks))


def _telling(usages: Iterable[Usage]) -> Usage | None:
    """One of several usages of the same thing: the first one that shows a tensor, or else anything."""
    told = [usage for usage in usages if usage != NOTHING]
    return next((usage for usage in told if usage.kind == "tensor"), told[0] if told else None)


def _entries(frame: Frame, marks: list[_Shown], depth: int, seen: frozenset[ast.AST]) -> tuple[tuple[str, Usage], ...]:
    """What the entries of a dictionary are used as that it surely has."""
    optional = {key for one in marks for key in one.optional}
    names = dict.fromkeys(key for one in marks for key in one.entries if key not in optional)
    used = {key: _telling(_usage(frame, one.entries[key], depth, seen) for one in marks if key in one.entries)
            for key in names}  # fmt: skip
    return tuple([(key, usage) for key, usage in used.items() if usage is not None])


def _kind(strong: Iterable[_Mark], weak: Iterable[_Mark]) -> Kind | None:
    strong, weak = list(strong), list(weak)
    is_iterable = "position" in strong or "count" in strong
    if "tensor" in strong or (is_iterable and ("arithmetic" in strong or "term" in strong)):
        return "tensor"
    sure: list[Kind] = [mark for mark in strong if mark in {"list", "dict", "module"}]
    if sure:
        return sure[0]
    if is_iterable:
        return None if "tested" in strong or not {"tensor", "term"}.isdisjoint(weak) else "iterable"
    if "tensor" in weak:
        return "tensor"
    rest: list[Kind] = [mark for mark in (*strong, *weak) if mark in {"list", "dict", "number"}]
    if rest:
        return rest[0]
    return "tensor" if "term" in strong or "term" in weak else None


def _in_helpers(frame: Frame, shown: _Shown, depth: int, seen: frozenset[ast.AST]) -> Iterator[_Shown]:
    """What the helpers that a value is passed to show it to be."""
    for handed in shown.handed:
        function = handed.callee
        if function.node in seen:
            continue
        inner = _inside(frame, handed)
        argument = parameter_at(function, handed.place)
        if argument is None:
            continue
        promised = annotated_argument(inner, argument)
        if promised is not None:
            yield _seen_from_outside(_promised(promised), handed)
            continue
        found = _shown(inner, function.node).get(argument.arg)
        if found is None:
            continue
        yield _seen_from_outside(found, handed)
        for further in _in_helpers(inner, found, depth - 1, seen | {function.node}) if depth > 1 else ():
            yield _seen_from_outside(further, handed)


def _seen_from_outside(shown: _Shown, handed: _Handed) -> _Shown:
    """What the marks of a helper say of what it was handed: those of another variable there say nothing."""
    item = None if shown.item is None else _seen_from_outside(shown.item, replace(handed, items=frozenset()))
    strong = shown.strong if not shown.keys & handed.items else {**shown.strong, "dict": None}
    found = _Shown(strong, {}, item) if handed.surely else _Shown({}, {**strong, **shown.weak}, item)
    found.sought, found.keys = (_outside(names, handed) for names in (shown.sought, shown.keys))
    found.entries = {key: _seen_from_outside(entry, handed) for key, entry in shown.entries.items()}
    found.optional = shown.optional
    return found


def _outside(names: Iterable[str], handed: _Handed) -> set[str]:
    """What variables and attributes of a helper are called where it is called, as far as they have a name there."""
    split = [name.partition(".") for name in names]
    return {handed.names[root] + dot + rest for root, dot, rest in split if root in handed.names}


def _promised(value: Value) -> _Shown:
    shown = _Shown()
    if isinstance(value, Tensor) and not value.assumed:
        shown.strong["tensor"] = None
    elif isinstance(value, Sequence):
        shown.strong["list"] = None
        shown.item = _promised(value.item)
    elif isinstance(value, Tuple):
        shown.strong["list"] = None
        shown.item = _promised(value.items[0]) if value.items else None
    elif isinstance(value, Dict):
        shown.strong["dict"] = None
    elif value == SOME_MODULE:
        shown.strong["module"] = None
    return shown


def parameter_at(function: Function, place: int | str) -> ast.arg | None:
    """The parameter that gets the argument at a position or under a keyword; None where a call passes it otherwise."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    if isinstance(place, str):
        return next((a for a in (*positional, *spec.kwonlyargs) if a.arg == place), None)
    index = place + (function.receiver is not None)
    return positional[index] if index < len(positional) else None


def _shown(frame: Frame, node: FunctionLike, within: frozenset[ast.AST] = frozenset()) -> dict[str, _Shown]:
    """The marks of the parameters of a function. `frame` is one inside of it, `within` are those that led to it."""
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    if frame.receiver is not None and names:
        frame.env[names.pop(0)] = frame.receiver
    shown = {name: _Shown() for name in names}
    reader = _Reader(frame, {name: _Held(value) for name, value in shown.items()}, within | {node})
    for statement in node.body if isinstance(node.body, list) else [node.body]:
        reader.visit(statement)
    return shown


class _Reader(ast.NodeVisitor):
    """Reads a body in order; it knows which variables hold a parameter, or an item of one.

    `stacked` are the comprehensions that become one tensor, `appended` is what each list was given. `within` are the
    functions that are being read.
    """

    def __init__(self, frame: Frame, held: dict[str, _Held], within: frozenset[ast.AST]) -> None:
        self.frame = frame
        self.within = within
        self.held = held
        self.counters: set[str] = set()
        self.stacked: set[ast.expr] = set()
        self.appended: defaultdict[str, list[tuple[_Held, bool]]] = defaultdict(list)

    def generic_visit(self, node: ast.AST) -> None:
        """Take in what a statement or an expression shows, and what its variables hold after it."""
        for child in children(node):
            self.visit(child)

    def visit_Name(self, node: ast.Name) -> None:
        """A name alone shows nothing."""

    def visit_Constant(self, node: ast.Constant) -> None:
        """Nor does a constant."""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """What a class does with the variables around it is not followed."""

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._assign(node.target, node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._assign(node.target, node.value)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._iterate(node.target, node.iter)
        self._branch([node.body], entered=False)
        self._read_all(node.orelse)

    visit_AsyncFor = visit_For  # noqa: N815 - a name of `ast.NodeVisitor`

    def visit_If(self, node: ast.If) -> None:
        self._note_test(node.test)
        self.visit(node.test)
        self._branch([node.body, node.orelse])

    def visit_While(self, node: ast.While) -> None:
        self._note_test(node.test)
        self.visit(node.test)
        self._branch([node.body], entered=False)
        self._read_all(node.orelse)

    def visit_IfExp(self, node: ast.IfExp | ast.Assert) -> None:
        self._note_test(node.test)
        self.generic_visit(node)

    visit_Assert = visit_IfExp  # noqa: N815 - a name of `ast.NodeVisitor`

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._note_test(node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._note_test(node.operand)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self._note_comparison(node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._note_operator(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self._note_call(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._note_subscript(node)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _TENSORS_ALONE:
            self._mark(node.value, "tensor")
        elif node.attr in _CONTAINERS_ALONE and self._holds(node.value) is not None:
            self._mark(node.value, "list" if node.attr in LIST_ONLY else "dict")
        self.generic_visit(node)

    def visit_Starred(self, node: ast.Starred) -> None:
        if self._holds(node.value) is not None:
            self._mark(node.value, "count")
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self._mark_unpacked(value)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript) and self._holds(target.value) is not None:
                self._mark(target.value, "dict" if _is_key(target.slice) else "list")
        self.generic_visit(node)

    def _read_all(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_FunctionDef(self, node: FunctionLike) -> None:
        outer = dict(self.held)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            self.held.pop(argument.arg, None)
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement)
        self.held = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - a name of `ast.NodeVisitor`
    visit_Lambda = visit_FunctionDef  # noqa: N815 - a name of `ast.NodeVisitor`

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        outer = dict(self.held)
        for generator in node.generators:
            self.visit(generator.iter)
            self._iterate(generator.target, generator.iter)
            for test in generator.ifs:
                self.visit(test)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
            if node in self.stacked:
                self._mark(part, "tensor")
        self.held = outer

    visit_SetComp = visit_ListComp  # noqa: N815 - a name of `ast.NodeVisitor`
    visit_GeneratorExp = visit_ListComp  # noqa: N815 - a name of `ast.NodeVisitor`
    visit_DictComp = visit_ListComp  # noqa: N815 - a name of `ast.NodeVisitor`

    def _branch(self, bodies: list[list[ast.stmt]], *, entered: bool = True) -> None:
        """Ways that meet; unless `entered`, none of them may be taken."""
        before = self.held
        ends = [] if entered else [before]
        for body in bodies:
            self.held = dict(before)
            self._read_all(body)
            if not body or not isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)):
                ends.append(self.held)
        self.held = {}
        for end in ends:
            for name, held in end.items():
                agreed = all(other.get(name) == held for other in ends)
                if name not in self.held or agreed:
                    self.held[name] = held if agreed else _Held(held.shown, surely=False)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for part, item in zip(target.elts, value.elts, strict=True):
                    self._assign(part, item)
                return
            held = self._holds(value)
            for part in target.elts:
                name = part.value if isinstance(part, ast.Starred) else part
                if isinstance(name, ast.Name):
                    self._hold(name.id, held if isinstance(part, ast.Starred) else _item(held))
            if held is not None:
                self._mark(value, "list")
        else:
            for child in children(target):
                if not isinstance(child, ast.Name):
                    self.visit(child)
            if isinstance(target, ast.Subscript) and _is_key(target.slice):
                within = self._holds(target.value)
                if within is not None:
                    within.shown.replaced.add(target.slice.value)

    def _bind(self, name: str, value: ast.expr) -> None:
        held, old = self._holds(value), self.held.get(name)
        self.counters.discard(name)
        inlined = self._inlined(name, value) if held is None and isinstance(value, ast.Call) else None
        if inlined is not None:
            held = inlined.held
        if held is None and old is not None and (self._keeps(name, value) if inlined is None else inlined.keeps):
            held = _Held(old.shown, surely=False)
        self._hold(name, held)

    def _inlined(self, name: str, call: ast.Call) -> _Inlined | None:
        """What a call gives of a function that does nothing but return an expression, as if that stood here."""
        given = {place: held for place, node in _arguments(call) if (held := self._holds(node)) is not None}
        callee = self._callee(call) if given else None
        if not isinstance(callee, Function) or not isinstance(callee.node, ast.FunctionDef):
            return None
        returned = callee.node.body[-1]
        if len(callee.node.body) > 1 or not isinstance(returned, ast.Return) or returned.value is None:
            return None
        passed = {a.arg: held for place, held in given.items() if (a := parameter_at(callee, place)) is not None}
        names = [a.arg for place, node in _arguments(call) if isinstance(node, ast.Name) and node.id == name
                 if (a := parameter_at(callee, place)) is not None]  # fmt: skip
        inner = _Reader(_inside(self.frame, self._handed(call, callee, 0, _Held(_Shown()))), passed, self.within)
        keeps = any(inner._keeps(parameter, returned.value) for parameter in names)
        return _Inlined(inner._holds(returned.value), keeps)

    def _hold(self, name: str, held: _Held | None) -> None:
        if held is None:
            self.held.pop(name, None)
        else:
            self.held[name] = held

    def _keeps(self, name: str, value: ast.expr) -> bool:
        """Whether a variable is likely of the kind that it was: `x = self.conv(x)`, but not `x = torch.cat(x)`."""
        if isinstance(value, ast.IfExp):
            return self._keeps(name, value.body) or self._keeps(name, value.orelse)
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute) and self._holds(value.func.value) is not None:
                return True
            callee = self._callee(value)
            takes_many = isinstance(callee, External) and _joins(callee)
            given = [*value.args, *(k.value for k in value.keywords)]
            return not takes_many and any(isinstance(a, ast.Name) and a.id == name for a in given)
        return isinstance(value, (ast.BinOp, ast.UnaryOp))

    def _iterate(self, target: ast.expr, source: ast.expr) -> None:
        """`for target in source`."""
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.args:
            name = source.func.id
            if name == "range" and isinstance(target, ast.Name):
                self._hold(target.id, None)
                self.counters.add(target.id)
                return
            if name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                if isinstance(target.elts[0], ast.Name):
                    self._hold(target.elts[0].id, None)
                    self.counters.add(target.elts[0].id)
                self._iterate(target.elts[1], source.args[0])
                return
            if name == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(source.args):
                for part, argument in zip(target.elts, source.args, strict=True):
                    self._iterate(part, argument)
                return
        held = self._holds(source)
        if held is not None:
            self._mark(source, "count")
        if isinstance(target, ast.Name):
            self.counters.discard(target.id)
            self._hold(target.id, _item(held))
        elif isinstance(target, (ast.Tuple, ast.List)):
            item = _item(held)
            if item is not None:  # `for height, width in sizes`: a variable that holds several things
                self._mark(source, "list")
                item.shown.strong["list"] = None
            for part in target.elts:
                if isinstance(part, ast.Name):
                    self._hold(part.id, _item(item))

    def _holds(self, node: ast.expr) -> _Held | None:
        """The parameter, or the item of one, that an expression gives."""
        if isinstance(node, ast.Name):
            return self.held.get(node.id)
        if isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Slice):
                return self._holds(node.value)
            if _is_key(node.slice):
                return self._entry(self._holds(node.value), node.slice.value)
            return _item(self._holds(node.value)) if self._is_position(node.slice) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAME_KIND and node.args:
            return self._holds(node.args[0])
        return None

    def _entry(self, within: _Held | None, key: str) -> _Held | None:
        """The entry of a dictionary under a key."""
        if within is None or key in within.shown.replaced:
            return None
        return _Held(within.shown.entries.setdefault(key, _Shown()), within.surely)

    def _is_position(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._is_position(node.operand)
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.BinOp):
            return self._is_position(node.left) and self._is_position(node.right)
        if isinstance(node, ast.Name) and node.id in self.counters:
            return True
        if dotted(node) is None or (isinstance(node, ast.Name) and node.id in self.held):
            return False
        value = self.frame.peek(node)
        return value == Python("int") or (isinstance(value, Const) and type(value.value) is int)

    def _callee(self, call: ast.Call) -> Value | None:
        if dotted(call.func) is None and not isinstance(call.func, ast.Subscript) and not _is_computed(call.func):
            return None
        found = self.frame.peek(call.func)
        # of several modules or functions that a computed name can be, one says as much as all
        return next((o for o in options(found) if isinstance(o, (Object, Function, TorchModule))), found)

    def _mark(self, node: ast.expr, mark: _Mark) -> None:
        """Mark what an expression gives, or the terms of an arithmetic expression: `x`, `x[0]`, `x + y`, `x > 0`."""
        for held, is_sole in self._terms(node):
            _leave(held, mark, is_sole=is_sole)

    def _terms(self, node: ast.expr, *, is_sole: bool = True) -> Iterator[tuple[_Held, bool]]:
        """What an expression is made of, and whether it is nothing but that and numbers."""
        held = self._holds(node)
        if held is not None:
            yield held, is_sole
        elif isinstance(node, ast.BinOp):
            yield from self._terms(node.left, is_sole=is_sole and _is_stated(node.right))
            yield from self._terms(node.right, is_sole=is_sole and _is_stated(node.left))
        elif isinstance(node, ast.UnaryOp):
            yield from self._terms(node.operand, is_sole=is_sole)
        elif isinstance(node, ast.IfExp):
            yield from self._terms(node.body, is_sole=is_sole)
            yield from self._terms(node.orelse, is_sole=is_sole)
        elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            sides = (node.left, *node.comparators)
            for side in sides:
                others = all(_is_stated(other) for other in sides if other is not side)
                yield from self._terms(side, is_sole=is_sole and others)

    def _mark_unpacked(self, node: ast.expr) -> None:
        """`{**x}`, `f(**x)`."""
        if self._holds(node) is not None:
            self._mark(node, "dict")

    def _note_subscript(self, node: ast.Subscript) -> None:
        index = node.slice
        is_mask = isinstance(index, (ast.Compare, ast.UnaryOp)) and not _is_number(index)
        # a lone index can be a tensor as well as a number, but for one of a list or of modules
        if is_mask or not isinstance(index, ast.Name) or self._is_in_list(index, node.value):
            self._mark(index, "tensor" if is_mask else "number")
        if self._holds(node.value) is None:
            return
        if is_mask or _is_new_axis(index) or (isinstance(index, ast.Tuple) and not any(map(_is_key, index.elts))):
            self._mark(node.value, "tensor")
        elif self._is_key_of(index, node.value):
            self._mark(node.value, "dict")
        elif (name := dotted(index)) is not None and not self._is_position(index):
            within = self._holds(node.value)
            if within is not None and within.surely:
                within.shown.keys.add(name)
        elif isinstance(index, ast.Slice):
            if isinstance(index.step, ast.UnaryOp):
                self._mark(node.value, "list")  # no tensor can be sliced backwards
            elif all(part is None or self._is_position(part) for part in (index.lower, index.upper, index.step)):
                self._mark(node.value, "count")
        elif self._is_position(index) and isinstance(node.ctx, ast.Load):
            self._mark(node.value, "position")

    def _is_plain_number(self, node: ast.expr) -> bool:
        """Whether an argument surely is a number of Python."""
        return _is_stated(node) or self._is_position(node)

    def _is_in_list(self, index: ast.Name, container: ast.expr) -> bool:
        """Whether a parameter says which item of a list, a tuple or a container of modules is meant."""
        if index.id not in self.held or dotted(container) is None or self._holds(container) is not None:
            return False
        found = self.frame.peek(container)
        return isinstance(found, (Tuple, Sequence)) or (isinstance(found, TorchModule) and found.items is not None)

    def _is_key_of(self, index: ast.expr, container: ast.expr) -> bool:
        """Whether it is a string, or what was found in the container itself: in a tensor nobody looks for indices."""
        if self._is_string(index):
            return True
        within, key = self._holds(container), self._holds(index)
        if within is None:
            return False
        return dotted(index) in within.shown.sought or (key is not None and key.shown is within.shown.item)

    def _is_string(self, node: ast.expr) -> bool:
        if dotted(node) is None or self._holds(node) is not None:
            return _is_key(node)
        value = self.frame.peek(node)
        return value == Python("str") or (isinstance(value, Const) and isinstance(value.value, str))

    def _note_operator(self, node: ast.BinOp) -> None:
        sides = ((node.left, node.right), (node.right, node.left))
        if isinstance(node.op, ast.MatMult):
            for one, _ in sides:
                if self._holds(one) is not None:
                    self._mark(one, "tensor")
        elif isinstance(node.op, ast.Add):
            for one, other in sides:
                if self._holds(one) is None:
                    continue
                if isinstance(other, (ast.List, ast.ListComp)):
                    self._mark(one, "list")  # a list takes nothing but a list
                elif isinstance(other, ast.Constant) or _is_number_of(other):
                    self._mark(one, "arithmetic")
        else:  # `xs * 2` could repeat a list, but hardly does
            for one, _ in sides:
                if self._holds(one) is not None:
                    self._mark(one, "arithmetic")

    def _note_comparison(self, node: ast.Compare) -> None:
        """`x > 0`; `"mask" in batch`: no tensor holds strings."""
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            where = node.comparators[0]
            held = self._holds(where)
            if held is not None:
                sought = dotted(node.left)
                held.shown.sought |= set() if sought is None else {sought}
            self._note_optional(where, node.left)
            if held is not None and self._is_string(node.left):
                self._mark(where, "dict")
                if isinstance(where, ast.Subscript):
                    self._mark(where.value, "list")
        elif isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            for side in (node.left, *node.comparators):
                if self._holds(side) is not None:
                    self._mark(side, "arithmetic")

    def _note_optional(self, container: ast.expr, key: ast.expr) -> None:
        """`"mask" in batch`, `"mask" in batch.keys()`, `batch.get("mask")`: there may be no such entry."""
        if isinstance(container, ast.Call) and isinstance(container.func, ast.Attribute) and not container.args:
            container = container.func.value
        held = self._holds(container)
        if held is not None and _is_key(key):
            held.shown.optional.add(key.value)

    def _note_test(self, node: ast.expr) -> None:
        """The variables in a condition are numbers or flags if nothing else is said of them."""
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self._note_test(value)
        else:
            self._mark(node, "number")

    def _note_call(self, call: ast.Call) -> None:
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "pop"
            and self._holds(call.func.value) is not None
        ):
            self._mark(call.func.value, "dict" if call.args and _is_key(call.args[0]) else "list")
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ASKING and call.args:
            self._note_optional(call.func.value, call.args[0])
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
            and isinstance(call.func.value, ast.Name)
        ):
            for argument in call.args:
                self.appended[call.func.value.id] += self._terms(argument)
        for keyword in call.keywords:
            if keyword.arg is None:
                self._mark_unpacked(keyword.value)
        given = _arguments(call)
        if isinstance(call.func, ast.Name) and call.func.id == "range":
            for argument in call.args:
                self._mark(argument, "number")
            return
        held = [(place, node) for place, node in given if self._touches(node)]
        made = [node for _, node in given if isinstance(node, (ast.ListComp, ast.GeneratorExp)) or self._filled(node)]
        callee = self._callee(call) if held or made else None
        if made and isinstance(callee, External) and _takes_several(callee):
            self.stacked.update(made)
            for item, is_sole in (term for node in made for term in self._filled(node)):
                _leave(item, "tensor", is_sole=is_sole)
        elif made and isinstance(callee, Function):
            self._note_stacking_helper(call, callee)
        if _takes_sizes(call) and not isinstance(callee, (Function, Object)):
            for argument in call.args:
                self._mark(argument, "number")
        if callee is None:
            return
        if isinstance(callee, Object):
            callee = _forward(self.frame, callee) or callee
        for place, node in held:
            self._note_argument(call, callee, place, node)

    def _note_stacking_helper(self, call: ast.Call, callee: Function) -> None:
        """Mark what was appended to a list that a helper makes a tensor of."""
        for place, node in _arguments(call):
            argument = parameter_at(callee, place) if self._filled(node) else None
            if argument is None or callee.node in self.within:
                continue
            inner = _inside(self.frame, self._handed(call, callee, place, _Held(_Shown())))
            found = _shown(inner, callee.node, self.within).get(argument.arg)
            if found is not None and found.item is not None and "tensor" in found.item.strong:
                for held, is_sole in self._filled(node):
                    _leave(held, "tensor", is_sole=is_sole)

    def _filled(self, node: ast.expr) -> list[tuple[_Held, bool]]:
        """The terms of what was appended to a list."""
        return self.appended.get(node.id, []) if isinstance(node, ast.Name) else []

    def _touches(self, node: ast.expr) -> bool:
        parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        return any(self._holds(part) is not None for part in parts)

    def _note_argument(self, call: ast.Call, callee: Value, place: int | str, node: ast.expr) -> None:
        if isinstance(callee, External) and callee.name.startswith("builtins."):
            name = callee.name.removeprefix("builtins.")
            if name in {"isinstance", "type"} and place == 0:
                self._mark(node, "tested")
            elif name == "dict" and place == 0:
                self._mark(node, "dict")  # that a tensor holds pairs is possible, but nobody does it
            elif (name in COUNTING and (name != "map" or place != 0)) or (name in EXTREMES and len(call.args) == 1):
                self._mark(node, "list" if name == "zip" and any(map(self._is_modules, call.args)) else "count")
        elif isinstance(callee, External) and callee.name.startswith("torch.distributions."):
            is_first = place == 0 or place in {"logits", "probs"}
            if callee.name.rpartition(".")[2] in CATEGORICAL and is_first:
                self._mark(node, "tensor")
        elif isinstance(callee, External):
            self._note_operand(call, callee, place, node)
        elif isinstance(callee, TorchModule):
            if callee.name not in NO_TENSORS and place == 0:
                self._mark(node, "tensor")
            elif callee.name == "torch.nn.Sequential" and callee.items and place == 0:
                first = callee.items[0]
                first = _forward(self.frame, first) or first if isinstance(first, Object) else first
                self._note_argument(call, first, place, node)
        elif isinstance(callee, Function):
            held = self._holds(node)
            is_unpacked = any(isinstance(argument, ast.Starred) for argument in call.args)
            if held is not None and not (is_unpacked and isinstance(place, int)):
                held.shown.handed.append(self._handed(call, callee, place, held))

    def _handed(self, call: ast.Call, callee: Function, place: int | str, held: _Held) -> _Handed:
        names: dict[str, str] = {}
        items: set[str] = set()
        if isinstance(call.func, ast.Attribute) and callee.receiver is not None:
            spec = callee.node.args
            receiver, given = (*spec.posonlyargs, *spec.args)[:1], dotted(call.func.value)
            names |= {argument.arg: given for argument in receiver if given is not None}
        for at, node in _arguments(call):
            argument = parameter_at(callee, at)
            given = dotted(node)
            if argument is None:
                continue
            if given is not None:
                names[argument.arg] = given
            other = self._holds(node)
            if other is not None and other.shown is held.shown.item:
                items.add(argument.arg)
        return _Handed(callee, place, held.surely, names, frozenset(items))

    def _is_modules(self, node: ast.expr) -> bool:
        """Whether it is a container of modules: what is taken one for each of them is not a batch."""
        value = self.frame.peek(node) if dotted(node) is not None else None
        return isinstance(value, TorchModule) and value.name == "torch.nn.ModuleList"

    def _note_operand(self, call: ast.Call, callee: External, place: int | str, node: ast.expr) -> None:
        """What is passed to an operator of torch where it takes a tensor: `F.relu(x)`, `torch.cat([x, y])`."""
        api = table.lookup(callee.name)
        if api is None or api.kind != "function" or api.creates or not api.overloads or isinstance(place, str):
            return
        numbers = [i for i, other in enumerate(call.args) if i != place and self._is_plain_number(other)]
        fitting = [o for o in api.overloads if not any("tensor" in o.types[i : i + 1] for i in numbers)]
        wanted = {o.types[place] if place < len(o.types) else "any" for o in fitting}
        if not wanted or not wanted <= {"tensor", "tensors"}:
            return
        held = self._holds(node)
        if isinstance(node, (ast.List, ast.Tuple)):
            for part in node.elts:
                if self._holds(part) is not None:
                    self._mark(part, "tensor")
        elif wanted == {"tensors"} and held is not None:
            self._mark(node, "count")
            held.shown.items.strong["tensor"] = None
        elif held is not None:
            self._mark(node, "tensor")


def _takes_sizes(call: ast.Call) -> bool:
    """`x.view(batch, height, width)`, `torch.zeros(height, width)`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in TAKE_SIZES and len(call.args) > 1


def _is_computed(node: ast.expr) -> bool:
    """`getattr(self, f"block{i}")`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"


def _joins(callee: External) -> bool:
    """`list(x)`, `torch.cat(x)`: what it gives is of another kind than what it takes."""
    return callee.name.startswith("builtins.") or _takes_several(callee)


def _takes_several(callee: External) -> bool:
    """Whether an operator takes a list of tensors: `torch.stack([row * 2 for row in x])`."""
    api = table.lookup(callee.name)
    return api is not None and any(o.types[:1] == ("tensors",) for o in api.overloads)


def _forward(frame: Frame, module: Object) -> Function | None:
    found = find_method(frame, module.instance.definition, "forward")
    if found is None or not isinstance(found[1], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return undecorated(module, *found)


def _leave(held: _Held, mark: _Mark, *, is_sole: bool) -> None:
    mark = "term" if mark == "tensor" and not is_sole else mark
    (held.shown.strong if held.surely else held.shown.weak)[mark] = None


def _is_stated(node: ast.expr) -> bool:
    """`2`, `-1.5`."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and _is_stated(node.operand))


def _item(held: _Held | None) -> _Held | None:
    return None if held is None else _Held(held.shown.items, held.surely)


def _is_key(node: ast.AST) -> TypeGuard[_Key]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class _Key(ast.Constant):
    """A constant that is a string."""

    value: str


def _is_new_axis(node: ast.expr) -> bool:
    """`[None]`, `[...]`."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is Ellipsis)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert)


def _is_number_of(node: ast.expr) -> bool:
    """Whether an expression is a call of a built-in function that gives a number, or a tensor of numbers."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NUMBERS
