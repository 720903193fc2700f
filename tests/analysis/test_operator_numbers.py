"""The sizes and numbers that records say must be known are those that torch.export cannot do without."""

from __future__ import annotations

import re
from typing import Any

import pytest

from exportlint.analysis.torch.registry import operators
from tests.analysis.operator_samples import VARIABLES
from tests.sampling import one_in

torch = pytest.importorskip("torch")

NEEDS = {
    "logsumexp": "rows.logsumexp(1)",
    "cdist": "torch.cdist(rows, rows)",
    "roll": "rows.roll(1, 0)",
    "cummax": "rows.cummax(1)",
    "cummin": "rows.cummin(1)",
    "batch_norm": "F.batch_norm(rows, torch.zeros(4), torch.ones(4))",
    "instance_norm": "F.instance_norm(rows)",
    "cosine_similarity": "F.cosine_similarity(rows, x[:1])",
    "tensordot": "torch.tensordot(rows, rows, 3)",
    "vander": "torch.vander(rows[:, 0, 0])",
    "chunk": "rows.chunk(2)",
    "split": "rows.split(2)",
    "unbind": "rows.unbind()",
    "tensor_split": "rows.tensor_split(2)",
    "nll_loss": "F.nll_loss(x[:, :3, 0], torch.tensor([0, 1, 2]), rows[:, 0, 0])",
    "cross_entropy": "F.cross_entropy(x[:, :3, 0], torch.tensor([0, 1, 2]), rows[:, 0, 0])",
    "scaled_dot_product_attention": "F.scaled_dot_product_attention(image, keys, keys)",
}
"""A call of each operator that needs to know a size: `rows` has one that data decides, `keys` has that one in the
dimension of the keys."""

