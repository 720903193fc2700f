"""`torch.cond`: two functions, of which the data decides on one."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import UNKNOWN, Scalar, Tensor, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import truth
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.models.torch.control_flow.bodies import Site, leaves, made, operands_of, run
from exportlint.analysis.models.torch.control_flow.mismatches import check_branches, check_outputs, check_structure
from exportlint.analysis.models.torch.control_flow.operands import (
    check_container,
    check_count,
    check_leaves,
    check_predicate,
    check_views,
)
from exportlint.analysis.models.torch.results import read_arguments

ROLES = ("`true_fn`", "`false_fn`")


def cond(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.cond(pred, true_fn, false_fn, operands=())`."""
    predicate = arguments.get(0, "pred") or UNKNOWN
    branches = (arguments.get(1, "true_fn") or UNKNOWN, arguments.get(2, "false_fn") or UNKNOWN)
    operands = arguments.get(3, "operands") or Tuple(())
    read_arguments(frame, arguments, node)
    if not any(isinstance(option, (Tensor, Scalar)) for option in options(predicate)):
        return _decided(frame, predicate, branches, operands, node)
    site = Site(frame, "torch.cond", node)
    check_predicate(site, predicate, operands)
    if not check_container(site, "operands", operands):
        return made(site, UNKNOWN)
    given = operands_of(operands)
    assert isinstance(given, Tuple)
    sound = check_leaves(site, "operands", operands) and check_views(site, operands, twice=False)
    found: list[Value] = []
    for role, branch in zip(ROLES, branches, strict=True):
        sound = check_count(site, role, branch, len(given.items)) and sound
        found.append(run(site, role, branch, given.items))
    site = site.comparing(*found)
    if sound and all(check_outputs(site, role, value, ints=True) for role, value in zip(ROLES, found, strict=True)):
        _compare(site, found[0], found[1])
    return made(site, _joined(found[0], found[1]))


def _decided(frame: Frame, predicate: Value, branches: tuple[Value, Value], operands: Value, node: ast.AST) -> Value:
    """Where tracing knows the condition, it calls the branch that is taken, and that is all."""
    is_true = truth(predicate)
    taken = branches if is_true is None else branches[:1] if is_true else branches[1:]
    given = Arguments(operands.items if isinstance(operands, Tuple) else ())
    return join(frame.call(branch, given, node) for branch in taken)


def _compare(site: Site, one: Value, other: Value) -> None:
    if check_structure(site, ROLES, (one, other)):
        for pair in zip(leaves(one), leaves(other), strict=True):
            if not check_branches(site, ROLES, pair):
                return


def _joined(one: Value, other: Value) -> Value:
    """What both branches return, item by item."""
    if isinstance(one, Tuple) and isinstance(other, Tuple) and len(one.items) == len(other.items):
        return Tuple(tuple(_joined(*pair) for pair in zip(one.items, other.items, strict=True)), one.mutable)
    return join((one, other))
