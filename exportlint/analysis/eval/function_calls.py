"""Calls of project functions. Each function is run once per kind of call; its summary serves the other calls."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.accesses import Callee
from exportlint.analysis.domain.allocations import identities, refreshed
from exportlint.analysis.domain.heap import HEAP, Heap, join_heaps
from exportlint.analysis.domain.lattice import heap_of, join, trail_of, with_trail
from exportlint.analysis.domain.reachability import reachable
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Closure,
    Composite,
    Function,
    Instance,
    Tensor,
    Value,
)
from exportlint.analysis.eval.activations import Activation, CallKey, Context
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.eval.declared_types import declared
from exportlint.analysis.eval.described_values import described_value
from exportlint.analysis.eval.divergence import certain_raise, note_divergence
from exportlint.analysis.eval.effects import Effects, Entries, Names, Places, Summary, fitting, summarize
from exportlint.analysis.eval.engine import NoResultYetError
from exportlint.analysis.eval.frame import Environment, Frame, calls
from exportlint.analysis.eval.generators import generated
from exportlint.analysis.eval.gradients import may_not_record
from exportlint.analysis.eval.parameter_usage import parameter_at
from exportlint.analysis.eval.parameters import INPUT, bind
from exportlint.analysis.eval.recursion import ask, covering, is_deep, settled, widened
from exportlint.analysis.eval.sizes import returned
from exportlint.analysis.eval.statements import result
from exportlint.analysis.limits import MAX_CONSTRUCTOR_STEPS, steps_of
from exportlint.findings import Role
from exportlint.syntax.stubs import annotation
from exportlint.syntax.walk import children, once_a_node, walk

Captured = list[int | tuple[str, Value]]
"""The regions of enclosing calls, and the values of their variables."""

MAX_TOLD_APART = 8
"""Calls of one function in the same way, in a root, whose results are told apart. Where all were, calls would double
from one function to the next that calls it twice.
"""
MAX_SUMMARIES = 8
"""Of one function with the same arguments, for heaps that differ."""


def _call_function(frame: Frame, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    engine = frame.engine
    if may_not_record(function.node) and not engine.unrecorded:
        with engine.without_gradients():
            return _call_function(frame, function, arguments, node)
    if function.module.is_stub:
        return _returned(frame, _promised(frame, function), node, function)
    if not engine.may_enter():
        return _promised(frame, function)
    if function.receiver is not None:
        arguments = arguments.after(function.receiver)
    inner = _frame(frame, function, arguments.get(0), frame.guards)
    inner.env = bind(inner, function.node, arguments)
    for name, value in inner.env.items():
        if value.reaches:
            inner.env[name] = frame.current(value)
    _hand_on_inputs(frame, inner, function, node)
    heap = frame.heap
    captured = _captured(frame, function.node, function.closure)
    context = _context(inner)
    inner.heap = heap.unmarked(engine.serial)
    call = _activation(inner, function, context, captured)
    key = _key(call, captured)
    known = () if key is None else engine.summaries.get(key, ())
    found = fitting(known, heap, call.given)
    if found is None and key is not None and engine.replaying and engine.is_tracing:
        # a later run does not need the facts of the first, but they do no harm
        first_run = _key(replace(call, context=context._replace(is_silent=False)), captured)
        found = fitting(engine.summaries.get(first_run, ()), heap, call.given) if first_run is not None else None
    recurs = function.node in engine.active
    is_one = recurs or engine.repeating or engine.caching
    if found is not None and not is_one and _gives_new_objects(frame, found[0]):
        assert key is not None
        if engine.next_of(key) < MAX_TOLD_APART:
            found, key = None, None  # each call returns new objects: which ones must not depend on earlier roots
    if found is None and recurs:
        covered = covering(engine, call)
        if covered is None and is_deep(engine, call):
            inner.env, entry = widened(engine, inner.env, heap, call)
            heap = Heap(entry.changes, heap.written, heap.since)
            frame.heap = heap  # what the call leaves unchanged keeps, for the caller too, the value it was called with
            inner.heap = entry.unmarked(engine.serial)
            call = _activation(inner, function, context, captured)
            key = _key(call, captured)
            known = () if key is None else engine.summaries.get(key, ())
            found = fitting(known, entry, call.given)
            covered = covering(engine, call) if found is None else None
        if covered is not None:
            return _asked(frame, function, *covered, node)
    entries: Entries = ()
    if found is not None:
        summary, names = found
        summary = summary.under({**names, **{a: frame.allocate((node, a)) for a in summary.made}})
        if engine.records_calls:
            engine.calls.again(node, summary.effects)
        value = _retold(frame, inner, function, summary.value, node)
        heap = frame.heap
        entries = [
            (known, given)
            for name, known in summary.effects.parameters.items()
            if (given := inner.env.get(name)) is not None and given is not known
        ]
    else:
        _explain_parameters(frame, inner, function, node)
        parameters = {name: v for name, v in inner.env.items() if isinstance(v, Composite) or trail_of(v) is not None}
        cuts = len(engine.limits_reached)
        summary = _result(inner, call, node)
        summary.effects.parameters = parameters
        value = summary.value
        if engine.repeating or call.approximation is not None:
            for allocation in summary.made:
                frame.forget(allocation)
            heap = frame.heap
        is_whole = len(engine.limits_reached) == cuts and not call.is_provisional
        if key is not None and is_whole and len(known) < MAX_SUMMARIES:
            engine.summaries[key] = (*engine.summaries.get(key, ()), summary)
    if not isinstance(function.node, ast.Lambda):
        engine.effects.callees[node, Callee(function.node, function.receiver is not None)] = None
    engine.effects.call(summary.effects, heap.written, entries=entries)
    _take_over(frame, summary, heap)
    note_divergence(frame, summary.effects.raises, node)
    return _returned(frame, value, node, function)


calls(Function)(_call_function)


def _gives_new_objects(frame: Frame, summary: Summary) -> bool:
    """Whether new objects other than modules can be reached from the result of a call."""
    made = summary.effects.allocated
    return bool(made) and any(
        isinstance(owner, Instance) and owner in made and not is_module(frame, owner.definition)
        for owner in reachable((summary.value,), summary.exit_heap)
    )


def _frame(frame: Frame, function: Function, receiver: Value | None, guards: int) -> Frame:
    """The frame for a run of a function."""
    inner = Frame(
        frame.engine, function.module, function.symbol,
        owner=function.owner, receiver=receiver, closure=function.closure, guards=guards,
    )  # fmt: skip
    inner.on_accelerator = frame.on_accelerator
    inner.catching_type_errors = frame.catching_type_errors
    return inner


def _activation(inner: Frame, function: Function, context: Context, captured: Captured | None) -> Activation:
    """A call that is about to be run."""
    given = _given(inner.env, captured)
    return Activation(function, context, dict(inner.env), tuple(captured or ()), inner.heap, given)


def _asked(frame: Frame, function: Function, known: Activation, names: Names, node: ast.AST) -> Value:
    """The result of a recursive call so far, from the running call that stands for it."""
    engine = frame.engine
    summary = ask(engine, known)
    made = {a: frame.allocate((node, a)) for a in summary.made}
    summary = summary.under({**names, **made})
    engine.effects.cells |= summary.effects.cells
    engine.effects.containers |= summary.effects.containers
    engine.effects.computes |= summary.effects.computes
    engine.effects.allocated |= summary.effects.allocated
    engine.effects.runs_operator |= summary.effects.runs_operator
    engine.effects.asks_for_either |= summary.effects.asks_for_either
    engine.effects.switches_gradients |= summary.effects.switches_gradients
    if engine.records_calls and known.effects is not None:
        engine.calls.again(node, known.effects)
    _take_over(frame, summary, frame.heap)
    return _returned(frame, summary.value, node, function)


def _result(inner: Frame, call: Activation, node: ast.AST) -> Summary:
    """Run the body of a function; if it is recursive, again until its result stops growing."""
    engine, function = inner.engine, call.function
    variables = dict(inner.env)

    def again() -> Summary | None:
        fresh = _frame(inner, function, inner.receiver, inner.guards)
        fresh.env = dict(variables)
        return _run(fresh, call, node)

    engine.activations.append(call)
    try:
        found = _run(inner, call, node)
        if call.is_asked:
            return settled(engine, call, found, again, lambda: _promised(inner, function))
    finally:
        engine.activations.pop()
    if found is None:
        raise NoResultYetError
    return found


def _given(env: Environment, captured: Captured | None) -> Places:
    """The containers passed to a call, in its arguments and in the variables of enclosing functions."""
    values = list(env.values())
    if captured:
        values += [part[1] for part in captured if isinstance(part, tuple)]
    if not [value for value in values if value.reaches]:
        return ()
    return tuple([identity for value in values for identity in identities(value)])


def _run(inner: Frame, call: Activation, node: ast.AST) -> Summary | None:
    """Run the body of a function once. None if all its paths wait for the result of a running call."""
    engine, function = inner.engine, call.function
    outer, caller = engine.effects, engine.calls.current
    definition = None if isinstance(function.node, ast.Lambda) or not engine.is_tracing else function.node
    engine.effects = call.effects = effects = Effects(definition, function.module, inner.heap)
    if engine.records_calls:
        engine.calls.enter(function.module, function.node, function.symbol, node, effects)
    engine.active.append(function.node)
    engine.runs_of[function.node] += not engine.silent
    try:
        if engine.constructing and not _builds_module(inner, function):
            value = engine.with_limit(
                steps_of(function.node, MAX_CONSTRUCTOR_STEPS), "constructor", lambda: _body(inner, function.node)
            )
        else:
            value = _body(inner, function.node)
    except RecursionError:
        engine.stopped = engine.stopped or engine.place_of("recursion")
        raise
    finally:
        engine.active.pop()
        engine.effects, engine.calls.current = outer, caller
    raised = certain_raise(inner, function.node) if inner.raises and not isinstance(function.node, ast.Lambda) else None
    if raised is not None and not raised.is_stub:
        effects.raises = raised
    if not inner.exits and (call.is_asked or call.is_provisional):
        return None
    if value == UNKNOWN:
        value = _promised(inner, function)
    # a call that never returns has no result
    left = join_heaps([(heap_of(env), env) for env in inner.exits] or [(effects.entry, {})], join)
    value = refreshed(value, left.changes, join)
    return summarize(value, effects, left, call.given, lambda: _encloses(function.node))


@once_a_node
def _encloses(node: ast.AST) -> bool:
    """Whether a function contains other functions, which may hold its variables."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return any(isinstance(child, inner) and child is not node for child in walk(node))


