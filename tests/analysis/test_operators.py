"""What a record says of an operator is what torch does, under each of its names, on small tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from exportlint.analysis.torch import table
from exportlint.analysis.torch.operator import Operator
from exportlint.analysis.torch.registry import find, operators, qualified
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from tests.analysis.operator_samples import DEFAULT, SAMPLES, SPELLED, VARIABLES
from tests.sampling import first_of_each, one_in

torch = pytest.importorskip("torch")

NEEDS_CUDA = {"torch.Tensor.cuda", "torch.Tensor.pin_memory"}


@dataclass(frozen=True, repr=False)
class Sample:
    """One call of an operator: `name` is a qualified one, `arguments` the source of what it is called with."""

    record: Operator
    name: str
    arguments: str

    def __repr__(self) -> str:
        return f"{self.name.removeprefix('torch.')}({self.arguments})"


@dataclass
class Call:
    """What a sample evaluates to.

    `positional` and `keywords` are the arguments, as they were before, `target` the first as it is afterwards; `writes`
    says how often each tensor was written.
    """

    positional: list[Any]
    keywords: dict[str, Any]
    target: Any
    result: Any
    writes: list[int]

    @property
    def tensors(self) -> list[Any]:
        return tensors_of([*self.positional, *self.keywords.values()])

    @property
    def results(self) -> list[Any]:
        return tensors_of(self.result)


def tensors_of(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for item in value for t in tensors_of(item)] if isinstance(value, (list, tuple)) else []


def names(record: Operator) -> Iterator[str]:
    """The qualified names under which torch has an operator and its form in place."""
    for name in record.names:
        for full in qualified(name):
            for spelled in (full, full + "_"):
                api = table.lookup(spelled)
                known = api is not None and api.kind in {"function", "method", "attribute", "class"}
                if known and table.resolve(spelled) == spelled and find(spelled) is record:
                    yield spelled


def samples(record: Operator) -> list[Sample]:
    """The calls of an operator, under all its names."""
    return [
        Sample(record, name, arguments)
        for name in names(record)
        if name not in NEEDS_CUDA
        for arguments in SPELLED.get(name, SAMPLES.get(record.name, DEFAULT))
    ]


@cache
def scope(strided: bool = False) -> dict[str, Any]:
    """The variables of the samples; `strided` ones are not contiguous."""
    variables: dict[str, Any] = {"torch": torch}
    exec(VARIABLES, variables)
    if strided:
        for name in ("x", "y", "i", "j", "b", "c", "image"):
            value = variables[name]
            variables[name] = torch.stack([value, value], -1)[..., 0]
    return variables


def called(sample: Sample, *, strided: bool = False, target: Any = None) -> Call:
    """Runs a sample, on another first argument if that is given."""
    torch.manual_seed(0)
    text = f"(lambda *a, **k: (list(a), k))({sample.arguments})"
    positional, keywords = eval(text, scope(strided))
    before = list(positional)
    if target is not None:
        positional[0] = target
    elif in_place(sample.name):
        positional[0] = positional[0].clone()
    given = tensors_of([*positional, *keywords.values()])
    versions = [t._version for t in given]
    library, _, short = sample.name.rpartition(".")
    api = table.lookup(sample.name)
    if api is not None and api.kind == "attribute":
        result = getattr(positional[0], short)
    else:
        result = getattr(eval(library, {"torch": torch}), short)(*positional, **keywords)
    writes = [t._version - version for t, version in zip(given, versions, strict=True)]
    return Call(before, keywords, positional[0] if positional else None, result, writes)


def in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def shares(one: Any, other: Any) -> bool:
    """Whether two tensors have the same memory."""
    if any(t.is_nested or t.is_mkldnn for t in (one, other)):
        return one is other
    one, other = (t._values() if t.is_sparse else t for t in (one.detach(), other.detach()))
    one, other = (t if t.layout is torch.strided else t.values() for t in (one, other))
    return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())


each_record = pytest.mark.parametrize("record", one_in(4, operators()), ids=lambda record: record.name)


def test_no_operator_has_two_records() -> None:
    found = [full for record in operators() for name in record.names for full in qualified(name)]
    assert sorted({full for full in found if found.count(full) > 1}) == []


def test_samples_are_of_records() -> None:
    known = {record.name for record in operators()}
    assert sorted(SAMPLES.keys() - known) == []
    assert sorted(name for name in SPELLED if find(name).name not in known) == []


@each_record
def test_torch_takes_the_samples_of_every_operator(record: Operator) -> None:
    assert list(names(record))
    for sample in samples(record):
        called(sample)


@pytest.mark.parametrize("name", sorted(NEEDS_CUDA))
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_what_needs_a_gpu_fails_without_one(name: str) -> None:
    with pytest.raises((AssertionError, RuntimeError)):
        getattr(torch.ones(2), name.rpartition(".")[2])()


# ------------------------------------------------------------ shapes


def dims_of(value: Any, rank: int) -> list[int]:
    return [d % rank for d in (value if isinstance(value, (list, tuple)) else [value])]


def argument(call: Call, place: int, *words: str, default: Any = None) -> Any:
    found = [call.keywords[word] for word in words if word in call.keywords]
    return found[0] if found else call.positional[place] if len(call.positional) > place else default


def bound(sample: Sample, call: Call, word: str, place: int) -> Any:
    """An argument by the name that the table gives it, else by its place."""
    api = table.lookup(sample.name)
    at = 1 if sample.name.startswith("torch.Tensor.") else 0
    for overload in api.overloads if api is not None else ():
        if word in overload.parameters and len(call.positional) <= len(overload.parameters) + at:
            return argument(call, overload.parameters.index(word) + at, word)
    return argument(call, place, word)


def reduced(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    dim, keeps = bound(sample, call, "dim", 1), bound(sample, call, "keepdim", 2)
    gone = range(len(shape)) if dim is None else dims_of(dim, len(shape))
    if keeps is True:
        return [1 if d in gone else size for d, size in enumerate(shape)]
    return [size for d, size in enumerate(shape) if d not in gone]


def swapped(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    one, other = call.positional[1:3]
    shape[one], shape[other] = shape[other], shape[one]
    return shape


def mirrored(sample: Sample, call: Call) -> list[int]:
    *first, one, other = call.tensors[0].shape
    return [*first, other, one]


def unsqueezed(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    shape.insert(call.positional[1] % (len(shape) + 1), 1)
    return shape


def squeezed(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    dims = dims_of(argument(call, 1, "dim", default=list(range(len(shape)))), len(shape))
    return [size for d, size in enumerate(shape) if d not in dims or size != 1]


def flattened(sample: Sample, call: Call) -> list[int]:
    tensor = call.tensors[0]
    if tensor.dim() == 0:
        return [1]
    start, end = argument(call, 1, "start_dim", default=0), argument(call, 2, "end_dim", default=-1) % tensor.dim()
    shape = list(tensor.shape)
    return [*shape[:start], torch.Size(shape[start : end + 1]).numel(), *shape[end + 1 :]]


def sized(sample: Sample, call: Call) -> list[int]:
    return list(call.positional[1 if sample.name.startswith("torch.Tensor.") else 0])


def viewed(sample: Sample, call: Call) -> list[int]:
    sizes = list(call.positional[1])
    rest = call.tensors[0].numel() // -torch.Size(sizes).numel() if -1 in sizes else 0
    return [rest if size == -1 else size for size in sizes]


def expanded(sample: Sample, call: Call) -> list[int]:
    sizes, shape = list(call.positional[1]), list(call.tensors[0].shape)
    shape = [1] * (len(sizes) - len(shape)) + shape
    return [old if new == -1 else new for new, old in zip(sizes, shape, strict=True)]


def repeated(sample: Sample, call: Call) -> list[int]:
    times, shape = list(call.positional[1]), list(call.tensors[0].shape)
    return [size * number for size, number in zip([1] * (len(times) - len(shape)) + shape, times, strict=True)]


def changed(sample: Sample, call: Call) -> tuple[list[int], int]:
    """The shape of the first tensor, and the dimension `dim` of it."""
    shape = list(call.tensors[0].shape)
    last = -1 if sample.record.shape == "topmost" else 0
    return shape, argument(call, DIM_AT.get(sample.record.name, 1), "dim", default=last) % len(shape)


DIM_AT = {"chunk": 2, "split": 2, "split_with_sizes": 2, "topk": 2}
"""The place of the argument `dim`, where it is not the one behind the tensor."""


def selected(sample: Sample, call: Call) -> list[int]:
    shape, dim = changed(sample, call)
    index = call.tensors[1]
    return [*shape[:dim], index.shape[0], *shape[dim + 1 :]]


def unflattened(sample: Sample, call: Call) -> list[int]:
    shape, dim = changed(sample, call)
    return [*shape[:dim], *call.positional[2], *shape[dim + 1 :]]


def narrowed(sample: Sample, call: Call) -> list[int]:
    shape, dim = changed(sample, call)
    return [*shape[:dim], call.positional[3], *shape[dim + 1 :]]


def picked(sample: Sample, call: Call) -> list[int]:
    shape, dim = changed(sample, call)
    return [*shape[:dim], *shape[dim + 1 :]]


def topmost(sample: Sample, call: Call) -> list[int]:
    shape, dim = changed(sample, call)
    return [*shape[:dim], call.positional[1], *shape[dim + 1 :]]


def joined(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    dim = argument(call, 1, "dim", default=0)
    shape[dim] = sum(t.shape[dim] for t in call.tensors)
    return shape


def stacked(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    shape.insert(argument(call, 1, "dim", default=0), len(call.tensors))
    return shape


def aligned(sample: Sample, call: Call) -> list[int]:
    longest = max(t.shape[0] for t in call.tensors)
    is_batch_first = argument(call, 1, "batch_first", default=False)
    sizes = [len(call.tensors), longest] if is_batch_first else [longest, len(call.tensors)]
    return [*sizes, *call.tensors[0].shape[1:]]


def multiplied(sample: Sample, call: Call) -> list[int]:
    one, other = (list(t.shape) for t in call.tensors[:2])
    return [*torch.broadcast_shapes(one[:-2], other[:-2]), one[-2], other[-1]]


def padded(sample: Sample, call: Call) -> list[int]:
    shape, amounts = list(call.tensors[0].shape), call.positional[1]
    for place in range(0, len(amounts), 2):
        shape[-1 - place // 2] += sum(amounts[place : place + 2])
    return shape


def moved(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    pairs = [[d % len(shape) for d in (p if isinstance(p, tuple) else (p,))] for p in call.positional[1:3]]
    found = [size for i, size in enumerate(shape) if i not in pairs[0]]
    for target, source in sorted(zip(pairs[1], pairs[0], strict=True)):
        found.insert(target, shape[source])
    return found


def grid(sample: Sample, call: Call) -> list[int]:
    shape = [t.numel() for t in call.tensors]
    return [*shape[1::-1], *shape[2:]] if call.keywords["indexing"] == "xy" else shape


def contracted(sample: Sample, call: Call) -> list[int]:
    equation = call.positional[0].replace(" ", "")
    terms, _, result = (equation if "->" in equation else equation + "->i").partition("->")
    pairs = zip("".join(terms.split(",")), [size for t in call.tensors for size in t.shape], strict=True)
    sizes = dict(pairs)
    return [sizes[letter] for letter in result]


def windowed(sample: Sample, call: Call) -> list[int]:
    shape = list(call.tensors[0].shape)
    _, dim, size, step = call.positional
    shape[dim] = (shape[dim] - size) // step + 1
    return [*shape, size]


def abreast(sample: Sample, call: Call) -> list[int]:
    shape = [list(t.shape) or [1] for t in call.tensors]
    dim = 0 if all(len(one) == 1 for one in shape) else 1
    return [*shape[0][:dim], sum(one[dim] for one in shape), *shape[0][dim + 1 :]]


def interleaved(sample: Sample, call: Call) -> list[int]:
    shape, dim = list(call.tensors[0].shape), argument(call, 2, "dim")
    shape[dim] *= call.positional[1]
    return shape


def listed(sample: Sample, call: Call) -> list[int]:
    data = call.positional[-1]
    if not isinstance(data, list):
        return list(call.positional) if sample.record.dtype else []
    return [len(data)]


SHAPES: dict[str, Callable[[Sample, Call], list[int]]] = {
    "same": lambda sample, call: list(call.tensors[0].shape),
    "elementwise": lambda sample, call: list(torch.broadcast_shapes(*(t.shape for t in call.tensors))),
    "reduced": reduced,
    "swapped": swapped,
    "transposed": lambda sample, call: list(call.tensors[0].shape)[::-1],
    "reversed": lambda sample, call: list(call.tensors[0].shape)[::-1],
    "mirrored": mirrored,
    "permuted": lambda sample, call: [call.tensors[0].shape[d] for d in call.positional[1]],
    "unsqueezed": unsqueezed,
    "squeezed": squeezed,
    "flattened": flattened,
    "sized": sized,
    "filled": sized,
    "drawn": lambda sample, call: list(call.positional[-1]),
    "squared": lambda sample, call: [call.positional[0]] * 2,
    "viewed": viewed,
    "expanded": expanded,
    "repeated": repeated,
    "like": lambda sample, call: list(call.tensors[1].shape),
    "joined": joined,
    "stacked": stacked,
    "aligned": aligned,
    "selected": selected,
    "narrowed": narrowed,
    "picked": picked,
    "multiplied": multiplied,
    "transformed": lambda sample, call: [*call.tensors[0].shape[:-1], call.tensors[1].shape[0]],
    "indexed": lambda sample, call: list(argument(call, 2, "index").shape),
    "unflattened": unflattened,
    "topmost": topmost,
    "spaced": lambda sample, call: [call.positional[2]],
    "listed": listed,
    "padded": padded,
    "moved": moved,
    "outer": lambda sample, call: [t.numel() for t in call.tensors],
    "grid": grid,
    "contracted": contracted,
    "windowed": windowed,
    "abreast": abreast,
    "atop": lambda sample, call: list(torch.cat([torch.atleast_2d(t) for t in call.tensors]).shape),
    "behind": lambda sample, call: list(torch.cat(call.tensors, 2).shape),
    "interleaved": interleaved,
    "paired": lambda sample, call: [*call.tensors[0].shape[:-1], call.tensors[1].shape[-2]],
    "tiled": lambda sample, call: list(call.tensors[0].tile(call.positional[1]).shape),
}  # fmt: skip


@each_record
def test_the_shape_is_that_of_the_rule(record: Operator) -> None:
    for sample in samples(record) if record.shape is not None else ():
        call = called(sample)
        assert call.results, sample
        for result in call.results:
            assert fits(sample, call, list(result.shape)), f"{sample} gives {list(result.shape)}"


def fits(sample: Sample, call: Call, shape: list[int]) -> bool:
    """Whether a result can have a shape, by the rule that the record names."""
    rule = sample.record.shape
    if rule == "resized":
        last = argument(call, 9, "dim", default=-1) % call.tensors[0].dim()
        given = list(call.tensors[0].shape)
        return shape[:last] + shape[last + 1 :] == given[:last] + given[last + 1 :]
    if rule in {"first", "batched"}:
        return bool(shape[0] == call.tensors[0].shape[0])
    if rule in {"signal", "image", "volume"}:
        return bool(len(shape) == call.tensors[0].dim() and shape[0] == call.tensors[0].shape[0])
    if rule == "counted":
        return len(shape) == 1
    if rule == "divided":
        before, dim = changed(sample, call)
        return shape[:dim] + shape[dim + 1 :] == before[:dim] + before[dim + 1 :]
    assert rule is not None
    return shape == SHAPES[rule](sample, call)


# ------------------------------------------------------------ dtypes


def dtype_class(dtype: Any) -> str:
    if dtype is torch.bool:
        return "bool"
    return "complex" if dtype.is_complex else "float" if dtype.is_floating_point else "int"


@each_record
def test_a_cast_gives_the_dtype_that_its_record_states(record: Operator) -> None:
    for sample in samples(record) if record.dtype else ():
        assert called(sample).result.dtype is getattr(torch, record.dtype), sample


@each_record
def test_the_dtype_is_of_the_class_that_the_table_states(record: Operator) -> None:
    for sample in samples(record):
        call, returns = called(sample), returned(sample.name)
        if returns in {"bool", "int", "float"} and "dtype" not in sample.arguments and "torch." not in sample.arguments:
            assert {dtype_class(result.dtype) for result in call.results} <= {returns}, sample
        elif (
            returns == "same" and call.tensors and "dtype" not in sample.arguments and not call.tensors[0].is_complex()
        ):
            assert call.results[0].dtype == call.tensors[0].dtype, sample


def returned(name: str) -> str:
    """The class of dtypes that all overloads with one tensor as their result have."""
    api = table.lookup(name)
    found = {o.returns.dtype if o.returns.kind == "tensor" else "" for o in (api.overloads if api is not None else ())}
    return found.pop() if len(found) == 1 else ""


# ------------------------------------------------------------ memory


@each_record
@pytest.mark.parametrize("strided", [False, True])
def test_the_result_is_in_the_memory_that_its_record_states(record: Operator, strided: bool) -> None:
    if record.host is not None or record.acts:
        return
    for sample in samples(record):
        if in_place(sample.name):
            continue
        try:
            call = called(sample, strided=strided)
        except RuntimeError:
            assert strided, f"{sample} is refused"
            continue
        for result in call.results:
            first = call.tensors[0] if call.tensors else result
            is_of_one = result.is_sparse or record.shape == "grid"  # its values are those of one argument
            if is_of_one and record.storage == "view":
                assert any(shares(result, tensor) for tensor in call.tensors), sample
            elif record.storage == "new":
                assert not any(shares(result, tensor) for tensor in call.tensors), sample
            elif record.storage == "unchanged":
                assert shares(result, first) == (result is first), sample
            elif record.storage == "view" or not strided:
                assert shares(result, first), sample


def test_a_tensor_that_needs_no_conversion_is_given_back() -> None:
    for record in operators():
        if record.dtype and record.storage == "unchanged":
            tensor = torch.ones(3, dtype=getattr(torch, record.dtype))
            assert getattr(tensor, record.name.rpartition(".")[2])() is tensor


@each_record
def test_what_converts_does_nothing_the_second_time(record: Operator) -> None:
    for sample in samples(record) if record.converts and record.name != "Tensor.data" else ():
        first = called(sample).result
        second = called(sample, target=first).result
        assert first.dtype == second.dtype, sample
        assert torch.equal(first, second), sample


# ------------------------------------------------------------ writes


FLAGS = {"Tensor.requires_grad_", "detach_", "Tensor.share_memory_"}
"""Operators that end in `_` and leave the elements as they are."""


@each_record
def test_only_what_is_in_place_writes(record: Operator) -> None:
    for sample in samples(record):
        call, api = called(sample), table.lookup(sample.name)
        assert api is not None
        writes = in_place(sample.name) and record.name not in FLAGS and not record.acts
        assert any(call.writes[:1]) == writes, sample
        assert not any(call.writes[1:]) or api.mutates, sample
        if in_place(sample.name) and not record.acts:
            assert call.result is call.target, sample
            assert any(overload.returns.kind == "self" for overload in api.overloads), sample


ELEMENTWISE = [
    name
    for record in operators()
    if record.shape == "elementwise"
    for name in record.names
    if hasattr(torch.Tensor, f"{name}_")
]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_what_is_done_to_constants_while_export_traces(name: str) -> None:
    module, constant = torch.nn.Module(), torch.tensor([5.0, 7.0])

    def forward(x: Any) -> Any:
        getattr(constant, f"{name}_")(2)
        return x + constant

    module.forward = forward
    try:
        torch.export.export(module, (torch.ones(2),), strict=False)
    except (TypeError, RuntimeError) as error:
        assert not find(name).runs_on_constants, error  # noqa: PT017 - it takes tensors only
    else:
        assert (constant.tolist() != [5, 7]) == find(name).runs_on_constants


# ------------------------------------------------------------ the host


def model(sample: Sample) -> Any:
    """A model that calls a sample on its input."""

    def forward(x: Any) -> Any:
        result = called(sample, target=x).result
        return x + (result if isinstance(result, int) else 1)

    module = torch.nn.Module()
    module.forward = forward
    return module


PINNED = "Tensor.pin_memory"
LEAVE = ["is_nonzero", *(r.name for r in operators() if r.host in {"memory", "array"} and r.name != PINNED)]


@pytest.mark.parametrize("record", [find(f"torch.{name}") for name in LEAVE], ids=lambda r: r.name)
def test_what_leaves_the_graph_cannot_be_exported(record: Operator) -> None:
    assert samples(record)
    for sample in samples(record):
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            torch.export.export(model(sample), (called(sample).positional[0],), strict=False)


def test_non_strict_export_takes_zero_for_an_address() -> None:
    for record in operators():
        for sample in samples(record) if record.host == "address" else ():
            x = torch.ones(2)
            program = torch.export.export(model(sample), (x,), strict=False)
            assert torch.equal(program.module()(x), x)


# ------------------------------------------------------------ the interpreter

INPUTS = tuple(line.partition(" = ")[0] for line in VARIABLES.splitlines())
MODEL = """\
import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, {inputs}):
        result = {call}
        if {call}:
            return x
        if {call} > 2:
            return y
        if result.shape[0] == 3 or result.shape[1] == 4 or result.is_floating_point():
            result.add_(1)
        return torch.split(result, result[0])
