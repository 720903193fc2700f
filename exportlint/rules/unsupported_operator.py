"""EXP615 unsupported-operator: an operator that runs with real tensors only."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Call
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
NESTED = "keep the rows in one padded tensor, with a mask"
INSTEAD = {
    "torch.nested.nested_tensor": NESTED,
    "torch.nested.as_nested_tensor": NESTED,
    "torch.nested.nested_tensor_from_jagged": NESTED,
    "torch.ao.quantization.quantize_dynamic": "export the float model, and quantize the program",
    "torch.quantization.quantize_dynamic": "export the float model, and quantize the program",
    "torch.ao.nn.quantized.dynamic": "export the float model, and quantize the program",
    "torch.quantize_per_channel": "use `torch.fake_quantize_per_channel_affine`",
    "torch.linalg.lstsq": "use `torch.linalg.pinv(a) @ b`",
    "torch.nn.functional.ctc_loss": "compute the loss outside of the model",
    "torch.ctc_loss": "compute the loss outside of the model",
    "torch.combinations": "index with constants that `itertools.combinations` gives",
    "torch.lobpcg": "use `torch.linalg.eigh`",
    "torch.utils.dlpack.to_dlpack": "return the tensor, and convert it outside",
    "torch.to_dlpack": "return the tensor, and convert it outside",
    "torch.Tensor.to_mkldnn": "leave the layout to the runtime",
    "torch.Tensor.apply_": "use operators of torch",
    "torch.Tensor.map_": "use operators of torch",
}


@rule("EXP615", "unsupported-operator", Call)
def unsupported_operator(fact: Call, context: Context) -> Iterator[Report]:
    """`torch.nested.nested_tensor([a, b])`, `torch.linalg.lstsq(a, b)`."""
    severity = context.severity(CLAIM)
    instead = INSTEAD.get(fact.name)
    if severity is None or fact.guarded or instead is None:
        return
    name = fact.name.rpartition(".")[2]
    what = "a dynamically quantized module" if name == "dynamic" else f"`{name}`"
    yield Report(severity, f"{what} has no implementation for the tensors that torch.export traces with", instead)
