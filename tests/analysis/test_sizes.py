"""Sizes that vary are followed through operators: where the linter says so, torch.export has a symbol there."""

from __future__ import annotations

import importlib
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from exportlint.analysis.torch.registry import operators
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from tests.sampling import one_in

RANK = 4
MODEL = """\
import einops
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 3)
        self.features = nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.ReLU(), nn.MaxPool2d(2))

    def forward(self, x: Tensor):
        n = x.shape[0]
        y = {expression}
"""

VARYING = {
    "x": {0},
    "x + 1": {0},
    "-x * 2": {0},
    "x.exp().relu().to(torch.float64)": {0},
    "torch.where(x > 0, x, 0.0)": {0},
    "x.masked_fill(x > 0, 0.0)": {0},
    "torch.zeros_like(x)": {0},
    "x.sum(-1)": {0},
    "x.sum(1)": {0},
    "x.sum(0)": set(),
    "x.mean((1, 2))": {0},
    "x.amax(dim=0, keepdim=True)": set(),
    "x.max(1).values": {0},
    "x.max(dim=1)[0]": {0},
    "x.argmax(1)": {0},
    "x.topk(2, 1)[0]": {0},
    "x.transpose(0, 1)": {1},
    "x.permute(1, 2, 3, 0).movedim(3, 1)": {1},
    "x.permute(0, 2, 3, 1).movedim((0, 1), (-1, 0))": {3},
    "torch.einsum('bijk,bijl->bkl', x, x)": {0},
    "einops.rearrange(x, 'b c h w -> c (b h) w 1')": {1},
    "einops.rearrange(x, 'b c (h r) w -> r h b c w', r=2)": {2},
    "einops.rearrange(einops.rearrange(x, 'b c h w -> (b c) h w'), '(b c) h w -> c b h w', c=3)": {1},
    "einops.rearrange(x, 'b c ... -> (b c) 1 ...')": {0},
    "einops.reduce(x, 'b c h w -> () b', 'max')": {1},
    "einops.reduce(x, 'b c h w -> c', 'sum')": set(),
    "einops.repeat(x, 'b c h w -> c (b k) h w', k=2)": {1},
    "einops.einsum(x, x, 'b i j k, b i j l -> k b l')": {1},
    "torch.einsum('bijk->jb', x)": {1},
    "torch.hstack([x, x])": {0},
    "torch.vstack([x.permute(1, 0, 2, 3), x.permute(1, 0, 2, 3)])": {1},
    "torch.outer(torch.arange(3), torch.arange(n))": {1},
    "torch.meshgrid(torch.arange(n), torch.arange(3), indexing='ij')[1]": {0},
    "torch.meshgrid([torch.arange(n), torch.arange(3)], indexing='xy')[0]": {1},
    "torch.stft(x[:, 0, 0].repeat(1, 9), 4, window=torch.ones(4), return_complex=True)": {0},
    "torch.fft.rfft(x, dim=1).abs()": {0},
    "x.repeat_interleave(2, 0)": {0},
    "x.permute(1, 0, 2, 3).tile(2, 1, 1)": {1},
    "x.unfold(2, 2, 1)": {0},
    "torch.complex(x, x).real": {0},
    "x.transpose(1, 2)": {0},
    "x.permute(2, 0, 1, 3)": {1},
    "torch.permute(x, (1, 2, 0, 3))": {2},
    "x.permute(1, 2, 3, 0).mT": {2},
    "x.permute(1, 2, 3, 0).T": {0},
    "x.permute(2, 0, 1, 3).sum((2, 3)).T": {0},
    "x.permute(2, 0, 1, 3).sum((2, 3)).H": {0},
    "x.permute(2, 0, 1, 3).argmax(2).mH": {2},
    "x.unsqueeze(0)": {1},
    "x.unsqueeze(1)": {0},
    "x[None]": {1},
    "x[:, None]": {0},
    "x[..., 0]": {0},
    "x[0]": set(),
    "x[:, 0]": {0},
    "x[:, 1:]": {0},
    "x[1:]": {0},
    "x[:2]": set(),
    "x[::2]": {0},
    "x.squeeze(1)": {0},
    "x.flatten(1)": {0},
    "x.flatten()": {0},
    "x.view(n, -1)": {0},
    "x.view(-1)": {0},
    "x.reshape(n * 3, -1)": {0},
    "x.reshape(3, n, -1)": {1},
    "x.view(x.size())": {0},
    "torch.zeros(n, 2)": {0},
    "x.new_ones(2, n)": {1},
    "torch.arange(n)": {0},
    "torch.full((n, 3), 1.0)": {0},
    "torch.ones(1, 4).expand(n, -1)": {0},
    "x.expand(-1, 3, 6, 6)": {0},
    "torch.ones(4).repeat(n, 1)": {0},
    "torch.cat([x, x], 1)": {0},
    "torch.cat([x, x])": {0},
    "torch.stack([x, x])": {1},
    "torch.stack([x, x], dim=1)": {0},
    "x.chunk(3, 1)[0]": {0},
    "x.split(1, dim=1)[0]": {0},
    "x @ torch.ones(6, 2)": {0},
    "torch.matmul(x, x)": {0},
    "self.linear(x)": {0},
    "self.features(x)": {0},
    "F.interpolate(x, scale_factor=2)": {0},
    "F.adaptive_avg_pool2d(x, 1).flatten(1)": {0},
    "F.softmax(x, dim=-1)": {0},
    "F.pad(x, (0, 1))": {0},
    "F.pad(x.view(n, 3, 6, 6), (0, 0, 1, n))": {0, 2},
    "F.pad(x.view(n, 3, 6, 6), (0, 0, 0, 0, 0, 0, n, 0))": {0},
    "F.pad(x[:, 0, 0, 0], (0, 9 - n))": set(),
    "F.pad(x.view(n, 3, 6, 6), (0, 0, 0, 0, 0, 0, 0, 9 - n))": set(),
    "x[x > 0]": set(),
    "x.nonzero()": set(),
}
"""What `y` is, and which of its dimensions vary with the first one of `x`."""


