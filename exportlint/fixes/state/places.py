"""Where calls leave values for the next ones: attributes, items of containers, globals, objects that are not modules.

Whatever it is, one buffer of a module takes its place: `STATE["n"] += 1` and `self.log["n"] += 1` become
`self.n.add_(1)`, as `buffers`, `counters` and `tuples` have it. So do numbers that the constructor is given.

A tensor or number that modules share, in a global or an attribute of their class, stays there as a tensor. Each module
registers it: `register_buffer("n", STATE["n"])`.

Needs: the file shows the first value and all code that uses the place, which is rewritten. Never safe: other files may
use it as well, and find a tensor there. A module that is copied or moves to another device has a value of its own from
then on, and so has each module for what is None or a tuple at first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Tensor, Unknown
from exportlint.fixes.edit.arguments import with_base
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft, is_docstring
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.constructed_sizes import Sizes, sizes_in_init, written
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.fixes.state.buffers import Kept
from exportlint.fixes.state.constructor import Constructor, buffer, receiver
from exportlint.fixes.state.counters import Counted, is_repetition, number_of
from exportlint.fixes.state.tuples import KeptTuple
from exportlint.syntax.definitions import Class, FunctionNode

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given
    from exportlint.fixes.edit.template import Expression, Statement

DTYPES = {"int": "int64", "bool": "bool"}
UNKNOWN = "its sizes depend on the inputs, but a buffer needs them in `__init__`"


@dataclass(frozen=True)
class Place:
    """A place in which calls leave one value.

    `name` is what the buffer is called, `owner` what has it in the constructor, `first` what it holds before the first
    call. `register` puts statements into the constructor, in place of what gave it that. `shared` is where all modules
    have the value, if one tensor there can be the buffer of each.
    """

    name: str
    owner: Given
    first: ast.expr
    uses: Sequence[ast.expr]
    register: Callable[[Sequence[Statement]], list[Draft]]
    instead: Mapping[ast.expr, Expression] = field(default_factory=dict)
    shared: Given = None


def keep(code: Code, constructor: Constructor, place: Place) -> list[Draft]:
    """A place as a buffer, and what becomes of its uses.

    Raises:
        DeclinedError: no buffer can hold what calls leave there, or something needs it as it is.
    """
    statements, drafts = _registered(code, constructor, place)
    return [*place.register(statements), *drafts]


def keep_items(code: Code, constructor: Constructor, name: str) -> list[Draft]:
    """The items of a list or dict that `__init__` makes as buffers, and those that stay as attributes.

    Raises:
        DeclinedError: as `keep` does, or the container is used otherwise than by constant keys.
    """
    places = items(constructor, name)
    beside = _read_beside(code, places)
    statements: list[Statement] = []
    drafts: list[Draft] = []
    for place in places:
        if all(isinstance(use.ctx, ast.Load) for use in place.uses) and not _is_state(code, place.first):  # type: ignore[attr-defined]
            attribute = code.make("{owner}.{name}", owner=place.owner, name=place.name)
            statements.append(code.statement("{attribute} = {value}", attribute=attribute, value=place.first))
            drafts += (code.replace(use, new) for use, new in place.instead.items())
        else:
            own = replace(place, uses=[use for use in place.uses if use not in beside])
            new, changed = _registered(code, constructor, own, beside)
            statements += new
            drafts += changed
    return [*places[0].register(statements), *drafts]


def _read_beside(code: Code, places: Sequence[Place]) -> dict[ast.expr, Expression]:
    """Copies for the places that are read where others are written, by their uses. Raises DeclinedError."""
    writing = {
        code.tree.statement(use): place
        for place in places
        for use in place.uses
        if not isinstance(use.ctx, ast.Load)  # type: ignore[attr-defined]
    }
    found: dict[ast.expr, Expression] = {}
    for place in places:
        for use in place.uses:
            if writing.get(code.tree.statement(use), place) is not place:
                is_number = number_of(place.first) is not None
                computes = isinstance(code.tree.parents[use], (ast.BinOp, ast.UnaryOp, ast.Compare))
                if is_number and (not computes or is_repetition(code, use)):
                    raise DeclinedError(f"Python needs `{code.text(use)}` as a number")
                found[use] = code.make("{place}.clone()", place=place.instead[use])
    return found


def _is_state(code: Code, first: ast.expr) -> bool:
    return number_of(first) is not None or isinstance(code.value(first), Tensor)


def _registered(
    code: Code, constructor: Constructor, place: Place, beside: Mapping[ast.expr, Expression] = MappingProxyType({})
) -> tuple[list[Statement], list[Draft]]:
    """The statements that register what is in a place, and what becomes of its uses. Raises DeclinedError."""
    first, number = place.first, number_of(place.first)
    kept = Kept(code, place.uses, place.instead, beside=beside)
    kind = type(number) if number is not None else constructor.kind_of_parameter(first)
    if kind is not None:
        _require_number(code, place)
        given = first if number is not None or kind is int else code.make("float({value})", value=first)
        value = code.make("{tensor}({value})", tensor=code.name("torch.tensor", first), value=given)
        drafts = [*Counted(code, place.uses, place.instead, kind=kind, beside=beside).drafts()]
        if place.shared is not None:
            drafts.append(code.replace(first, value))
        return [buffer(code, place.owner, place.name, value if place.shared is None else place.shared)], drafts
    if isinstance(first, ast.Call):
        if not all(isinstance(option, (Tensor, Unknown)) for option in options(code.value(first))):
            raise DeclinedError("its first value is not a tensor")
        held = first if place.shared is None else place.shared
        return [buffer(code, place.owner, place.name, held)], [*kept.drafts()]
    if isinstance(first, (ast.Tuple, ast.List)) and first.elts and not place.instead:
        if not all(isinstance(item, ast.Call) for item in first.elts):
            raise DeclinedError("an item of its first value is not a tensor that is made there")
        names = [constructor.free(f"{place.name}_{index}") for index in range(len(first.elts))]
        pairs = zip(names, first.elts, strict=True)
        registered = [buffer(code, place.owner, name, item) for name, item in pairs]
        return registered, [*KeptTuple(code, place.uses, names).drafts()]
    if not isinstance(first, ast.Constant) or first.value is not None:
        raise DeclinedError("its first value is neither a number nor a tensor")
    flag = constructor.free(f"has_{place.name.lstrip('_')}")
    there = code.make("{tensor}(False)", tensor=code.name("torch.tensor", first))
    registered = [
        buffer(code, place.owner, place.name, _empty(code, constructor, place)),
        buffer(code, place.owner, flag, there),
    ]
    return registered, [*replace(kept, flag=flag).drafts()]


def _require_number(code: Code, place: Place) -> None:
    """Raises DeclinedError if calls leave a tensor that may have dimensions in a place that holds a number at first."""
    for use in place.uses:
        statement = code.tree.parents[use]
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if isinstance(statement, (ast.Assign, ast.AugAssign)) and use in targets:
            held = tensor(code, statement.value)
            if held is not None and not held.zero_dim:
                raise DeclinedError("it holds a number at first, and then a tensor that may have dimensions")


def _empty(code: Code, constructor: Constructor, place: Place) -> Expression:
    """A tensor like those that calls leave in a place. Raises DeclinedError if their sizes are not known."""
    return empty_like(code, constructor, [
        statement.value
        for use in place.uses
        if isinstance(statement := code.tree.parents[use], ast.Assign) and use in statement.targets
    ], place.uses)  # fmt: skip


def empty_like(
    code: Code, constructor: Constructor, values: Sequence[ast.expr], own: Collection[ast.expr] = ()
) -> Expression:
    """A tensor like some others: zeros of their sizes. Raises DeclinedError if these are not known.

    `own` are the uses of what is to hold it.
    """
    found = [(value, held) for value in values if (held := tensor(code, value)) is not None]
    if not found:
        raise DeclinedError("the stored value may be something other than a tensor")
    sizes: dict[str, Sizes] = {}
    for value, held in found:
        size = sizes_in_init(code, value, constructor.init, own)
        if size is None:
            raise DeclinedError(UNKNOWN)
        if size or held.shape.rank == 0:
            sizes[written(size)] = size
    if len(sizes) != 1:
        raise DeclinedError(UNKNOWN)
    zeros, shape = code.name("torch.zeros"), code.make("({*sizes},)", sizes=[*sizes.popitem()[1]])
    dtypes = {DTYPES.get(held.kind or "") for _, held in found}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if dtype is None:
        return code.make("{zeros}({shape})", zeros=zeros, shape=shape)
    name = code.name(f"torch.{dtype}")
    return code.make("{zeros}({shape}, dtype={dtype})", zeros=zeros, shape=shape, dtype=name)


# --- places


def own_attribute(constructor: Constructor, name: str) -> Place:
    """An attribute that `__init__` gives its first value, for the class and its heirs. Raises DeclinedError."""
    used = _foreign_uses(constructor, name)
    own = constructor.inherited_uses(name)
    constructor.require_private(name, also=[*own, *used], heirs=True)
    first = constructor.assignment(name, beside=True)
    return Place(
        name,
        first.target.value,
        first.value,
        [*(use for use in own if use is not first.target), *used],
        lambda new: [constructor.replaced(first, new)],
    )


def _foreign_uses(constructor: Constructor, name: str) -> list[ast.Attribute]:
    """Where other classes of the file use an attribute of an object of this one: `self.state.name`."""
    code, cls = constructor.code, constructor.node.name
    owners = {
        ast.unparse(statement.targets[0])
        for statement in ast.walk(code.tree.root)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id == cls
        and isinstance(statement.targets[0], ast.Attribute)
    }
    attributes = [n for n in ast.walk(code.tree.root) if isinstance(n, ast.Attribute) and n.attr == name]
    return [node for node in attributes if ast.unparse(node.value) in owners]


def class_attribute(constructor: Constructor, name: str) -> Place:
    """An attribute to which the body of the class gives its first value. Raises DeclinedError."""
    code = constructor.code
    constructor.require_private(name, of_class=True)
    body = [s for s in constructor.node.body if name in _bound(s)]
    match body:
        case [ast.Assign(targets=[ast.Name()], value=first) | ast.AnnAssign(value=ast.expr() as first)]:
            uses = constructor.uses(name, of_class=True)
            if _can_be_shared(body[0], first) and not any(_is_own(use, constructor.node.name) for use in uses):
                own = constructor.free(f"shared_{name.lstrip('_')}")
                return Place(
                    own,
                    "self",
                    first,
                    uses,
                    lambda new: [constructor.append(new)],
                    _instead(code, uses, own),
                    code.make("type(self).{name}", name=name),
                )
            return Place(
                name,
                "self",
                first,
                uses,
                lambda new: [constructor.append(new), code.statements.left_out(body[0])],  # `hasattr` would find it
                _instead(code, uses, name),
            )
    raise DeclinedError(f"the class does not assign `{name}` once")


def _can_be_shared(statement: ast.stmt, first: ast.expr) -> bool:
    """Whether one tensor can stand where a statement gives the first value, as a buffer of many modules."""
    return isinstance(first, ast.Call) or (isinstance(statement, ast.Assign) and number_of(first) is not None)


def _is_own(use: ast.Attribute, cls: str) -> bool:
    """Whether an attribute of the module itself is bound, which from then on is no longer that of its class."""
    return isinstance(use.ctx, ast.Store) and isinstance(use.value, ast.Name) and use.value.id != cls


def items(constructor: Constructor, name: str) -> list[Place]:
    """The items of a list or dict that `__init__` makes and that code only uses by constant keys.

    Raises:
        DeclinedError: the container is used otherwise.
    """
    code = constructor.code
    constructor.require_private(name)
    first = constructor.assignment(name)
    entries = _entries(first.value)
    subscripts: dict[object, list[ast.expr]] = {key: [] for key in entries}
    for use in constructor.uses(name):
        if use is first.target:
            continue
        around = code.tree.parents[use]
        key = _key(around.slice) if isinstance(around, ast.Subscript) and around.value is use else None
        if key not in subscripts or not isinstance(around, ast.Subscript):
            raise DeclinedError(f"`{name}` is not only used by the keys that `__init__` gives it")
        subscripts[key].append(around)
    names = {key: constructor.free(f"{name}_{key}") for key in entries}
    return [
        Place(
            names[key],
            first.target.value,
            value,
            subscripts[key],
            lambda new: [code.statements.replace([first.statement], new)],
            _instead(code, subscripts[key], names[key]),
        )
        for key, value in entries.items()
    ]


def _entries(value: ast.expr) -> dict[object, ast.expr]:
    match value:
        case ast.List(elts=items) if not any(isinstance(i, ast.Starred) for i in items):
            return dict(enumerate(items))
        case ast.Dict(keys=keys, values=values):
            named = [_key(key) if key is not None else None for key in keys]
            if all(isinstance(key, str) and key.isidentifier() for key in named) and len({*named}) == len(named):
                return dict(zip(named, values, strict=True))
    raise DeclinedError("its initial value is not written there")


def _key(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) and type(node.value) in {str, int} else None


def keep_global(code: Code, constructor: Constructor, name: str, key: str = "") -> list[Draft]:
    """A variable of the file that only methods of the class use, as a buffer. One that is private goes if it can.

    Of a list or dictionary one item is kept: the only one that is used, or that of the `key`, as source.

    Raises:
        DeclinedError: as `keep` does, or other code uses it, or it is not assigned once.
    """
    root = code.tree.root
    defined = [s for s in root.body if name in _bound(s)]
    inside = {node for method in constructor.methods for node in ast.walk(method)}
    names = [n for n in ast.walk(root) if isinstance(n, ast.Name) and n.id == name]
    if len(defined) != 1 or not isinstance(defined[0], (ast.Assign, ast.AnnAssign)) or defined[0].value is None:
        raise DeclinedError(f"the file does not assign `{name}` once")
    if any(n not in inside and code.tree.parents[n] is not defined[0] for n in names) or _is_said(root, name):
        raise DeclinedError(f"other code uses `{name}`")
    declared = [n for n in ast.walk(root) if isinstance(n, ast.Global) and name in n.names]
    if any(len(declaration.names) > 1 for declaration in declared):
        raise DeclinedError(f"`{name}` is declared together with others")
    left_out = [code.statements.replace([s], []) for s in declared]
    is_all = True
    first, own = defined[0].value, constructor.free(name.lstrip("_").lower())
    uses: list[ast.expr] = [n for n in names if n in inside]
    entries = _entries(first) if isinstance(first, (ast.List, ast.Dict)) else {}
    if entries:
        subscripts = [code.tree.parents[use] for use in uses]
        used: dict[object, list[ast.expr]] = {}
        for subscript in subscripts:
            found = _key(subscript.slice) if isinstance(subscript, ast.Subscript) else None
            if found not in entries or not isinstance(subscript, ast.Subscript):
                raise DeclinedError(f"`{name}` is also used with keys that its definition does not have")
            used.setdefault(found, []).append(subscript)
        kept = next((each for each in used if repr(each) == key), next(iter(used)))
        uses, first, own = used[kept], entries[kept], constructor.free(str(kept))
        is_all = len(used) == 1
    shared = code.concrete(uses[0]) if uses and _can_be_shared(defined[0], first) else None
    if shared is None and name.startswith("_") and is_all:
        left_out.append(code.statements.left_out(defined[0]))
    place = Place(own, "self", first, uses, lambda new: [constructor.append(new)], _instead(code, uses, own), shared)
    return [*keep(code, constructor, place), *left_out]


def keep_object(code: Code, constructor: Constructor, name: str) -> list[Draft]:
    """An attribute of an object that is not a module, whose class becomes one. `constructor` is that of its class.

    Raises:
        DeclinedError: as `keep` does, or the class does not stand by itself.
    """
    based, first = _module_base(code, constructor)
    place, called = own_attribute(constructor, name), code.statement("super().__init__()")
    if code.tree.statement(place.first) is first:
        registered = place.register
        place = replace(place, register=lambda new: registered([called, *new]))
        return [based, *keep(code, constructor, place)]
    return [based, code.statements.insert_before(first, [called]), *keep(code, constructor, place)]


def class_of_object(code: Code, target: ast.Attribute) -> Constructor:
    """The class of the object that has an attribute: the one around it, or one of which `__init__` makes the object.

    Raises:
        DeclinedError: it is none of the file.
    """
    around = Constructor(code, target)
    method = code.tree.function(target)
    if isinstance(method, ast.FunctionDef) and ast.unparse(target.value) == receiver(method):
        return around
    if not isinstance(target.value, ast.Attribute):
        raise DeclinedError("the object is not known")
    made = around.assignment(target.value.attr).value
    found = (
        code.module.bindings.get(made.func.id)
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name)
        else None
    )
    if not isinstance(found, Class):
        raise DeclinedError("its class is not a self-contained class of this file")
    return Constructor(code, found.node.body[0])


def first_value(code: Code, constructor: Constructor, place: Place) -> list[Draft] | None:
    """An attribute that is None until the first call gives it what is always the same, as a buffer that has it.

    None if it gets something else, or becomes None again.
    """
    asking = [use for use in place.uses if isinstance(code.tree.parents[use], ast.Compare)]
    around = code.tree.parents[code.tree.parents[asking[0]]] if len(asking) == 1 else None
    match around:
        case ast.If(
            test=ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
            body=[ast.Assign(targets=[target], value=ast.Call() as value)],
            orelse=[],
        ) if target in place.uses:
            pass
        case _:
            return None
    inside = set(ast.walk(around))
    later = [use for use in place.uses if use not in inside]
    given = [p.value for use in later if isinstance(p := code.tree.parents[use], ast.Assign) and use in p.targets]
    try:
        constructor.require_constant(value)
    except DeclinedError:
        return None
    if any(isinstance(one, ast.Constant) and one.value is None for one in given):
        return None
    left_out = code.statements.replace([around], [])
    return [left_out, *keep(code, constructor, replace(place, first=value, uses=later))]


def _is_said(root: ast.Module, name: str) -> bool:
    return any(isinstance(n, ast.Constant) and n.value == name for n in ast.walk(root))


def as_module(code: Code, made: ast.expr) -> list[Draft]:
    """The class of an object that an expression makes as a class of modules. Raises DeclinedError."""
    name = made.func.id if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else ""
    found = code.module.bindings.get(name)
    if not isinstance(found, Class):
        raise DeclinedError("its class is not a self-contained class of this file")
    constructor = Constructor(code, found.node.body[0])
    based, first = _module_base(code, constructor)
    return [based, code.statements.insert_before(first, [code.statement("super().__init__()")])]


def _module_base(code: Code, constructor: Constructor) -> tuple[Draft, ast.stmt]:
    """What makes a class one of modules, but for the first statement of its `__init__`. Raises DeclinedError."""
    node = constructor.node
    if node.bases or node.keywords or node.decorator_list:
        raise DeclinedError("its class is not a self-contained class of this file")
    if constructor.init is None or not constructor.init.args.args:
        raise DeclinedError("its class has no `__init__`")
    first = next(s for s in constructor.init.body if not is_docstring(s))
    return code.statements.changed(node, partial(with_base, base=code.name("torch.nn.Module", node))), first


def _instead(code: Code, uses: Sequence[ast.expr], name: str) -> dict[ast.expr, Expression]:
    """`self.name` for each use, as the method around it calls its object."""
    found = {}
    for use in uses:
        function = code.tree.function(use)
        methods = [a for a in (function, *code.tree.ancestors(use)) if isinstance(a, FunctionNode)]
        method = methods[-1] if methods else None
        owner = receiver(method) if isinstance(method, ast.FunctionDef) else ""
        if method is None or not owner or any(_is_static(decorator) for decorator in method.decorator_list):
            raise DeclinedError("it is used by a method without access to the module")
        found[use] = code.make("{owner}.{name}", owner=owner, name=name)
    return found


def _is_static(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in {"staticmethod", "classmethod"}


def _bound(statement: ast.stmt) -> set[str]:
    """The variables that a statement assigns."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}