"""
"""Does with a result what tells a tensor from a number, a view from a copy, one shape from another."""


def linted(call: str, directory: Path) -> list[tuple[int, str, str]]:
    text = MODEL.format(inputs=", ".join(f"{name}: Tensor" for name in INPUTS), call=call)
    findings = lint([Task(directory / "model.py", combine([], directory), data=text.encode())]).findings
    return sorted((finding.span.start.row, finding.name, finding.severity.value) for finding in findings)


@pytest.mark.parametrize(
    "record",
    first_of_each(operators(), lambda record: (record.shape, record.needs)),
    ids=lambda record: record.name,
)
def test_a_function_and_a_method_are_the_same_to_the_linter(record: Operator, tmp_path: Path) -> None:
    for name in record.names:
        if not {f"torch.{name}", f"torch.Tensor.{name}"} <= {*names(record)} - SPELLED.keys():
            continue
        api = table.tensor_member(name)
        if api is not None and api.kind == "method":
            sample = SAMPLES.get(record.name, DEFAULT)[0]
            first, *rest = arguments(sample)
            function = linted(f"torch.{name}({sample})", tmp_path)
            assert linted(f"({first}).{name}({', '.join(rest)})", tmp_path) == function, sample
            assert linted(f"torch.Tensor.{name}({sample})", tmp_path) == function, sample


def arguments(sample: str) -> list[str]:
    """The sources of the arguments of a call."""
    call = ast.parse(f"f({sample})", mode="eval").body
    assert isinstance(call, ast.Call)
    return [ast.unparse(node) for node in (*call.args, *call.keywords)]
