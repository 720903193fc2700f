"""Operators that must know sizes or dimensions, and those that hand on sizes which data decides."""

from __future__ import annotations

import ast
import re

from exportlint.analysis.domain.dim import ONE, declared
from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.values import FALSE, TRUE, UNKNOWN, Const, Scalar, Tensor, TorchModule, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of, held_number, plain_tensor, ranged
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import note_conversion, note_guard, product
from exportlint.analysis.facts import Conversion
from exportlint.analysis.facts.sizes import FixedSize, SizeConversion
from exportlint.analysis.facts.sizes_needed import SizeNeed
from exportlint.analysis.models.held_numbers import numbers_in
from exportlint.analysis.torch import table
from exportlint.analysis.torch.layers import find_layer
from exportlint.analysis.torch.public_names import public_name
from exportlint.analysis.torch.registry import find

LEAST = {"nonempty": 1, "keys": 1, "several": 2, "unlike": 2}
"""The sizes from which on an operator need not know more (measured with torch 2.13)."""
NORMALIZERS = frozenset(
    {f"torch.nn.{kind}Norm{rank}d" for kind in ("Batch", "Instance") for rank in (1, 2, 3)}  # whatever their mode
)
STATISTICS = {
    "torch.nn.functional.batch_norm": ("training", False, (1,)),
    "torch.nn.functional.instance_norm": ("use_input_stats", True, (0, 1)),
}
"""Functions that refuse to compute statistics of one value: the flag for that, in place 5, its default, and the
dimensions that are not counted."""


def note_size_needs(frame: Frame, name: str, operands: tuple[Value, ...], arguments: Arguments, node: ast.AST) -> None:
    """Record that an operator, whose tensor is the first of `operands`, must know a size that data decides."""
    if frame.engine.silent or not any(isinstance(o, Tensor) and o.dynamic for o in operands[:3]):
        return
    tensor, short, needs = operands[0], name.rpartition(".")[2], find(name).needs
    least = LEAST.get(needs) if needs is not None else None
    if needs == "keys":
        tensor = next((o for o in operands[:3] if isinstance(o, Tensor) and 2 in _perhaps_fewer(o, least)), tensor)
        needed = _perhaps_fewer(tensor, least) & {2}
    elif name in STATISTICS and isinstance(tensor, Tensor) and _counts(name, tensor, arguments):
        least = LEAST["several"]
        needed = _perhaps_fewer(tensor, least) - frozenset(STATISTICS[name][2])
    elif needs in {"every", "nonempty", "several"}:
        needed = _perhaps_fewer(tensor, least)
        if name in STATISTICS and _computes(name, arguments):
            least = LEAST["several"]  # as far as is known, there are no other values to count
    elif needs == "unlike":
        other = operands[1] if len(operands) > 1 else None
        needed = _perhaps_fewer(tensor, least) - (other.dynamic if isinstance(other, Tensor) else frozenset())
        if not needed and isinstance(other, Tensor) and isinstance(tensor, Tensor):
            tensor, needed = other, _perhaps_fewer(other, least) - tensor.dynamic
    elif needs == "weights":
        tensor = arguments.get(2, "weight") or tensor
        needed = frozenset({0}) if tensor is not operands[0] else frozenset()
    elif needs == "divided":
        needed = _along(short, arguments, 1 if "." in name else 0)
    else:
        return
    _note(frame, tensor, needed, short, node, least)


def _counts(name: str, tensor: Tensor, arguments: Arguments) -> bool:
    """Whether a normalization asks if it has one value for each channel, which data surely decides alone."""
    if not _computes(name, arguments) or tensor.shape.rank is None:
        return False
    others = STATISTICS[name][2]
    counted = [tensor.shape.at(d) for d in range(tensor.shape.rank) if d not in others]
    of_data = [size for size in counted if size.is_data]
    return (
        bool(of_data)
        and all(size == ONE for size in counted if not size.is_data)
        and all(size.within()[0] < 2 for size in of_data)
    )


def _computes(name: str, arguments: Arguments) -> bool:
    """Whether a normalization surely computes statistics."""
    flag, default, _ = STATISTICS[name]
    return (arguments.get(5, flag) or Const(default)) == TRUE