PLAIN = {
    "chunk.chunks": "x.chunk(n)",
    "round.decimals": "x.round(decimals=n)",
    "diagonal.offset": "x.diagonal(n)",
    "diagonal.dim2": "x.diagonal(0, 0, n)",
    "linalg.diagonal.offset": "torch.linalg.diagonal(x, offset=n)",
    "linalg.diagonal.dim2": "torch.linalg.diagonal(x, dim1=0, dim2=n)",
    "swapaxes.axis0": "x.swapaxes(n, 0)",
    "swapaxes.axis1": "x.swapaxes(0, n)",
    "hsplit.sections": "x.hsplit(n)",
    "vsplit.sections": "torch.cat([x, x]).vsplit(n)",
    "dsplit.sections": "torch.cat([x, x], 2).dsplit(n)",
    "tensor_split.sections": "x.tensor_split(n)",
    "Tensor.unfold.size": "x.unfold(1, n, 1)",
    "Tensor.unfold.step": "x.unfold(1, 2, n)",
    "diff.n": "x.diff(n, 1)",
    "matrix_power.n": "torch.matrix_power(s, n)",
    "polygamma.n": "torch.polygamma(n, x)",
    "rot90.k": "x.rot90(n)",
    "vander.N": "torch.vander(v, n)",
    "linspace.steps": "torch.linspace(0, 1, n)",
    "logspace.steps": "torch.logspace(0, 1, n)",
    "one_hot.num_classes": "F.one_hot(index, n)",
    "group_norm.num_groups": "F.group_norm(torch.cat([image, image, image, image], 1), n)",
    "pixel_shuffle.upscale_factor": "F.pixel_shuffle(torch.ones(2, 8, 3, 5), n)",
    "pixel_unshuffle.downscale_factor": "F.pixel_unshuffle(image, n)",
    "histc.bins": "x.histc(n)",
    "tril_indices.offset": "torch.tril_indices(3, 4, n)",
    "diag_embed.offset": "x.diag_embed(n)",
    "diagflat.offset": "x.diagflat(n)",
    "hann_window.window_length": "torch.hann_window(n)",
    "max_pool2d.kernel_size": "F.max_pool2d(image, n)",
    "avg_pool2d.kernel_size": "F.avg_pool2d(image, n)",
    "max_pool1d.stride": "F.max_pool1d(series, 2, n)",
    "max_pool2d.stride": "F.max_pool2d(image, 2, n)",
    "max_pool2d.padding": "F.max_pool2d(image, 4, 2, n)",
    "max_pool2d.dilation": "F.max_pool2d(image, 2, 2, 0, n)",
    "avg_pool2d.stride": "F.avg_pool2d(image, 2, n)",
    "avg_pool2d.padding": "F.avg_pool2d(image, 4, 2, n)",
    "nn.functional.unfold.padding": "F.unfold(image, 2, padding=n)",
    "nn.functional.unfold.dilation": "F.unfold(image, 2, dilation=n)",
    "nn.functional.fold.output_size": "F.fold(torch.ones(2, 12, 63), (n + 6, 10), 2)",
    "nn.functional.fold.padding": "F.fold(torch.ones(2, 12, 143), (8, 10), 2, padding=n)",
    "lp_pool2d.stride": "F.lp_pool2d(image, 2.0, 2, n)",
    "pad.value": "F.pad(x, (1, 1), value=n)",
    "scaled_dot_product_attention.scale": "F.scaled_dot_product_attention(image, image, image, scale=n)",
    "nn.functional.unfold.kernel_size": "F.unfold(image, n)",
    "adaptive_avg_pool1d.output_size": "F.adaptive_avg_pool1d(series, n)",
    "adaptive_max_pool1d.output_size": "F.adaptive_max_pool1d(series, n)",
    "adaptive_max_pool2d.output_size": "F.adaptive_max_pool2d(image, n)",
    "stft.n_fft": "torch.stft(x.reshape(3, 20), n, 1, n, window=torch.ones(n), return_complex=True)",
    "stft.hop_length": "torch.stft(x.reshape(3, 20), 8, n, window=torch.ones(8), return_complex=True)",
    "isclose.atol": "x.isclose(x, atol=n)",
    "isclose.rtol": "torch.isclose(x, x, n)",
    "allclose.atol": "torch.allclose(x, x, atol=n)",
    "allclose.rtol": "x.allclose(x, n)",
    "nan_to_num.nan": "x.nan_to_num(n)",
    "nan_to_num.posinf": "x.nan_to_num(posinf=n)",
    "nan_to_num.neginf": "x.nan_to_num(neginf=n)",
    "nn.functional.layer_norm.eps": "F.layer_norm(x, (5,), eps=n)",
    ".layer_norm.eps": "torch.layer_norm(x, (5,), eps=n)",
    "nn.functional.rms_norm.eps": "F.rms_norm(x, (5,), eps=n)",
    ".rms_norm.eps": "torch.rms_norm(x, (5,), eps=n)",
    "group_norm.eps": "F.group_norm(x, 2, eps=n)",
    "batch_norm.eps": "F.batch_norm(x, torch.zeros(4), torch.ones(4), eps=n)",
    "instance_norm.eps": "F.instance_norm(x, eps=n)",
    "cosine_similarity.eps": "F.cosine_similarity(x, y, eps=n)",
    "pairwise_distance.eps": "F.pairwise_distance(x, y, eps=n)",
    "gaussian_nll_loss.eps": "F.gaussian_nll_loss(x, y, y, eps=n)",
    "poisson_nll_loss.eps": "F.poisson_nll_loss(x, y, eps=n)",
    "triplet_margin_loss.eps": "F.triplet_margin_loss(x, y, y + 1, eps=n)",
    "rrelu.upper": "F.rrelu(x, 0.1, n, True)",
    "Tensor.normal_.std": "x.clone().normal_(0, n)",
    "Tensor.log_normal_.std": "x.clone().log_normal_(0, n)",
    "Tensor.uniform_.to": "x.clone().uniform_(0, n)",
    "Tensor.exponential_.lambd": "x.clone().exponential_(n)",
    "Tensor.cauchy_.sigma": "x.clone().cauchy_(0, n)",
    "cdist.p": "torch.cdist(x, y, n)",
}
"""Calls with a number that has no symbolic form."""

