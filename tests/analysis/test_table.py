"""What the table says of torch's API is what torch does."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exportlint.analysis.torch import table
from exportlint.analysis.torch.table import Api, Overload, Returns, is_namespace, lookup, resolve, select, tensor_member

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "exportlint" / "analysis" / "torch" / "torch_table.txt"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def api(name: str) -> Api:
    found = lookup(name)
    assert found is not None, name
    return found


def chosen(name: str, *positional: str, **named: str) -> Overload:
    overload = select(api(name), positional, named)
    assert overload is not None, (name, positional, named)
    return overload


def short(returns: Returns) -> str:
    if returns.kind == "tuple":
        return "(" + ", ".join(map(short, returns.items)) + ")"
    dtype = "" if returns.dtype == "unknown" else ":" + returns.dtype
    return returns.kind + dtype + "?" * returns.optional


@pytest.mark.parametrize(
    ("name", "positional", "named", "expected"),
    [
        ("torch.max", ["tensor"], {}, "tensor:same"),
        ("torch.max", ["tensor", "int"], {}, "(tensor:same, tensor:int)"),
        ("torch.max", ["tensor"], {"dim": "unknown"}, "(tensor:same, tensor:int)"),
        ("torch.max", ["tensor", "tensor"], {}, "tensor:promoted"),
        ("torch.Tensor.max", [], {}, "tensor:same"),
        ("torch.Tensor.max", ["int"], {}, "(tensor:same, tensor:int)"),
        ("torch.Tensor.size", [], {}, "size"),
        ("torch.Tensor.size", ["int"], {}, "int"),
        ("torch.Tensor.stride", [], {}, "size"),
        ("torch.Tensor.view", ["int", "int", "int"], {}, "tensor:same"),
        ("torch.Tensor.view", ["size"], {}, "tensor:same"),
        ("torch.Tensor.view", ["dtype"], {}, "tensor"),
        ("torch.Tensor.type", [], {}, "str"),
        ("torch.Tensor.type", ["dtype"], {}, "tensor"),
        ("torch.Tensor.split", ["int"], {"dim": "int"}, "tensors:same"),
        ("torch.Tensor.argmax", ["int"], {}, "tensor:int"),
        ("torch.Tensor.long", [], {}, "tensor:int"),
        ("torch.Tensor.to", ["str"], {}, "tensor:same"),
        ("torch.Tensor.to", ["dtype"], {}, "tensor"),
        ("torch.Tensor.to", ["unknown"], {}, "tensor"),
        ("torch.Tensor.item", [], {}, "scalar"),
        ("torch.Tensor.add_", ["tensor"], {}, "self"),
        ("torch.Tensor.add_", ["float"], {}, "self"),
        ("torch.Tensor.__len__", [], {}, "int"),
        ("torch.isnan", ["tensor"], {}, "tensor:bool"),
        ("torch.eq", ["tensor", "float"], {}, "tensor:bool"),
        ("torch.logical_and", ["tensor", "tensor"], {}, "tensor:bool"),
        ("torch.sum", ["tensor"], {}, "tensor:accumulated"),
        ("torch.mean", ["tensor"], {"dim": "int"}, "tensor:float"),
        ("torch.add", ["tensor", "int"], {}, "tensor:promoted"),
        ("torch.topk", ["tensor", "int"], {}, "(tensor:same, tensor:int)"),
        ("torch.where", ["tensor"], {}, "tensors:int"),
        ("torch.where", ["tensor", "tensor", "tensor"], {}, "tensor"),
        ("torch.where", ["tensor", "tensor", "float"], {}, "tensor"),
        ("torch.nonzero", ["tensor"], {}, "tensor:int"),
        ("torch.nonzero", ["tensor"], {"as_tuple": "true"}, "tensors:int"),
        ("torch.unique", ["tensor"], {}, "tensor:same"),
        ("torch.unique", ["tensor"], {"return_counts": "true"}, "(tensor:same, tensor:int)"),
        ("torch.meshgrid", ["tensor", "tensor"], {"indexing": "str"}, "tensors:same"),
        ("torch.zeros", ["int", "int"], {"device": "device"}, "tensor:float"),
        ("torch.zeros", ["size"], {}, "tensor:float"),
        ("torch.randint", ["int", "int", "tuple"], {}, "tensor:int"),
        ("torch.fft.fft", ["tensor"], {}, "tensor:complex"),
        ("torch.linalg.svd", ["tensor"], {}, "(tensor:float, tensor:float, tensor:float)"),
        ("torch.nn.functional.relu", ["tensor"], {"inplace": "true"}, "tensor:same"),
        ("torch.nn.functional.one_hot", ["tensor", "int"], {}, "tensor:int"),
        ("torch.nn.functional.max_pool2d", ["tensor", "int"], {}, "tensor:same"),
        ("torch.nn.functional.max_pool2d", ["tensor", "int"], {"return_indices": "true"}, "(tensor:same, tensor:int)"),
        (
            "torch.nn.functional.multi_head_attention_forward",
            ["tensor"] * 3 + ["unknown"] * 10,
            {},
            "(tensor, tensor?)",
        ),
        ("torch.nn.Linear", ["int", "int"], {}, "tensor"),
        ("torch.nn.LSTM", ["int", "int"], {"batch_first": "true"}, "(tensor, (tensor, tensor))"),
        ("torch.nn.GRU", ["int", "int"], {}, "(tensor, tensor)"),
        ("torch.nn.MultiheadAttention", ["int", "int"], {}, "(tensor, tensor?)"),
        ("torch.nn.MaxPool2d", ["int"], {"return_indices": "true"}, "(tensor, tensor:int)"),
        ("torch.LongTensor", ["list"], {}, "tensor:int"),
        ("torch.nn.utils.rnn.pad_sequence", ["list"], {}, "tensor"),
        ("torch.is_tensor", ["unknown"], {}, "bool"),
        ("torch._check", ["bool"], {}, "none"),
    ],
)
def test_result_of_a_call(name: str, positional: list[str], named: dict[str, str], expected: str) -> None:
    assert short(chosen(name, *positional, **named).returns) == expected


@pytest.mark.parametrize(
    ("name", "positional", "named"),
    [
        ("torch.max", ["tensor", "unknown"], {}),  # a dimension or a tensor
        ("torch.max", [], {}),
        ("torch.max", ["tensor"], {"dimension": "int"}),
        ("torch.max", ["tensor", "int", "bool", "int"], {}),
        ("torch.max", ["str"], {}),
        ("torch.Tensor.size", ["unknown", "unknown"], {}),
        ("torch.nonzero", ["tensor"], {"as_tuple": "bool"}),  # a tensor or a tuple
    ],
)
def test_no_overload_rather_than_a_guess(name: str, positional: list[str], named: dict[str, str]) -> None:
    assert select(api(name), positional, named) is None


def test_keywords_may_be_names_alone() -> None:
    overload = select(api("torch.max"), ["tensor"], {"dim", "keepdim"})
    assert overload is not None
    assert overload.returns.fields == ("values", "indices")


@pytest.mark.parametrize(
    ("name", "positional", "reads", "dynamic"),
    [
        ("torch.Tensor.item", [], True, False),
        ("torch.Tensor.tolist", [], True, False),
        ("torch.Tensor.numpy", [], True, False),
        ("torch.Tensor.__bool__", [], True, False),
        ("torch.Tensor.__contains__", ["int"], True, False),
        ("torch.Tensor.data_ptr", [], True, False),
        ("torch.equal", ["tensor", "tensor"], True, False),
        ("torch.allclose", ["tensor", "tensor"], True, False),
        ("torch.is_nonzero", ["tensor"], True, False),
        ("torch.tensor_split", ["tensor", "tensor"], True, False),
        ("torch.tensor_split", ["tensor", "int"], False, False),
        ("torch.nn.functional.gaussian_nll_loss", ["tensor", "tensor", "tensor"], True, False),
        ("torch.nn.functional.one_hot", ["tensor"], True, True),
        ("torch.nn.functional.one_hot", ["tensor", "int"], False, False),
        ("torch.nonzero", ["tensor"], False, True),
        ("torch.masked_select", ["tensor", "tensor"], False, True),
        ("torch.Tensor.unique", [], False, True),
        ("torch.argwhere", ["tensor"], False, True),
        ("torch.bincount", ["tensor"], False, True),
        ("torch.where", ["tensor"], False, True),
        ("torch.where", ["tensor", "tensor", "tensor"], False, False),
        ("torch.repeat_interleave", ["tensor", "int"], False, False),
        ("torch.repeat_interleave", ["tensor", "tensor"], False, True),
        ("torch.Tensor.repeat_interleave", ["tensor"], False, True),
        ("torch.Tensor.repeat_interleave", ["unknown"], False, False),
        ("torch.Tensor.any", [], False, False),
        ("torch.Tensor.dim", [], False, False),
    ],
)
def test_what_needs_the_values(name: str, positional: list[str], reads: bool, dynamic: bool) -> None:
    overload = chosen(name, *positional)
    assert (overload.reads_data, overload.dynamic_shape) == (reads, dynamic)


@pytest.mark.parametrize(
    ("name", "mutates"),
    [
        ("torch.Tensor.add_", ("self",)),
        ("torch.Tensor.add", ()),
        ("torch.Tensor.index_put_", ("self",)),
        ("torch.Tensor.t_", ("self",)),
        ("torch.Tensor.sort", ()),
        ("torch.add", ("out",)),
        ("torch.relu_", ("input",)),
        ("torch.nn.init.ones_", ("tensor",)),
        ("torch.nn.functional.batch_norm", ("running_mean", "running_var")),
    ],
)
def test_what_is_written(name: str, mutates: tuple[str, ...]) -> None:
    assert api(name).mutates == mutates


def test_flags() -> None:
    def with_flag(flag: str, *names: str) -> list[str]:
        return [name for name in names if getattr(api(name), flag)]

    assert with_flag("dynamic_shape", "torch.nonzero", "torch.nonzero_static") == ["torch.nonzero"]
    metadata = ["torch.Tensor.t_", "torch.Tensor.unsqueeze_", "torch.Tensor.resize_", "torch.Tensor.set_"]
    assert with_flag("metadata_only", *metadata, "torch.Tensor.add_", "torch.Tensor.t") == metadata
    draws = ["torch.rand", "torch.nn.functional.dropout", "torch.multinomial", "torch.Tensor.normal_"]
    assert with_flag("random", *draws, "torch.zeros", "torch.nn.functional.relu") == draws
    views = ["torch.Tensor.view", "torch.Tensor.reshape", "torch.Tensor.to", "torch.unbind", "torch.Tensor.T"]
    assert with_flag("view", *views, "torch.Tensor.clone", "torch.add", "torch.Tensor.add_") == views
    creates = ["torch.zeros", "torch.tensor", "torch.rand_like", "torch.Tensor.new_zeros", "torch.FloatTensor"]
    assert with_flag("creates", *creates, "torch.add", "torch.Tensor.to") == creates
    device = ["torch.zeros", "torch.tensor", "torch.Tensor.new_zeros", "torch.Tensor.to"]
    assert with_flag("takes_device", *device, "torch.add", "torch.from_numpy") == device


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.nn.modules.module.Module", "torch.nn.Module"),
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.functional.einsum", "torch.einsum"),
        ("torch._C._nn.gelu", "torch.nn.functional.gelu"),
        ("torch.conv2d", "torch.nn.functional.conv2d"),
        ("torch.autograd.grad_mode.no_grad", "torch.no_grad"),
        ("torch.distributions.normal.Normal", "torch.distributions.Normal"),
        ("torch.nn.Linear", "torch.nn.Linear"),
        ("numpy.array", "numpy.array"),
    ],
)
def test_aliases(alias: str, canonical: str) -> None:
    assert resolve(alias) == canonical
    assert lookup(alias) == lookup(canonical)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.nn.Module", "module"),
        ("torch.nn.Sequential", "module"),
        ("torch.nn.ModuleList", "module"),
        ("torch.nn.ParameterList", "module"),
        ("torch.jit.ScriptModule", "module"),
        ("torch.nn.Parameter", "class"),
        ("torch.Tensor", "class"),
        ("torch.distributions.Normal", "class"),
        ("torch.no_grad", "class"),
        ("torch.autograd.Function", "class"),
        ("torch.float32", "constant"),
        ("torch.Tensor.shape", "attribute"),
        ("torch.Tensor.data", "attribute"),
        ("torch.Tensor.numel", "method"),
        ("torch.compiler.is_compiling", "function"),
        ("torch.compiler.is_exporting", "function"),
        ("torch.jit.is_scripting", "function"),
        ("torch.autograd.grad", "function"),
        ("torch.utils.checkpoint.checkpoint", "function"),
        ("torch.func.grad", "function"),
        ("torch.cond", "function"),
        ("torch.export.export", "function"),
        ("torch._check_is_size", "function"),
        ("torch.utils.checkpoint", "namespace"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    assert api(name).kind == kind
    assert is_namespace(name) == (kind == "namespace")


def test_names_that_torch_does_not_have() -> None:
    assert lookup("torch.maximmum") is None
    assert tensor_member("cuda_is_here") is None
    assert not is_namespace("torch.nn.Linear")
    assert not is_namespace("numpy")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shape", "size"),
        ("T", "tensor:same"),
        ("data", "tensor:same"),
        ("grad", "tensor?"),
        ("dtype", "dtype"),
        ("device", "device"),
        ("ndim", "int"),
        ("is_cuda", "bool"),
        ("requires_grad", "bool"),
    ],
)
def test_attributes_of_a_tensor(name: str, expected: str) -> None:
    member = tensor_member(name)
    assert member is not None
    assert [short(overload.returns) for overload in member.overloads] == [expected]


def test_every_line_is_well_formed() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    names = [line.split("\t")[0] for line in lines[1:]]
    assert lines[0] == f"# torch {table.torch_version()}"
    assert names == sorted(set(names))
    assert TABLE.stat().st_size < 300_000
    kinds = {"tensor", "int", "float", "bool", "scalar", "str", "none", "dtype", "device", "size", "module", "self"}
    kinds |= {"tensors", "tuple", "unknown"}

    def check(returns: Returns) -> None:
        assert returns.kind in kinds
        assert returns.dtype in {"bool", "int", "float", "complex", "same", "accumulated", "promoted", "unknown"}
        for item in returns.items:
            check(item)

    for name in names:
        found = api(name)
        assert resolve(found.name) == found.name
        for overload in found.overloads:
            check(overload.returns)
            assert len(overload.parameters) == len(overload.types)
            assert overload.positional <= len(overload.parameters)
            assert overload.required <= set(overload.parameters)
            assert all(overload.types)


def test_linting_does_not_import_torch() -> None:
    code = "import sys, exportlint.analysis.torch.table as t; t.lookup('torch.max'); print('torch' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert output.stdout.strip() == "False"


@pytest.mark.thorough
@needs_torch
def test_the_script_gives_the_file_that_is_shipped(tmp_path: Path) -> None:
    import torch

    if torch.__version__.partition("+")[0] != table.torch_version():
        pytest.skip(f"the table is for torch {table.torch_version()}")
    output = tmp_path / "table.txt"
    script = ROOT / "scripts" / "generate_torch_table.py"
    subprocess.run([sys.executable, str(script), str(output)], check=True, capture_output=True)
    assert output.read_text(encoding="utf-8").splitlines() == TABLE.read_text(encoding="utf-8").splitlines()


BEHAVIOUR: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    # "x" float, "i" int, "b" bool, "v" vector of int, "s" a tensor with one element
    ("torch.max", ("x",), {}),
    ("torch.max", ("x", 1), {}),
    ("torch.max", ("x", "x"), {}),
    ("torch.aminmax", ("x",), {}),
    ("torch.median", ("x",), {"dim": 0}),
    ("torch.sum", ("b",), {}),
    ("torch.sum", ("i", 1), {}),
    ("torch.mean", ("x",), {}),
    ("torch.any", ("x",), {}),
    ("torch.all", ("b", 0), {}),
    ("torch.argmax", ("x",), {}),
    ("torch.argsort", ("x",), {}),
    ("torch.sort", ("x",), {}),
    ("torch.topk", ("x", 1), {}),
    ("torch.cumsum", ("b", 0), {}),
    ("torch.eq", ("x", "i"), {}),
    ("torch.isfinite", ("x",), {}),
    ("torch.logical_not", ("i",), {}),
    ("torch.sqrt", ("i",), {}),
    ("torch.abs", ("i",), {}),
    ("torch.add", ("i", 1), {}),
    ("torch.add", ("i", 1.5), {}),
    ("torch.mul", ("i", "x"), {}),
    ("torch.div", ("i", "i"), {}),
    ("torch.where", ("b",), {}),
    ("torch.where", ("b", "x", "x"), {}),
    ("torch.nonzero", ("x",), {}),
    ("torch.unique", ("i",), {"return_counts": True}),
    ("torch.bincount", ("v",), {}),
    ("torch.cat", (["x", "x"],), {}),
    ("torch.stack", (["i", "i"],), {"dim": 1}),
    ("torch.split", ("x", 1), {}),
    ("torch.chunk", ("x", 2), {}),
    ("torch.matmul", ("x", "x"), {}),
    ("torch.einsum", ("ij,jk->ik", "x", "x"), {}),
    ("torch.zeros", (2, 3), {}),
    ("torch.full", ((2,), 1.0), {}),
    ("torch.randint", (0, 4, (2,)), {}),
    ("torch.randperm", (4,), {}),
    ("torch.eye", (2,), {}),
    ("torch.zeros_like", ("i",), {}),
    ("torch.is_tensor", ("x",), {}),
    ("torch.is_floating_point", ("x",), {}),
    ("torch.equal", ("x", "x"), {}),
    ("torch.fft.rfft", ("x",), {}),
    ("torch.linalg.norm", ("x",), {}),
    ("torch.linalg.svd", ("x",), {}),
    ("torch.special.expit", ("i",), {}),
    ("torch.nn.functional.softmax", ("x",), {"dim": 1}),
    ("torch.nn.functional.relu", ("x",), {}),
    ("torch.nn.functional.one_hot", ("i", 4), {}),
    ("torch.nn.functional.cross_entropy", ("x", "v2"), {}),
    ("torch.nn.functional.dropout", ("x",), {}),
    ("torch.nn.functional.layer_norm", ("x", (2,)), {}),
    ("torch.Tensor.size", ("x",), {}),
    ("torch.Tensor.size", ("x", 0), {}),
    ("torch.Tensor.numel", ("x",), {}),
    ("torch.Tensor.stride", ("x",), {}),
    ("torch.Tensor.item", ("s",), {}),
    ("torch.Tensor.is_contiguous", ("x",), {}),
    ("torch.Tensor.view", ("x", 4), {}),
    ("torch.Tensor.view", ("x", 1, 4), {}),
    ("torch.Tensor.expand", ("x", -1, -1), {}),
    ("torch.Tensor.long", ("x",), {}),
    ("torch.Tensor.bool", ("x",), {}),
    ("torch.Tensor.float", ("i",), {}),
    ("torch.Tensor.type", ("x",), {}),
    ("torch.Tensor.unbind", ("x",), {}),
    ("torch.Tensor.masked_fill", ("x", "b", 0.0), {}),
    ("torch.Tensor.add_", ("x", 1), {}),
    ("torch.Tensor.t_", ("x",), {}),
    ("torch.Tensor.clamp_", ("x", 0, 1), {}),
    ("torch.Tensor.__len__", ("x",), {}),
]


@needs_torch
@pytest.mark.parametrize(("name", "positional", "named"), BEHAVIOUR)
def test_torch_returns_what_the_table_says(name: str, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
    import torch

    inputs = {
        "x": torch.tensor([[0.5, 0.25], [0.75, 0.5]]),
        "i": torch.tensor([[1, 2], [3, 1]]),
        "b": torch.tensor([[True, False], [True, True]]),
        "v": torch.tensor([0, 2, 1]),
        "v2": torch.tensor([0, 1]),
        "s": torch.tensor(0.5),
    }

    def actual(value: Any) -> Any:
        if isinstance(value, list):
            return [actual(item) for item in value]
        return inputs.get(value, value) if isinstance(value, str) else value

    arguments, keywords = [actual(value) for value in positional], {key: actual(value) for key, value in named.items()}
    function: Callable[..., Any] = torch
    for part in name.split(".")[1:]:
        function = getattr(function, part)
    method = name.startswith("torch.Tensor.")
    overload = select(
        api(name),
        [_coarse(value) for value in arguments[method:]],
        {key: _coarse(value) for key, value in keywords.items()},
    )
    assert overload is not None
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    before = [(tensor, tensor.clone()) for tensor in tensors]
    flat = [item for value in arguments for item in (value if isinstance(value, list) else [value])]
    dtypes = [value.dtype for value in flat if isinstance(value, torch.Tensor)]
    result = function(*arguments, **keywords)
    _agrees(overload.returns, result, arguments, dtypes)
    unchanged = all(tensor.shape == old.shape and torch.equal(tensor, old) for tensor, old in before)
    assert unchanged or "self" in api(name).mutates


def _coarse(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, bool):
        return str(value).lower()
    return type(value).__name__


def _agrees(returns: Returns, value: Any, arguments: list[Any], dtypes: list[Any]) -> None:
    import torch

    python: dict[str, Any] = {
        "int": int,
        "float": float,
        "bool": bool,
        "scalar": (int, float),
        "str": str,
        "size": tuple,
    }
    if returns.kind == "tuple":
        assert len(value) == len(returns.items)
        for item, part in zip(returns.items, value, strict=True):
            _agrees(item, part, arguments, dtypes)
    elif returns.kind == "tensors":
        assert isinstance(value, tuple | list)
        for part in value:
            _agrees(Returns("tensor", returns.dtype), part, arguments, dtypes)
    elif returns.kind == "self":
        assert value is arguments[0]
    elif returns.kind == "tensor":
        assert isinstance(value, torch.Tensor)
        first = dtypes[0] if dtypes else torch.get_default_dtype()
        numbers = [argument for argument in arguments[1:] if isinstance(argument, int | float | torch.Tensor)]
        promoted = first
        for other in numbers:
            promoted = torch.result_type(torch.ones(2, 2, dtype=promoted), other)
        accumulated = torch.int64 if first == torch.bool else first
        exact = {"same": first, "promoted": promoted, "accumulated": accumulated, "bool": torch.bool}
        if returns.dtype in exact:
            assert value.dtype == exact[returns.dtype]
        elif returns.dtype != "unknown":
            assert (value.is_floating_point(), value.is_complex(), value.dtype == torch.bool) == (
                returns.dtype == "float",
                returns.dtype == "complex",
                False,
            )
    else:
        assert isinstance(value, python[returns.kind])
        assert returns.kind == "bool" or not isinstance(value, bool)