def _take_over(frame: Frame, summary: Summary, before: Heap) -> None:
    """Take over what a call left changed. What was found out about these attributes holds no longer."""
    frame.heap = after = summary.after(before)
    if after is before:
        return
    names = {cell.name for cell in summary.exit_heap.changes}
    for path in [key for key in frame.env if key.partition(".")[2] in names]:
        del frame.env[path]


def _builds_module(frame: Frame, function: Function) -> bool:
    name = function.symbol.rpartition(".")[2]
    return name == "__init__" and function.owner is not None and is_module(frame, function.owner)


def _context(inner: Frame) -> Context:
    engine = inner.engine
    return Context(
        engine.silent > 0,
        engine.is_tracing,
        engine.constructing > 0,
        engine.has_parameters,
        inner.guards > 0,
        inner.on_accelerator > 0,
        inner.catching_type_errors > 0,
        engine.region,
        engine.unrecorded > 0,
    )


def _key(call: Activation, captured: Captured | None) -> CallKey | None:
    """The key of a call: everything its result depends on; None if that is not known."""
    if captured is None or call.context is None:
        return None
    variables = tuple([item for item in call.variables.items() if item[0] != HEAP])
    key = CallKey(call.function.node, call.context, variables, tuple(captured))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _captured(frame: Frame, node: ast.AST, closure: Closure | None) -> Captured | None:
    """The values of the enclosing functions' variables that a function names; None if it may change them."""
    if closure is None:
        return []
    names = _named_in(node)
    if not names:
        return None
    found: Captured = []
    cell: Closure | None = closure
    while cell is not None:
        found.append(cell.region)
        variables = cell.variables  # a function can have a thousand, and a thousand functions in it
        found += [(name, frame.current(variables[name])) for name in names if name in variables]
        cell = cell.parent
    return found


