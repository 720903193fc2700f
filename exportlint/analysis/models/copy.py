"""What copies values or turns them into text or bytes: `copy`, `pickle`, `json`, and libraries like them."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.allocations import over_parts, unidentified
from exportlint.analysis.domain.lattice import join, options, tensors_in
from exportlint.analysis.domain.values import (
    UNKNOWN,
    AttributesOf,
    Dict,
    Instance,
    Object,
    Origin,
    Python,
    Sequence,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.attribute_dictionaries import copied_attributes
from exportlint.analysis.eval.demands import data_of
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.instances import copied, holds_parameters, operator_method
from exportlint.analysis.facts import Call, Conversion, Copy
from exportlint.analysis.library_functions import function, functions
from exportlint.analysis.models.held_numbers import numbers_in

functions(
    "json.loads marshal.dumps ast.literal_eval pprint.pprint pprint.pformat csv.reader csv.writer", strict="refuses"
)
functions("hashlib.md5 hashlib.sha1 hashlib.sha256 hashlib.sha512 hashlib.new", strict="refuses")
functions("zlib.crc32 zlib.adler32 zlib.compress base64.b64encode base64.b64decode", strict="refuses")
functions("string.Template", returns=Python("string.Template"))
functions("string.Template.substitute string.Template.safe_substitute", strict="refuses")
functions("binascii.hexlify io.StringIO io.BytesIO urllib.parse.quote unicodedata.name", strict="refuses")
functions(
    "unicodedata.category unicodedata.combining unicodedata.lookup unicodedata.normalize unicodedata.numeric",
    strict="refuses",
)
functions("json.JSONEncoder struct.calcsize shlex.split re.finditer", strict="refuses")
functions("struct.pack", numbers=(1, 2, 3, 4))


def _is_built_in_container(call: Call) -> bool:
    """Whether a list, dictionary or set is copied, by the method that its class has for that."""
    return bool(call.positional) and all(
        isinstance(option, (Dict, AttributesOf))
        or (isinstance(option, Tuple) and option.mutable)
        or (isinstance(option, Sequence) and option.type in {"list", "set"})
        for option in options(call.positional[0])
    )


@function("copy.copy", strict="refuses", refused_with=_is_built_in_container)
def _copy(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0) or UNKNOWN
    tensor = next((t for t in tensors_in(value, 0) if not t.assumed), None)
    if tensor is not None:
        frame.emit(Copy, node, tensor, api=name, operand=tensor)
    return _copied(frame, value, node, None)


@function("copy.deepcopy joblib.dump")
@function("pickle.dump", effect="write")
@function("pickle.dumps", strict="refuses", pure=True)
def _deep_copy(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0) or UNKNOWN
    tensor = next((t for t in tensors_in(value, 3) if not t.assumed), None)
    if tensor is not None:
        frame.emit(Copy, node, tensor, api=name, operand=tensor)
    elif any(holds_parameters(o) and operator_method(frame, o, "__deepcopy__", node) is None for o in options(value)):
        frame.emit(Copy, node, None, api=name, operand=Tensor(), of_module=True)
    if name == "copy.deepcopy" and isinstance(value, Tensor):
        return replace(value, origin=Origin.FRESH)
    return _copied(frame, value, node, {})


def _copied(frame: Frame, value: Value, node: ast.AST, known: dict[Instance, Object] | None) -> Value:
    """Copies are other objects. `known`: those that one deep copy has made, each of another object that it has met."""

    def copied_part(part: Value) -> Value:
        return part if known is None else _copied(frame, frame.current(part), node, known)

    def copy(option: Value) -> Value:
        if not isinstance(option, Object):
            return unidentified(over_parts(copied_attributes(frame, option), copied_part, join))
        if known is not None and option.instance in known:
            return known[option.instance]
        own = operator_method(frame, option, "__copy__" if known is None else "__deepcopy__", node)
        if own is not None:
            return frame.call(own, Arguments(() if known is None else (UNKNOWN,)), node)
        return copied(frame, option, node, copied_part, {} if known is None else known)

    return frame.each(value, copy)


@function("json.dumps", strict="refuses", pure=True)
@function("json.dump", effect="write")
def _text(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0) or UNKNOWN
    data = next(iter(numbers_in(value)), None) or data_of(value)
    if data is not None:
        frame.emit(Conversion, node, data, target="json.dumps()", operand=data)
    return Python("str")
