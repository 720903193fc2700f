"""`while_loop`, `scan`, `map` and `associative_scan`: a function that is run again and again."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.values import (
    UNKNOWN,
    Const,
    Dict,
    Origin,
    Scalar,
    Size,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import element_of, truth
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.models.torch.control_flow.bodies import Site, is_int, leaves, made, operands_of, run
from exportlint.analysis.models.torch.control_flow.mismatches import check_carry, check_outputs, check_structure, refuse
from exportlint.analysis.models.torch.control_flow.operands import (
    check_container,
    check_count,
    check_leaves,
    check_views,
)
from exportlint.analysis.models.torch.results import read_arguments


def while_loop(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`while_loop(cond_fn, body_fn, carried_inputs)`."""
    condition = arguments.get(0, "cond_fn") or UNKNOWN
    body = arguments.get(1, "body_fn") or UNKNOWN
    carried = arguments.get(2, "carried_inputs") or UNKNOWN
    read_arguments(frame, arguments, node)
    site = Site(frame, "while_loop", node)
    if not check_container(site, "carried_inputs", carried):
        return made(site, UNKNOWN)
    given = _carried(operands_of(carried))
    assert isinstance(given, Tuple)
    sound = check_leaves(site, "carried_inputs", carried, ints=True)
    for role, function in (("`cond_fn`", condition), ("`body_fn`", body)):
        sound = check_count(site, role, function, len(given.items)) and sound
    _check_condition(site, run(site, "`cond_fn`", condition, given.items))
    value = run(site, "`body_fn`", body, given.items)
    returned = value if isinstance(value, (Tuple, Unknown)) else Tuple((value,))
    if sound and check_outputs(site, "`body_fn`", value, ints=True):
        _check_carries(site, "`body_fn`", given, returned)
    return made(site, returned if isinstance(returned, Tuple) else given)


def _carried(value: Value) -> Value:
    """What is carried is not what it was at first: ints and bools become numbers that only the run knows."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_carried(item) for item in value.items))
    is_bool = isinstance(value, Const) and isinstance(value.value, bool)
    return Scalar("bool" if is_bool else "int") if is_bool or is_int(value) or isinstance(value, Size) else value


def _check_condition(site: Site, value: Value) -> None:
    if isinstance(value, Const) and truth(value):
        refuse(site, "condition", "`cond_fn` always returns the same")
    elif isinstance(value, Tensor) and value.kind not in {None, "bool"}:
        refuse(site, "condition", "`cond_fn` returns a number, not a bool")


def _check_carries(site: Site, role: str, given: Value, returned: Value) -> None:
    site = site.comparing(given, returned)
    names = ("the carried values", role)
    old, new = list(leaves(given)), list(leaves(returned))
    if len(old) != len(new):
        if check_structure(site, names, (_plain(given), _plain(returned))):
            return
    else:
        all(check_carry(site, role, *pair) for pair in zip(old, new, strict=True))


def _plain(value: Value) -> Value:
    """A list as a tuple: either is taken."""
    return replace(value, mutable=False) if isinstance(value, Tuple) else value


def scan(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`scan(combine_fn, init, xs, *, dim=0, reverse=False)`."""
    combine = arguments.get(0, "combine_fn") or UNKNOWN
    init, xs = arguments.get(1, "init") or UNKNOWN, arguments.get(2, "xs") or UNKNOWN
    read_arguments(frame, arguments, node)
    site = Site(frame, "scan", node)
    sound = check_leaves(site, "init", init) and check_leaves(site, "xs", xs)
    sound = check_count(site, "`combine_fn`", combine, 2) and sound
    given = operands_of(Tuple((init, _elements(xs))))
    assert isinstance(given, Tuple)
    value = run(site, "`combine_fn`", combine, given.items)
    if not isinstance(value, Tuple) or len(value.items) != 2:
        if sound and isinstance(value, (Tuple, Tensor)):
            refuse(site, "structure", "`combine_fn` does not return a carry and an output")
        return Tuple((made(site, given.items[0]), made(site, UNKNOWN)))
    if sound and check_outputs(site, "`combine_fn`", value, ints=False):
        _check_carries(site, "`combine_fn`", given.items[0], value.items[0])
    return Tuple((made(site, given.items[0]), made(site, value.items[1])))


def map_(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`map(f, xs, *args)`."""
    function, xs = arguments.get(0, "f") or UNKNOWN, arguments.get(1, "xs") or UNKNOWN
    read_arguments(frame, arguments, node)
    site = Site(frame, "map", node)
    operands = Tuple((xs, *arguments.positional[2:]))
    sound = check_leaves(site, "map's arguments", operands) and check_views(site, operands, twice=True)
    sound = check_count(site, "`f`", function, len(operands.items)) and sound
    given = operands_of(replace(operands, items=(_elements(xs), *operands.items[1:])))
    assert isinstance(given, Tuple)
    value = run(site, "`f`", function, given.items)
    if sound:
        check_outputs(site, "`f`", value, ints=False, none=True)
    return made(site, value)


def associative_scan(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`associative_scan(combine_fn, xs, dim, …)`: its function may do what those of the others may not."""
    combine, xs = arguments.get(0, "combine_fn") or UNKNOWN, arguments.get(1, "xs") or UNKNOWN
    read_arguments(frame, arguments, node)
    given = _fresh(_elements(xs))
    frame.call(combine, Arguments((given, given)), node)
    return _fresh(xs)


def _elements(xs: Value) -> Value:
    """A slice of each tensor in what a loop runs over."""
    if isinstance(xs, Tuple):
        return replace(xs, items=tuple(_elements(item) for item in xs.items))
    if isinstance(xs, Dict):
        return Dict(tuple((key, _elements(item)) for key, item in xs.entries), xs.rest)
    return replace(element_of(xs), name="") if isinstance(xs, Tensor) else xs


def _fresh(value: Value) -> Value:
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_fresh(item) for item in value.items))
    return replace(value, origin=Origin.FRESH, known=False, optional=False) if isinstance(value, Tensor) else value