@once_a_node
def _named_in(node: ast.AST) -> tuple[str, ...]:
    """The names in a function; none if it may change variables of those around it."""
    nodes = list(walk(node))
    if any(isinstance(child, ast.Nonlocal) for child in nodes):
        return ()
    return tuple(dict.fromkeys([child.id for child in nodes if isinstance(child, ast.Name)]))


def _explain_parameters(frame: Frame, inner: Frame, function: Function, node: ast.AST) -> None:
    """Add a step to the trail of each parameter with tensor data: where the call passes it."""
    changes = not isinstance(node, ast.Call) or not all(map(_is_bare, (*node.args, *(k.value for k in node.keywords))))
    role: Role = "value" if isinstance(function.node, ast.Lambda) else "call"  # what a lambda returns has no step
    for parameter, value in inner.env.items():
        parent = trail_of(value)
        if parent is not None:
            message = f"passed as `{parameter}` to `{function.symbol}`"
            step = frame.trail(node, message, parent, role, changes=changes, entered=function.module)
            inner.env[parameter] = with_trail(value, step)


def _hand_on_inputs(frame: Frame, inner: Frame, function: Function, node: ast.AST) -> None:
    """Mark the parameters that hold a container which the caller of `forward` passed."""
    if not isinstance(node, ast.Call):
        return
    given: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
    given += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg is not None]
    for place, argument in given:
        mark = frame.env.get(argument.id + INPUT) if isinstance(argument, ast.Name) else None
        if mark is None or not isinstance(argument, ast.Name):
            continue
        found = parameter_at(function, place)
        if found is not None and _are_one(inner.env.get(found.arg), frame.env.get(argument.id)):
            inner.env[found.arg + INPUT] = mark