@pytest.mark.parametrize(("expression", "dims"), VARYING.items(), ids=list(VARYING))
def test_the_linter_knows_which_sizes_vary(expression: str, dims: set[int], tmp_path: Path) -> None:
    source = MODEL.format(expression=expression)
    first = source.count("\n") + 1
    source += "".join(f"        if y.shape[{dim}] > 9: y = y + 1\n" for dim in range(RANK))
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    findings = lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings
    assert {f.span.start.row - first for f in findings if f.name == "size-branch"} == dims


@pytest.mark.parametrize(("expression", "dims"), VARYING.items(), ids=list(VARYING))
def test_torch_has_a_symbol_for_them(expression: str, dims: set[int]) -> None:
    torch = pytest.importorskip("torch")
    namespace: dict[str, object] = {}
    exec(MODEL.format(expression=expression) + "        return y\n", namespace)
    model = namespace["Model"]()  # type: ignore[operator]
    x = torch.ones(5, 3, 6, 6)
    program = torch.export.export(model.eval(), (x,), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    output = next(node for node in program.graph.nodes if node.op == "output").args[0][0].meta["val"]
    backed = {
        dim
        for dim, size in enumerate(output.shape)
        if isinstance(size, torch.SymInt) and "u" not in str(size)  # an unbacked symbol comes from data
    }
    assert backed == dims


CONDITION = """\
import torch
from torch import Tensor, nn


def select(x, mask):
    return x[mask]


class Model(nn.Module):
    def forward(self, x: Tensor):
        n = x.shape[0]
        z = x + 1
        y = x[x[:, 0] > 0]
        k = x.sum().long().item()
        {setup}
        if {condition}:
            return x + 1
        return x * 2
"""
SETTLED = {
    "of an elementwise result": ("", "x.shape[0] == z.shape[0]"),
    "whole shapes": ("", "x.shape[0] != z.relu().shape[0]"),
    "a multiple": ("", "2 * n // 2 == n"),
    "a remainder": ("", "(4 * n + 2) % 2 == 0"),
    "a bound": ("", "n * 3 > 2"),
    "of cat": ("", "torch.cat([x, z]).shape[0] == 2 * n"),
    "of zeros": ("", "torch.zeros(n, 4).shape[1] == 4"),
    "of view": ("", "torch.zeros(n, 4).view(-1).shape[0] == n * 4"),
    "of flatten": ("", "torch.zeros(n, 4).flatten().shape[0] // n == 4"),
    "of a slice": ("", "x[1:].shape[0] == n - 1"),
    "of a slice from the end": ("", "x[:-2].shape[0] + 2 == n"),
    "of stack": ("", "torch.stack([x, z]).shape[0] == 2"),
    "of repeat": ("", "torch.zeros(n, 1).repeat(3, 1).shape[0] == 3 * n"),
    "of permute": ("", "torch.zeros(n, 4).permute(1, 0).shape[-1] == n"),
    "of arange": ("", "torch.arange(1, n).shape[0] == n - 1"),
    "of a reduction": ("", "torch.zeros(n, 4).sum(-1).shape[0] == n"),
    "the smaller one": ("", "min(n, n + 1) == n"),
    "of a selection": ("", "y.shape[0] == (y + 1).shape[0]"),
    "shapes of a selection": ("", "y.shape == (y * 2).shape"),
    "of a selection twice": ("", "torch.cat([y, y]).shape[0] == 2 * y.shape[0]"),
    "no less than what is added": ("", "torch.cat([y, x]).shape[0] >= y.shape[0]"),
    "a number that was read": ("", "k - k == 0"),
    "numbers that were read": ("", "k + 1 > k"),
    "of a helper": ("a = select(x, x[:, 0] > 0)", "a.shape[0] == (a + 1).shape[0]"),
    "of zeros that a float's number counts": ("k = (x > 0).sum().item()", "torch.zeros(k, 2).shape[0] == k"),
    "without what was added": ("torch._check(k >= 0)", "torch.zeros(k + 3).shape[0] - k == 3"),
    "of cat without a part": ("torch._check(k >= 0)", "torch.cat([x, x.new_zeros(k, 4)]).shape[0] - k == n"),
    "of padding to a size": (
        "torch._check(y.shape[0] <= 8)",
        "torch.cat([y, y.new_zeros(8 - y.shape[0], 4)]).shape[0] == 8",
    ),
    "of a slice without its start": ("torch._check(k >= 0); a = x.new_zeros(k + 3)", "a[k:].shape[0] == 3"),
    "in a loop": (
        "for i in range(2):\n            a = x.new_zeros(k + i)\n            if a.shape[0] - i == k: z = z + 1",
        "n > 0",
    ),
    "of parts of a list": ("a, b = x[0, :2].long().abs().tolist()", "x.new_zeros(a + b).shape[0] == a + b"),
    "a number where a slice is not empty": ("k = k if x[:, 4:].numel() > 0 else 0", "k == 0"),
}
"""Conditions that hold for all sizes: what stands in front of them, and the condition."""
OPEN = {
    "a bound": ("", "n > 7"),
    "of a slice": ("", "x[1:].shape[0] > 7"),
    "of cat": ("", "torch.cat([x, z]).shape[0] > 15"),
    "a remainder": ("", "n % 2 == 0"),
    "a number": ("", "2 * n == 12"),
    "what is missing": ("pad = 8 - n", "pad"),
    "a number where a size is not 0": ("k = k if x.size(x.dim() - 1) > 0 else 0", "k > 3"),
    "padded by a tensor": (
        "y = torch.conv1d(x[None].mT, torch.ones(1, 4, 1))", "nn.functional.pad(y, (0, x.sum().long())).shape[2] > 9"
    ),
    "of a convolution": (
        "y = torch.conv1d(nn.functional.pad(x.view(1, 4, n), (0, k)), torch.ones(1, 4, 1))", "y.shape[-1] > 9"
    ),
    "of two selections": ("", "y.shape[0] == x[x[:, 0] > 1].shape[0]"),
    "of a selection and what it is made of": ("", "y.shape[0] == n"),
    "of a helper that is called twice": (
        "a, b = select(x, x[:, 0] > 0), select(x, x[:, 0] > 1)", "a.shape[0] == b.shape[0]"
    ),
    "of the elements of a list": ("a = [x[x[:, 0] > i] for i in range(3)]", "a[0].shape[0] == a[1].shape[0]"),
    "of two passes of a loop": (
        "for i in range(3):\n            z, y = y, x[x[:, 0] > i]\n            if z.shape[0] == y.shape[0]: x = x + 1",
        "n == 0",
    ),
}  # fmt: skip
"""Conditions that some sizes or values fulfil and others do not."""
ON_SIZES = {"size-branch", "single-batch", "data-dependent-size", "tensor-branch"}


@pytest.mark.parametrize(("setup", "condition", "is_open"), one_in(4, [
    *((*case, False) for case in SETTLED.values()), *((*case, True) for case in OPEN.values()),
]), ids=[*(f"settled-{name}" for name in SETTLED), *(f"open-{name}" for name in OPEN)])  # fmt: skip
def test_the_linter_and_torch_settle_the_same_conditions(
    setup: str, condition: str, is_open: bool, tmp_path: Path
) -> None:
    source = CONDITION.format(setup=setup, condition=condition)
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    findings = lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings
    assert bool({f.name for f in findings} & ON_SIZES) is is_open
    torch = pytest.importorskip("torch")
    namespace: dict[str, object] = {}
    exec(source, namespace)
    model = namespace["Model"]().eval()  # type: ignore[operator]
    inputs = [torch.arange(4.0 * size).view(size, 4) - 5 for size in range(6, 10)]
    try:
        program = torch.export.export(model, (inputs[0],), dynamic_shapes=({0: torch.export.Dim.AUTO},)).module()
        holds = all(torch.equal(program(x), model(x)) for x in inputs)
    except Exception:  # of several kinds
        holds = False
    assert holds is not is_open


HASHING = """\
import functools

import torch
from torch import Tensor, nn


def power(n, *, by=1):
    return n * by


cached = functools.lru_cache(maxsize=None)(power)


class Model(nn.Module):
    @functools.cache
    def method(self, n):
        return n * 2

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def static(n, device):
        return torch.arange(n, device=device).sum()

    def forward(self, x: Tensor):
        n, m = x.shape
        table = {3: 1, 4: 2}
        return x * EXPRESSION
"""
HASHED = (
    "table.get(n, 1)", "(n in table)", "(n in {3, 4})", "hash(n)", "hash((n, 1))", "len({n, 3})", "len({n: 3})",
    "len(set([n, 3]))", "len(set(x.shape))", "len(frozenset((n, m)))", "len(dict.fromkeys(x.shape))",
    "len(dict([(n, 1), (m, 2)]))", "len({(n, m)})", "cached(n)", "cached(m, by=n)", "self.method(n + 1)",
    "self.static(n, x.device)",
)  # fmt: skip
"""Expressions that ask for the hash of a size that varies."""
NOT_HASHED = (
    "table.get(m, 1)", "(m in {3, 4})", "hash((m, 1))", "len(set([m, 3]))", "len(dict([(m, 1)]))", "cached(m)",
    "cached(x, by=m)", "power(n)", "self.static(m, x.device)",
)  # fmt: skip


@pytest.mark.parametrize(("expression", "hashed"), [
    *((expression, True) for expression in HASHED), *((expression, False) for expression in NOT_HASHED),
])  # fmt: skip
def test_a_size_that_varies_has_no_hash(expression: str, hashed: bool, tmp_path: Path) -> None:
    source = HASHING.replace("EXPRESSION", expression)
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    findings = lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings
    assert [f.name for f in findings if f.severity.value != "info"] == (["size-as-key"] if hashed else [])
    torch = pytest.importorskip("torch")
    namespace: dict[str, object] = {}
    exec(source, namespace)
    model = namespace["Model"]().eval()  # type: ignore[operator]
    with pytest.raises(TypeError, match="unhashable type: non-nested SymInt") if hashed else nullcontext():
        torch.export.export(model, (torch.ones(3, 4),), dynamic_shapes=({0: torch.export.Dim.AUTO},))


ON_VARYING = {
    "vander": "torch.vander(x[:, 0])",
    "linalg.multi_dot": "torch.linalg.multi_dot([x, torch.ones(4, 4), torch.ones(4, 2)])",
    "chain_matmul": "torch.chain_matmul(x, torch.ones(4, 2))",
    "gradient": "torch.gradient(x, dim=1)[0]",
    "geqrf": "torch.geqrf(x)[1]",
    "histogram": "torch.histogram(x, 4)[0]",
    "histogramdd": "torch.histogramdd(x, [2, 2, 2, 2])[0]",
    "Tensor.to_sparse": "x.to_sparse().to_dense()",
    "Tensor.to_sparse_coo": "x.to_sparse_coo().to_dense()",
    "Tensor.to_sparse_csr": "x.to_sparse_csr().to_dense()",
    "dequantize": "torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()",
    "fake_quantize_per_tensor_affine": "torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)",
    "fake_quantize_per_channel_affine": (
        "torch.fake_quantize_per_channel_affine(x, torch.ones(4), torch.zeros(4, dtype=torch.int32), 1, -128, 127)"
    ),
}
"""Operators that do not keep the sizes of their tensors symbolic, each on a tensor `x` whose rows vary."""
OPERATION = """\
import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor):
        return {}
"""


def test_each_operator_that_needs_known_sizes_is_tried() -> None:
    found = {record.name for record in operators() if record.varying is not None}
    assert found == ON_VARYING.keys()


@pytest.mark.parametrize("name", ON_VARYING)
def test_operators_that_need_known_sizes(name: str, tmp_path: Path) -> None:
    source = OPERATION.format(ON_VARYING[name])
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    of_row = OPERATION.format(ON_VARYING[name].replace("x", "x[0, None]", 1))
    findings = [lint([Task(tmp_path / "model.py", settings, data=t.encode())]).findings for t in (source, of_row)]
    assert [[f.name for f in found if f.severity.value != "info"] for found in findings] == [["size-to-number"], []]
    torch = pytest.importorskip("torch")
    namespace: dict[str, object] = {}
    exec(source, namespace)
    model = namespace["Model"]()  # type: ignore[operator]
    record = next(record for record in operators() if name in record.names)
    with pytest.raises(Exception, match="aten") if record.varying == "refused" else nullcontext():
        program = torch.export.export(model, (torch.rand(6, 4),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
        assert [str(node.meta["val"].shape[0]) for node in program.graph.nodes if node.name == "x"] == ["6"]


def test_a_size_may_vary_where_a_tensor_is_quantized(tmp_path: Path) -> None:
    source = OPERATION.format("torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)")
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13)})], tmp_path)
    assert lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings == ()
    torch = pytest.importorskip("torch")
    namespace: dict[str, object] = {}
    exec(source, namespace)
    model = namespace["Model"]()  # type: ignore[operator]
    program = torch.export.export(model, (torch.rand(6, 4),), dynamic_shapes=({0: torch.export.Dim("rows")},))
    assert program.module()(torch.rand(3, 4)).shape == (3, 4)


