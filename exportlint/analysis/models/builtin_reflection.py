"""Built-in functions about what a value is: `isinstance`, `getattr`, `type`, `id`, `hash`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    AttributesOf,
    BoundMethod,
    ClassValue,
    Const,
    Dict,
    External,
    Function,
    Object,
    Origin,
    Python,
    Scalar,
    Sequence,
    Size,
    Tensor,
    TypeOf,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.attribute_dictionaries import copied_attributes
from exportlint.analysis.eval.computed_names import attribute_by_computed_name, bind_computed
from exportlint.analysis.eval.default_attributes import begins_as
from exportlint.analysis.eval.demands import (
    data_of,
    demand_hash,
    demand_number,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.heap_writes import bind_attribute
from exportlint.analysis.eval.narrowing import is_instance
from exportlint.analysis.eval.sizes import note_conversion
from exportlint.analysis.eval.state_access import note_attribute_read
from exportlint.analysis.facts import Conversion, Identity
from exportlint.analysis.facts.tracing import MethodTest
from exportlint.analysis.models.builtins import builtin, first_of
from exportlint.syntax.walk import walk


@builtin("isinstance", pure=True, asks_type=True)
def _isinstance(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return Python("bool")
    value = first_of(arguments)
    asked = _numbers_named(frame, node.args[1])
    if isinstance(value, Size) and "int" in asked:
        note_conversion(frame, value, node, "isinstance()")
        return Python("bool")
    if isinstance(value, Scalar) and (value.kind in asked or (asked and value.kind is None)):
        _note_symbol(frame, value, node, "isinstance()")
        return Python("bool")
    verdicts = {is_instance(frame, option, node.args[1]) for option in options(first_of(arguments))}
    verdict = verdicts.pop() if len(verdicts) == 1 else None
    return Python("bool") if verdict is None else Const(verdict)


ABSTRACT = {
    "numbers.Number": {"int", "float"}, "numbers.Complex": {"int", "float"}, "numbers.Real": {"int", "float"},
    "numbers.Rational": {"int"}, "numbers.Integral": {"int"},
}  # fmt: skip
"""Which of Python's numbers are instances of these; symbols are none."""


def _numbers_named(frame: Frame, kinds: ast.expr) -> set[str]:
    """Which of Python's numbers a test names; none if it names those of torch as well."""
    names = {node.id for node in walk(kinds) if isinstance(node, ast.Name)}
    names |= {node.attr for node in walk(kinds) if isinstance(node, ast.Attribute)}
    for kind in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
        value = frame.peek(kind)
        names |= ABSTRACT.get(value.name, set()) if isinstance(value, External) else set()
    return set() if any(name.startswith("Sym") for name in names) else names & {"int", "float", "bool"}


def _note_symbol(frame: Frame, value: Scalar, node: ast.AST, target: str) -> None:
    """Python asks for the type of a number read from a tensor, which is that of a symbol."""
    if not value.assumed and not frame.engine.constructing:
        frame.emit(Conversion, node, value, target=target, operand=value)


@builtin("hasattr", pure=True, asks_type=True)
def _hasattr(frame: Frame, called: str, arguments: Arguments, node: ast.AST) -> Value:
    name = arguments.get(1)
    if isinstance(name, Const) and isinstance(name.value, str):
        note_attribute_read(frame, first_of(arguments), name.value, node)
    return Python("bool")


@builtin("callable", asks_type=True)
def _callable(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    if isinstance(value, BoundMethod) and isinstance(value.receiver, Tensor) and not value.receiver.assumed:
        frame.emit(MethodTest, node, value.receiver, method=value.name)
    return Python("bool")


@builtin("getattr", pure=True)
def _getattr(frame: Frame, called: str, arguments: Arguments, node: ast.AST) -> Value:
    value, name = first_of(arguments), arguments.get(1)
    if not (isinstance(name, Const) and isinstance(name.value, str)):
        is_refused = isinstance(value, Object) and arguments.get(2) is None and not frame.may_go_on
        note_conversion(frame, name or UNKNOWN, node, "getattr()", refused=is_refused)
        named = (
            attribute_by_computed_name(frame, value, name or UNKNOWN, node) if isinstance(value, Object) else UNKNOWN
        )
        other = arguments.get(2)
        return named if other is None or named == UNKNOWN else join((named, other))
    note_attribute_read(frame, value, name.value, node)
    found_value = frame.attribute(value, name.value, node)
    default = arguments.get(2)
    if isinstance(default, Const) and isinstance(value, Object) and begins_as(frame, value, name.value, default):
        return default
    if default is None or (found_value != UNKNOWN and not isinstance(value, (Unknown, Python))):
        return found_value
    return join((found_value, default))


@builtin("setattr", "object.__setattr__")
def _setattr(frame: Frame, called: str, arguments: Arguments, node: ast.AST) -> Value:
    target, name, value = (arguments.get(i) or UNKNOWN for i in range(3))
    if isinstance(target, (Object, Function)):
        if isinstance(name, Const) and isinstance(name.value, str):
            bind_attribute(frame, target, name.value, value, node, node)
        elif isinstance(target, Object):
            bind_computed(frame, target.instance, name, value)
    return NONE


@builtin("vars")
def _vars(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    return AttributesOf(value) if isinstance(value, Object) else UNKNOWN


def call_attributes_method(frame: Frame, held: AttributesOf, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of `vars(value)`."""
    first = arguments.get(0)
    if name == "update":
        entries = first.entries if isinstance(first, Dict) else ()
        for key, value in (*entries, *arguments.keywords.items()):
            if isinstance(key, str):
                bind_attribute(frame, held.receiver, key, value, node, node)
        return NONE
    return frame.call(BoundMethod(copied_attributes(frame, held), name), arguments, node)


@builtin("type", pure=True, asks_type=True)
def _type(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return join([_class_of(frame, value, node) for value in options(first_of(arguments))])


def _class_of(frame: Frame, value: Value, node: ast.AST) -> Value:
    if isinstance(value, Tensor) and not value.assumed and not value.known:
        return TypeOf(value, of_parameter=_is_parameter(frame, value, node))
    if isinstance(value, Scalar):
        _note_symbol(frame, value, node, "type()")
    note_conversion(frame, value, node, "type()")
    if isinstance(value, Object):
        return ClassValue(value.instance.definition)
    return PYTHON


def _is_parameter(frame: Frame, tensor: Tensor, node: ast.AST) -> bool:
    """Whether what `type()` is asked about is an attribute that is a parameter, and not a view of one."""
    asked = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if tensor.origin is not Origin.PARAMETER or tensor.data or tensor.detached or tensor.optional:
        return False
    return isinstance(asked, ast.Attribute) and not isinstance(frame.peek(asked.value), Tensor)


@builtin("id", "hash", gives="int")
def _identity(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    data = data_of(value)
    if isinstance(data, Tensor):
        frame.emit(Identity, node, data, operator=f"{name}()", operand=data)
    elif name == "hash":
        demand_hash(frame, value, node, "hash()")
    elif isinstance(data, Scalar):
        frame.emit(Conversion, node, data, target="hash()", operand=data)
    if isinstance(value, Sequence) and name == "hash" and isinstance(data_of(value.item), Scalar):
        demand_number(frame, value.item, node, "hash()")
    return Python("int")
