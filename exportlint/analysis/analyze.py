"""The analysis of one file: every module in it is exported, as far as the interpreter can."""

from __future__ import annotations

import ast
import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase

from exportlint.analysis import limits
from exportlint.analysis.domain.accesses import State
from exportlint.analysis.domain.allocations import refreshed
from exportlint.analysis.domain.exported_as import UNSPECIFIED, ExportedAs
from exportlint.analysis.domain.heap import HEAP, Allocation, Cell, Heap, join_heaps
from exportlint.analysis.domain.lattice import heap_of, join, options, tensors_in
from exportlint.analysis.domain.reachability import reachable
from exportlint.analysis.domain.trails import Trail, site_of
from exportlint.analysis.domain.values import (
    Const,
    Dict,
    Function,
    Instance,
    Object,
    Partial,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.activations import Activation
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import bake_in
from exportlint.analysis.eval.call_graph import ROOT, CallRecord
from exportlint.analysis.eval.classes import find_method, is_module, lineage, undecorated
from exportlint.analysis.eval.default_attributes import getattr_default
from exportlint.analysis.eval.demands import read_data
from exportlint.analysis.eval.divergence import certain_raise
from exportlint.analysis.eval.effects import Effects, Raise
from exportlint.analysis.eval.engine import BudgetExceededError, Engine, Options, OutOfTimeError
from exportlint.analysis.eval.frame import Environment, Frame
from exportlint.analysis.eval.instances import holds_parameters, instantiate, note_call
from exportlint.analysis.eval.names import CACHES
from exportlint.analysis.eval.optional_outputs import OutputWatch
from exportlint.analysis.eval.parameters import constructor_arguments, forward_arguments
from exportlint.analysis.eval.probe import Probe
from exportlint.analysis.eval.pytree_boundary import (
    is_exported,
    is_surely_exported,
    is_unknown,
    may_return_objects,
    note_inputs,
    note_outputs,
    returns_outputs,
    watch_outputs,
)
from exportlint.analysis.eval.pytree_leaves import is_abstract
from exportlint.analysis.exported_models import is_model
from exportlint.analysis.facts import Branch, Conversion, Fact
from exportlint.analysis.facts.boundary import Output
from exportlint.analysis.facts.environment import ModeRead
from exportlint.analysis.facts.order import FactKey, Identity, keep
from exportlint.analysis.facts.plain import Plain
from exportlint.analysis.facts.tracing import CertainRaise, DataIndex
from exportlint.analysis.handlers import load_interpreter
from exportlint.analysis.incremental.class_results import ClassResult, Key, keys_of
from exportlint.analysis.incremental.earlier_results import Version
from exportlint.analysis.incremental.kept_results import KeptResults
from exportlint.analysis.limits import (
    MAX_BASES,
    MAX_FILE_SECONDS,
    MAX_SECONDS,
    AnalysisLimit,
    Reached,
    steps_of,
)
from exportlint.analysis.merged_facts import MergedFacts
from exportlint.analysis.project import Lookup, Project
from exportlint.analysis.results import Analysis
from exportlint.analysis.scripts import export_facts
from exportlint.analysis.scripts.exported_as import exported_as
from exportlint.analysis.scripts.plain_targets import PlainScripts
from exportlint.analysis.state.carried import Calls
from exportlint.analysis.state.report import report_state
from exportlint.source import collector, gc_paused
from exportlint.syntax.definitions import Class, FunctionNode, Module, dotted
from exportlint.syntax.leading_classes import leading_classes
from exportlint.syntax.walk import walk

RECURSION_LIMIT = 12_000
MAX_MAKINGS = 8
"""The most places that create objects that an output may hold: the entry point is run once more for each place."""


class Interpretation:
    """Runs the modules of one file as torch.export would, and tells what variables hold where fixes ask for them.

    The result depends only on the file and on the files that it imports.
    """

    def __init__(self, module: Module, project: Project, options: Options, leads_by: Set[str] | None = None) -> None:
        """With `leads_by`, only classes from which a call can reach one of these names of the file are run."""
        self._classes = module.classes
        if leads_by is not None:
            leading = leading_classes(module, leads_by)
            self._classes = tuple(cls for cls in module.classes if cls in leading)
        self._module = module
        self._project = project
        self._options = options
        self._engine: Engine | None = None

    def analysis(self, kept: KeptResults | None = None) -> Analysis:
        """The facts, in order. A fact can be in another file of the project, in a helper that a module calls.

        With `kept`, classes whose results are known from an earlier version of the file are not run again.
        """
        module, project, options = self._module, self._project, self._options
        scripts = export_facts(module, project, options)
        of_scripts = tuple(map(PlainScripts().fact, scripts))
        if not any(cls.node.bases for cls in self._classes):
            return Analysis(of_scripts)  # no class that could be a module
        load_interpreter()
        known = exported_as(module, scripts)
        with _deep_recursion():
            if kept is None:
                self._engine = engine = Engine(project, options, known)
                results = [result for _, result in _run_classes(engine, self._classes)]
                calls: tuple[CallRecord, ...] = (engine.calls.record(),)
            else:
                results = _with_kept(module, self._classes, project, options, known, kept)
                calls = tuple(result.calls for result in results)
        merged = MergedFacts() if kept is None else kept.merged
        merged.merge([result.facts for result in results])
        return Analysis((*merged.ordered, *of_scripts), calls, merged.routes)

    def probe(self, known: Analysis, facts: Iterable[Fact]) -> Probe:
        """Run the classes that meet `facts` again, and record the variables at those places."""
        wanted = list(facts)
        found = Probe([fact.met_at for fact in wanted], frozenset[str]().union(*map(known.roots, wanted)))
        classes = [cls for cls in self._classes if found.asks_for(cls)]
        with _deep_recursion():
            for _ in _run_classes(self._probing(found), classes):
                pass
        return found

    def _probing(self, probe: Probe) -> Engine:
        if self._engine is not None:
            return self._engine.for_probe(probe)
        scripts = export_facts(self._module, self._project, self._options)
        return Engine(self._project, self._options, exported_as(self._module, scripts), probe=probe)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raise the recursion limit for deeply nested code, and pause the garbage collector."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        with gc_paused():
            yield
    finally:
        sys.setrecursionlimit(limit)


def _run_classes(engine: Engine, classes: Iterable[Class]) -> Iterator[tuple[Class, ClassResult]]:
    """Each class with the result of running it, in order, without the record of its calls."""
    project, plain, collect = engine.project, Plain(), collector()
    end = project.clock() + MAX_FILE_SECONDS
    for cls in classes:
        project.proceed()
        collect()
        engine.effects = Effects()
        if project.is_past(end):
            engine.limited(cls, Reached("file"))
            yield cls, _result(cls, engine, plain, {})
            break
        facts: dict[FactKey, Fact] = {}
        is_unrecorded = engine.exported_as.get(cls.full_name, UNSPECIFIED).is_unrecorded
        for name in _entry_points(engine, cls):
            root = engine.for_root()
            _export(root, cls, name)
            for key, fact in root.effects.all_facts().items():
                if not ((is_unrecorded or root.effects.switches_gradients) and _is_of_recording(fact)):
                    keep(facts, fact, key)
            if root.effects.asks_for_either and _is_called_by_export(engine, cls):
                _omit_arguments(engine, cls, name, facts)
        if len(lineage(Frame(engine, cls.module), cls)) > MAX_BASES:
            engine.limited(cls, Reached("bases"))
        yield cls, _result(cls, engine, plain, facts)
    engine.calls.current = ROOT


def _is_of_recording(fact: Fact) -> bool:
    """Whether a fact holds only while gradients are recorded."""
    return isinstance(fact, DataIndex) and fact.place == "written"


def _omit_arguments(engine: Engine, cls: Class, name: str, facts: dict[FactKey, Fact]) -> None:
    """Run an entry point without its optional arguments: first with those that are tensors, then without any."""
    omitting = replace(engine.for_root(), omits_arguments=True)
    _export(omitting, cls, name)
    runs = [omitting]
    if omitting.keeps_tensors and omitting.effects.asks_for_either:
        runs.append(replace(engine.for_root(), omits_arguments=True, omits_tensors=True))
        _export(runs[-1], cls, name)
    for run in runs:
        for key, fact in run.effects.all_facts().items():
            if isinstance(fact, (Branch, Conversion, AnalysisLimit)):  # a result that was cut is not stored
                keep(facts, fact, key)


def _result(cls: Class, engine: Engine, plain: Plain, facts: dict[FactKey, Fact]) -> ClassResult:
    found: dict[FactKey, Fact] = {}
    for fact in map(plain.fact, (facts | engine.effects.facts).values()):
        keep(found, fact, Identity(fact.identity))
    exported = engine.exported_as.get(cls.full_name, UNSPECIFIED)
    return ClassResult(tuple(found.items()), CallRecord(), exported_as=exported)


def _with_kept(
    module: Module,
    wanted: Sequence[Class],
    project: Project,
    options: Options,
    exported: Mapping[str, ExportedAs],
    kept: KeptResults,
) -> list[ClassResult]:
    """The results of the `wanted` classes of a file: the kept result if there is one, else that of a run.

    Classes without any earlier result are run first. If the others take long, their earlier results are returned.
    """
    kept.update(project)
    path = module.path.as_posix()
    outlined = project.outline(path)
    assert outlined is not None
    every = keys_of(module, outlined[1])
    keys = {cls: every[cls] for cls in wanted}
    known = {key: kept.results[key] for key in keys.values() if key in kept.results}
    known = {
        keys[c]: known[keys[c]]
        for c in keys
        if keys[c] in known and known[keys[c]].exported_as == exported.get(c.full_name, UNSPECIFIED)
    }
    kept.earlier.retain({*keys.values()})
    unknown = [cls for cls, key in keys.items() if key not in known and key not in kept.earlier]
    classes = [*unknown, *(cls for cls, key in keys.items() if key in kept.earlier)]
    end = project.clock() + kept.patience

    def takes_too_long(done: int) -> bool:
        """Whether the earlier results of the classes that are left are returned."""
        is_known = len(unknown) <= done < len(classes)
        return is_known and project.clock() + kept.earlier.seconds(keys[classes[done]]) > end

    kept.is_partial = kept.told_earlier(project) and takes_too_long(0)
    asked: dict[Key, Set[Lookup]] = {}
    found: dict[Class, ClassResult] = {}
    engine = Engine(project, options, exported)
    project.asked.clear()
    try:
        began = project.clock()
        for cls, result in _run_classes(engine, () if kept.is_partial else classes):
            now = project.clock()
            found[cls] = replace(result, is_model=is_model(Frame(engine, module), cls), seconds=now - began)
            began = now
            asked[keys[cls]] = frozenset(project.asked)
            project.asked.clear()
            kept.is_partial = takes_too_long(len(found))
            if kept.is_partial:
                break
    finally:  # also if a newer version supersedes this one: finished results stay valid
        is_limited = any(isinstance(fact, AnalysisLimit) for result in found.values() for _, fact in result.facts)
        if is_limited:
            known.clear()
            kept.forget()
        else:
            record = engine.calls.record()
            for cls, result in found.items():
                met = (part for _, fact in result.facts for part in (fact, *fact.inner))
                places = dict.fromkeys(place for part in met for place in (part.key, part.met_at))
                known[keys[cls]] = replace(result, calls=record.of(site_of(module, cls.node), places))
            for result in known.values():
                project.recorder.replay(result.reads)
            kept.keep({key: known[key] for key in keys.values() if key in known}, project, asked)
    if not is_limited:
        left = [key for key in keys.values() if key not in known]
        earlier = kept.earlier.now(left, Version(kept.outlines, kept.modules))
        for result in earlier.values():
            project.recorder.replay(result.reads)
        kept.tells_earlier(bool(left))
        results = kept.results | earlier
        return [results[key] for key in keys.values()]
    # The budget left depends on what ran before, so keep all results or none.
    if kept.is_partial or classes != [*keys]:
        kept.is_partial = False
        engine = Engine(project, options, exported)
        found = dict(_run_classes(engine, wanted))
    record = engine.calls.record()
    return [replace(result, calls=record if at == 0 else CallRecord()) for at, result in enumerate(found.values())]


def _entry_points(engine: Engine, cls: Class) -> list[str]:
    """The methods of a module that export starts from, including inherited ones; empty if the class is not a module."""
    frame = Frame(engine, cls.module)
    if engine.options.exports(cls) is False or not is_module(frame, cls):
        return []
    names = dict.fromkeys(name for owner in lineage(frame, cls) for name in (*owner.methods, *owner.attributes))
    named = [name for name in names if any(fnmatchcase(name, pattern) for pattern in engine.options.entry_points)]
    found = [name for name in named if find_method(frame, cls, name) is not None]
    if "forward" not in found and _assigns_forward(frame, cls):
        found += [name for name in ("forward",) if any(fnmatchcase(name, p) for p in engine.options.entry_points)]
    # what torch.export calls is the module; `forward` is what `nn.Module.__call__` calls
    is_called = any(fnmatchcase("forward", pattern) for pattern in engine.options.entry_points)
    return [*(["__call__"] if is_called and find_method(frame, cls, "__call__") is not None else []), *found]


def _assigns_forward(frame: Frame, cls: Class) -> bool:
    """Whether a constructor assigns `self.forward`."""
    constructors = [owner.methods["__init__"] for owner in lineage(frame, cls) if "__init__" in owner.methods]
    assigned = (n for c in constructors for n in walk(c) if isinstance(n, ast.Attribute) and n.attr == "forward")
    return any(isinstance(node.ctx, ast.Store) for node in assigned)


def _export(engine: Engine, cls: Class, entry_point: str) -> None:
    """Run one entry point of a class as torch.export does."""
    frame = Frame(engine, cls.module)
    found = find_method(frame, cls, entry_point)
    engine.limit = steps_of(cls.node, limits.MAX_STEPS)
    engine.deadline = engine.project.clock() + MAX_SECONDS
    engine.calls.current = ROOT

    def again(watch: OutputWatch) -> bool:
        watching = engine.for_watch(watch)
        _export(watching, cls, entry_point)
        return not watching.limits_reached

    try:
        receiver = _instance(frame, cls)
        engine.has_parameters = holds_parameters(receiver)
        owner, definition = found or (None, cls.node)
        function = frame.attribute(receiver, entry_point, definition)
        while isinstance(function, Partial) and function.wrapper:  # under a decorator of torch
            decorators = getattr(definition, "decorator_list", [definition])
            if function.wrapper not in CACHES:
                note_call(frame, function.wrapper, Arguments((), dict(function.options)), decorators[0])
            function = function.function
        if owner is not None:
            is_wrapped = isinstance(function, Function) and function.node is not definition
            wrapper = function if is_wrapped and isinstance(function, Function) else None
            _run_root(engine, undecorated(receiver, owner, definition), receiver, cls, frame.heap, wrapper, again)
        elif isinstance(function, Function) and function.owner and not isinstance(function.node, ast.Lambda):
            inner = undecorated(receiver, function.owner, function.node)
            _run_root(engine, inner, receiver, cls, frame.heap, None, again)
    except OutOfTimeError:
        engine.cut("seconds", engine.stopped)
    except BudgetExceededError:
        engine.cut("evaluations", engine.stopped)
    except RecursionError:
        engine.cut("recursion", engine.stopped)
    if engine.limits_reached:  # what was found so far holds
        engine.silent = engine.constructing = 0
        engine.limited(cls, engine.limits_reached[-1])


def _is_called_by_export(engine: Engine, cls: Class) -> bool:
    """Whether no other class of the file uses the module, as far as that is known."""
    return bool(engine.options.exports(cls)) or cls.node.name not in cls.module.used_in_classes


def _instance(frame: Frame, cls: Class) -> Value:
    """The module after its constructor has run with unknown configuration values as arguments."""
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
    engine: Engine,
    function: Function,
    receiver: Value,
    cls: Class,
    heap: Heap,
    wrapper: Function | None,
    again: Callable[[OutputWatch], bool],
) -> None:
    """Run an entry point, under the wrapper that its decorators put around it.

    `again` runs it once more with a watch, and returns whether that run finished.
    """
    node = function.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    frame = Frame(engine, function.module, function.symbol, owner=function.owner, receiver=receiver, is_root=True)
    frame.env = forward_arguments(
        frame,
        node,
        lambda: _is_called_by_export(engine, cls),
        engine.exported_as.get(cls.full_name, UNSPECIFIED),
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
    made = engine.made.copy()
    first = engine.effects
    first.function, first.module = node, function.module
    _run(frame, function, wrapper)
    if engine.watch is not None:
        watch_outputs(frame, engine.watch)
        return
    raised = certain_raise(frame, node) if wrapper is None else None
    if raised is not None and not first.all_modes() and _is_concrete(frame, cls, node, raised):
        engine.emit(CertainRaise(raised.site, raised.symbol, False, None, cls.node.name, raised.exception))
    surely = is_surely_exported(frame, cls)
    if is_exported(frame, cls):
        modes = first.all_modes()
        if modes:
            told, names = modes[0], tuple(mode.name for mode in modes)
            engine.emit(ModeRead(told.site, told.symbol, told.guarded, None, names))
        note_inputs(frame, node, start, surely=surely)
    if returns_outputs(frame, cls):
        note_outputs(frame)
    if surely and may_return_objects(frame, first.allocated):
        _note_optional_outputs(frame, cls, again)
    for _, value in frame.returns:
        for tensor in tensors_in(value):
            read_data(frame, tensor, node, "output")
        bake_in(frame, value, node, "output")
    state = State()
    first.add_to(state)
    exits = [*frame.exits]
    restored, emptied = _restored(heap, exits, state), _emptied(heap, exits, state)
    if state.writes:
        second = _run_again(engine, frame, function, wrapper, start, made, [start, *exits])
        second.add_to(state)
        # in the first call, a number may have its old value by chance
        ends = frame.exits[len(exits) :]
        restored &= _restored(_left_by([start, *exits]), ends, state)
        emptied &= _emptied(heap, ends, state)

    def first_alone() -> State:
        alone = State()
        first.add_to(alone)
        return alone

    def rewritten() -> Set[Cell]:
        if not exits:  # no call ends, so none comes after it
            return frozenset()
        third = State()
        _run_again(engine, frame, function, wrapper, start, made, exits, changed=True).add_to(third)
        return {write.cell for write in third.writes.values()}

    engine.calls.current = ROOT
    calls = Calls(state, functools.cache(first_alone), functools.cache(rewritten), restored | emptied | state.put_back)
    report_state(engine, calls, receiver, surely_exported=surely)


def _note_optional_outputs(frame: Frame, cls: Class, again: Callable[[OutputWatch], bool]) -> None:
    """Record objects of types unknown to torch that the output contains whenever the line that creates them runs.

    The finding is at that line, because the output as such may not contain them.
    """
    first = OutputWatch()
    if not again(first):
        return
    made = {one: at for one, at in first.made.items() if one not in first.somewhere and is_unknown(frame, one)}
    places = {site: making for at in made.values() for site, making in at.items()}
    for making in list(places.values())[:MAX_MAKINGS]:
        watch = OutputWatch(making.node)
        if not again(watch):
            continue
        held = [one for one in watch.always if making.site in watch.made.get(one, {})]
        if not held:
            continue
        name = held[0].definition.node.name
        fact = Output(
            making.site, cls.node.name, making.guarded, None,
            name=name, is_array=False, returned=Object(held[0]), parts=((Object(held[0]), name),), is_made=True,
        )  # fmt: skip
        engine = frame.engine
        if engine.emit(fact) is not None and engine.probe is not None and making.module is frame.module:
            engine.probe.meet(fact.met_at, frame)


def _restored(before: Heap, ends: Sequence[Environment], state: State) -> frozenset[Cell]:
    """The cells that a call wrote and that certainly have their original value again when it ends."""
    if not ends:
        return frozenset()
    left = join_heaps([(heap_of(env), env) for env in ends], join)
    names: dict[Cell, set[str]] = {}
    for write in state.writes.values():
        names.setdefault(write.cell, set()).add(ast.unparse(write.node))
    defaults = _defaults(state)
    registered = {write.cell for write in state.writes.values() if _registers(write.node)}  # each time another tensor
    return frozenset(
        cell
        for cell, change in left.changes.items()
        if cell not in registered
        and _are_same(before.get(cell) or change.before or defaults.get(cell), change.now, cell, names.get(cell, set()))
    )


def _registers(node: ast.AST) -> bool:
    """`self.register_buffer("table", table)`."""
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr == "register_buffer"


def _emptied(before: Heap, ends: Sequence[Environment], state: State) -> frozenset[Cell]:
    """The cells that held an empty list or dictionary at first, and hold one when a call ends."""
    if not ends or not state.writes:
        return frozenset()
    left = join_heaps([(heap_of(env), env) for env in ends], join)
    return frozenset(
        cell for cell in {write.cell for write in state.writes.values()} if _is_emptied(cell, before, left)
    )


def _defaults(state: State) -> dict[Cell, Value]:
    """What calls take for an attribute that no call has left yet: `getattr(self, "_depth", 0)`."""
    found: dict[Cell, Value | None] = {}
    for read in state.reads.values():
        if None not in read.written:
            default = getattr_default(read.node)
            found[read.cell] = default if found.get(read.cell, default) == default else None
    return {cell: value for cell, value in found.items() if value is not None}


def _is_emptied(cell: Cell, before: Heap, left: Heap) -> bool:
    """Whether an attribute holds an empty list or dictionary before and after a call, under one name before."""
    if not isinstance(cell.owner, Instance):
        return False
    attributes = cell.owner.attributes
    held = before.get(cell) or attributes.get(cell.name)
    now = left.get(cell) or held
    if (
        held is None
        or now is None
        or any(name != cell.name and held.identity & other.reaches for name, other in attributes.items())
    ):
        return False
    found = refreshed(held, before.changes, join), refreshed(now, left.changes, join)
    return found[0] == found[1] and found[0] in (Tuple((), mutable=True), Dict())


def _are_same(held: Value | None, now: Value, cell: Cell, names: Set[str]) -> bool:
    """Whether the old and the new value of a cell are certainly one object; `names` are what the code calls the cell.

    Equal abstract values are not enough: two unknown strings, or two similar tensors, are equal but may differ.
    """
    if held is None or len(options(held)) != len(options(now)):
        return False
    for one, other in zip(options(held), options(now), strict=True):
        is_told_apart = isinstance(one, (Const, Object)) or (isinstance(one, Tensor) and one.buffer == cell)
        is_read = isinstance(other, Tensor) and any(ast.unparse(node) in names for node in _nodes(other.trail))
        if one != other or not (is_told_apart or is_read):
            return False
    return True


def _nodes(trail: Trail | None) -> Iterator[ast.AST]:
    """The syntax nodes on the trail of a value."""
    while trail is not None:
        yield trail.node
        trail = trail.parent


def _is_concrete(frame: Frame, cls: Class, node: FunctionNode, raised: Raise) -> bool:
    """Whether a method that only raises is meant to be run, not to be overridden in subclasses."""
    if not raised.is_stub:
        return True
    if is_abstract(frame, cls) or any((dotted(d) or "").endswith("abstractmethod") for d in node.decorator_list):
        return False
    return is_surely_exported(frame, cls) and cls.node.name not in cls.module.subclassed


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


def _left_by(ends: Sequence[Environment]) -> Heap:
    """The heap that the next call starts from, if the previous one may end in any of the states `ends`."""
    return join_heaps([(heap_of(env).unmarked(0), env) for env in ends], join)


def _changed(left: Heap) -> Heap:
    """The heap in which changed cells no longer count their original value as possible."""
    changes = {}
    for cell, change in left.changes.items():
        before = options(change.before) if change.before is not None else ()
        others = [option for option in options(change.now) if option not in before]
        changes[cell] = change._replace(now=join(others)) if others else change
    return Heap(changes, left.written, left.since)


def _run_again(
    engine: Engine, frame: Frame, function: Function, wrapper: Function | None, start: Environment,
    made: Counter[tuple[object, ...]], ends: Sequence[Environment], *, changed: bool = False,
) -> Effects:  # fmt: skip
    """Run an entry point as a later call does, starting from the state that an earlier call left. Records no facts.

    `made` counts the objects that existed when the first call began; `ends` are the possible end states of the earlier
    one. `changed`: it changed whatever it may change.
    """
    assert not isinstance(function.node, ast.Lambda)
    left = _changed(_left_by(ends)) if changed else _left_by(ends)
    reached = reachable(start.values(), left)
    owners = {cell.owner for cell in left.changes if isinstance(cell.owner, (Instance, Allocation))}
    left = left.without(owners - reached)
    engine.forget_unreachable(made, reached)
    engine.replaying, engine.silent = True, 1
    frame.env = {**start, HEAP: left}
    outer, engine.effects = engine.effects, Effects(function.node, frame.module, left)
    try:
        _run(frame, function, wrapper)
        return engine.effects
    finally:
        engine.effects = outer
        engine.replaying, engine.silent = False, 0
