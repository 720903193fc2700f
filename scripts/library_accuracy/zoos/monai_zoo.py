"""Networks and blocks of MONAI, in two dimensions."""

from collections.abc import Iterator
from typing import Any

IMAGE = ["float32[2, 1, 64, 64]"]
TWO = {"spatial_dims": 2, "in_channels": 1, "out_channels": 2}

NETS: dict[str, dict[str, Any]] = {
    "UNet": {**TWO, "channels": [4, 8, 16], "strides": [2, 2], "num_res_units": 1},
    "BasicUNet": {**TWO, "features": [4, 4, 8, 8, 8, 4]},
    "BasicUNetPlusPlus": {**TWO, "features": [4, 4, 8, 8, 8, 4]},
    "AttentionUnet": {**TWO, "channels": [4, 8, 16], "strides": [2, 2]},
    "SegResNet": {**TWO, "init_filters": 8},
    "SegResNetVAE": {**TWO, "input_image_size": [64, 64], "init_filters": 8},
    "SegResNetDS": {**TWO, "init_filters": 8},
    "DynUNet": {**TWO, "kernel_size": [3, 3, 3], "strides": [1, 2, 2], "upsample_kernel_size": [2, 2], "filters": [4, 8, 8]},
    "UNETR": {**TWO, "img_size": 64, "feature_size": 8, "hidden_size": 24, "mlp_dim": 32, "num_heads": 4},
    "SwinUNETR": {**TWO, "feature_size": 12},
    "ViT": {"in_channels": 1, "img_size": 32, "patch_size": 8, "hidden_size": 24, "mlp_dim": 32, "num_layers": 2,
            "num_heads": 4, "spatial_dims": 2},
    "ViTAutoEnc": {"in_channels": 1, "img_size": 32, "patch_size": 8, "hidden_size": 24, "mlp_dim": 32, "num_layers": 2,
                   "num_heads": 4, "spatial_dims": 2},
    "DenseNet121": {**TWO},
    "HighResNet": {**TWO},
    "EfficientNetBN": {"model_name": "efficientnet-b0", "spatial_dims": 2, "in_channels": 1, "pretrained": False},
    "FlexibleUNet": {"in_channels": 1, "out_channels": 2, "backbone": "efficientnet-b0", "pretrained": False},
    "AutoEncoder": {**TWO, "channels": [4, 8], "strides": [2, 2]},
    "VNet": {**TWO, "dropout_dim": 2},
    "AHNet": {"spatial_dims": 2, "in_channels": 1, "out_channels": 2, "psp_block_num": 0},
    "PatchDiscriminator": {"spatial_dims": 2, "channels": 4, "in_channels": 1, "num_layers_d": 2},
    "Regressor": {"in_shape": [1, 64, 64], "out_shape": [2], "channels": [4, 8], "strides": [2, 2]},
    "Classifier": {"in_shape": [1, 64, 64], "classes": 3, "channels": [4, 8], "strides": [2, 2]},
    "VarAutoEncoder": {"spatial_dims": 2, "in_shape": [1, 64, 64], "out_channels": 1, "latent_size": 4, "channels": [4, 8],
                       "strides": [2, 2]},
    "FullyConnectedNet": {"in_channels": 8, "out_channels": 4, "hidden_channels": [8]},
    "VQVAE": {**TWO, "channels": [8, 8], "num_res_channels": [8, 8], "num_embeddings": 8, "embedding_dim": 8},
    "AutoencoderKL": {**TWO, "num_res_blocks": [1, 1], "channels": [8, 8], "attention_levels": [False, False],
                      "norm_num_groups": 4, "latent_channels": 4},
    "Restormer": {"spatial_dims": 2, "in_channels": 1, "out_channels": 1, "dim": 8, "num_blocks": [1, 1, 1, 1],
                  "heads": [1, 1, 1, 1], "num_refinement_blocks": 1},
    "MedNeXtS": {**TWO, "init_filters": 4},
    "SEResNet50": {"spatial_dims": 2, "in_channels": 1, "num_classes": 2},
    "MaskedAutoEncoderViT": {"in_channels": 1, "img_size": 32, "patch_size": 8, "hidden_size": 24, "mlp_dim": 32,
                             "num_layers": 1, "num_heads": 4, "decoder_hidden_size": 24, "decoder_mlp_dim": 32,
                             "decoder_num_layers": 1, "decoder_num_heads": 4, "spatial_dims": 2},
}  # fmt: skip

SIZES = {"ViT": 32, "ViTAutoEnc": 32, "MaskedAutoEncoderViT": 32}


def cases() -> Iterator[dict[str, Any]]:
    """One case for each."""
    for name, keywords in NETS.items():
        size = SIZES.get(name, 64)
        inputs = ["float32[2, 8]"] if name == "FullyConnectedNet" else [f"float32[2, 1, {size}, {size}]"]
        yield {"model": f"monai.networks.nets:{name}", "keywords": keywords, "inputs": inputs}
    yield {
        "model": "monai.networks.nets:DiffusionModelUNet",
        "keywords": {**TWO, "out_channels": 1, "num_res_blocks": 1, "channels": [8, 8], "attention_levels": [False, True],
                     "norm_num_groups": 4, "num_head_channels": 4},
        "inputs": ["float32[2, 1, 16, 16]", "int64[2] < 1000"],
    }  # fmt: skip
    for name in ("DiceLoss", "FocalLoss", "TverskyLoss", "DiceCELoss", "GeneralizedDiceLoss"):
        yield {"model": f"monai.losses:{name}", "inputs": ["float32[2, 1, 8, 8]", "float32[2, 1, 8, 8]"]}
