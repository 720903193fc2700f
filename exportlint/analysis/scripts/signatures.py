"""What the arguments of a call of torch.export are called, and which dynamic shapes belong to which of them."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.script_values import Example, Inputs, Model, Signature
from exportlint.analysis.domain.values import Const, Dict, Tuple, Value
from exportlint.analysis.eval.classes import find_method
from exportlint.analysis.scripts.scope import Scope
from exportlint.syntax.definitions import FunctionNode


class MismatchError(Exception):
    """The parts of a call do not fit; the message says which, in one line. `argument` is the one to blame."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.argument = argument


def signature_of(scope: Scope, target: Value) -> Signature | None:
    """The parameters of a model's forward; None if they are not known."""
    if not isinstance(target, Model) or target.definition is None:
        return None
    found = find_method(scope.frame, target.definition, "forward")
    if found is None or not isinstance(found[1], FunctionNode) or found[1].decorator_list:
        return None
    return Signature.of(found[1])


def bind(inputs: Inputs) -> dict[str, Value] | None:
    """The example of each parameter, in the order in which torch lists them; None if that is not known.

    Raises MismatchError if forward does not take these arguments.
    """
    signature = inputs.signature
    kwargs = inputs.kwargs if inputs.kwargs is not None else Dict()
    known = (
        isinstance(inputs.args, Tuple) and not inputs.args.mutable and isinstance(kwargs, Dict) and kwargs.rest is None
    )
    if signature is None or not known:
        return None
    assert isinstance(inputs.args, Tuple)
    assert isinstance(kwargs, Dict)
    given, named = inputs.args.items, {str(key): value for key, value in kwargs.entries}
    if len(given) > len(signature.positional) and signature.star is None:
        most = len(signature.positional)
        raise MismatchError("args", f"{len(given)} positional arguments for a forward that takes {most}")
    bound: dict[str, Value] = dict(zip(signature.positional, given, strict=False))
    taken = {*signature.positional, *signature.keyword_only}
    for name in named:
        if name in bound:
            raise MismatchError("kwargs", f"`{name}` is given twice, in `args` and in `kwargs`")
        if name not in taken and signature.double_star is None:
            raise MismatchError("kwargs", f"forward has no parameter `{name}`")
    missing = sorted(signature.required - bound.keys() - named.keys())
    if missing:
        raise MismatchError("args", f"forward needs `{missing[0]}`, which neither `args` nor `kwargs` has")
    if signature.star is not None and len(given) > len(signature.positional):
        bound[signature.star] = Tuple(given[len(signature.positional) :])
    for name in (*signature.positional, *signature.keyword_only):
        if name in named:
            bound[name] = named.pop(name)
    if signature.double_star is not None and named:
        bound[signature.double_star] = Dict(tuple(named.items()))
    return bound


def specified(inputs: Inputs) -> Iterator[tuple[str, Value, Value]]:
    """Each parameter with its example and the dynamic shapes that it is given. Parameters without a name are "0", ….

    Raises MismatchError if torch takes the dynamic shapes for those of other arguments.
    """
    shapes = inputs.dynamic_shapes
    bound = bind(inputs)
    if isinstance(shapes, Dict) and shapes.rest is None:
        keys = [key for key, _ in shapes.entries]
        _check_names(keys, bound, inputs.signature)
        for key, spec in shapes.entries:
            yield str(key), (bound or {}).get(str(key), _unnamed(inputs, str(key))), spec
    elif isinstance(shapes, Tuple):
        if bound is None and isinstance(inputs.args, Tuple) and inputs.kwargs is None:
            bound = {str(place): value for place, value in enumerate(inputs.args.items)}
        if bound is None:
            return
        if len(bound) != len(shapes.items):
            what = f"{len(shapes.items)} items for {len(bound)} inputs"
            raise MismatchError("dynamic_shapes", f"it has {what}")
        for (name, example), spec in zip(bound.items(), shapes.items, strict=True):
            yield name, example, spec


def _unnamed(inputs: Inputs, name: str) -> Value:
    kwargs = inputs.kwargs
    shapes = inputs.dynamic_shapes
    if isinstance(inputs.args, Tuple) and isinstance(shapes, Dict) and kwargs is None:
        if len(inputs.args.items) == len(shapes.entries) == 1:
            return inputs.args.items[0]
        return Const(None)
    return (kwargs.get(name) if isinstance(kwargs, Dict) else None) or Const(None)


def _check_names(keys: list[object], bound: dict[str, Value] | None, signature: Signature | None) -> None:
    for key in keys:
        if not isinstance(key, str):
            raise MismatchError("dynamic_shapes", f"its keys must be names of inputs, which {key!r} is not")
        if signature is not None and bound is None:
            names = (*signature.positional, *signature.keyword_only, signature.star, signature.double_star)
            if key not in names:
                raise MismatchError("dynamic_shapes", f"forward has no parameter `{key}`")
        if bound is not None and key not in bound:
            raise MismatchError("dynamic_shapes", f"`{key}` is not an input of this call")
    missing = [name for name in bound or () if name not in keys]
    if missing:
        raise MismatchError("dynamic_shapes", f"the input `{missing[0]}` is missing")


def by_input(inputs: Inputs) -> dict[int | str, tuple[str, Value, Value]]:
    """The name, example and dynamic shapes of each input of the program, by its place and by its name.

    Inputs are left out of which the dynamic shapes are not known.
    """
    try:
        known = {name: (example, spec) for name, example, spec in specified(inputs)}
    except MismatchError:
        return {}
    static = inputs.dynamic_shapes is None
    given = inputs.args.items if isinstance(inputs.args, Tuple) else ()
    names = inputs.signature.positional if inputs.signature is not None else ()
    found: dict[int | str, tuple[str, Value, Value]] = {}
    for place, example in enumerate(given):
        name = names[place] if place < len(names) else str(place)
        shapes = known.get(name, next(iter(known.values())) if len(given) == len(known) == 1 else None)
        if shapes is not None or static:
            found[place] = name, example, shapes[1] if shapes is not None else Const(None)
    for key, example in inputs.kwargs.entries if isinstance(inputs.kwargs, Dict) else ():
        if str(key) in known or static:
            found[str(key)] = str(key), example, known.get(str(key), (example, Const(None)))[1]
    return found


def leaves(example: Value, spec: Value) -> Iterator[tuple[Value, Value]]:
    """The tensors of an example, with the specification of each."""
    if isinstance(example, Tuple) and isinstance(spec, Tuple) and len(example.items) == len(spec.items):
        for one, other in zip(example.items, spec.items, strict=True):
            yield from leaves(one, other)
    elif isinstance(example, Dict) and isinstance(spec, Dict):
        for key, one in example.entries:
            yield from leaves(one, spec.get(key) or Const(None))
    else:
        yield example, spec


def dims(example: Value, spec: Value) -> dict[int, Value]:
    """What the specification of a tensor says about each of its dimensions, counted from the front."""
    rank = len(example.shape) if isinstance(example, Example) and example.shape is not None else None
    if isinstance(spec, Tuple):
        return dict(enumerate(spec.items))
    found: dict[int, Value] = {}
    for key, value in spec.entries if isinstance(spec, Dict) else ():
        if type(key) is int and (key >= 0 or rank is not None):
            found[key if key >= 0 else key + rank] = value  # type: ignore[operator]
    return found
