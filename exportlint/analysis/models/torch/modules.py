"""Calls of modules, and of the methods that every `nn.Module` has."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import (
    BASE,
    NONE,
    PYTHON,
    TRUE,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    EnumMember,
    External,
    Function,
    Object,
    Origin,
    Python,
    Sequence,
    Super,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.assignment import assign
from exportlint.analysis.eval.baked_values import note_mode
from exportlint.analysis.eval.classes import bases, bound, class_attribute, enum_base, find_method, lineage
from exportlint.analysis.eval.computed_names import bind_computed
from exportlint.analysis.eval.demands import built_on, elements
from exportlint.analysis.eval.frame import Frame, calls
from exportlint.analysis.eval.gradients import is_recording
from exportlint.analysis.eval.heap_writes import register_buffer
from exportlint.analysis.eval.instances import holds_parameters, instantiate, note_call
from exportlint.analysis.eval.module_parameters import has_parameters
from exportlint.analysis.eval.parameters import misfit
from exportlint.analysis.eval.sizes import note_fixed_rows
from exportlint.analysis.facts import ModuleChange
from exportlint.analysis.facts.tracing import MisfitCall, ModuleGradFlag
from exportlint.analysis.library_functions import find, functions
from exportlint.analysis.models.torch.distributions import with_constrained
from exportlint.analysis.models.torch.hooks import (
    after_call,
    before_call,
    note_hooked_call,
    register_hook,
    registered_hooks,
)
from exportlint.analysis.models.torch.module_constructors import build_on
from exportlint.analysis.models.torch.module_data_reads import note_module_reads
from exportlint.analysis.models.torch.results import build, fresh, note_write_in_place, read_arguments
from exportlint.analysis.models.torch.shape_rules import note_sizes
from exportlint.analysis.models.torch.size_needs import note_module_needs
from exportlint.analysis.torch import table
from exportlint.analysis.torch.layers import find_layer
from exportlint.syntax.definitions import Class

PACKED = Python("PackedSequence")

MOVES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type"})


GROWS = frozenset({"append", "extend", "insert", "add_module"})

functions(
    " ".join(
        f"torch.nn.Module.{name}" for name in ("apply", "eval", "get_submodule", "state_dict", "train", "zero_grad")
    ),
    strict="refuses",
    traced_from=(2, 13),
)


@calls(ClassValue)
def _call_class(frame: Frame, callee: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
    if enum_base(frame, callee.definition) is not None:
        return _enum_by_value(frame, callee.definition, arguments.get(0) or UNKNOWN)
    made = instantiate(frame, callee.definition, arguments, node)
    if isinstance(made, Object) and find_method(frame, callee.definition, "__init__") is None:
        for base in (b for cls in lineage(frame, callee.definition) for b in bases(frame, cls)):
            if isinstance(base, External):
                build_on(made.instance, base.name, arguments, node)
    return made


def _enum_by_value(frame: Frame, cls: Class, value: Value) -> Value:
    """`Mode("train")`: the member that has a value."""
    if not isinstance(value, Const):
        return PYTHON
    members = [found for name in cls.attributes if (found := class_attribute(frame, cls, name)) is not None]
    values = [m.value.value if isinstance(m, Const) and isinstance(m.value, EnumMember) else m for m in members]
    return next((m for m, held in zip(members, values, strict=True) if held == value or m == value), PYTHON)


@calls(Object)
def _call_object(frame: Frame, callee: Object, arguments: Arguments, node: ast.AST) -> Value:
    hooks = registered_hooks(frame, callee)
    if not hooks:
        return _run_object(frame, callee, arguments, node)
    arguments = before_call(frame, hooks, callee, arguments, node)
    return after_call(frame, hooks, callee, arguments, _run_object(frame, callee, arguments, node), node)


def _run_object(frame: Frame, callee: Object, arguments: Arguments, node: ast.AST) -> Value:
    for name in ("__call__", "forward"):
        if find_method(frame, callee.instance.definition, name) is not None:
            method = frame.attribute(callee, name, node)
            if name == "forward" and frame.catching_type_errors and isinstance(method, Function):
                _note_misfit(frame, callee, method, arguments, node)
            return frame.call(method, arguments, node)
    base = built_on(callee)
    if isinstance(base, TorchModule) and base.items != ():
        return frame.call(base, arguments, node)
    read_arguments(frame, arguments, node)
    return UNKNOWN


def _note_misfit(frame: Frame, callee: Object, method: Function, arguments: Arguments, node: ast.AST) -> None:
    """Record a call that raises a TypeError, which an `except` expects."""
    found = misfit(method.node, arguments if method.receiver is None else arguments.after(method.receiver))
    if found is not None:
        frame.emit(MisfitCall, node, None, name=callee.instance.definition.node.name, argument=found[0])


def call_super(frame: Frame, target: Super, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`super().name(…)`."""
    receiver = target.receiver
    if not isinstance(receiver, Object):
        return UNKNOWN
    found = bound(frame, receiver, receiver.instance.definition, name, node, after=target.owner)
    if found is not None:
        return frame.call(found, arguments, node)
    if name == "__init__":
        for base in bases(frame, target.owner):
            if isinstance(base, External):
                build_on(receiver.instance, base.name, arguments, node)
                is_distribution = base.name.startswith("torch.distributions.")
                given = with_constrained(frame, receiver, arguments) if is_distribution else arguments
                note_call(frame, base.name, given, node)
        return NONE
    if name == "forward":
        base = built_on(receiver)
        if isinstance(base, TorchModule) and base.items != ():
            return frame.call(base, arguments, node)
        return fresh(frame, node, name, arguments.values)
    if name == "__call__":
        return frame.call(frame.attribute(receiver, "forward", node), arguments, node)
    return call_module_method(frame, receiver, name, arguments, node)


