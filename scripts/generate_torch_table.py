"""Write `exportlint/analysis/torch/torch_table.txt` from the torch that is installed.

    python scripts/generate_torch_table.py [OUTPUT]

What an API takes and returns comes from torch's stubs, from the annotations of its Python functions and from the
schemas of its operators; what it writes and aliases from the schemas' alias annotations; and what nobody declares
(which dtype comes out, whether a composite operator reads data on the way) from calling it on tiny tensors while
recording the operators that run and their tags. The tables of this script say only what none of these can tell.
`exportlint/analysis/torch/table.py` describes the format and what the words in it mean.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import itertools
import math
import pkgutil
import random
import re
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

OUTPUT = Path(__file__).parents[1] / "exportlint" / "analysis" / "torch" / "torch_table.txt"
STUBS = Path(torch.__file__).parent

# ------------------------------------------------------------ what to look at


def words(text: str) -> tuple[str, ...]:
    """The words of a text, for tables of names."""
    return tuple(text.split())


# In order of preference: the first one that has an object gives it its canonical name.
NAMESPACES = words(
    "torch.nn torch torch.nn.functional torch.linalg torch.fft torch.special torch.signal.windows torch.nn.init "
    "torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrizations torch.nn.utils.parametrize "
    "torch.nn.utils.stateless torch.nn.utils.prune torch.nn.utils.fusion torch.nn.parameter torch.nn.attention "
    "torch.nn.attention.flex_attention torch.nn.attention.bias torch.nn.parallel torch.nn.common_types "
    "torch.sparse torch.nested torch.masked torch.func torch.autograd torch.autograd.functional torch.autograd.graph "
    "torch.autograd.profiler torch.autograd.forward_ad torch.autograd.function torch.amp torch.jit torch.compiler "
    "torch.export torch.export.dynamic_shapes torch.export.passes torch.library torch.overrides torch.fx "
    "torch.onnx torch.optim torch.optim.lr_scheduler torch.distributions "
    "torch.distributions.constraints torch.distributions.transforms torch.distributions.kl torch.utils "
    "torch.utils.checkpoint torch.utils.data torch.utils.dlpack torch.utils.hooks torch.utils.model_zoo "
    "torch.utils._pytree torch.cuda torch.cuda.amp torch.cuda.nvtx torch.cpu torch.cpu.amp torch.mps torch.xpu "
    "torch.accelerator torch.backends torch.backends.cuda torch.backends.cudnn torch.backends.mps "
    "torch.backends.mkldnn torch.profiler torch.random torch.hub torch.serialization torch.testing torch.types "
    "torch.version torch.futures "
    "torch.multiprocessing torch.distributed "
    "torch._higher_order_ops torch._dynamo torch.functional torch.storage torch._C._nn torch._tensor"
)

OPTIONS = "dtype:dtype?=,layout:layout?=,device:device?=,pin_memory:bool?=,requires_grad:bool?="
"""The parameters that all factory functions have; the table abbreviates them."""

PRIVATE = words(
    "torch._assert torch._assert_async torch._assert_scalar torch._assert_tensor_metadata torch._check "
    "torch._check_index torch._check_is_size torch._check_not_implemented torch._check_tensor_all torch._check_type "
    "torch._check_value "
    "torch._check_with torch._foreach_add_ torch._foreach_mul_ torch._shape_as_tensor torch._is_all_true "
    "torch._is_any_true torch._weight_norm torch._utils torch.nn.functional._in_projection_packed"
)
"""Names with a leading underscore that code is known to use."""

NAMES_ONLY = re.compile(
    r"torch\.(distributed|_dynamo|fx|xpu|cuda|cpu|mps|accelerator|masked|backends|return_types|optim|profiler|hub|"
    r"multiprocessing|futures|serialization|random|storage|types|overrides|onnx|utils\.(_pytree|data|hooks|model_zoo)|"
    r"autograd\.profiler|nn\.parallel|_C\._nn|nested|sparse)\..*|torch\.(cudnn|miopen|mkldnn|fbgemm|quantized|native|choose_qparams)_.*"
)
"""Names of which it is enough to know that they exist."""

NAMED_TENSORS = frozenset(("names", "dim", "dims", "start_dim", "sizes", "out_dim"))

DUNDERS = ("__contains__", "__len__", "__int__", "__float__", "__bool__", "__index__")
TENSOR_OPERATIONS = words(
    "torch torch.nn.functional torch.linalg torch.fft torch.special torch.nn.init torch.signal.windows"
)
"""Namespaces whose functions are called to see what they do."""

UNSAFE = re.compile(
    r"(torch\.(set_|manual_|seed|initial_seed|save|load|compile|use_|init_|import_|fork|wait|autocast|_|sym_|"
    r"vmap|cond|lobpcg|while_loop|cudnn|miopen|mkldnn|from_file|package|clear_|resize_as_sparse|enable|disable|"
    r"is_inference_mode|from_dlpack|frombuffer|get_|signal|Tensor\.(index$|backward|register|share_memory|set_|map|apply_|storage|"
    r"cuda|xpu|hpu|ipu|mtia|module_load|pin_memory|record_stream|retain|reinforce|is_shared|to_mkldnn|__dlpack)).*)"
)
"""Functions that are not called: they change global state, need another device, or take no tensor."""

# ------------------------------------------------------------ what only we know

HAND: dict[str, tuple[str, ...]] = {
    # Overloads that a flag decides, or Python functions without annotations.
    "torch.nn.functional.one_hot": (
        "(tensor:tensor)->tensor:int !reads !dynamic",
        "(tensor:tensor,num_classes:int)->tensor:int",
    ),
    "torch.Tensor.item": ("()->scalar !reads",),
    "torch.Tensor.tolist": ("()->unknown !reads",),
    "torch.Tensor.numpy": ("(*,force:bool=)->unknown !reads",),
    "torch.Tensor.__array__": ("(dtype:any=)->unknown !reads",),
    "torch.Tensor.__contains__": ("(element:any)->bool !reads",),
    "torch.Tensor.__len__": ("()->int",),
    "torch.Tensor.__int__": ("()->int !reads",),
    "torch.Tensor.__index__": ("()->int !reads",),
    "torch.Tensor.__float__": ("()->float !reads",),
    "torch.Tensor.__bool__": ("()->bool !reads",),
    "torch.Tensor.data_ptr": ("()->int !reads",),
    "torch.Tensor.const_data_ptr": ("()->int !reads",),
    "torch.Tensor.mutable_data_ptr": ("()->int !reads",),
    "torch.Tensor.storage": ("()->unknown !reads",),
    "torch.Tensor.untyped_storage": ("()->unknown !reads",),
    "torch.Tensor.__cuda_array_interface__": ("()->unknown !reads",),
    "torch.Tensor.__dlpack__": ("(*,stream:any?=,max_version:any?=,dl_device:any?=,copy:bool?=)->unknown !reads",),
    "torch.Tensor.backward": ("(gradient:tensor?=,retain_graph:bool?=,create_graph:bool=,inputs:any?=)->none",),
    "torch.Tensor.norm": ("(p:any?=,dim:int|ints?=,keepdim:bool=,dtype:dtype?=)->tensor:float",),
    "torch.Tensor.type_as": ("(other:tensor)->tensor",),
    "torch.Tensor.share_memory_": ("()->self",),
    "torch.Tensor.requires_grad_": ("(requires_grad:bool=)->self",),
    "torch.Tensor.retain_grad": ("()->none",),
    "torch.Tensor.dim_order": ("(*,ambiguity_check:any=)->size",),
    "torch.Tensor.is_shared": ("()->bool",),
    "torch.Tensor.pin_memory": ("(device:device?=)->tensor:same",),
    "torch.Tensor.type": (
        "(dtype:none=,non_blocking:bool=)->str",
        "(dtype:str|dtype|any,non_blocking:bool=)->tensor",
    ),
    "torch.Tensor.to": (
        "(dtype:dtype,non_blocking:bool=,copy:bool=,*,memory_format:memory_format?=)->tensor",
        "(device:device?,dtype:dtype,non_blocking:bool=,copy:bool=,*,memory_format:memory_format?=)->tensor",
        "(device:device?=,*,non_blocking:bool=,copy:bool=,memory_format:memory_format?=)->tensor:same",
        "(device:device?,non_blocking:bool,copy:bool=,*,memory_format:memory_format?=)->tensor:same",
        "(*,device:device?=,dtype:dtype,non_blocking:bool=,copy:bool=,memory_format:memory_format?=)->tensor",
        "(other:tensor,non_blocking:bool=,copy:bool=,*,memory_format:memory_format?=)->tensor",
    ),
    "torch.Size": ("(iterable:any=)->size",),
    "torch.device": ("(type:device,index:int?=)->device",),
    "torch.nn.Parameter": ("(data:tensor?=,requires_grad:bool=)->tensor:same",),
    "torch.nn.Buffer": ("(data:tensor?=,*,persistent:bool=)->tensor:same",),
    "torch._check": ("(cond:any,message:any=)->none",),
    "torch._check_is_size": ("(i:any,message:any=,*,max:any=)->none",),
    "torch._check_index": ("(cond:any,message:any=)->none",),
    "torch._check_value": ("(cond:any,message:any=)->none",),
    "torch._check_type": ("(cond:any,message:any=)->none",),
    "torch._check_not_implemented": ("(cond:any,message:any=)->none",),
    "torch._check_with": ("(error_type:any,cond:any,message:any)->none",),
    "torch._check_tensor_all": ("(cond:tensor,message:any=)->none !reads",),
    "torch.is_tensor": ("(obj:any)->bool",),
    "torch.is_storage": ("(obj:any)->bool",),
    "torch.tensor": ("(data:any,*,dtype:dtype?=,device:device?=,requires_grad:bool=,pin_memory:bool=)->tensor",),
    "torch.as_tensor": ("(data:any,dtype:dtype?=,device:device?=)->tensor",),
    "torch.asarray": ("(obj:any,*,dtype:dtype?=,device:device?=,copy:bool?=,requires_grad:bool=)->tensor",),
    "torch.from_numpy": ("(ndarray:any)->tensor",),
    "torch.from_dlpack": ("(ext_tensor:any,*,device:device?=,copy:bool?=)->tensor",),
    "torch.frombuffer": ("(buffer:any,*,dtype:dtype,count:int=,offset:int=,requires_grad:bool=)->tensor",),
    "torch.einsum": ("(equation:str,*operands:tensor|tensors)->tensor",),
    "torch.normal": (
        "(mean:tensor,std:float=,*,generator:generator?=,out:tensor?=)->tensor:float",
        "(mean:float,std:tensor,*,generator:generator?=,out:tensor?=)->tensor:float",
        "(mean:tensor,std:tensor,*,generator:generator?=,out:tensor?=)->tensor:float",
        f"(mean:float,std:float,size:ints,*,generator:generator?=,out:tensor?=,{OPTIONS})->tensor:float",
    ),
    "torch._assert": ("(condition:any,message:any)->none !reads",),
    "torch.sym_int": ("(a:any)->int",),
    "torch.sym_float": ("(a:any)->float",),
    "torch.sym_not": ("(a:any)->bool",),
    "torch.sym_max": ("(a:any,b:any)->scalar",),
    "torch.sym_min": ("(a:any,b:any)->scalar",),
    "torch.sym_sum": ("(args:any)->int",),
    "torch.sym_sqrt": ("(a:any)->float",),
    "torch.sym_ite": ("(b:any,t:any,f:any)->scalar",),
    "torch.testing.assert_close": (
        (
            "(actual:any,expected:any,*,allow_subclasses:bool=,rtol:float?=,atol:float?=,equal_nan:bool=,"
            "check_device:bool=,check_dtype:bool=,check_layout:bool=,check_stride:bool=,msg:any?=)->none !reads"
        ),
    ),
    "torch.utils.dlpack.to_dlpack": ("(tensor:tensor)->unknown !reads",),
    "torch.utils.dlpack.from_dlpack": ("(ext_tensor:any,*,device:device?=,copy:bool?=)->tensor",),
    "torch.nn.utils.rnn.pack_padded_sequence": (
        "(input:tensor,lengths:tensor|ints,batch_first:bool=,enforce_sorted:bool=)->unknown !reads !dynamic",
    ),
    "torch.nn.utils.rnn.pad_packed_sequence": (
        "(sequence:any,batch_first:bool=,padding_value:float=,total_length:int?=)->(tensor,tensor:int) !reads !dynamic",
    ),
    "torch.nn.utils.rnn.pack_sequence": ("(sequences:tensors,enforce_sorted:bool=)->unknown",),
    "torch.nn.utils.rnn.unpack_sequence": ("(packed_sequences:any)->tensors !reads !dynamic",),
    "torch.nn.utils.rnn.unpad_sequence": (
        "(padded_sequences:tensor,lengths:tensor,batch_first:bool=)->tensors !reads !dynamic",
    ),
    "torch.nn.utils.rnn.pad_sequence": (
        "(sequences:tensor|tensors,batch_first:bool=,padding_value:float=,padding_side:str=)->tensor",
    ),
    "torch.cuda.is_available": ("()->bool",),
    "torch.compiler.is_compiling": ("()->bool",),
    "torch.compiler.is_dynamo_compiling": ("()->bool",),
    "torch.compiler.is_exporting": ("()->bool",),
    "torch.jit.is_scripting": ("()->bool",),
    "torch.jit.is_tracing": ("()->bool",),
    "torch.onnx.is_in_onnx_export": ("()->bool",),
    "torch.get_default_dtype": ("()->dtype",),
    "torch.get_default_device": ("()->device",),
}

for _rank in (1, 2, 3):
    HAND[f"torch.atleast_{_rank}d"] = (
        "(tensor:tensor)->tensor:same",
        "(tensors:tensors)->tensors:same",
        "(tensor:tensor,other:tensor,*tensors:tensor)->tensors:same",
    )

for _name, _first in (("torch", "input:tensor,"), ("torch.Tensor", "")):
    HAND[f"{_name}.istft"] = (
        (
            f"({_first}n_fft:int,hop_length:int?=,win_length:int?=,window:tensor?=,center:bool=,normalized:bool=,"
            "onesided:bool?=,length:int?=,return_complex:bool=)->tensor"
        ),
    )
    HAND[f"{_name}.stft"] = (
        (
            f"({_first}n_fft:int,hop_length:int?=,win_length:int?=,window:tensor?=,center:bool=,pad_mode:str=,"
            "normalized:bool=,onesided:bool?=,return_complex:bool?=,align_to_window:bool?=)->tensor"
        ),
    )
    HAND[f"{_name}.unique"] = tuple(
        f"({_first}sorted:bool=,return_inverse:{a},return_counts:{b},dim:int?=)->{returns} !dynamic"
        for a, b, returns in (
            ("false=", "false=", "tensor:same"),
            ("true", "false=", "(tensor:same,tensor:int)"),
            ("false=", "true", "(tensor:same,tensor:int)"),
            ("true", "true", "(tensor:same,tensor:int,tensor:int)"),
        )
    )
    for _alias in ("div", "divide"):
        _number = "input:tensor|scalar," if _first else ""
        _out = ",out:tensor?=" if _first else ""
        HAND[f"{_name}.{_alias}"] = (
            f"({_number}other:tensor|scalar,*,rounding_mode:none={_out})->tensor:float",
            f"({_number}other:tensor|scalar,*,rounding_mode:str{_out})->tensor:promoted",
        )
    HAND[f"{_name}.bincount"] = (
        f"({_first}weights:none=,minlength:int=)->tensor:int !dynamic",
        f"({_first}weights:tensor,minlength:int=)->tensor !dynamic",
    )
    HAND[f"{_name}.unique_consecutive"] = tuple(
        overload.replace("sorted:bool=,", "") for overload in HAND[f"{_name}.unique"]
    )

MODULE_RETURNS = {
    "torch.nn.Module": "unknown",
    # What calling an instance gives, where `forward` has no annotation that says so.
    "torch.nn.LSTM": "(tensor,(tensor,tensor))",
    "torch.nn.GRU": "(tensor,tensor)",
    "torch.nn.RNN": "(tensor,tensor)",
    "torch.nn.LSTMCell": "(tensor,tensor)",
    "torch.nn.GRUCell": "tensor",
    "torch.nn.RNNCell": "tensor",
    "torch.nn.MultiheadAttention": "(tensor,tensor?)",
    "torch.nn.AdaptiveLogSoftmaxWithLoss": "(output=tensor,loss=tensor)",
}

MUTATES = {
    # Written by kernels whose schemas do not say so.
    "torch.nn.functional.batch_norm": "running_mean,running_var",
    "torch.nn.functional.instance_norm": "running_mean,running_var",
    "torch.batch_norm": "running_mean,running_var",
    "torch.instance_norm": "running_mean,running_var",
    "torch.nn.utils.clip_grad_norm_": "parameters",
    "torch.nn.utils.clip_grads_with_norm_": "parameters",
    "torch.nn.utils.clip_grad_value_": "parameters",
    "torch.nn.utils.vector_to_parameters": "parameters",
    "torch.Tensor.share_memory_": "self",
}

READS = {
    # Read by kernels whose operators have no tag.
    "torch.tensor_split": "tensor_indices_or_sections",
    "torch.Tensor.tensor_split": "tensor_indices_or_sections",
    "torch.narrow": "start,",
    "torch.Tensor.narrow": "start,",
}

VIEWS = frozenset(
    f"torch.Tensor.{name}"
    for name in words(
        "to type bfloat16 bool byte cdouble cfloat chalf char double float half int long short cpu cuda pin_memory "
        "numpy type_as"
    )
)
VIEWS |= {f"torch.nn.functional.dropout{size}" for size in ("", "1d", "2d", "3d")}
VIEWS |= {f"torch.atleast_{rank}d" for rank in (1, 2, 3)}
VIEWS |= {"torch.as_tensor", "torch.asarray", "torch.from_numpy", "torch.nn.Parameter", "torch.nn.Buffer"}
"""What gives its argument back, or shares its memory, if there is nothing to convert."""

CREATES = words(
    "torch.tensor torch.asarray torch.as_tensor torch.from_numpy torch.from_dlpack torch.frombuffer torch.Tensor.new "
    "torch.Tensor.new_tensor torch.utils.dlpack.from_dlpack"
)

# ------------------------------------------------------------ a signature in the making


@dataclass
class Signature:
    """A line's overload while it is put together; `parameters` are (name, coarse type, has a default, keyword only)."""

    parameters: list[tuple[str, str, bool, bool]] = field(default_factory=list)
    returns: str = "unknown"
    reads: bool = False
    dynamic: bool = False

    def __str__(self) -> str:
        items: list[str] = []
        for name, type_, default, keyword in self.parameters:
            if keyword and not name.startswith("*") and "*" not in items and not any(i[0] == "*" for i in items):
                items.append("*")
            items.append(name + ":" * (type_ != "tensor") + re.sub(r"^tensor(\??)$", r"\1", type_) + "=" * default)
        flags = " !reads" * self.reads + " !dynamic" * self.dynamic
        return f"({','.join(items).replace(OPTIONS, '&')})->{self.returns}{flags}"


