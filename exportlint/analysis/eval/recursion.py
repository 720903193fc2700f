"""Recursion: a call of a function that is being run takes what is known of its result, until that grows no more.

The first calls inside each other are run one by one, as loops over few items are. Deeper ones are run with arguments
that stand for all of them: joined with those of the call before and widened.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from exportlint.analysis import limits
from exportlint.analysis.domain.allocations import identified, lost, refreshed
from exportlint.analysis.domain.cell_maps import differing, updated
from exportlint.analysis.domain.heap import HEAP, UNTRACKED, Allocation, Change, Heap, is_written_in, join_heaps
from exportlint.analysis.domain.lattice import join, leq, widen
from exportlint.analysis.domain.values import Instance, Object, Value
from exportlint.analysis.eval.activations import Activation
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.effects import Names, Places, Summary
from exportlint.analysis.eval.engine import Engine, NoResultYetError
from exportlint.syntax.definitions import Class

MAX_UNROLLED = 4
"""Calls of a function inside each other that are run with the arguments they are given."""
JOINED_RUNS = 4
"""What a result gains after so many runs is widened."""


def covering(engine: Engine, call: Activation) -> tuple[Activation, Names] | None:
    """The call that is being run and whose result stands for that of a recursive one.

    With what its containers are called by the recursive one.
    """
    made: set[object] = set()
    for number in range(len(engine.activations) - 1, -1, -1):
        known = engine.activations[number]
        if known.effects is not None:
            made |= known.effects.allocated
        if known.function.node is not call.function.node or known.context != call.context:
            continue
        if not _are_within(call.captured, known.captured) or not _variables_within(call.variables, known.variables):
            continue
        names = _names(known.given, call.given)
        if names is not None and _is_heap_within(call.heap, known.heap, made):
            return known, names
    return None


def _variables_within(variables: Mapping[str, Value], bounds: Mapping[str, Value]) -> bool:
    return all(
        name == HEAP or ((bound := bounds.get(name)) is not None and leq(value, bound))
        for name, value in variables.items()
    )


def _are_within(values: Sequence[object], bounds: Sequence[object]) -> bool:
    return len(values) == len(bounds) and all(map(_is_within, values, bounds))


def _is_within(value: object, bound: object) -> bool:
    if isinstance(value, tuple) and isinstance(bound, tuple):  # a variable of an enclosing function
        return bool(value[0] == bound[0] and leq(value[1], bound[1]))
    return value == bound


def _names(known: Places, given: Places) -> Names | None:
    """What the containers of a call are called in another, where it changes no more than these."""
    names: Names = {}
    if len(known) != len(given):
        return None
    for mine, theirs in zip(known, given, strict=True):
        if theirs <= mine:
            pairs = [(one, one) for one in mine]
        elif len(mine) == 1 and len(theirs) == 1:
            pairs = list(zip(mine, theirs, strict=True))
        else:
            return None
        for one, other in pairs:
            if (one is not other and (one.fixed or other.fixed)) or names.setdefault(one, other) is not other:
                return None
    return names if len(set(names.values())) == len(names) else None


def _is_heap_within(heap: Heap, bound: Heap, made: set[object]) -> bool:
    """Whether attributes and globals hold nothing that they do not hold in `bound`. What was `made` since is new."""
    if heap.changes is bound.changes:
        return True
    for cell, change in heap.changes.items():
        known = bound.changes.get(cell)
        owner = cell.owner
        if known is change or owner in made or (isinstance(owner, Allocation) and not owner.fixed):
            continue  # what a container holds stands in the variables
        held = change.before if known is None else refreshed(known.now, bound.changes, join)
        if held is None or not leq(refreshed(change.now, heap.changes, join), held):
            return False
    return True


def ask(engine: Engine, known: Activation) -> Summary:
    """What is known of the result of a call that is being run. Raises NoResultYetError while nothing is."""
    known.is_asked = True
    for inner in engine.activations[engine.activations.index(known) + 1 :]:
        inner.is_provisional = True
    if known.approximation is None:
        raise NoResultYetError
    return known.approximation


def is_deep(engine: Engine, call: Activation) -> bool:
    """Whether so many calls of a function are being run that one more takes widened arguments.

    A method of another object is none of them, if the object was there before: objects hold a bounded number of others.
    """
    node = call.function.node
    running = [known for known in engine.activations if known.function.node is node]
    if len(running) < MAX_UNROLLED:
        return False
    receiver = _receiver(call)
    if receiver is None or receiver in map(_receiver, running):
        return True
    if engine.building and receiver is engine.building[-1].instance:
        return isinstance(node, ast.Lambda) or node.name != "__init__"  # whose arguments are widened
    return any(known.effects is not None and receiver in known.effects.allocated for known in engine.activations)


def _receiver(call: Activation) -> Instance | None:
    """The object whose method is called."""
    value = next(iter(call.variables.values()), None) if call.function.owner is not None else None
    return value.instance if isinstance(value, Object) else None


def widened(
    engine: Engine, variables: Mapping[str, Value], heap: Heap, call: Activation
) -> tuple[dict[str, Value], Heap]:
    """The arguments of a recursive call and the heap it finds, for it and the one before."""
    before = next(known for known in reversed(engine.activations) if known.function.node is call.function.node)
    found = dict(variables)
    for name, value in variables.items():
        held = before.variables.get(name)
        if name != HEAP and held is not None:
            found[name] = widen(held, value)
    if before.heap.changes is not heap.changes:
        heap = join_heaps(
            [(heap, variables), (before.heap, before.variables)], lambda values: widen(values[1], values[0])
        )
    for name, value in variables.items():
        if len(value.identity) == 1 and found[name] is not value:
            (allocation,) = value.identity
            if allocation not in UNTRACKED:
                heap = heap.set(allocation.cell, identified(found[name], value.identity), value)
    return found, heap


def settled(
    engine: Engine,
    call: Activation,
    first: Summary | None,
    run: Callable[[], Summary | None],
    promised: Callable[[], Value],
) -> Summary:
    """The result of a recursive function: it is run until the result is what its own calls have taken it for.

    `first` is that of the first run, None if it never returned. What never returns, as far as can be told, may give
    what is `promised`.
    """
    found = first
    engine.repeating += 1
    try:
        for count in range(limits.MAX_RUNS):
            if found is None:
                assert call.effects is not None
                found = Summary(promised(), call.effects, frozenset(), {}, Heap({}))
                if call.approximation is not None:
                    return found
            grown = _grown(call, call.approximation, found, widen if count >= JOINED_RUNS else _joined)
            if grown is call.approximation:
                return found
            call.approximation = _collapsed(grown)
            call.is_asked = False
            found = run()
            if found is not None and not call.is_asked:
                return found
    finally:
        engine.repeating -= 1
    engine.cut("runs")
    assert call.approximation is not None
    return replace(found or call.approximation, value=promised())


def _collapsed(found: Summary) -> Summary:
    """A result for recursive calls, in which the containers below the one that is returned are not told apart.

    Each of these calls would name them anew: so their number would double from run to run.
    """
    inner = frozenset(found.made) - found.value.identity
    if not inner:
        return found
    changes = {
        cell: Change(change.before and lost(change.before, inner, join), lost(change.now, inner, join))
        for cell, change in found.exit_heap.changes.items()
        if cell.owner not in inner
    }
    made = tuple([allocation for allocation in found.made if allocation not in inner])
    left = Heap(changes, found.exit_heap.written)
    return replace(found, value=lost(found.value, inner, join), exit_heap=left, made=made)


def _joined(before: Value, after: Value) -> Value:
    return join((before, after))


def _grown(
    call: Activation, known: Summary | None, found: Summary, combine: Callable[[Value, Value], Value]
) -> Summary:
    """What is known of a result after one more run; `known` itself if that adds nothing."""
    if known is None:
        return found
    entry, held, left = call.heap, known.exit_heap, found.exit_heap
    since = entry.since
    is_new = not leq(found.value, known.value) or not is_written_in(held.written, left.written)
    for cell, change in left.changes.items():
        if is_new or (isinstance(cell.owner, Allocation) and cell.owner.serial > since):
            continue
        before = held.changes.get(cell)
        is_new = before is None or not leq(change.now, before.now)
    value = combine(known.value, found.value)
    if not is_new and value.reaches <= known.value.reaches:
        return known
    heaps = [Heap(updated(entry.changes, heap.changes), heap.written, since) for heap in (held, left)]
    heap = join_heaps([(heap, {}) for heap in heaps], lambda values: combine(*values))
    changes = {cell: heap.changes[cell] for cell in differing(entry.changes, heap.changes) if cell in heap.changes}
    made = tuple(dict.fromkeys((*known.made, *found.made)))
    return replace(found, value=value, exit_heap=Heap(changes, heap.written), made=made)


def enclosing(engine: Engine, definition: Class, arguments: Arguments) -> tuple[Instance | None, Arguments]:
    """The object that an outer constructor makes and that stands for one that is made inside of it, if there is one.

    With the arguments to run the constructor with where there is none.
    """
    given = tuple(named(arguments))
    known = [one for one in engine.building if one.definition is definition]
    for one in reversed(known):
        if len(one.arguments) == len(given) and all(
            name == other and leq(value, bound)
            for (name, value), (other, bound) in zip(given, one.arguments, strict=True)
        ):
            for inner in engine.building[engine.building.index(one) + 1 :]:
                inner.is_provisional = True
            for call in engine.activations[one.depth :]:
                call.is_provisional = True
            return one.instance, arguments
    if len(known) < MAX_UNROLLED:
        return None, arguments
    before = known[-1].arguments
    if [name for name, _ in before] != [name for name, _ in given]:
        return None, arguments
    values = [widen(held, value) for (_, held), (_, value) in zip(before, given, strict=True)]
    count = len(arguments.positional)
    keywords = dict(zip(arguments.keywords, values[count:], strict=True))
    return None, Arguments(tuple(values[:count]), keywords)


def named(arguments: Arguments) -> Iterable[tuple[str | None, Value]]:
    """Arguments with their names, None for those by position."""
    yield from ((None, value) for value in arguments.positional)
    yield from arguments.keywords.items()