@calls(TorchModule)
def _call_torch_module(frame: Frame, module: TorchModule, arguments: Arguments, node: ast.AST) -> Value:
    if not module.hooks:
        return _run_torch_module(frame, module, arguments, node)
    note_hooked_call(frame, module.hooks, module, node)
    arguments = before_call(frame, module.hooks, module, arguments, node)
    value = _run_torch_module(frame, module, arguments, node)
    return after_call(frame, module.hooks, module, arguments, value, node)


LOSSES = {
    f"torch.nn.{module}Loss": function
    for module, function in {
        "CrossEntropy": "cross_entropy", "NLL": "nll_loss", "MSE": "mse_loss", "L1": "l1_loss", "KLDiv": "kl_div",
        "SmoothL1": "smooth_l1_loss", "Huber": "huber_loss", "BCE": "binary_cross_entropy",
        "BCEWithLogits": "binary_cross_entropy_with_logits",
    }.items()
}  # fmt: skip
"""Modules, and the functions that they call."""


def _run_torch_module(frame: Frame, module: TorchModule, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0, "input") or UNKNOWN
    if module.name == "torch.nn.Sequential" and module.items is not None:
        for item in module.items:
            first = frame.call(item, Arguments((first,)), node)
        return first
    if module.name == "torch.nn.Identity":
        return first
    note_call(frame, module.name, arguments, node)
    layer = find_layer(module.name)
    if layer is not None and layer.effects == "training":
        note_mode(frame, node, module.name.rpartition(".")[2])
    note_module_needs(frame, module, arguments, node)
    if layer is not None and layer.recurrent:
        _note_state_rows(frame, module, arguments, node)
    if module.name in CELLS and (state := arguments.get(1, "hx")) is not None:
        states = state.items if isinstance(state, Tuple) else (state,)
        note_fixed_rows(frame, (first, *states), node, module.name.rpartition(".")[2])
    if module.name in LOSSES:
        note_sizes(frame, f"torch.nn.functional.{LOSSES[module.name]}", arguments.values, arguments, node)
    note_module_reads(frame, module, arguments, node)
    if dict(module.arguments).get("inplace") == Const(True) and (layer is None or layer.effects == "never"):
        note_write_in_place(frame, module.name.rpartition(".")[2], first, node)
    if layer is not None and layer.recurrent and PACKED in options(first):
        return Tuple((PACKED, UNKNOWN))
    api = table.lookup(module.name)
    if api is None or not api.overloads or api.overloads[0].returns.kind == "unknown":
        return fresh(frame, node, module.name, arguments.values)
    value = build(frame, node, module.name, api.overloads[0].returns, arguments.values)
    return _trained(value) if is_recording(frame) and has_parameters(module) else value


CELLS = frozenset({"torch.nn.RNNCell", "torch.nn.LSTMCell", "torch.nn.GRUCell"})


def _note_state_rows(frame: Frame, module: TorchModule, arguments: Arguments, node: ast.AST) -> None:
    """Record that a recurrent module is given a state with a fixed number of rows, which is its second size."""
    first, state = arguments.get(0, "input"), arguments.get(1, "hx")
    batched = first if dict(module.arguments).get("batch_first") == TRUE else None
    given = state.items if isinstance(state, Tuple) else (state,)
    rows = [t.but(shape=t.shape.swapped(0, 1)) for t in given if isinstance(t, Tensor) and t.shape.rank == 3]
    if isinstance(batched, Tensor) and rows:
        note_fixed_rows(frame, (batched, *rows), node, module.name.rpartition(".")[2])


def _trained(value: Value) -> Value:
    """What a module with parameters gives: all its tensors of floats require gradients."""
    if isinstance(value, Tensor):
        return value if value.kind in {"int", "bool"} else value.but(requires_grad=True)
    if isinstance(value, Tuple):
        return replace(value, items=tuple(map(_trained, value.items)))
    return value