@dataclass
class Entry:
    """A line while it is put together."""

    kind: str
    overloads: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    mutates: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        columns = [self.kind, ",".join(sorted(self.flags)), ",".join(self.mutates), *self.overloads]
        return "\t".join(columns).rstrip("\t")


# ------------------------------------------------------------ coarse types

SCALARS = {"int", "float", "bool", "scalar"}
LEAVES = {
    "Tensor": "tensor",
    "Parameter": "tensor",
    "_int": "int",
    "int": "int",
    "SymInt": "int",
    "IntLikeType": "int",
    "_float": "float",
    "float": "float",
    "SymFloat": "float",
    "FloatLikeType": "float",
    "_complex": "scalar",
    "complex": "scalar",
    "Number": "scalar",
    "NumberType": "scalar",
    "_bool": "bool",
    "bool": "bool",
    "SymBool": "bool",
    "BoolLikeType": "bool",
    "str": "str",
    "_dtype": "dtype",
    "dtype": "dtype",
    "_device": "device",
    "device": "device",
    "Device": "device?",
    "DeviceLikeType": "device",
    "Generator": "generator",
    "_layout": "layout",
    "layout": "layout",
    "memory_format": "memory_format",
    "_size": "ints",
    "_symsize": "ints",
    "Size": "ints",
    "None": "none",
    "object": "any",
    "Any": "any",
    "list": "list",
    "_size_any_t": "int|ints",
    "_ratio_any_t": "float|floats",
}