SHOWING = """\
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor):
        n, m = x.shape
        text = EXPRESSION
        return x * 2
"""
SHOWN = {
    "f'{n}'": (),
    "f'a {x.shape} b {m}'": (),
    "f'a{n}'": ("strict",),
    "f'{n} {m}'": ("strict",),
    "f'{n} {x.dtype}'": ("strict",),
    "f'{n!r}'": (),
    "f'{[1, n]}'": (),
    "'{} {}'.format(n, x.shape)": (),
    "str(m) + '%d %s' % (m, m) + format(m, 'd') + bin(m) + f'{m:d} {m / 2:.1f}'": (),
    "str(x.shape[1:])": (),
    "str(n)": ("strict",),
    "repr(n * 2)": ("strict",),
    "format(n)": ("strict",),
    "'%s' % n": ("strict",),
    "'%s %r' % (m, n)": ("strict",),
    "'%s' % (x.shape,)": ("strict",),
    "str(x.shape)": ("strict",),
    "str([m, n])": ("strict",),
    "str(tuple(x.shape))": ("strict",),
    "list(map(str, [n, n]))": ("strict",),
    "f'{n:d}'": ("non-strict",),
    "f'{n / 2:.1f}'": ("non-strict",),
    "'{:d}'.format(n)": ("non-strict",),
    "'%d' % n": ("non-strict", "strict"),
    "'%.1f' % n": ("non-strict", "strict"),
    "format(n, 'd')": ("non-strict", "strict"),
    "bin(n)": ("non-strict", "strict"),
    "hex(n)": ("non-strict", "strict"),
    "oct(n)": ("non-strict", "strict"),
    "chr(n)": ("non-strict", "strict"),
    "n.bit_length()": ("non-strict", "strict"),
}
"""Text of sizes, and the modes in which export fails or fixes the size of the example."""