COMPARED = {
    "split.split_size": "x.split(n)",
    "conv2d.padding": "F.conv2d(image, torch.ones(4, 3, 2, 2), padding=n)",
    "conv2d.stride": "F.conv2d(image, torch.ones(4, 3, 2, 2), stride=n)",
    "conv2d.dilation": "F.conv2d(image, torch.ones(4, 3, 2, 2), dilation=n)",
    "adaptive_avg_pool2d.output_size": "F.adaptive_avg_pool2d(image, n)",
    "arange.step": "torch.arange(0, 12, n)",
    "norm.p": "x.norm(n)",
    "normalize.p": "F.normalize(x, n)",
    "std.correction": "x.std(1, correction=n)",
    "var.correction": "x.var(1, correction=n)",
    "interpolate.scale_factor": "F.interpolate(image, scale_factor=n)",
    "nn.functional.embedding.padding_idx": "F.embedding(index, m, n)",
    "dropout.p": "F.dropout(x, n / 4)",
    "bernoulli.p": "x.bernoulli(n / 4)",
    "quantile.q": "x.quantile(n / 4)",
    "dropout1d.p": "F.dropout1d(x, n / 4)",
    "alpha_dropout.p": "F.alpha_dropout(x, n / 4, True)",
    "softshrink.lambd": "F.softshrink(x, n)",
    "renorm.p": "x.renorm(n, 0, 1.0)",
    "Tensor.geometric_.p": "x.clone().geometric_(n / 4)",
    "hardtanh.min_val": "F.hardtanh(x, n - 3)",
    "hardtanh.max_val": "F.hardtanh(x, max_val=n)",
    "logit.eps": "x.logit(n / 9)",
    "gumbel_softmax.eps": "F.gumbel_softmax(x, eps=n)",
    "cross_entropy.label_smoothing": "F.cross_entropy(m, torch.zeros(4).long(), label_smoothing=n / 4)",
}
"""Calls with a number that is compared with others."""

DECIDE = {"split.split_size", "interpolate.scale_factor"}
"""Those of which a size that varies decides more: the number of results, the overload."""

PASS = ("rows.softmax(1)", "keys.relu()", "x * n", "x * number", "x[:number]")
"""What shows that it is not the sizes and numbers themselves that torch.export refuses."""


def raises(expression: str) -> bool:
    """Whether torch.export refuses a model: `n` is a size that is to vary, `number` is read from a tensor."""

    def forward(x: Any, z: Any) -> Any:
        scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
        exec("\n".join(line for line in VARIABLES.splitlines() if not line.startswith("nested")), scope)
        scope["rows"] = x[x[:, 0, 0] > 0]
        scope["keys"] = scope["image"][:, :, torch.nonzero(z)[:, 0]]
        scope |= {"x": x, "n": z.shape[0], "number": z.sum().item()}
        return eval(expression, scope)

    model = torch.nn.Module()
    model.forward = forward
    inputs = torch.ones(3, 4, 5), torch.ones(2, dtype=torch.int64)
    model(*inputs)
    try:
        torch.export.export(model, inputs, dynamic_shapes=({}, {0: torch.export.Dim.DYNAMIC}), strict=False)
    except Exception:
        return True
    return False


def parameters(kind: str) -> set[str]:
    return {f"{record.name}.{parameter}" for record in operators() for parameter in getattr(record, kind)}


@pytest.mark.parametrize("expression", PASS)
def test_torch_traces_sizes_and_numbers(expression: str) -> None:
    assert not raises(expression)


def test_every_need_has_a_call() -> None:
    assert NEEDS.keys() == {record.name for record in operators() if record.needs}


@pytest.mark.parametrize("name", one_in(8, NEEDS))
def test_a_size_that_must_be_known_may_not_come_from_data(name: str) -> None:
    assert raises(NEEDS[name])


def test_calls_are_of_what_records_state() -> None:
    assert PLAIN.keys() <= parameters("plain")
    assert COMPARED.keys() <= parameters("compared")


@pytest.mark.parametrize("name", one_in(9, PLAIN))
def test_a_plain_number_may_not_be_a_size(name: str) -> None:
    assert raises(PLAIN[name])


@pytest.mark.parametrize("name", one_in(12, COMPARED))
def test_a_number_that_is_compared_may_be_a_size_and_not_data(name: str) -> None:
    assert raises(re.sub(r"\bn\b", "number", COMPARED[name]))
    assert raises(COMPARED[name]) == (name in DECIDE)