def coarse(annotation: ast.expr | None) -> str:
    """The coarse type of a parameter."""
    parts = dict.fromkeys(_parts(annotation))
    optional = parts.pop("none", "") is None or parts.pop("?", "") is None
    if "any" in parts or not parts:
        return "any" if parts or not optional else "none"
    if "scalar" in parts or {"int", "float"} <= parts.keys():
        parts = dict.fromkeys(["scalar" if part in SCALARS else part for part in parts])
    return "|".join(parts) + "?" * optional


def _parts(node: ast.expr | None) -> Iterator[str]:
    if node is None:
        yield "any"
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield from _parts(ast.parse(node.value, mode="eval").body)
        else:
            yield "none" if node.value is None else "any"
    elif isinstance(node, ast.BinOp):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.Subscript):
        yield from _generic(_last(node.value), node.slice)
    else:
        name = _last(node)
        if re.fullmatch(r"_(size|ratio)_\d(_opt)?_t", name):
            yield from ("float", "floats") if "ratio" in name else ("int", "ints")
        elif re.fullmatch(r"BroadcastingList\d", name):
            yield from ("int", "ints")
        else:
            leaf = LEAVES.get(name, "any")
            yield from leaf.removesuffix("?").split("|")
            if leaf.endswith("?"):
                yield "none"


