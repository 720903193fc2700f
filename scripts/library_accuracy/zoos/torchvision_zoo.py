"""Models of torchvision with small inputs: all that `list_models` has and that a small machine can build."""

from collections.abc import Iterator
from typing import Any

import torchvision.models as models

SMALL = {
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3", "maxvit_t",
    "mnasnet0_5", "mnasnet1_3", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "regnet_x_400mf",
    "regnet_y_400mf", "resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5", "shufflenet_v2_x2_0", "squeezenet1_0",
    "squeezenet1_1", "swin_t", "swin_v2_t", "vgg11", "vgg11_bn", "vit_b_16", "wide_resnet50_2",
}  # fmt: skip
"""One or two of each family: the larger ones differ in numbers only."""

VIDEO = {"mvit_v1_b": (16, 224), "mvit_v2_s": (16, 224), "s3d": (14, 224)}


def cases() -> Iterator[dict[str, Any]]:
    """Classification, segmentation, video and optical flow, smallest first."""
    for name in models.list_models(module=models):
        if name in SMALL:
            size = 299 if name == "inception_v3" else 224 if name.startswith(("vit", "maxvit")) else 64
            yield {"model": f"torchvision.models:{name}", "inputs": [f"float32[2, 3, {size}, {size}]"], **_of(name)}
    for name in models.list_models(module=models.segmentation):
        keywords = {"weights_backbone": None, "num_classes": 5}
        yield {
            "model": f"torchvision.models.segmentation:{name}",
            "keywords": keywords,
            "inputs": ["float32[2, 3, 64, 64]"],
        }
    for name in models.list_models(module=models.video):
        frames, size = VIDEO.get(name, (8, 64))
        if not name.startswith("swin3d_b"):
            yield {"model": f"torchvision.models.video:{name}", "inputs": [f"float32[2, 3, {frames}, {size}, {size}]"]}
    for name in models.list_models(module=models.optical_flow):
        yield {
            "model": f"torchvision.models.optical_flow:{name}",
            "keywords": {"progress": False},
            "inputs": ["float32[2, 3, 128, 128]", "float32[2, 3, 128, 128]"],
        }
    operators = "torchvision.ops"
    yield {"model": f"{operators}:MLP", "arguments": [8, [16, 8]], "inputs": ["float32[2, 8]"]}
    yield {"model": f"{operators}:Permute", "arguments": [[0, 2, 1]], "inputs": ["float32[2, 3, 4]"]}
    yield {"model": f"{operators}:SqueezeExcitation", "arguments": [8, 4], "inputs": ["float32[2, 8, 4, 4]"]}
    yield {"model": f"{operators}:Conv2dNormActivation", "arguments": [8, 4], "inputs": ["float32[2, 8, 4, 4]"]}
    yield {"model": f"{operators}:Conv3dNormActivation", "arguments": [8, 4], "inputs": ["float32[2, 8, 4, 4, 4]"]}
    yield {"model": f"{operators}:FrozenBatchNorm2d", "arguments": [8], "inputs": ["float32[2, 8, 4, 4]"]}
    yield {"model": f"{operators}:StochasticDepth", "arguments": [0.2, "row"], "inputs": ["float32[2, 8, 4]"]}
    yield {"model": f"{operators}:DropBlock2d", "arguments": [0.2, 3], "inputs": ["float32[2, 8, 8, 8]"]}
    yield {
        "model": "torchvision_zoo:feature_pyramid",
        "inputs": [{"high": "float32[2, 8, 16, 16]", "low": "float32[2, 16, 8, 8]"}],
    }
    yield {
        "model": "torchvision_zoo:features",
        "inputs": ["float32[2, 3, 64, 64]"],
    }


def _of(name: str) -> dict[str, Any]:
    """What makes a model small that has millions of weights in its last layers."""
    return {"keywords": {"init_weights": False}} if name in ("googlenet", "inception_v3") else {}


def feature_pyramid() -> Any:
    """A pyramid over two levels."""
    from torchvision.ops import FeaturePyramidNetwork

    return FeaturePyramidNetwork([8, 16], 8)


def features() -> Any:
    """The features of a residual network, extracted by torch.fx."""
    from torchvision.models.feature_extraction import create_feature_extractor

    return create_feature_extractor(models.resnet18(), {"layer1": "early", "layer4": "late"})
