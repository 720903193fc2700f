"""EXP210 packed-sequence: a packed sequence is run through a recurrent module, or padded."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import Python, Scalar, Sequence, Tuple, Union, Value
from exportlint.analysis.facts import Call
from exportlint.analysis.torch.layers import find_layer
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.shapes.padded_sequences import padded_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
PACKING = Claim(non_strict=always(None), strict=always(ERROR))
PACKS = ("torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence")
PACKED = Python("PackedSequence")


@rule("EXP210", "packed-sequence", Call)
def packed_sequence(fact: Call, context: Context) -> Iterator[Report]:
    """`self.lstm(pack_padded_sequence(x, lengths))`, `pack_padded_sequence(x, lengths.tolist())`."""
    if fact.guarded:
        return
    severity = context.severity(CLAIM)
    layer = find_layer(fact.name)
    if layer is not None and layer.recurrent and PACKED in (*fact.positional[:1], fact.keyword("input")):
        name = fact.name.rpartition(".")[2]
        message = f"`{name}` needs the concrete sizes of a packed sequence, which depend on tensor data"
    elif fact.name.endswith(".pad_packed_sequence") and PACKED in (*fact.positional[:1], fact.keyword("sequence")):
        message = "`pad_packed_sequence` needs the concrete sizes of a packed sequence, which depend on tensor data"
    elif fact.name.endswith(".pack_padded_sequence") and _holds_numbers(fact):
        message = "`pack_padded_sequence` needs the lengths as concrete numbers, but they are in a tensor"
    elif fact.name in PACKS:
        severity = context.severity(PACKING)
        message = f"`{fact.name.rpartition('.')[2]}` cannot be traced in strict mode"
    else:
        return
    if severity is None:
        return
    instead = "run the module on the padded sequence and mask beyond the lengths"
    yield Report(severity, message, instead, fix=lambda code: padded_fix(code, fact))


def _holds_numbers(fact: Call) -> bool:
    lengths = fact.positional[1] if len(fact.positional) > 1 else fact.keyword("lengths")
    return any(isinstance(item, Scalar) and not item.assumed for item in _items(lengths))


def _items(value: Value | None) -> tuple[Value | None, ...]:
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Union):
        return tuple(item for option in value.options for item in _items(option))
    return (value.item if isinstance(value, Sequence) else value,)