def _generic(name: str, argument: ast.expr) -> Iterator[str]:
    items = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    if name == "Optional":
        yield from _parts(argument)
        yield "none"
    elif name == "Union":
        for item in items:
            yield from _parts(item)
    elif name == "Literal":
        for item in items:
            value = item.value if isinstance(item, ast.Constant) else None
            yield str(value).lower() if isinstance(value, bool) else "str" if isinstance(value, str) else "any"
    elif re.fullmatch(r"BroadcastingList\d", name):
        yield from ("int", "ints") if _last(argument) == "int" else ("float", "floats")
    elif name.lower() in ("list", "tuple", "sequence", "iterable"):
        inner = set(_parts(items[0]))
        if "tensor" in inner:
            yield "tensors"
        elif inner <= {"int", "none"} and inner:
            yield "ints"
        elif inner <= SCALARS:
            yield "floats"
        else:
            yield "list" if name.lower() != "iterable" else "any"
    else:
        yield "any"


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def returned(annotation: ast.expr | None) -> str:
    """The notation of a result type."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.Attribute) and ast.unparse(annotation.value).endswith("return_types"):
        return RETURN_TYPES.get(annotation.attr, "unknown")
    if isinstance(annotation, ast.Subscript):
        name, argument = _last(annotation.value), annotation.slice
        items = argument.elts if isinstance(argument, ast.Tuple) else [argument]
        if name in ("TypeIs", "TypeGuard"):
            return "bool"
        if name.lower() in ("tuple", "list", "sequence"):
            if name.lower() != "tuple" or any(isinstance(i, ast.Constant) and i.value is ... for i in items):
                first = returned(items[0])
                return {"tensor": "tensors", "int": "size"}.get(first, "unknown")
            return f"({','.join(returned(item) for item in items)})"
    type_ = coarse(annotation)
    if type_ in ("tensor", "tensor?", "int", "float", "bool", "scalar", "str", "none", "dtype", "device", "tensors"):
        return type_
    return "size" if type_ == "ints" else "unknown"


def _parameter_type(argument: ast.arg, default: ast.expr | None) -> str:
    if argument.annotation is not None:
        return coarse(argument.annotation)
    if argument.arg in ("device", "dtype"):
        return argument.arg + "?"
    return "bool" if isinstance(default, ast.Constant) and isinstance(default.value, bool) else "any"


def function_signature(node: ast.FunctionDef, *, method: bool = False) -> Signature:
    """The signature that a `def` declares."""
    arguments = node.args
    signature = Signature(returns=returned(node.returns))
    ordered = [*arguments.posonlyargs, *arguments.args]
    plain = len(ordered) - len(arguments.defaults)
    for index, argument in enumerate(ordered):
        default = arguments.defaults[index - plain] if index >= plain else None
        signature.parameters.append((argument.arg, _parameter_type(argument, default), default is not None, False))
    if method:
        del signature.parameters[0]
    if arguments.vararg:
        signature.parameters.append(("*" + arguments.vararg.arg, coarse(arguments.vararg.annotation), False, False))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        type_ = _parameter_type(argument, default)
        signature.parameters.append((argument.arg, type_, default is not None or type_ == "generator?", True))
    if arguments.kwarg:
        signature.parameters.append(("**" + arguments.kwarg.arg, "any", False, True))
    return signature


# ------------------------------------------------------------ what torch declares


def _stub(path: str) -> ast.Module:
    return ast.parse((STUBS / path).read_text(encoding="utf-8"))


def _functions(body: Iterable[ast.stmt], *, method: bool = False) -> dict[str, list[Signature]]:
    found: dict[str, list[Signature]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(function_signature(node, method=method))
    return found


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def _return_types() -> dict[str, str]:
    """The named tuples that operators return, in our notation."""
    found = {}
    for node in _stub("return_types.pyi").body:
        if isinstance(node, ast.ClassDef):
            fields = [
                f"{item.name}={returned(item.returns)}"
                for item in node.body
                if isinstance(item, ast.FunctionDef) and any(_last(d) == "property" for d in item.decorator_list)
            ]
            found[node.name] = f"({','.join(fields)})"
    return found


RETURN_TYPES: dict[str, str] = {}
RETURN_TYPES.update(_return_types())
_C_STUB = _stub("_C/__init__.pyi")
_TENSOR_BASE = _class(_C_STUB, "TensorBase").body
METHODS = _functions(_TENSOR_BASE, method=True)
ATTRIBUTES = {
    node.target.id: returned(node.annotation)
    for node in _TENSOR_BASE
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
} | {
    node.name: returned(node.returns)
    for node in _TENSOR_BASE
    if isinstance(node, ast.FunctionDef) and any(_last(d) == "property" for d in node.decorator_list)
}
ATTRIBUTES |= {"shape": "size", "names": "unknown", "grad": "tensor?", "grad_fn": "unknown", "real": "tensor"}
ATTRIBUTES |= {"imag": "tensor:float", "data": "tensor:same", "dtype": "dtype", "device": "device", "is_cpu": "bool"}
ATTRIBUTES |= dict.fromkeys(("T", "H", "mT", "mH"), "tensor:same")
ATTRIBUTES |= dict.fromkeys(("itemsize", "nbytes", "ndim", "output_nr", "_version"), "int")
VARIABLE_FUNCTIONS = _functions(_stub("_C/_VariableFunctions.pyi").body)
C_FUNCTIONS = _functions(_C_STUB.body)
NN_FUNCTIONS = _functions(_stub("_C/_nn.pyi").body)
FUNCTIONAL = _functions(_stub("nn/functional.pyi").body)


@dataclass
class Operator:
    """What the registry knows of all overloads of one operator."""

    mutates: set[str] = field(default_factory=set)
    view: bool = False
    tags: set[str] = field(default_factory=set)
    schemas: list[Any] = field(default_factory=list)


def _operators() -> dict[str, Operator]:
    found: dict[str, Operator] = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten":
            continue
        operator = found.setdefault(name, Operator())
        outs = any(argument.is_out for argument in schema.arguments)
        if not outs:
            operator.schemas.append(schema)
            with contextlib.suppress(AttributeError, RuntimeError):
                overload = getattr(getattr(torch.ops.aten, name), schema.overload_name or "default")
                operator.tags |= {tag.name for tag in overload.tags}
        for argument in schema.arguments:
            # Lists are written by the methods that TorchScript's lists have: `list.sort` is `aten::sort` too.
            tensor = str(argument.type) in ("Tensor", "Optional[Tensor]")
            if tensor and argument.alias_info is not None and not argument.is_out:
                if argument.alias_info.is_write and not argument.kwarg_only:
                    operator.mutates.add(argument.name)
                elif not argument.alias_info.is_write:
                    operator.view |= any(result.alias_info is not None for result in schema.returns)
    return found


OPERATORS = _operators()
PREFIXES = {"torch.linalg": "linalg_", "torch.fft": "fft_", "torch.special": "special_"}


def operator_of(namespace: str, name: str) -> Operator | None:
    """The operator behind a function or method, by the names that torch's code generator gives them."""
    return OPERATORS.get(PREFIXES.get(namespace, "") + name)


