"""Calls of custom operators: export runs the fake kernel instead of the kernel."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.custom_op_definitions import CustomOp, Kernel, custom_ops
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.operand_forms import Form
from exportlint.analysis.domain.trails import site_of
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Function,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.annotations import annotated_value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Branch, Conversion, HostRead, Mutation
from exportlint.analysis.facts.custom_ops import FakeResult, UndeclaredWrite, UnfakedCall
from exportlint.analysis.models.torch.control_flow.bodies import leaves, returned_names, returned_twice
from exportlint.analysis.models.torch.results import fresh, read_arguments
from exportlint.syntax.definitions import Module


def call_custom_op(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.ops.library.name(…)`, also with the name of an overload behind it."""
    read_arguments(frame, arguments, node)
    engine = frame.engine
    if engine.silent or engine.constructing:
        return UNKNOWN
    known = engine.custom_ops
    if frame.module not in known:
        known[frame.module] = custom_ops(engine.project, frame.module)
    found = known[frame.module]
    qualified = "::".join(name.split(".")[2:4])
    op = found.ops.get(qualified)
    if op is None:
        return UNKNOWN
    if not op.is_faked and not found.is_open:
        tensor = next((v for v in arguments.values if isinstance(v, Tensor)), None)
        frame.emit(UnfakedCall, node, tensor, name=qualified)
    wanted = _wanted(frame, op)
    if op.fake is not None:
        _run_fake(frame, op.fake, qualified, wanted, arguments, node)
    if op.kernel is not None and op.mutates is not None:
        _run_kernel(frame, op, op.kernel, op.mutates, qualified, arguments, node)
    if wanted is None:
        return UNKNOWN
    made = tuple(fresh(frame, node, qualified, arguments.values) for _ in range(max(wanted, 1)))
    return Tuple(made) if wanted else made[0]


def _wanted(frame: Frame, op: CustomOp) -> int | None:
    """How many tensors the tuple has that the kernel is annotated to return; 0 for one tensor, None for all else."""
    annotation = None if isinstance(op.kernel, ast.Lambda) or op.kernel is None else op.kernel.returns
    if annotation is None:
        return None
    value = annotated_value(Frame(frame.engine, op.module), annotation, "")
    if isinstance(value, Tensor):
        return 0
    is_tuple = isinstance(value, Tuple) and all(isinstance(item, Tensor) for item in value.items)
    return len(value.items) if isinstance(value, Tuple) and is_tuple else None


def _function(module: Module, kernel: Kernel) -> Function:
    return Function(module, kernel, "<lambda>" if isinstance(kernel, ast.Lambda) else kernel.name)


DEMANDS = (Branch, Conversion, HostRead)


def _run_fake(
    frame: Frame,
    fake: tuple[Module, Kernel],
    name: str,
    wanted: int | None,
    arguments: Arguments,
    node: ast.AST,
) -> None:
    """Run a fake kernel: as it gets tensors without data, all that it asks of them is what export asks of them."""
    function = _function(*fake)
    engine = frame.engine
    with engine.collecting(frame.heap, reports_facts=False) as effects, engine.in_region("non-strict") as region:
        value = frame.call(function, arguments, node)
    facts = effects.all_facts()
    engine.effects.keep(effects, {key: fact for key, fact in facts.items() if isinstance(fact, DEMANDS)})
    problem = None if wanted is None else _problem(value, wanted, function, region)
    if problem is not None:
        frame.emit(
            FakeResult,
            node,
            None,
            name=name,
            what=problem[0],
            problem=problem[1],
            fake=site_of(function.module, function.node),
        )


def _problem(value: Value, wanted: int, function: Function, region: int) -> tuple[str, str] | None:
    """What is wrong with what a fake kernel returns, and that in words."""
    if value == NONE:
        return "none", "returns nothing"
    if isinstance(value, Const):
        return "type", "returns no tensor"
    if isinstance(value, Tuple) and len(value.items) != wanted:
        return "type", f"returns a tuple of {len(value.items)}"
    if isinstance(value, Tensor) and wanted:
        return "type", "returns one tensor"
    parameters = {argument.arg for argument in function.node.args.args}
    returns_one = any(not parameters.isdisjoint(names) for names in returned_names(function))
    for leaf in leaves(value) if returns_one else ():  # a view of an argument does no harm
        if all(isinstance(option, Tensor) and option.region != region for option in options(leaf)):
            return "alias", "returns an argument"
    return ("alias", "returns one tensor twice") if returned_twice(function) and isinstance(value, Tuple) else None


def _run_kernel(
    frame: Frame,
    op: CustomOp,
    kernel: Kernel,
    mutates: frozenset[str],
    name: str,
    arguments: Arguments,
    node: ast.AST,
) -> None:
    """Run a kernel, which export does not see, for what it writes to."""
    names = [argument.arg for argument in (*kernel.args.posonlyargs, *kernel.args.args)]
    given = dict(zip(names, arguments.positional, strict=False)) | arguments.keywords
    owned = {n: replace(v, form=Form(names.index(n))) for n, v in given.items() if isinstance(v, Tensor) and n in names}
    engine = frame.engine
    with engine.collecting(frame.heap, reports_facts=False) as effects, engine.in_region("non-strict") as region:
        frame.call(_function(op.module, kernel), Arguments((), given | owned), node)
    for fact in effects.all_facts().values():
        if isinstance(fact, Mutation) and fact.target.region != region:
            form = fact.target.form
            written = names[form.operand] if form is not None else ""
            if not mutates or (written and written not in mutates):
                engine.emit(UndeclaredWrite(fact.site, fact.symbol, False, fact.trail, name, fact.api, written))
