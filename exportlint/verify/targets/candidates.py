"""The models that a file offers of its own: what is known of each, and why some cannot be built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakKeyDictionary

from exportlint.config import Settings
from exportlint.syntax.definitions import Class, FunctionNode, Module
from exportlint.verify.target import Convention, Guessed, Inputs, Part, Reference, Snippet, Target
from exportlint.verify.targets.code import Code, is_offer, row_of
from exportlint.verify.targets.constructors import Construction
from exportlint.verify.targets.places import reference
from exportlint.verify.targets.signatures import required
from exportlint.verify.targets.skeleton import skeleton
from exportlint.verify.targets.usages import Usage

INPUTS = ("get_inputs", "example_inputs")
"""What inputs are called where a file offers them, beside its model."""
OWN_INPUTS = "example_inputs"
"""What they are called where the model itself offers them."""
INIT_INPUTS = "get_init_inputs"
"""The function of a file that gives what the constructor of its model is called with."""
MODELS = frozenset({"Model", "ModelNew"})
"""What the model is called that these are for, where a file has several."""
_MOST = 3
"""How many pieces of code that make a model are tried, of those that call it and of the others."""
_MOST_WHOLES = 6
"""In how many models a part is looked for."""


@dataclass(frozen=True, slots=True)
class Unbuildable:
    """A model that verify cannot try, where it stands, and why.

    `needs_target`: a configured target would do, such as the one that the lines of `proposal` begin.
    """

    name: str
    place: tuple[Path, int]
    reason: str
    needs_target: bool = False
    proposal: tuple[str, ...] = ()


def candidates(code: Code, module: Module) -> Iterator[Target | Unbuildable]:
    """What a file offers, in order."""
    for cls in code.models(module):
        yield candidate(code, cls)


def candidate(code: Code, cls: Class) -> Target | Unbuildable:
    """A class as a target."""
    target, reason = _alone(code, cls), code.why_not(cls)
    if reason is not None:
        return Unbuildable(target.name, target.place, reason)
    if target.origin == "convention" and _is_complete(code, cls, target):
        return target
    ways, wholes = _ways(code, cls, target), _wholes(code, cls)
    if wholes:
        part = replace(target, origin="part", inputs=Part(tuple(wholes)))
        # What is called as its author means it says more than what is tried.
        others = sum(way.origin == "usage" or way.inputs == target.inputs for way in ways)
        ways.insert(sum(map(_is_told, ways)) if _is_told(wholes[0]) else others, part)
    if not any(map(_is_told, ways)) and (guessed := _wholes(code, cls, guessed=True)):
        ways.append(replace(target, origin="part", inputs=Part(tuple(guessed))))
    if not ways:
        reason = f"its constructor needs {_listed(code.needs(cls))}: give a target"
        lines = ("[[tool.exportlint.verify.target]]", *skeleton(code, cls, target.name))
        return Unbuildable(target.name, target.place, reason, needs_target=True, proposal=lines)
    return replace(ways[0], otherwise=tuple(ways[1:]))


def _alone(code: Code, cls: Class) -> Target:
    """A class as a target, whatever its constructor needs."""
    module = cls.module
    model, paths = reference(module.path, cls.qualname, code.settings.src)
    init_inputs = INIT_INPUTS if _is_shared(code, cls) and is_offer(module.bindings.get(INIT_INPUTS)) else None
    target = plain(code.settings, model, paths, (module.path, cls.node.lineno), inputs_of(code, cls))
    return replace(target, init_inputs=init_inputs)


def _is_complete(code: Code, cls: Class, target: Target) -> bool:
    return target.init_inputs is not None or not code.needs(cls)


def _is_told(target: Target) -> bool:
    """Whether the code says what a model is called with."""
    return isinstance(target.inputs, Convention) or (
        isinstance(target.inputs, Snippet) and target.inputs.inputs is not None
    )


def _ways(code: Code, cls: Class, target: Target) -> list[Target]:
    """The ways to a model that do not lead through others, first those that say what it is called with."""
    usages = [code.sources.target(usage, target) for usage in code.sources.usages(cls)[: 4 * _MOST]]
    called = [usage for usage in usages if _is_told(usage)]
    made = [usage for usage in usages if not _is_told(usage)]
    constructed = [_constructed(construction, target) for construction in code.constructors.of(cls)]
    if _is_complete(code, cls, target):
        return [*called[:_MOST], target, *made[:_MOST], *constructed]
    return [*called[:_MOST], *made[:_MOST], *constructed]


def _constructed(construction: Construction, target: Target) -> Target:
    file = replace(target.model, name="")
    statements = tuple((target.place[1], statement) for statement in construction.statements)
    hints = target.inputs.hints if isinstance(target.inputs, Guessed) else {}
    snippet = Snippet(file, statements, construction.model, hints=hints)
    paths = tuple(dict.fromkeys((*target.paths, *construction.paths)))
    return replace(target, origin="inferred", inputs=snippet, paths=paths)


def _wholes(code: Code, part: Class, *, guessed: bool = False) -> list[Target]:
    """The ways to models that may have such a part, first those that say what they are called with.

    `guessed`: those whose constructors are given what nothing says, instead of all others.
    """
    found: list[tuple[bool, int, Target]] = []
    for cls, alone, usages in _all_models(code):
        if cls is part:
            continue
        steps = code.sources.steps(cls, part)
        ways = [] if steps is None else [(steps, way) for way, is_guessed in alone if is_guessed == guessed]
        for usage, way in () if guessed else usages:
            in_usage = steps or code.sources.steps(usage, part)
            if in_usage is not None:
                ways.append((in_usage, way))
        found += sorted(((not _is_told(way), n, way) for n, way in ways), key=lambda one: one[:2])[:2]
    return [way for *_, way in sorted(found, key=lambda one: one[:2])[:_MOST_WHOLES]]


_Models = list[tuple[Class, list[tuple[Target, bool]], list[tuple[Usage, Target]]]]
_known_models: WeakKeyDictionary[Code, _Models] = WeakKeyDictionary()


def _all_models(code: Code) -> _Models:
    """The models of a project, each as a target if it can be made, with whether that is a guess, and what makes it."""
    if code in _known_models:
        return _known_models[code]
    found = _known_models[code] = []
    for cls in (cls for module in code.files for cls in code.models(module)):
        if code.why_not(cls) is None:
            target = _alone(code, cls)
            alone = [(target, False)]
            if not _is_complete(code, cls, target):
                alone = [(_constructed(one, target), one.is_guessed) for one in code.constructors.of(cls)]
            usages = [(usage, code.sources.target(usage, target)) for usage in code.sources.usages(cls)[: 2 * _MOST]]
            found.append((cls, alone, usages))
    return found


def maker(code: Code, module: Module, name: str) -> Target | Unbuildable:
    """Something else than a class at the top level of a file, which is a model or returns one."""
    binding = module.bindings.get(name)
    model, paths = reference(module.path, name, code.settings.src)
    place = (module.path, row_of(binding))
    if isinstance(binding, FunctionNode) and (needed := required(binding)):
        return Unbuildable(str(model), place, f"it needs {_listed(needed)}: give a target")
    return plain(code.settings, model, paths, place, offered_beside(module) or Guessed())


def inputs_of(code: Code, cls: Class) -> Inputs:
    """What the code offers as inputs of a model, or else what it says about them."""
    if code.offers(cls, OWN_INPUTS):
        return Convention(OWN_INPUTS, of_model=True)
    offered = offered_beside(cls.module) if _is_shared(code, cls) else None
    return offered or Guessed(code.hints(cls))


def offered_beside(module: Module) -> Convention | None:
    """The inputs that the functions of a file offer, for the model that it is about."""
    name = next((name for name in INPUTS if is_offer(module.bindings.get(name))), None)
    return None if name is None else Convention(name)


def _is_shared(code: Code, cls: Class) -> bool:
    """Whether a class is the model of its file, which the functions of the file are for."""
    module = cls.module
    if not any(is_offer(module.bindings.get(name)) for name in (*INPUTS, INIT_INPUTS)):
        return False
    models = [model for model in code.models(module) if code.why_not(model) is None]
    if not is_offer(module.bindings.get(INIT_INPUTS)):
        models = [model for model in models if not code.needs(model)]
    named = [model for model in models if model.qualname in MODELS]
    whole = named or [model for model in models if model.node.name not in module.used_in_classes]
    return cls in whole if named else whole == [cls]


def plain(
    settings: Settings, model: Reference, paths: tuple[Path, ...], place: tuple[Path, int], inputs: Inputs
) -> Target:
    """A target about which nothing is said but by the settings."""
    return Target(
        name=str(model),
        origin="inferred" if isinstance(inputs, Guessed) else "convention",
        model=model,
        inputs=inputs,
        place=place,
        root=settings.root if place[0].is_relative_to(settings.root) else paths[0],
        paths=paths,
        modes=(settings.mode,),
        varying=settings.dynamic_dims,
        train=settings.train,
        timeout=settings.verify.timeout,
        memory=settings.verify.memory,
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