def call_module_method(frame: Frame, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method that a project module inherits from `nn.Module`."""
    attributes = receiver.instance.attributes
    first = arguments.get(0, "name")
    if name in {"register_buffer", "register_parameter", "add_module", "register_module"}:
        value = (
            arguments.get(1, {"register_buffer": "tensor", "register_parameter": "param"}.get(name, "module"))
            or UNKNOWN
        )
        if isinstance(value, Tensor) and name != "register_buffer":
            requires_grad = value.requires_grad
            value = Tensor(Origin.PARAMETER, value.kind, created_at=value.created_at, requires_grad=requires_grad)
        if not isinstance(first, Const) or not isinstance(first.value, str):
            receiver.instance.registered.append(value)
            is_buffer = name == "register_buffer" and isinstance(value, Tensor)
            bind_computed(frame, receiver.instance, first or UNKNOWN, Tensor(Origin.BUFFER) if is_buffer else value)
        elif name == "register_buffer":
            register_buffer(frame, receiver.instance, first.value, value, node)
        else:
            frame.store_cell(Cell(receiver.instance, first.value), value, attributes.get(first.value))
        base = built_on(receiver)
        if isinstance(base, TorchModule) and name in GROWS:
            attributes[BASE] = _grown(frame, base, name, arguments, node)
        return NONE
    if name in MOVES:
        _note_move(frame, receiver, name, arguments, node)
        return receiver
    _note_grad_flag(frame, receiver, name, node)
    _note_refused(frame, receiver, name, arguments, node)
    base = built_on(receiver)
    if isinstance(base, TorchModule) and base.items is not None:
        if name in GROWS:
            attributes[BASE] = _grown(frame, base, name, arguments, node)
            return receiver
        return call_torch_module_method(frame, base, name, arguments, node)
    return _common(receiver, name)


def call_torch_module_method(
    frame: Frame, module: TorchModule, name: str, arguments: Arguments, node: ast.AST
) -> Value:
    """A method of a module of torch."""
    if name in MOVES and name != "type":
        _note_move(frame, module, name, arguments, node)
        return module
    _note_grad_flag(frame, module, name, node)
    _note_refused(frame, module, name, arguments, node)
    if name == "forward":
        return frame.call(module, arguments, node)
    if name in GROWS and module.items is not None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assign(frame, node.func.value, _grown(frame, module, name, arguments, node), node)
        return module
    if name == "__iadd__":
        return module if module.items is None else _grown(frame, module, "extend", arguments, node)
    if module.items is not None:
        if name == "values":
            return Sequence(join(module.items) if module.items else UNKNOWN)
        if name == "items":
            return Sequence(Tuple((PYTHON, join(module.items) if module.items else UNKNOWN)))
        if name == "keys":
            return Sequence(Python("str"))
    return _common(module, name)


def _grown(frame: Frame, module: TorchModule, name: str, arguments: Arguments, node: ast.AST) -> TorchModule:
    """A container with more modules."""
    value = arguments.get(0 if name in {"append", "extend"} else 1) or UNKNOWN
    added = (elements(frame, value, node),) if name == "extend" else (value,)
    return TorchModule(module.name, (*(module.items or ()), *added))


def _note_move(frame: Frame, module: Value, name: str, arguments: Arguments, node: ast.AST) -> None:
    dtypes = {value.name for value in arguments.values if isinstance(value, External)}
    casts = name in {"half", "double", "bfloat16"} or bool(dtypes - {"torch.float", "torch.float32"})
    if holds_parameters(module) and not frame.choosing:
        frame.emit(ModuleChange, node, None, api=name, casts=casts)


def _note_grad_flag(frame: Frame, module: Value, name: str, node: ast.AST) -> None:
    if name == "requires_grad_" and holds_parameters(module):
        frame.emit(ModuleGradFlag, node, None)


def _note_refused(frame: Frame, module: Value, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Record a method of every module that strict mode refuses to call, in some torch."""
    is_hook = name.startswith("register_") and name.endswith("_hook")
    if is_hook:
        register_hook(frame, module, name, arguments, node)
    if is_hook or find(f"torch.nn.Module.{name}").strict == "refuses":
        note_call(frame, f"torch.nn.Module.{name}", arguments, node)


def _common(module: Value, name: str) -> Value:
    if name == "parameters":
        return Sequence(Tensor(Origin.PARAMETER, "float"), "generator")
    if name == "named_parameters":
        return Sequence(Tuple((Python("str"), Tensor(Origin.PARAMETER, "float"))), "generator")
    if name in {"buffers"}:
        return Sequence(Tensor(Origin.BUFFER), "generator")
    if name == "named_buffers":
        return Sequence(Tuple((Python("str"), Tensor(Origin.BUFFER))), "generator")
    if name == "state_dict":
        return Dict((), Tensor(Origin.PARAMETER))
    if name in {"train", "eval", "requires_grad_", "apply"}:
        return module
    if name in {"children", "modules"}:
        return Sequence(UNKNOWN, "generator")
    return UNKNOWN
