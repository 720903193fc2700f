"""Declares the operators that torchvision names at import, for a torch that its compiled library is not made for.

The library on PyPI is linked with CUDA: with torch for the CPU it does not load, and neither torchvision nor what
imports it can be imported. None of the systems calls these operators.
"""

try:
    import torch
except ImportError:  # Python runs this in every environment that a test starts
    pass
else:
    _LIBRARY = torch.library.Library("torchvision", "DEF")
    for _name in ("nms", "qnms"):
        _LIBRARY.define(f"{_name}(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