def _perhaps_fewer(value: Value | None, least: int | None) -> frozenset[int]:
    """The dimensions whose size data decides and which, for all that `torch._check` said, may be below `least`.

    All of these dimensions if nothing is enough.
    """
    if not isinstance(value, Tensor):
        return frozenset()
    return frozenset([d for d in value.dynamic if least is None or value.shape.at(d).within()[0] < least])


def note_varying_sizes(frame: Frame, name: str, operands: tuple[Value, ...], node: ast.AST) -> None:
    """Record that an operator is for one size of its tensors, or cannot be traced if their sizes vary."""
    record = find(name)
    if record.varying is None or frame.engine.constructing:
        return
    given = (tensor for operand in operands for tensor in tensors_in(operand, 1))
    sizes = (product(tensor) for tensor in given if not tensor.assumed)
    varying = next((size for size in sizes if size.dim.varies), None)
    if varying is not None:
        target = f"{public_name(name)}()"
        refused = record.varying == "refused"
        said = declared(varying.dim)
        frame.emit(SizeConversion, node, varying, target=target, varies=True, refused=refused, declared=said)


def note_module_needs(frame: Frame, module: TorchModule, arguments: Arguments, node: ast.AST) -> None:
    """Record that a module of torch must know a size of its input that data decides, or is for one that varies."""
    short = module.name.rpartition(".")[2]
    operand = arguments.get(0, "input") or UNKNOWN
    _note_fixed(frame, module, operand, node)
    if module.name in NORMALIZERS and isinstance(operand, Tensor):
        _note(frame, operand, _perhaps_fewer(operand, LEAST["nonempty"]), short, node, LEAST["nonempty"])
    elif (layer := find_layer(module.name)) is not None and layer.recurrent:
        _note(frame, operand, _along_sequence(module, operand), short, node, None)
    elif layer is not None and (
        layer.attends == "always" or (layer.attends == "asked" and arguments.get(4, "need_weights") == FALSE)
    ):
        least = LEAST["keys"]
        for tokens in (arguments.get(place, name) for name, place in _TOKENS.items()):
            needed = _perhaps_fewer(tokens, least) & _along_sequence(module, tokens)
            if needed:
                _note(frame, tokens, needed, short, node, least)
                break


_TOKENS = {"query": 0, "src": 0, "tgt": 0, "key": 1, "memory": 1, "value": 2}
"""The inputs of modules that attend, each with its place."""


def _along_sequence(module: TorchModule, operand: Value | None) -> frozenset[int]:
    """The dimension of an input that counts the items of a sequence; none if the module does not tell."""
    given = dict(module.arguments)
    layer = given.get("encoder_layer") or given.get("decoder_layer")
    if isinstance(layer, TorchModule):
        return _along_sequence(layer, operand)
    is_first = given.get("batch_first", FALSE)
    if layer is not None or not isinstance(is_first, Const):
        return frozenset()
    is_batched = not isinstance(operand, Tensor) or operand.shape.rank != 2
    return frozenset({1 if is_first.value and is_batched else 0})


def _note_fixed(frame: Frame, module: TorchModule, operand: Value, node: ast.AST) -> None:
    """Record that the parameters of a module have one size for a dimension which code says is dynamic.

    Without that, nothing is lost: the module itself takes no other size.
    """
    layer = find_layer(module.name)
    if layer is None or layer.fixes is None or not isinstance(operand, Tensor) or frame.engine.constructing:
        return
    said = declared(operand.shape.at(layer.fixes))
    if said != "auto":
        frame.emit(FixedSize, node, operand, api=module.name.rpartition(".")[2], size=0, declared=said)


def _note(
    frame: Frame, operand: Value | None, needed: frozenset[int], api: str, node: ast.AST, least: int | None
) -> None:
    if isinstance(operand, Tensor) and operand.dynamic & needed and not operand.assumed:
        frame.emit(SizeNeed, node, operand, api=api, operand=operand, least=least)


def _along(short: str, arguments: Arguments, before: int) -> frozenset[int]:
    """The dimension that is divided. `before` is how many arguments stand before those that a method has."""
    if short == "split" and not isinstance(arguments.get(before, "split_size"), Const):
        return frozenset()  # a list of lengths needs no more than itself
    dim = arguments.get(before if short == "unbind" else before + 1, "dim") or Const(0)
    return frozenset({dim.value}) if isinstance(dim, Const) and isinstance(dim.value, int) else frozenset()


