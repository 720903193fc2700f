"""The analysis of one file: every module in it is exported, as far as the interpreter can."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from exportlint.analysis import limits
from exportlint.analysis.domain.accesses import State
from exportlint.analysis.domain.heap import HEAP, Heap, join_heaps
from exportlint.analysis.domain.lattice import heap_of, join, tensors_in
from exportlint.analysis.domain.values import (
    Function,
    Object,
    Partial,
    Range,
    Value,
)
from exportlint.analysis.eval.activations import Activation
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import bake_in
from exportlint.analysis.eval.call_graph import ROOT
from exportlint.analysis.eval.classes import find_method, is_module, lineage, undecorated
from exportlint.analysis.eval.demands import read_data
from exportlint.analysis.eval.effects import Effects
from exportlint.analysis.eval.engine import BudgetExceededError, Engine, Options, OutOfTimeError
from exportlint.analysis.eval.frame import Environment, Frame
from exportlint.analysis.eval.instances import holds_parameters, instantiate, note_call
from exportlint.analysis.eval.parameters import constructor_arguments, forward_arguments
from exportlint.analysis.eval.probe import Probe
from exportlint.analysis.eval.pytree_boundary import is_exported, is_surely_exported, note_inputs, note_outputs
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.environment import ModeRead
from exportlint.analysis.facts.order import FactKey, in_order, keep
from exportlint.analysis.facts.plain import Plain
from exportlint.analysis.handlers import load_interpreter
from exportlint.analysis.limits import MAX_BASES, MAX_FILE_SECONDS, MAX_SECONDS, Reached, steps_of
from exportlint.analysis.project import Project
from exportlint.analysis.results import Analysis
from exportlint.analysis.scripts import export_facts
from exportlint.analysis.scripts.plain_targets import PlainScripts
from exportlint.analysis.state.report import report_state
from exportlint.syntax.definitions import Class, Module

RECURSION_LIMIT = 12_000


def analyze(module: Module, project: Project, options: Options, probe: Probe | None = None) -> Analysis:
    """What happens when the modules of a file are exported, in order.

    Facts may lie in other files of the project, in helpers that these modules call. The result depends on the file
    and the files that it imports, on nothing else. With a `probe`, only the classes that it asks for are run.
    """
    scripts = export_facts(module, project, options)
    of_scripts = tuple(map(PlainScripts().fact, scripts))
    if not any(cls.node.bases for cls in module.classes):
        return Analysis(of_scripts)  # no class that could be a module
    load_interpreter()
    engine = Engine(project, options, _exported_dims(scripts), probe=probe)
    limit, was_enabled = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    gc.disable()
    try:
        end = project.clock() + MAX_FILE_SECONDS
        facts: dict[FactKey, Fact] = {}
        for cls in module.classes:
            if probe is not None and not probe.asks_for(cls):
                continue
            project.proceed()
            if project.clock() > end:
                engine.limited(cls, Reached("file"))
                break
            for name in _entry_points(engine, cls):
                root = engine.for_root()
                _export(root, cls, name)
                for key, fact in root.effects.all_facts().items():
                    keep(facts, fact, key)
            if len(lineage(Frame(engine, module), cls)) > MAX_BASES:
                engine.limited(cls, Reached("bases"))
        engine.calls.current = ROOT
    finally:
        sys.setrecursionlimit(limit)
        if was_enabled:
            gc.enable()
    return Analysis(
        (*map(Plain().fact, in_order((facts | engine.effects.facts).values())), *of_scripts), engine.calls.record()
    )


def probe(module: Module, project: Project, options: Options, known: Analysis, facts: Iterable[Fact]) -> Probe:
    """Analyze the classes once more that meet some facts of an analysis, with the variables recorded there."""
    wanted = list(facts)
    found = Probe([fact.met_at for fact in wanted], frozenset[str]().union(*map(known.roots, wanted)))
    analyze(module, project, options, found)
    return found


def _exported_dims(scripts: tuple[Fact, ...]) -> Mapping[str, Mapping[str, Mapping[int, Range]]]:
    if not scripts:
        return {}
    from exportlint.analysis.scripts.dims import exported_dims

    return exported_dims(scripts)


def _entry_points(engine: Engine, cls: Class) -> list[str]:
    """The methods of a module, also inherited ones, that export starts from; none if it is no module."""
    frame = Frame(engine, cls.module)
    if engine.options.exports(cls) is False or not is_module(frame, cls):
        return []
    names = dict.fromkeys(name for owner in lineage(frame, cls) for name in (*owner.methods, *owner.attributes))
    named = [name for name in names if any(fnmatchcase(name, pattern) for pattern in engine.options.entry_points)]
    found = [name for name in named if find_method(frame, cls, name) is not None]
    if "forward" not in found and _assigns_forward(frame, cls):
        found += [name for name in ("forward",) if any(fnmatchcase(name, p) for p in engine.options.entry_points)]
    # what torch.export calls is the module; `forward` is what `nn.Module.__call__` calls
    return [*(["__call__"] if "forward" in found and "__call__" in names else []), *found]


def _assigns_forward(frame: Frame, cls: Class) -> bool:
    """Whether a constructor assigns `self.forward`."""
    constructors = [owner.methods["__init__"] for owner in lineage(frame, cls) if "__init__" in owner.methods]
    assigned = (n for c in constructors for n in ast.walk(c) if isinstance(n, ast.Attribute) and n.attr == "forward")
    return any(isinstance(node.ctx, ast.Store) for node in assigned)


def _export(engine: Engine, cls: Class, entry_point: str) -> None:
    """Run one entry point of a class as torch.export does."""
    frame = Frame(engine, cls.module)
    found = find_method(frame, cls, entry_point)
    engine.limit = steps_of(cls.node, limits.MAX_STEPS)
    engine.deadline = engine.project.clock() + MAX_SECONDS
    engine.calls.current = ROOT
    try:
        receiver = _instance(frame, cls)
        engine.has_parameters = holds_parameters(receiver)
        owner, definition = found or (None, cls.node)
        function = frame.attribute(receiver, entry_point, definition)
        while isinstance(function, Partial) and function.wrapper:  # under a decorator of torch
            decorators = getattr(definition, "decorator_list", [definition])
            note_call(frame, function.wrapper, Arguments((), dict(function.options)), decorators[0])
            function = function.function
        if owner is not None:
            is_wrapped = isinstance(function, Function) and function.node is not definition
            wrapper = function if is_wrapped and isinstance(function, Function) else None
            _run_root(engine, undecorated(receiver, owner, definition), receiver, cls, frame.heap, wrapper)
        elif isinstance(function, Function) and function.owner and not isinstance(function.node, ast.Lambda):
            _run_root(engine, undecorated(receiver, function.owner, function.node), receiver, cls, frame.heap, None)
    except OutOfTimeError:
        engine.cut("seconds", engine.stopped)
    except BudgetExceededError:
        engine.cut("evaluations", engine.stopped)
    except RecursionError:
        engine.cut("recursion", engine.stopped)
    if engine.limits_reached:  # what was found so far holds
        engine.silent = engine.constructing = 0
        engine.limited(cls, engine.limits_reached[-1])


def _instance(frame: Frame, cls: Class) -> Value:
    """The module as its constructor leaves it, given nothing but configuration."""
    found = find_method(frame, cls, "__init__")
    keywords: Environment = {}
    if found is not None:
        owner, definition = found
        assert isinstance(definition, ast.FunctionDef)
        inner = Frame(frame.engine, owner.module, owner.qualname)
        keywords = constructor_arguments(inner, definition)
        keywords.pop(next(iter(keywords), ""), None)
    return instantiate(frame, cls, Arguments(tuple(keywords.values())), cls.node, is_exported=True)


def _run_root(
    engine: Engine, function: Function, receiver: Value, cls: Class, heap: Heap, wrapper: Function | None
) -> None:
    """Run an entry point, under the wrapper that its decorators put around it."""
    node = function.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    frame = Frame(engine, function.module, function.symbol, owner=function.owner, receiver=receiver, is_root=True)
    frame.env = forward_arguments(
        frame,
        node,
        lambda: bool(engine.options.exports(cls)) or cls.node.name not in cls.module.called_in_classes,
        engine.exported_dims.get(cls.full_name),
    )
    frame.env[node.args.args[0].arg if node.args.args else "self"] = receiver
    engine.active.append(node)
    engine.activations.append(Activation(function))
    engine.runs_of[node] += 1
    engine.calls.begin(cls, function.module, node)
    if isinstance(receiver, Object):
        engine.root = receiver.instance
    frame.heap = heap.unmarked(engine.serial)
    start = dict(frame.env)
    first = engine.effects
    first.function, first.module = node, function.module
    _run(frame, function, wrapper)
    if is_exported(frame, cls):
        modes = first.all_modes()
        if modes:
            told, names = modes[0], tuple(mode.name for mode in modes)
            engine.emit(ModeRead(told.site, told.symbol, told.guarded, None, names))
        surely = is_surely_exported(frame, cls)
        note_inputs(frame, node, start, surely=surely)
        if surely:
            note_outputs(frame)
    for _, value in frame.returns:
        for tensor in tensors_in(value):
            read_data(frame, tensor, node, "output")
        bake_in(frame, value, node, "output")
    state = State()
    first.add_to(state)
    if state.writes:
        second = _run_again(engine, frame, function, wrapper, start)
        second.add_to(state)
    engine.calls.current = ROOT
    report_state(engine, state, receiver)


def _run(frame: Frame, function: Function, wrapper: Function | None) -> None:
    """Run the body of an entry point, and then the wrapper that its decorators put around it."""
    node, given = function.node, dict(frame.env)
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if frame.execute(node.body):
        frame.exits.append(frame.env)
    if wrapper is not None:
        frame.env = dict(given)
        named = [argument.arg for argument in node.args.kwonlyargs if argument.arg in given]
        positional = [given[a.arg] for a in (*node.args.posonlyargs, *node.args.args) if a.arg in given]
        arguments = Arguments(tuple(positional), {name: given[name] for name in named})
        frame.call(replace(wrapper, receiver=None), arguments, node)
        frame.exits.append(frame.env)


def _run_again(
    engine: Engine, frame: Frame, function: Function, wrapper: Function | None, start: Environment
) -> Effects:
    """Run an entry point as a later call runs it, which finds what the first one left behind. No facts come of it."""
    assert not isinstance(function.node, ast.Lambda)
    left = join_heaps([(heap_of(env).unmarked(0), env) for env in (start, *frame.exits)], join)
    engine.replaying, engine.silent = True, 1
    frame.env = {**start, HEAP: left}
    outer, engine.effects = engine.effects, Effects(function.node, frame.module, left)
    try:
        _run(frame, function, wrapper)
        return engine.effects
    finally:
        engine.effects = outer
        engine.replaying, engine.silent = False, 0
