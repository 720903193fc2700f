"""Each architecture of segmentation_models_pytorch, with two small encoders."""

from collections.abc import Iterator
from typing import Any

ARCHITECTURES = (
    "Unet",
    "UnetPlusPlus",
    "MAnet",
    "Linknet",
    "FPN",
    "PSPNet",
    "DeepLabV3",
    "DeepLabV3Plus",
    "PAN",
    "UPerNet",
    "Segformer",
)


def cases() -> Iterator[dict[str, Any]]:
    """All architectures with one encoder, then with the other."""
    for encoder in ("resnet18", "mobilenet_v2"):
        for name in ARCHITECTURES:
            yield {
                "model": f"segmentation_models_pytorch:{name}",
                "keywords": {"encoder_name": encoder, "encoder_weights": None, "classes": 3},
                "inputs": ["float32[2, 3, 64, 64]"],
            }
    yield {
        "model": "segmentation_models_pytorch:DPT",
        "keywords": {"encoder_name": "tu-vit_tiny_patch16_224", "encoder_weights": None, "classes": 3},
        "inputs": ["float32[2, 3, 224, 224]"],
    }