def _are_one(passed: Value | None, given: Value | None) -> bool:
    """Whether a parameter holds what a variable of the caller does; what it contains may have changed since."""
    if passed is None or given is None:
        return False
    return passed is given or (bool(given.identity) and passed.identity == given.identity)


def _retold(frame: Frame, inner: Frame, function: Function, value: Value, node: ast.AST) -> Value:
    """A result that is known from another call, with a trail that comes by way of this one."""
    step = trail_of(value)
    _explain_parameters(frame, inner, function, node)
    trails = [trail for given in inner.env.values() if (trail := trail_of(given)) is not None]
    passed = {trail.message: trail for trail in trails if trail.role == "call"}
    inside: list[Trail] = []
    while step is not None and not (step.role == "call" and step.message in passed):
        inside.append(step)
        step = step.parent
    if step is None:
        return value  # it is created in the function itself
    told = passed[step.message]
    for known in reversed(inside):
        told = replace(known, parent=told)
    return with_trail(value, told)


def _is_bare(node: ast.expr) -> bool:
    """Whether an argument is a plain variable or constant, which a call passes on unchanged."""
    return isinstance(node.value if isinstance(node, ast.Starred) else node, (ast.Name, ast.Constant))


def _hands_on(function: Function) -> bool:
    """Whether a function returns only unchanged variables."""
    node = function.node
    return isinstance(node.body, ast.Name) if isinstance(node, ast.Lambda) else _returns_names(node)


@once_a_node
def _returns_names(node: ast.stmt) -> bool:
    waiting: list[ast.AST] = children(node)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Return) and not isinstance(part.value, ast.Name):
            return False
        if not isinstance(part, (ast.expr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            waiting.extend(children(part))
    return True


def _body(inner: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Value:
    if isinstance(node, ast.Lambda):
        try:
            value = result(inner, node.body)
        except NoResultYetError:
            return UNKNOWN
        inner.exits.append(inner.env)
        return value
    reached = inner.execute(node.body)
    if reached:
        inner.exits.append(inner.env)
    inner.cell.variables = inner.env
    for compare in inner.at_return:
        compare()
    if inner.yields:
        return generated(node, inner.yields, reached=reached)
    found = [*(value for _, value in inner.returns), *([NONE] if reached else [])]
    return join(found) if found else UNKNOWN


def _promised(frame: Frame, function: Function) -> Value:
    """The value that a function's return annotation promises."""
    node, module = function.node, function.module
    if frame.engine.options.gives_tensor(f"{module.name}.{function.symbol}"):
        return Tensor(trail=frame.trail(node, f"returned by `{function.symbol}`"))
    described = frame.engine.options.described(f"{module.name}.{function.symbol}")
    if described is not None:
        return described_value(frame, described, function.symbol, node, ())
    said = None if isinstance(node, ast.Lambda) else annotation(module, node)
    if isinstance(node, ast.Lambda) or said is None:
        return UNKNOWN
    inner = Frame(frame.engine, said[0], function.symbol)
    return declared(inner, said[1], "", f"`{node.name}` is annotated to return `{{}}`")


def _returned(frame: Frame, value: Value, node: ast.AST, function: Function) -> Value:
    value = returned(frame, value, function.symbol, node)
    if isinstance(function.node, ast.Lambda) or trail_of(value) is None:
        return value
    message = f"returned by `{function.symbol}`"
    step = frame.trail(
        node, message, trail_of(value), "return", changes=not _hands_on(function), entered=function.module
    )
    return with_trail(value, step)