def schema_signature(schema: Any) -> Signature:
    """The signature of an operator's Python binding."""
    signature = Signature()
    for argument in schema.arguments:
        name = "input" if argument.name == "self" else argument.name
        type_ = str(argument.type)
        optional = "?" if type_.startswith("Optional") else ""
        inner = type_.removeprefix("Optional[").removesuffix("]" if optional else "")
        if name in ("dtype", "layout", "device", "memory_format"):
            word = name
        else:
            word = {
                "Tensor": "tensor",
                "List[Tensor]": "tensors",
                "List[Optional[Tensor]]": "tensors",
                "int": "int",
                "SymInt": "int",
                "List[int]": "int|ints",
                "List[SymInt]": "int|ints",
                "float": "float",
                "List[float]": "floats",
                "number": "scalar",
                "Scalar": "scalar",
                "bool": "bool",
                "str": "str",
                "Generator": "generator",
            }.get(inner, "any")
        default = argument.has_default_value()
        signature.parameters.append((name, word + optional, default, argument.kwarg_only))
    names = [result.name for result in schema.returns]
    results = [
        {"Tensor": "tensor", "List[Tensor]": "tensors", "int": "int", "bool": "bool", "float": "float"}.get(
            str(result.type), "unknown"
        )
        for result in schema.returns
    ]
    if len(results) == 1:
        signature.returns = results[0]
    elif results:
        signature.returns = (
            f"({','.join(f'{n}={r}' if all(names) else r for n, r in zip(names, results, strict=True))})"
        )
    return signature


def source_tree(value: Any) -> ast.stmt | None:
    """The definition of a Python function or class."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None


def source_signature(function: Any, *, method: bool = False) -> Signature | None:
    """The signature of a Python function, from its source."""
    function = inspect.unwrap(function)
    if not isinstance(function, types.FunctionType | types.MethodType):
        return None
    node = source_tree(function)
    return function_signature(node, method=method) if isinstance(node, ast.FunctionDef) else None


# ------------------------------------------------------------ what a call shows


class Recorder(TorchDispatchMode):  # type: ignore[misc]
    """Collects the tags of the operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tags = {tag.name for tag in func.tags}
        if func is torch.ops.aten.index.Tensor and not any(i is not None and i.dtype == torch.bool for i in args[1]):
            tags.discard("dynamic_output_shape")
        self.tags |= tags
        return func(*args, **(kwargs or {}))


@dataclass
class Outcome:
    """What a call gave and did; `written` has the places of the required arguments that it wrote."""

    value: Any
    tags: set[str]
    written: set[int]
    aliases: bool


SHAPES: tuple[tuple[int, ...], ...] = ((2, 2), (4,), (2, 2, 2), (1, 2, 4, 4), (1, 2, 4, 4, 4), ())
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


