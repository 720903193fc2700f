"""Calls of torch's functions, by what the torch table says of them."""

from __future__ import annotations

import ast
from dataclasses import replace
from math import inf

from exportlint.analysis.domain.dim import raised
from exportlint.analysis.domain.interval import EVERYTHING, Interval, Sign, intersection, range_of
from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.values import (
    FALSE,
    NONE,
    PYTHON,
    TRUE,
    UNKNOWN,
    Const,
    External,
    Function,
    Object,
    Origin,
    Partial,
    Python,
    Scalar,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import on_accelerator
from exportlint.analysis.eval.demands import data_of
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.module_parameters import note_made
from exportlint.analysis.eval.names import DISABLES, SCRIPTS, custom_op
from exportlint.analysis.eval.narrowing import path
from exportlint.analysis.eval.sizes import ANY_DATA
from exportlint.analysis.eval.tensor_results import kind_of
from exportlint.analysis.facts import Conversion, Copy
from exportlint.analysis.models.torch.check_messages import note_message
from exportlint.analysis.models.torch.custom_ops import call_custom_op
from exportlint.analysis.models.torch.distributions import make_distribution
from exportlint.analysis.models.torch.function_wrappers import makes_transform
from exportlint.analysis.models.torch.module_constructors import construct
from exportlint.analysis.models.torch.out_resizing import note_resizing_out
from exportlint.analysis.models.torch.results import fresh, read_arguments
from exportlint.analysis.models.torch.tensor_literals import make_literal
from exportlint.analysis.models.torch.tensors import call_function, call_tensor_method
from exportlint.analysis.torch import table
from exportlint.analysis.torch.registry import find
from exportlint.syntax.walk import walk

COMPILING = frozenset({
    "torch.compiler.is_compiling", "torch.compiler.is_exporting", "torch._dynamo.is_compiling",
    "torch._utils.is_compiling", "torch.compiler._is_compiling", "torch._dynamo.external_utils.is_compiling",
})  # fmt: skip
NOT_COMPILING = frozenset({
    "torch.jit.is_scripting", "torch.jit.is_tracing", "torch._C._get_tracing_state", "torch.onnx.is_in_onnx_export",
    "torch._jit_internal.is_scripting",
})  # fmt: skip
SIGNS: dict[type[ast.cmpop], Sign] = {ast.Eq: "==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
MIRRORED: dict[type[ast.cmpop], Sign] = {ast.Eq: "==", ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<="}
CHECKS = frozenset({f"torch._check{kind}" for kind in ("", "_value", "_index", "_type", "_not_implemented", "_with")})
"""Functions that take a bool, and raise where they are given a tensor."""
CALLS_FIRST = frozenset({
    "torch.utils.checkpoint.checkpoint", "torch.vmap",
    "functorch.vmap", "torch.func.vmap", "torch.compile", "torch.jit.script", "torch._dynamo.disable",
    "torch.compiler.disable", "torch.no_grad", "torch.fx.wrap",
})  # fmt: skip


QUANTIZED = "torch.ao.nn.quantized.dynamic"
"""What `quantize_dynamic` makes modules of."""

PACKS = frozenset(f"torch.nn.utils.rnn.{name}" for name in ("pack_padded_sequence", "pack_sequence", "PackedSequence"))
"""What makes packed sequences."""

STATE = {
    "torch.nn.Parameter": Origin.PARAMETER,
    "torch.nn.parameter.Parameter": Origin.PARAMETER,
    "torch.nn.Buffer": Origin.BUFFER,
}


def call_torch(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.…(…)`."""
    name = table.resolve(name)
    if name in COMPILING:
        return TRUE
    if name in NOT_COMPILING:
        return FALSE
    if name.endswith(".is_available"):
        return on_accelerator(frame, name, node)
    if name.startswith("torch.ops."):
        return call_custom_op(frame, name, arguments, node)
    if name == "torch.library.custom_op":
        return custom_op(node.args[0] if isinstance(node, ast.Call) and node.args else None)
    if name == "torch.compiler.is_dynamo_compiling":
        return Const(frame.engine.mode == "strict")
    if name.startswith("torch._check"):
        return _check(frame, name, arguments, node)
    if makes_transform(name, arguments):
        return Partial(arguments.get(0, "func") or UNKNOWN, wrapper=name)
    if name in CALLS_FIRST:
        return _call_operand(frame, name, arguments, node)
    api = table.lookup(name)
    if api is not None and api.kind == "module":
        module = construct(name, arguments, node)
        note_made(frame, module, name, node)
        return module
    if name in STATE:
        read_arguments(frame, arguments, node)
        kind = kind_of(arguments.get(0, "data") or UNKNOWN)
        if STATE[name] is Origin.BUFFER:
            return Tensor(Origin.BUFFER, kind)
        made = Tensor(Origin.PARAMETER, kind or "float", created_at=node, requires_grad=_is_trained(arguments))
        note_made(frame, made, name, node)
        return made
    if find(name).shape == "listed":
        return make_literal(frame, name, arguments, node)
    if name.endswith("quantization.quantize_dynamic"):
        return External(QUANTIZED)
    if name in PACKS:
        read_arguments(frame, arguments, node)
        return Python("PackedSequence")
    if name == "torch.is_tensor":
        verdicts = {isinstance(o, Tensor) for o in options(arguments.get(0) or UNKNOWN) if not isinstance(o, Unknown)}
        return Const(verdicts.pop()) if len(verdicts) == 1 else Python("bool")
    if name == "torch.save":
        tensor = next(iter(tensors_in(arguments.get(0) or UNKNOWN)), None)
        if tensor is not None:
            frame.emit(Copy, node, tensor, api=name, operand=tensor)
        return NONE
    if name == "torch.nn.Transformer.generate_square_subsequent_mask":
        return fresh(frame, node, name, arguments.values)
    if name == "torch.Size":
        sizes = arguments.get(0) or UNKNOWN
        return Tuple(sizes.items) if isinstance(sizes, Tuple) else UNKNOWN
    if name == "torch.device":
        device = arguments.get(0)
        return device if isinstance(device, Const) else Python("device")
    receiver = arguments.get(0)
    if isinstance(receiver, Tensor) and api is not None and api.kind == "method":
        rest = Arguments(arguments.positional[1:], arguments.keywords)
        return call_tensor_method(frame, receiver, name.rpartition(".")[2], rest, node)
    made_distribution = make_distribution(frame, name, arguments)
    if made_distribution is not None:
        read_arguments(frame, arguments, node)
        return made_distribution
    if api is None or api.kind != "function":
        read_arguments(frame, arguments, node)
        return UNKNOWN if api is None or api.kind == "class" else PYTHON
    if name.startswith("torch.nn.utils.") and [o.parameters[:1] for o in api.overloads] == [("module",)]:
        return arguments.get(0, "module") or UNKNOWN  # `weight_norm(module)` gives what it was given
    note_resizing_out(frame, name, arguments, node)
    return call_function(frame, api, arguments, node)


def _is_trained(arguments: Arguments) -> bool:
    return (arguments.get(1, "requires_grad") or TRUE) == TRUE


def _check(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`torch._check(n > 0)` tells export about a number, so that a later condition on it may be decided."""
    message = arguments.get(1, "message")
    tested = data_of(arguments.get(1 if name.endswith("_with") else 0) or UNKNOWN) if name in CHECKS else None
    if message is not None:
        note_message(frame, message, tested, node)
    if isinstance(tested, Tensor):
        frame.emit(Conversion, node, tested, target=f"{name}()", operand=tested)
    condition = node.args[0] if isinstance(node, ast.Call) and node.args else None
    for child in walk(condition) if condition is not None else ():
        if not isinstance(child, (ast.Name, ast.Attribute)):
            continue
        key = path(child)
        value = frame.env.get(key) if key is not None else None
        if key is not None and isinstance(value, Scalar):
            within, apart = _range(frame, name, condition, child, value)
            lowest = within[0] if within is not None else -inf
            dim = raised(value.dim or ANY_DATA, int(lowest)) if lowest > -inf else value.dim
            frame.env[key] = replace(value, assumed=True, within=within, apart=apart, dim=dim)
        elif key is not None and isinstance(value, Tensor):
            frame.env[key] = replace(value, shape=value.shape.without_data())  # `torch._check(x.shape[0] > 0)`
    return NONE


NOTHING: tuple[Interval | None, frozenset[int]] = None, frozenset()


def _range(
    frame: Frame, check: str, condition: ast.expr | None, operand: ast.expr, held: Scalar
) -> tuple[Interval | None, frozenset[int]]:
    """The range that a number is in once a check has passed, and what it is not; nothing if the check tells more."""
    if held.kind == "float" or (held.assumed and held.within is None):
        return NOTHING
    known = held.within or ((0, inf) if held.api == "size" else EVERYTHING)
    if check == "torch._check_is_size":
        return (intersection(known, (0, inf)), held.apart) if condition is operand else NOTHING
    if not isinstance(condition, ast.Compare):
        return NOTHING
    apart = held.apart
    sides = [condition.left, *condition.comparators]
    for left, op, right in zip(sides, condition.ops, sides[1:], strict=False):
        if left is not operand and right is not operand:
            continue
        other = frame.peek(right if left is operand else left)
        number = other.value if isinstance(other, Const) else None
        if isinstance(op, ast.NotEq) and isinstance(number, int):
            apart |= {number}
            continue
        sign = (SIGNS if left is operand else MIRRORED).get(type(op))
        allowed = _allowed(sign, other) if sign is not None else None
        if allowed is None:
            return NOTHING
        known = intersection(known, allowed)
    return known, apart


def _allowed(sign: Sign, other: Value) -> Interval | None:
    """The numbers that are `sign` a number or a size."""
    if isinstance(other, Const):
        return range_of(sign, other.value) if isinstance(other.value, int) else None
    if not isinstance(other, Size) or other.kind != "int" or sign == "==":
        return None  # what equals a size is that size from then on
    lowest, highest = other.dim.within()
    if not other.dim.varies and lowest < highest:
        return None  # torch.export knows the size
    low = -inf if sign in {"<", "<="} else lowest + (sign == ">")
    high = inf if sign in {">", ">="} else highest - (sign == "<")
    return low, high


def _call_operand(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Operators and wrappers that call what they are given."""
    first = arguments.get(0) or UNKNOWN
    if name.endswith("checkpoint"):
        keywords = {k: v for k, v in arguments.keywords.items() if k not in CHECKPOINT_OPTIONS}
        with frame.engine.without_gradients():  # it switches them off if it is reentrant
            return frame.call(first, Arguments(arguments.positional[1:], keywords), node)
    wrapper = name if name in SCRIPTS | DISABLES else ""
    if not isinstance(first, (Function, Partial, TorchModule)) and not (wrapper and isinstance(first, Object)):
        return first
    return Partial(first, wrapper=wrapper, options=tuple(arguments.keywords.items()))


CHECKPOINT_OPTIONS = frozenset({"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"})