@pytest.mark.parametrize("mode", ["non-strict", "strict"])
@pytest.mark.parametrize("expression", SHOWN)
def test_text_of_a_size_that_varies(expression: str, mode: str, tmp_path: Path) -> None:
    source = SHOWING.replace("EXPRESSION", expression)
    settings = combine([Layer(tmp_path, {"torch-version": (2, 13), "mode": mode})], tmp_path)
    findings = lint([Task(tmp_path / "model.py", settings, data=source.encode())]).findings
    found = [(f.name, f.severity.value) for f in findings]
    assert found == ([("size-to-number", "warning")] if mode in SHOWN[expression] else [])


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["non-strict", "strict"])
@pytest.mark.parametrize("expression", SHOWN)
def test_torch_shows_no_number(expression: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    file = tmp_path / "showing_model.py"
    file.write_text(SHOWING.replace("EXPRESSION", expression), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "showing_model", raising=False)
    model = importlib.import_module("showing_model").Model()
    torch.compiler.reset()
    refused = (torch._dynamo.exc.TorchDynamoException, TypeError, NotImplementedError)
    with pytest.raises(refused) if mode in SHOWN[expression] else nullcontext():
        shapes = ({0: torch.export.Dim.DYNAMIC},)
        torch.export.export(model, (torch.ones(3, 4),), dynamic_shapes=shapes, strict=mode == "strict")