_WORDS = re.compile(r"\w+")
DIMS = frozenset({"dim", "dims", "dim0", "dim1", "axis", "start_dim", "end_dim", "source", "destination"})
SIZED = frozenset({"split", "tile"})
"""Operators whose tuples hold sizes of results, which may come from data."""


def note_numbers(
    frame: Frame, api: table.Api, overload: table.Overload | None, arguments: Arguments, node: ast.AST
) -> None:
    """An operator must know some of its numbers; torch.export does not know one that is read from a tensor."""
    name = api.name
    is_sized = name.rpartition(".")[2] in SIZED
    names = overload.parameters if overload is not None else table.common_parameters(api)
    given = [*zip(names, arguments.positional, strict=False), *arguments.keywords.items()]
    record = find(name)
    note_resampling(frame, name, arguments, node)
    types = tuple(zip(names, overload.types, strict=True)) if overload is not None else ()
    bools = {parameter for parameter, type_ in types if type_.removesuffix("?") == "bool"}
    plain = {parameter for parameter, type_ in types if not {"tensor", "tensors", "any"} & set(_WORDS.findall(type_))}
    for parameter, value in given:
        if parameter in DIMS and not is_sized:
            if (number := _number_in(value) or held_number(frame, value, node)) is not None:
                frame.emit(Conversion, node, number, target="dim argument", operand=number)
            continue
        # Up to torch 2.6, non-strict mode asks for the padding as well.
        is_asked = frame.engine.mode == "strict" or name.endswith(".pad")
        reads = is_asked and parameter in record.read and parameter in plain
        if reads and isinstance(data := _read_in(value), Tensor):
            frame.emit(Conversion, node, data, target=f"argument of {name.rpartition('.')[2]}()", operand=data)
        if parameter in bools:
            note_guard(frame, value, node)
        if parameter in record.plain or parameter in record.compared:
            data = data_of(value) or (None if is_sized else _number_in(value) or held_number(frame, value, node))
            if isinstance(data, Scalar) or (isinstance(data, Tensor) and parameter in plain):
                frame.emit(Conversion, node, data, target="number argument", operand=data)
            elif parameter in record.plain:
                for item in value.items if isinstance(value, Tuple) else (value,):
                    note_conversion(frame, item, node, f"{public_name(name)}()")


def _read_in(value: Value) -> Tensor | Scalar | None:
    """The tensor data that a value is, or that is among the items of a list or tuple."""
    items = value.items if isinstance(value, Tuple) else (value,)
    return next((found for item in items if (found := data_of(item) or plain_tensor(item)) is not None), None)


def note_resampling(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """`interpolate` may ask whether a size that it is given is more than 1; data does not tell."""
    if name not in RESAMPLES:
        return
    size = arguments.get(1, "size")
    is_asked = arguments.get(4, "align_corners") == TRUE or arguments.get(3, "mode") == Const("area")
    for item in size.items if isinstance(size, Tuple) else (size,) if size is not None else ():
        number = (data_of(item) or ranged(item)) if is_asked else None
        within = number.within if isinstance(number, Scalar) else None
        if number is not None and (within is None or within[0] < 2):
            frame.emit(Conversion, node, number, target="number argument", operand=number)


RESAMPLES = frozenset({"torch.nn.functional.interpolate", "torch.nn.functional.upsample"})


def _number_in(value: Value) -> Scalar | None:
    """A number read from a tensor that a value is or holds, whichever of its alternatives it is."""
    numbers = [next(iter(numbers_in(option)), None) for option in options(value)]
    return None if None in numbers else numbers[0]


def divided_dims(name: str, operands: tuple[Value, ...], arguments: Arguments | None) -> frozenset[int]:
    """The dimensions of `topk`, `view` and `reshape` that data decides, where it decides one of the tensor's."""
    tensor = operands[0] if operands else None
    if arguments is None or not isinstance(tensor, Tensor) or not tensor.dynamic:
        return frozenset()
    library, _, short = name.rpartition(".")
    rest = arguments.positional[1 if library else 0 :]
    if short == "topk":
        k = rest[0] if rest else arguments.keywords.get("k")
        return tensor.dynamic if k is not None and isinstance(data_of(k), Scalar) else frozenset()
    if short not in {"view", "reshape"}:
        return frozenset()
    asked = frozenset(dim for dim, size in enumerate(rest) if isinstance(data_of(size), Scalar))
    return asked or frozenset(dim for dim, size in enumerate(rest) if size == Const(-1))
