"""Models and blocks of asteroid for speech separation, with few channels."""

from collections.abc import Iterator
from typing import Any

SOUND = ["float32[2, 1, 2000]"]


def cases() -> Iterator[dict[str, Any]]:
    """One case for each."""
    for name, arguments, keywords in (
        (
            "ConvTasNet",
            [2],
            {"n_filters": 16, "n_blocks": 2, "n_repeats": 1, "bn_chan": 8, "hid_chan": 8, "skip_chan": 8},
        ),
        ("DPRNNTasNet", [2], {"n_filters": 16, "n_repeats": 1, "bn_chan": 8, "hid_size": 8, "chunk_size": 20}),
        ("DPTNet", [2], {"n_filters": 16, "n_repeats": 1, "ff_hid": 8, "chunk_size": 20, "n_heads": 2}),
        ("SuDORMRFNet", [2], {"n_filters": 16, "bn_chan": 8, "num_blocks": 1, "upsampling_depth": 2}),
        ("SuDORMRFImprovedNet", [2], {"n_filters": 16, "bn_chan": 8, "num_blocks": 1, "upsampling_depth": 2}),
        ("LSTMTasNet", [2], {"n_filters": 16, "rnn_type": "lstm", "hid_size": 8, "n_layers": 1}),
        ("DeMask", [], {}),
        ("DCCRNet", ["DCCRN-CL"], {}),
        ("DCUNet", ["DCUNet-10"], {}),
    ):
        yield {"model": f"asteroid.models:{name}", "arguments": arguments, "keywords": keywords, "inputs": SOUND}
    for name, arguments, sizes in (
        ("norms:GlobLN", [8], "2, 8, 20"),
        ("norms:ChanLN", [8], "2, 8, 20"),
        ("norms:CumLN", [8], "2, 8, 20"),
        ("norms:FeatsGlobLN", [8], "2, 8, 20"),
        ("convolutional:TDConvNet", [8, 2], "2, 8, 20"),
        ("convolutional:Conv1DBlock", [8, 8, 8, 3, 1, 1], "2, 8, 20"),
        ("recurrent:SingleRNN", ["LSTM", 8, 8], "2, 20, 8"),
        ("recurrent:DPRNN", [8, 2], "2, 8, 120"),
        ("attention:ImprovedTransformedLayer", [8, 2, 8], "2, 8, 20"),
    ):
        yield {"model": f"asteroid.masknn.{name}", "arguments": arguments, "inputs": [f"float32[{sizes}]"]}
