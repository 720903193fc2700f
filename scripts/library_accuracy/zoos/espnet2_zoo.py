"""Encoders and layers of espnet2, with few units."""

from collections.abc import Iterator
from typing import Any

FRAMES, LENGTHS = "float32[2, 40, 16]", "int64[2] >= 30 < 40"
SMALL = {"output_size": 16, "attention_heads": 2, "linear_units": 16, "num_blocks": 1}


def cases() -> Iterator[dict[str, Any]]:
    """One case for each."""
    for name, keywords in (
        ("transformer_encoder:TransformerEncoder", SMALL),
        ("conformer_encoder:ConformerEncoder", {**SMALL, "cnn_module_kernel": 3}),
        (
            "branchformer_encoder:BranchformerEncoder",
            {"output_size": 16, "attention_heads": 2, "cgmlp_linear_units": 16, "num_blocks": 1},
        ),
        ("e_branchformer_encoder:EBranchformerEncoder", {**SMALL, "cgmlp_linear_units": 16}),
        ("rnn_encoder:RNNEncoder", {"hidden_size": 8, "output_size": 8, "num_layers": 1}),
        ("vgg_rnn_encoder:VGGRNNEncoder", {"hidden_size": 8, "output_size": 8, "num_layers": 1}),
        ("longformer_encoder:LongformerEncoder", SMALL),
        ("linear_encoder:LinearEncoder", {"output_size": 16}),
    ):
        model = f"espnet2.asr.encoder.{name}"
        yield {"model": model, "keywords": {"input_size": 16, **keywords}, "inputs": [FRAMES, LENGTHS]}
    for name, keywords, inputs in (
        ("layers.stft:Stft", {"n_fft": 64, "hop_length": 16}, ["float32[2, 800]"]),
        ("layers.log_mel:LogMel", {"fs": 8000, "n_fft": 64, "n_mels": 8}, ["float32[2, 20, 33] >= 0"]),
        ("layers.utterance_mvn:UtteranceMVN", {}, [FRAMES]),
        ("layers.time_warp:TimeWarp", {}, [FRAMES]),
        ("layers.mask_along_axis:MaskAlongAxis", {}, [FRAMES]),
        (
            "enh.separator.rnn_separator:RNNSeparator",
            {"input_dim": 16, "unit": 8, "layer": 1, "num_spk": 2},
            [FRAMES, LENGTHS],
        ),
        (
            "enh.separator.tcn_separator:TCNSeparator",
            {"input_dim": 16, "layer": 2, "stack": 1, "bottleneck_dim": 8, "hidden_dim": 8},
            [FRAMES, LENGTHS],
        ),
        (
            "enh.encoder.conv_encoder:ConvEncoder",
            {"channel": 8, "kernel_size": 4, "stride": 2},
            ["float32[2, 200]", "int64[2] >= 190 < 200"],
        ),
        (
            "gan_tts.hifigan.hifigan:HiFiGANGenerator",
            {"in_channels": 16, "channels": 32, "global_channels": -1},
            ["float32[2, 16, 10]"],
        ),
    ):
        yield {"model": f"espnet2.{name}", "keywords": keywords, "inputs": inputs}