def _tensor(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    count = math.prod(shape)
    # Zero and one only: good as values, as probabilities, as indices and as a positive definite matrix.
    values = torch.eye(shape[0]) if len(shape) == 2 else (torch.arange(count) % 2).reshape(shape)
    return values.to(dtype)


def _value(type_: str, number: float, whole: int) -> Any:
    for part in type_.removesuffix("?").split("|"):
        if part in ("int", "float", "scalar"):
            return number if part == "scalar" else float(number) if part == "float" else whole
        if part in ("ints", "list"):
            return [2, 2] if whole == 2 else [whole]
        if part in ("bool", "true", "false"):
            return part == "true"
        if part == "dtype":
            return torch.float32
        if part == "device":
            return "cpu"
        if part == "str":
            return "mean"
    if type_.endswith("?"):
        return None
    raise LookupError(type_)


def call(
    function: Callable[..., Any],
    signature: Signature,
    shape: tuple[int, ...],
    dtypes: tuple[torch.dtype, ...],
    number: float,
    whole: int,
    bare: bool = False,
    ones: bool = False,
) -> Outcome:
    """Call a function with what it requires, tensors of `shape` with these dtypes in turn, and see what happens.

    `number` and `whole` stand for its numbers and integers; `bare`: also where a tensor could stand; `ones`: no zero in
    a tensor.
    """
    parameters = [p for p in signature.parameters if not p[2] and not p[0].startswith("**")]
    supply = itertools.chain(dtypes, itertools.repeat(dtypes[-1]))
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    tensors: list[tuple[int, torch.Tensor]] = []
    for index, (name, type_, _, keyword) in enumerate(parameters):
        value: Any
        if name == "*size":
            arguments += [2, 2]
            continue
        if type_.startswith("tensors"):
            value = [_tensor(shape, next(supply)), _tensor(shape, next(supply))]
        elif type_.startswith(("tensor", "any")) and not (bare and "scalar" in type_):
            value = torch.ones(shape, dtype=next(supply)) if ones else _tensor(shape, next(supply))
            tensors.append((index, value))
        else:
            value = _value(type_, number, whole + (name == "high"))
        if keyword:
            keywords[name] = value
        else:
            arguments.append(value)
    versions = [tensor._version for _, tensor in tensors]
    pointers = {tensor.data_ptr() for _, tensor in tensors}
    random.seed(0)
    torch.default_generator.manual_seed(0)
    with Recorder() as recorder:
        value = function(*arguments, **keywords)
    written = {index for (index, tensor), version in zip(tensors, versions, strict=True) if tensor._version != version}
    results = value if isinstance(value, tuple | list) else [value]
    aliases = any(isinstance(r, torch.Tensor) and r.numel() and r.data_ptr() in pointers for r in results)
    return Outcome(value, recorder.tags, written, aliases)


def dtype_word(dtype: torch.dtype) -> str:
    """The class of one dtype."""
    if dtype == torch.bool:
        return "bool"
    return "float" if dtype.is_floating_point else "complex" if dtype.is_complex else "int"


def result_words(value: Any) -> list[str]:
    """The classes of the dtypes of the tensors in a result, in order."""
    if isinstance(value, torch.Tensor):
        return [dtype_word(value.dtype)]
    if isinstance(value, tuple | list):
        return [word for item in value for word in result_words(item)]
    return []


def attempt(function: Callable[..., Any], *arguments: Any) -> Outcome | None:
    """What `call` gives, or None if torch refuses these arguments, with whatever error."""
    try:
        return call(function, *arguments)
    except Exception:
        return None


@dataclass
class Observed:
    """A call that worked, and the dtype classes of its results as other arguments showed them."""

    outcome: Outcome
    dtypes: list[str]


def observe(function: Callable[..., Any], signature: Signature) -> Observed | None:
    """Find arguments that a function takes, then vary their dtypes."""
    floating, integer, boolean = torch.float32, torch.int64, torch.bool
    mixes = [(floating,), (floating, integer), (floating, boolean), (floating, integer, floating)]
    mixes += [(integer, floating), (boolean, floating), (integer,), (boolean,), (torch.complex64,)]
    types = [type_ for _, type_, default, _ in signature.parameters if not default]
    has_tensor = any(t.startswith(("tensor", "any")) for t in types)
    alone = sum(t.startswith(("tensor", "any")) for t in types) == 1
    has_int = any("int" in t for t in types)
    for mix, shape, whole in itertools.product(
        mixes if has_tensor else mixes[:1], SHAPES if has_tensor else SHAPES[:1], (1, 0, 2) if has_int else (1,)
    ):
        outcome = attempt(function, signature, shape, mix, 1, whole)
        if outcome is not None:
            break
    else:
        return None

    def seen(dtypes: tuple[torch.dtype, ...], number: float = 1, bare: bool = False) -> list[str] | None:
        for ones in (False, True):
            if again := attempt(function, signature, shape, dtypes, number, whole, bare, ones):
                return result_words(again.value)
        return None

    count = len(result_words(outcome.value))
    runs = {
        dtype_word(dtype): seen(tuple(dtype if other == mix[0] else other for other in mix)) for dtype in DTYPES[:3]
    }
    mixed = [seen((integer, floating)), seen((integer,), 1.5, True)] if len(mix) == 1 else []
    if not has_tensor:
        runs, mixed = {"none": seen(mix), "half": seen(mix, 1.5)}, []
    elif len(mix) > 1:  # who knows which argument the result follows
        mixes = [(mix[0], dtype, *mix[2:]) for dtype in DTYPES[:3]]
        if any(run not in (None, result_words(outcome.value)) for run in map(seen, mixes)):
            return Observed(outcome, ["unknown"] * count)
    if any(type_.startswith("dtype") for type_ in types):
        return Observed(outcome, ["unknown"] * count)
    kept = {key: run for key, run in runs.items() if run is not None and len(run) == count}
    return Observed(
        outcome,
        [
            _dtype_class(
                {key: run[i] for key, run in kept.items()}, {m[i] for m in mixed if m and len(m) == count}, alone=alone
            )
            for i in range(count)
        ],
    )


def _dtype_class(runs: dict[str, str], mixed: set[str], *, alone: bool) -> str:
    """The class of a result's dtype, from those that came of float, int and bool arguments.

    `alone`: there is but one tensor argument, so that what was refused was refused for its dtype.
    """
    values = set(runs.values())
    if runs.keys() == {"bool"} or (runs.keys() == {"int"} and not alone):
        return "unknown"
    if len(values) == 1:
        return values.pop()
    if all(key == word for key, word in runs.items()):
        return "promoted" if "float" in mixed else "same"
    if all(key == word or (key, word) == ("bool", "int") for key, word in runs.items()):
        return "promoted" if "float" in mixed else "accumulated"
    return "unknown"


def with_dtypes(returns: str, dtypes: list[str]) -> str:
    """Write the dtype classes into the notation of a result."""
    places = len(re.findall(r"\btensor\b", returns))
    if places == len(dtypes):
        supply = iter(dtypes)
        return re.sub(r"\btensor\b", lambda _: _with_dtype("tensor", next(supply)), returns)
    if returns == "tensors" and len(set(dtypes)) == 1:
        return _with_dtype("tensors", dtypes[0])
    return returns


def _with_dtype(kind: str, dtype: str) -> str:
    return kind if dtype == "unknown" else f"{kind}:{dtype}"


def notation(value: Any) -> str:
    """The notation of a result that nothing declares."""
    if isinstance(value, torch.Size):
        return "size"
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, tuple | list):
        return "tensors" if value and all(isinstance(item, torch.Tensor) for item in value) else "unknown"
    for type_, word in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str"), (type(None), "none")):
        if isinstance(value, type_):
            return word
    return "dtype" if isinstance(value, torch.dtype) else "device" if isinstance(value, torch.device) else "unknown"


# ------------------------------------------------------------ one entry


def declared(namespace: str, name: str, function: Any) -> list[Signature]:
    """All that is declared about how a function can be called."""
    stubs = {"torch": VARIABLE_FUNCTIONS, "torch.Tensor": METHODS, "torch.nn.functional": FUNCTIONAL}
    signatures = stubs.get(namespace, {}).get(name)
    own = source_signature(function, method=namespace == "torch.Tensor")
    if namespace == "torch.nn.functional":
        signatures = signatures or ([own] if own else None) or NN_FUNCTIONS.get(name) or VARIABLE_FUNCTIONS.get(name)
    if not signatures and own:
        signatures = [own]
    operator = operator_of(namespace, name)
    if not signatures and operator and inspect.isbuiltin(function):
        signatures = [schema_signature(schema) for schema in operator.schemas]
    if not signatures and inspect.isbuiltin(function):
        signatures = C_FUNCTIONS.get(name, [])
    kept = [s for s in signatures or () if not _legacy(s)]
    if namespace == "torch.Tensor":  # the stubs give methods the `out` of the function
        return [replace(s, parameters=[p for p in s.parameters if p[0] != "out"]) for s in kept]
    return [replace(s, parameters=list(s.parameters)) for s in kept]


