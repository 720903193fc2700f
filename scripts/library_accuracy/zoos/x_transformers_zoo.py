"""Decoders, encoders and wrappers of x-transformers, with the options that its README shows."""

from collections.abc import Iterator
from typing import Any

from torch import nn

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"attn_flash": True},
    {"use_rmsnorm": True},
    {"use_scalenorm": True},
    {"ff_glu": True},
    {"ff_swish": True, "ff_glu": True},
    {"ff_relu_squared": True},
    {"rel_pos_bias": True},
    {"alibi_pos_bias": True, "alibi_num_heads": 2},
    {"dynamic_pos_bias": True},
    {"rotary_pos_emb": True},
    {"rotary_xpos": True},
    {"attn_talking_heads": True},
    {"attn_one_kv_head": True},
    {"attn_kv_heads": 2},
    {"attn_num_mem_kv": 4},
    {"attn_sparse_topk": 4},
    {"attn_qk_norm": True},
    {"attn_on_attn": True},
    {"attn_gate_values": True},
    {"gate_residual": True},
    {"scale_residual": True},
    {"shift_tokens": 1},
    {"sandwich_coef": 1},
    {"macaron": True},
    {"resi_dual": True},
    {"pre_norm": False},
    {"sandwich_norm": True},
)


def cases() -> Iterator[dict[str, Any]]:
    """Language models with each option, then encoders, images and both halves."""
    for kind in ("Decoder", "Encoder"):
        for options in OPTIONS:
            if kind == "Decoder" or options != {"rotary_xpos": True}:
                yield _case("language", [kind, options], ["int64[2, 16] < 50"])
    yield _case("image", [], ["float32[2, 3, 32, 32]"])
    yield _case("both_halves", [], ["int64[2, 12] < 50", "int64[2, 8] < 50"])
    yield _case("continuous", [], ["float32[2, 12, 8]"])
    yield _case("crossing", [], ["float32[2, 12, 32]", "float32[2, 6, 32]"])


def _case(name: str, arguments: list[Any], inputs: list[str]) -> dict[str, Any]:
    return {"model": f"x_transformers_zoo:{name}", "arguments": arguments, "inputs": inputs}


def language(kind: str, options: dict[str, Any]) -> nn.Module:
    """A language model."""
    import x_transformers

    layers = getattr(x_transformers, kind)(dim=32, depth=2, heads=4, attn_dim_head=8, **options)
    made: nn.Module = x_transformers.TransformerWrapper(num_tokens=50, max_seq_len=32, attn_layers=layers)
    return made


def image() -> nn.Module:
    """A vision transformer."""
    from x_transformers import Encoder, ViTransformerWrapper

    layers = Encoder(dim=32, depth=2, heads=4)
    made: nn.Module = ViTransformerWrapper(image_size=32, patch_size=8, num_classes=5, attn_layers=layers)
    return made


def both_halves() -> nn.Module:
    """An encoder and a decoder."""
    from x_transformers import XTransformer

    sizes = {f"{half}_{name}": size for half in ("enc", "dec") for name, size in _HALF.items()}
    made: nn.Module = XTransformer(dim=32, **sizes)
    return made


_HALF = {"num_tokens": 50, "depth": 2, "heads": 4, "max_seq_len": 32}


def continuous() -> nn.Module:
    """A model of sequences of numbers."""
    from x_transformers import ContinuousTransformerWrapper, Encoder

    layers = Encoder(dim=32, depth=2, heads=4)
    made: nn.Module = ContinuousTransformerWrapper(dim_in=8, dim_out=8, max_seq_len=32, attn_layers=layers)
    return made


def crossing() -> nn.Module:
    """Attention to another sequence."""
    from x_transformers import CrossAttender

    made: nn.Module = _Crossing(CrossAttender(dim=32, depth=2, heads=4))
    return made


class _Crossing(nn.Module):
    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, x: Any, context: Any) -> Any:
        return self.layers(x, context=context)
