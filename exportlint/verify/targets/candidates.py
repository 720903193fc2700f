"""The models that a file offers of its own: what is known of each, and why some cannot be built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.config import Settings
from exportlint.syntax.definitions import Class, FunctionNode, Module
from exportlint.verify.target import Convention, Guessed, Inputs, Reference, Target
from exportlint.verify.targets.code import Code, is_offer, required, row_of
from exportlint.verify.targets.places import reference

INPUTS = ("get_inputs", "example_inputs")
"""What inputs are called where a file offers them, beside its model."""
OWN_INPUTS = "example_inputs"
"""What they are called where the model itself offers them."""
INIT_INPUTS = "get_init_inputs"
"""The function of a file that gives what the constructor of its model is called with."""
MODELS = frozenset({"Model", "ModelNew"})
"""What the model is called that these are for, where a file has several."""


@dataclass(frozen=True, slots=True)
class Unbuildable:
    """A model that verify cannot try, where it stands, and why. `needs_target`: a configured target would do."""

    name: str
    place: tuple[Path, int]
    reason: str
    needs_target: bool = False


def candidates(code: Code, module: Module) -> Iterator[Target | Unbuildable]:
    """What a file offers, in order."""
    for cls in code.models(module):
        yield candidate(code, cls)


def candidate(code: Code, cls: Class) -> Target | Unbuildable:
    """A class as a target."""
    module = cls.module
    model, paths = reference(module.path, cls.qualname, code.settings.src)
    place = (module.path, cls.node.lineno)
    reason = code.why_not(cls)
    init_inputs = INIT_INPUTS if _is_shared(code, cls) and is_offer(module.bindings.get(INIT_INPUTS)) else None
    needed = code.needs(cls) if init_inputs is None else []
    if reason is None and needed:
        reason = f"its constructor needs {_listed(needed)}: give a target"
    if reason is not None:
        return Unbuildable(str(model), place, reason, needs_target=bool(needed))
    target = plain(code.settings, model, paths, place, inputs_of(code, cls))
    return replace(target, init_inputs=init_inputs)


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
    whole = named or [model for model in models if model.node.name not in module.called_in_classes]
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