def operation(namespace: str, name: str, function: Any) -> Entry:
    """A function or method that works on tensors."""
    qualified = f"{namespace}.{name}"
    method = namespace == "torch.Tensor"
    if namespace == "torch.nn.init":  # `normal` is a deprecated `normal_`
        function = getattr(torch.nn.init, name + "_", function)
    entry = Entry("method" if method else "function")
    operator = operator_of(namespace, name) or Operator()
    signatures = declared(namespace, name, function)
    first = next((s.parameters[0][0] for s in signatures if s.parameters), "input")
    mutates = {("self" if method else first) if n == "self" else n for n in operator.mutates}
    if operator.view:
        entry.flags.add("view")
    if "nondeterministic_seeded" in operator.tags:
        entry.flags.add("random")
    if "inplace_view" in operator.tags:
        entry.flags.add("metadata")
    for signature in signatures:
        if not UNSAFE.fullmatch(qualified):
            _observe_into(entry, signature, function, mutates, method)
        names = [parameter[0] for parameter in signature.parameters]
        if "out" in names:
            mutates.add("out")
        if {"dtype", "layout", "device", "requires_grad"} <= set(names):
            entry.flags.add("creates")
        if (
            mutates & {"self", first}
            and signature.returns.startswith("tensor")
            and (name.endswith("_") or namespace == "torch.nn.init")
        ):
            signature.returns = "self"
    # A tag holds for each overload only if there is but one; else what was seen decides.
    if len(signatures) == 1:
        signatures[0].reads |= "data_dependent_output" in operator.tags
        signatures[0].dynamic |= "dynamic_output_shape" in operator.tags
    entry.mutates = sorted(mutates, key=lambda n: (n == "out", n))
    signatures = _distinct(_alike(signatures))
    if signatures and all(signature.returns == "self" for signature in signatures):
        entry.flags.discard("view")
    entry.overloads = list(map(str, signatures))
    return entry


def _alike(signatures: list[Signature]) -> list[Signature]:
    """Give results of the same structure the dtypes that were seen for one of them."""
    for signature, other in itertools.permutations(signatures, 2):
        if signature.returns.startswith("(") and signature.returns == re.sub(r":\w+", "", other.returns):
            signature.returns = other.returns
    return signatures


def _distinct(signatures: list[Signature]) -> list[Signature]:
    """Drop what another overload takes as well, with the same result."""
    kept: list[Signature] = []
    for signature in sorted(signatures, key=lambda s: -len(s.parameters)):
        if not any(_covers(other, signature) for other in kept):
            kept.append(signature)
    return [signature for signature in signatures if any(signature is other for other in kept)]


def _covers(wide: Signature, narrow: Signature) -> bool:
    def split(signature: Signature) -> tuple[list[tuple[str, str, bool, bool]], dict[str, str]]:
        parameters = [p for p in signature.parameters if not p[3]]
        return parameters, {p[0]: p[1] for p in signature.parameters if p[3]}

    (positional, keywords), (fewer, some) = split(wide), split(narrow)
    required = {p[0] for p in wide.parameters if p[3] and not p[2]}
    shared = list(zip(positional, fewer, strict=False))
    prefix = len(shared) == len(fewer) and all(a[:2] == b[:2] and a[2] >= b[2] for a, b in shared)
    prefix &= all(p[2] for p in positional[len(fewer) :])
    same = (wide.reads, wide.dynamic) == (narrow.reads, narrow.dynamic) and wide.returns in (
        narrow.returns,
        re.sub(r":\w+", "", narrow.returns),
    )
    return prefix and same and some.keys() <= keywords.keys() and required <= some.keys()


def _legacy(signature: Signature) -> bool:
    """Whether an overload takes named tensors, or a deprecated order of arguments."""
    required = [(name, type_) for name, type_, default, _ in signature.parameters if not default]
    if any(name in NAMED_TENSORS and type_.rstrip("?") in ("str", "list") for name, type_ in required):
        return True
    scale = [i for i, (name, type_) in enumerate(required) if name in ("alpha", "beta") and type_ == "scalar"]
    return bool(scale) and any(type_ == "tensor" for _, type_ in required[scale[0] + 1 :])


def _observe_into(entry: Entry, signature: Signature, function: Any, mutates: set[str], method: bool) -> None:
    probe = signature
    if method:
        probe = replace(signature, parameters=[("self", "tensor", False, False), *signature.parameters])
    observed = observe(function, probe)
    if observed is None:
        return
    outcome = observed.outcome
    signature.reads |= "data_dependent_output" in outcome.tags
    signature.dynamic |= "dynamic_output_shape" in outcome.tags
    if "nondeterministic_seeded" in outcome.tags:
        entry.flags.add("random")
    required = [p[0] for p in probe.parameters if not p[2]]
    mutates |= {required[index] for index in outcome.written}
    if outcome.aliases and not outcome.written:
        entry.flags.add("view")
    if signature.returns == "unknown":
        signature.returns = notation(outcome.value)
    signature.returns = with_dtypes(signature.returns, observed.dtypes)


def _untyped(match: re.Match[str]) -> str:
    return ":" * match[1].startswith("?") + match[1]


def by_hand(qualified: str, kind: str) -> Entry:
    """An entry whose overloads are in `HAND`."""
    namespace, _, name = qualified.rpartition(".")
    operator = operator_of(namespace, name) or Operator()
    overloads = [re.sub(r":tensor(\??=?)(?=[,)])", _untyped, text).replace(OPTIONS, "&") for text in HAND[qualified]]
    entry = Entry(kind, overloads)
    entry.mutates = sorted("self" if n == "self" else n for n in operator.mutates if kind == "method")
    entry.mutates += ["out"] * any(",out:" in overload for overload in entry.overloads)
    if "nondeterministic_seeded" in operator.tags:
        entry.flags.add("random")
    return entry


def finish(qualified: str, entry: Entry) -> str:
    """The line of an entry, with what the tables of this script say about it."""
    if qualified in CREATES:
        entry.flags.add("creates")
    if qualified in VIEWS:
        entry.flags.add("view")
    if qualified in MUTATES:
        entry.mutates = sorted({*entry.mutates, *MUTATES[qualified].split(",")})
    if qualified in READS:
        entry.overloads = [o + " !reads" * (READS[qualified] in o) for o in entry.overloads]
    return str(entry)


ANYTHING = Signature([("*args", "any", False, False), ("**kwargs", "any", False, True)])


def constructor(cls: type, qualified: str) -> list[Signature]:
    """How a class is constructed; for modules, with what calling an instance gives."""
    if inspect.getattr_static(cls, "__init__") is object.__init__ or issubclass(cls, BaseException):
        return []
    signature = source_signature(inspect.getattr_static(cls, "__init__"), method=True)
    signature = signature or ANYTHING
    if [name for name, *_ in signature.parameters] == ["*args", "**kwargs"] and "__init__" in vars(cls):
        definition = source_tree(cls)
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        overloads = _functions(body, method=True).get("__init__", [])
        signature = overloads[0] if len(overloads) > 1 else signature
    signature = replace(signature)
    if not issubclass(cls, torch.nn.Module):
        return [replace(signature, returns="unknown")]
    forward = source_signature(getattr(cls, "forward", None), method=True)
    signature.returns = MODULE_RETURNS.get(qualified) or (forward.returns if forward else "unknown")
    names = [parameter[0] for parameter in signature.parameters]
    if "return_indices" not in names:
        return [signature]
    index = names.index("return_indices")

    def variant(value: str, default: bool, returns: str) -> Signature:
        parameters = list(signature.parameters)
        parameters[index] = ("return_indices", value, default, parameters[index][3])
        return Signature(parameters, returns)

    return [variant("false", True, "tensor"), variant("true", False, "(tensor,tensor:int)")]


