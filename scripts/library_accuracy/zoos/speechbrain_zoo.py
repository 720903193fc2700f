"""Models and layers of speechbrain, with few channels."""

from collections.abc import Iterator
from typing import Any

FRAMES = "float32[2, 20, 16]"


def cases() -> Iterator[dict[str, Any]]:
    """One case for each."""
    for name, keywords, inputs in (
        ("lobes.models.ECAPA_TDNN:ECAPA_TDNN", {"input_size": 16, "channels": [8, 8, 8, 8, 24], "attention_channels": 8,
         "se_channels": 8, "lin_neurons": 8, "res2net_scale": 4}, [FRAMES]),
        ("lobes.models.Xvector:Xvector", {"in_channels": 16, "tdnn_channels": [8] * 5, "lin_neurons": 8}, [FRAMES]),
        ("lobes.models.CRDNN:CRDNN", {"input_shape": [2, 20, 16], "cnn_channels": [4, 4], "rnn_neurons": 8, "dnn_neurons": 8}, [FRAMES]),
        ("lobes.models.ContextNet:ContextNet", {"input_shape": [2, 20, 16], "out_channels": 8, "conv_channels": [8] * 3,
         "kernel_size": 3, "strides": [1, 2, 1], "num_blocks": 3, "num_layers": 1}, [FRAMES]),
        ("lobes.models.VanillaNN:VanillaNN", {"input_shape": [2, 20, 16], "dnn_neurons": 8}, [FRAMES]),
        ("lobes.models.RNNLM:RNNLM", {"output_neurons": 20, "embedding_dim": 8, "rnn_neurons": 8, "dnn_neurons": 8}, ["int64[2, 12] < 20"]),
        ("lobes.models.EnhanceResnet:EnhanceResnet", {"n_fft": 64, "hop_length": 16, "win_length": 64, "sample_rate": 8000}, ["float32[2, 800]"]),
        ("lobes.models.Cnn14:Cnn14", {"mel_bins": 16, "emb_dim": 32}, ["float32[2, 96, 16]"]),
        ("lobes.models.convolution:ConvolutionFrontEnd", {"input_shape": [2, 20, 16], "out_channels": [4, 4], "num_blocks": 2,
         "kernel_sizes": [3, 3], "strides": [1, 1], "residuals": [False, False]}, [FRAMES]),
        ("lobes.models.HifiGAN:HifiganGenerator", {"in_channels": 16, "out_channels": 1, "resblock_type": "1",
         "resblock_dilation_sizes": [[1, 3]], "resblock_kernel_sizes": [3], "upsample_kernel_sizes": [4],
         "upsample_initial_channel": 8, "upsample_factors": [2]}, ["float32[2, 16, 20]"]),
        ("lobes.features:Fbank", {"n_mels": 16, "n_fft": 64}, ["float32[2, 1600]"]),
        ("lobes.features:MFCC", {"n_mels": 16, "n_mfcc": 8, "n_fft": 64}, ["float32[2, 1600]"]),
        ("lobes.models.transformer.Transformer:TransformerEncoder", {"num_layers": 2, "nhead": 2, "d_ffn": 16, "d_model": 16}, [FRAMES]),
        ("lobes.models.transformer.Conformer:ConformerEncoder", {"num_layers": 1, "d_model": 16, "d_ffn": 16, "nhead": 2,
         "kernel_size": 3, "attention_type": "regularMHA"}, [FRAMES]),
        ("lobes.models.transformer.Branchformer:BranchformerEncoder", {"num_layers": 1, "d_model": 16, "nhead": 2,
         "kernel_size": 3, "attention_type": "regularMHA", "csgu_linear_units": 16}, [FRAMES]),
        ("nnet.RNN:LSTM", {"hidden_size": 8, "input_size": 16}, [FRAMES]),
        ("nnet.RNN:GRU", {"hidden_size": 8, "input_size": 16}, [FRAMES]),
        ("nnet.RNN:RNN", {"hidden_size": 8, "input_size": 16}, [FRAMES]),
        ("nnet.RNN:LiGRU", {"hidden_size": 8, "input_shape": [2, 20, 16]}, [FRAMES]),
        ("nnet.RNN:QuasiRNN", {"hidden_size": 8, "input_shape": [2, 20, 16], "num_layers": 1, "bidirectional": False}, [FRAMES]),
        ("nnet.CNN:Conv1d", {"out_channels": 8, "kernel_size": 3, "in_channels": 16}, [FRAMES]),
        ("nnet.CNN:Conv2d", {"out_channels": 8, "kernel_size": [3, 3], "in_channels": 4}, ["float32[2, 20, 16, 4]"]),
        ("nnet.CNN:SincConv", {"out_channels": 8, "kernel_size": 11, "in_channels": 1}, ["float32[2, 400]"]),
        ("nnet.CNN:DepthwiseSeparableConv1d", {"out_channels": 8, "kernel_size": 3, "input_shape": [2, 20, 16]}, [FRAMES]),
        ("nnet.linear:Linear", {"n_neurons": 8, "input_size": 16}, [FRAMES]),
        ("nnet.normalization:BatchNorm1d", {"input_size": 16}, [FRAMES]),
        ("nnet.normalization:LayerNorm", {"input_size": 16}, [FRAMES]),
        ("nnet.normalization:InstanceNorm1d", {"input_size": 16}, [FRAMES]),
        ("nnet.pooling:Pooling1d", {"pool_type": "max", "kernel_size": 2}, [FRAMES]),
        ("nnet.pooling:StatisticsPooling", {}, [FRAMES]),
        ("nnet.attention:MultiheadAttention", {"nhead": 2, "d_model": 16}, [FRAMES, FRAMES, FRAMES]),
        ("nnet.attention:ContentBasedAttention", {"enc_dim": 16, "dec_dim": 8, "attn_dim": 8, "output_dim": 8},
         [FRAMES, "int64[2] < 20", "float32[2, 8]"]),
        ("nnet.embedding:Embedding", {"num_embeddings": 20, "embedding_dim": 8}, ["int64[2, 12] < 20"]),
        ("nnet.activations:Softmax", {"apply_log": True}, [FRAMES]),
        ("nnet.activations:GumbelSoftmax", {"tau": 1.0}, [FRAMES]),
        ("nnet.activations:Swish", {}, [FRAMES]),
        ("nnet.hypermixing:HyperMixing", {"input_output_dim": 16, "hypernet_size": 16}, [FRAMES, FRAMES, FRAMES]),
        ("processing.features:STFT", {"sample_rate": 8000, "n_fft": 64}, ["float32[2, 1600]"]),
        ("processing.features:Deltas", {"input_size": 16}, [FRAMES]),
        ("processing.features:ContextWindow", {"left_frames": 2, "right_frames": 2}, [FRAMES]),
        ("processing.features:InputNormalization", {}, [FRAMES, "float32[2]"]),
    ):  # fmt: skip
        yield {"model": f"speechbrain.{name}", "keywords": keywords, "inputs": inputs}