def entry_of(namespace: str, name: str, value: Any) -> Entry | None:
    """The entry of one public name, or None if it is not torch's own."""
    qualified = f"{namespace}.{name}"
    owner = getattr(value, "__module__", None) or "torch"
    if isinstance(value, torch.dtype):
        return Entry("constant", ["()->dtype"])
    if isinstance(value, bool | int | float | str):
        return (
            Entry("constant", ["()->" + notation(value)]) if name in ("inf", "nan", "pi", "e", "__version__") else None
        )
    if isinstance(value, torch.layout | torch.memory_format):
        return Entry("constant", ["()->unknown"])
    if not owner.startswith("torch") and not inspect.isbuiltin(value):
        return None
    if qualified in HAND:
        return by_hand(qualified, "class" if isinstance(value, type) else "function")
    if isinstance(value, type):
        if re.fullmatch(r"torch\.(cuda\.)?(Tensor|\w+Tensor)", qualified):
            parameters = [("*args", "any", False, False), ("device", "device?", True, True)]
            dtype = {"Tensor": "", "BoolTensor": ":bool"}.get(
                name, ":int" if name[:2] in ("Lo", "In", "Sh", "By", "Ch") else ":float"
            )
            return Entry("class", [str(Signature(parameters, "tensor" + dtype))], {"creates"})
        kind = "module" if issubclass(value, torch.nn.Module) else "class"
        overloads = constructor(value, qualified)
        if NAMES_ONLY.fullmatch(qualified):
            overloads = [replace(ANYTHING, returns=o.returns) for o in overloads if o.returns != "unknown"]
        return Entry(kind, list(dict.fromkeys(map(str, overloads))))
    if not callable(value):
        return None
    if namespace in TENSOR_OPERATIONS and not NAMES_ONLY.fullmatch(qualified):
        return operation(namespace, name, value)
    signature = source_signature(value)
    signatures = [signature] if signature else C_FUNCTIONS.get(name, []) if inspect.isbuiltin(value) else []
    if NAMES_ONLY.fullmatch(qualified):
        signatures = [replace(ANYTHING, returns=s.returns) for s in signatures if s.returns != "unknown"]
    return Entry("function", list(dict.fromkeys(map(str, signatures))))


def tensor_entries() -> Iterator[tuple[str, Entry]]:
    """The attributes and methods of `torch.Tensor`."""
    for name in sorted({*dir(torch.Tensor), *ATTRIBUTES}):
        qualified = f"torch.Tensor.{name}"
        if name.startswith("_") and qualified not in HAND and name not in DUNDERS and name != "_version":
            continue
        value = getattr(torch.Tensor, name, None)
        if callable(value) and name not in ATTRIBUTES:
            yield (
                qualified,
                by_hand(qualified, "method") if qualified in HAND else operation("torch.Tensor", name, value),
            )
        else:
            entry = Entry("attribute", list(HAND.get(qualified, ("()->" + ATTRIBUTES.get(name, "unknown"),))))
            if name in ("data", "real", "imag", "T", "H", "mT", "mH"):
                entry.flags.add("view")
            yield qualified, entry


# ------------------------------------------------------------ the table


DEEP = ("torch.nn.", "torch.distributions.", "torch.export.", "torch.utils.")


def namespaces() -> Iterator[str]:
    """All Python modules of torch that are not private, without importing them."""
    yield from (
        "torch",
        "torch._C",
        "torch._C._nn",
        "torch._dynamo",
        "torch._higher_order_ops",
        "torch.ops",
        "torch.classes",
    )
    yield from NAMESPACES
    pending = [(list(torch.__path__), "torch.")]
    while pending:
        paths, prefix = pending.pop()
        for info in pkgutil.iter_modules(paths, prefix):
            leaf = info.name.rpartition(".")[2]
            if leaf.startswith(("_", "test")) and info.name != "torch.testing":
                continue
            if info.name.count(".") > 2 and not info.name.startswith(DEEP):
                continue
            yield info.name
            if info.ispkg:
                pending.append(([str(Path(path) / leaf) for path in paths], info.name + "."))


def table() -> dict[str, str]:
    """All lines of the table, by name."""
    lines: dict[str, str] = {}
    canonical: dict[int, str] = {}
    keep: list[Any] = []  # so that no id is used twice
    for namespace in NAMESPACES:
        try:
            module = importlib.import_module(namespace)
        except ImportError:
            continue
        for name in sorted(dir(module)):
            qualified = f"{namespace}.{name}"
            if name.startswith("_") and qualified not in PRIVATE and name != "__version__":
                continue
            value = getattr(module, name, None)
            if value is None or inspect.ismodule(value):
                continue
            if namespace == "torch" and inspect.isbuiltin(value) and getattr(torch.nn.functional, name, None) is value:
                lines[qualified] = f"=\ttorch.nn.functional.{name}"  # documented there
                continue
            plain = isinstance(value, bool | int | float | str | torch.dtype | torch.layout | torch.memory_format)
            if not plain and id(value) in canonical:
                lines[qualified] = f"=\t{canonical[id(value)]}"
                continue
            entry = entry_of(namespace, name, value)
            if entry is None or (plain and namespace != "torch"):
                continue
            keep.append(value)
            canonical[id(value)] = qualified
            lines[qualified] = finish(qualified, entry)
            if NAMES_ONLY.fullmatch(qualified):
                continue
            defined = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', name)}"
            if (
                defined.startswith("torch.")
                and "._" not in defined
                and isinstance(value, type | types.FunctionType)
                and "<" not in defined
            ):
                lines.setdefault(defined, f"=\t{qualified}")
    for qualified, entry in tensor_entries():
        lines[qualified] = finish(qualified, entry)
    for namespace in namespaces():
        lines.setdefault(namespace, "namespace")
    return {name: line for name, line in lines.items() if line != f"=\t{name}"}


def main(arguments: list[str]) -> int:
    """Write the table to the file given, or to its place in the package."""
    warnings.simplefilter("ignore")
    output = Path(arguments[0]) if arguments else OUTPUT
    torch.set_num_threads(1)
    lines = table()
    version = torch.__version__.partition("+")[0]
    text = f"# torch {version}\n" + "".join(f"{name}\t{lines[name]}\n" for name in sorted(lines))
    output.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(lines)} names, {len(text.encode())} bytes, torch {version}: {output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
