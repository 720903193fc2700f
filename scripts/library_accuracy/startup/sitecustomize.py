"""Runs when Python starts in an environment to measure: imports what is measured once, and not in each run.

torchvision's compiled library on PyPI is linked with CUDA: with torch for the CPU it does not load, and neither
torchvision nor what imports it can be imported. Where that is so, `EXPORTLINT_DECLARE` has the operators declared that
are named at import; models that call them do not run.
"""

import contextlib
import importlib
import os

_PRELOAD = os.environ.get("EXPORTLINT_PRELOAD", "")

if _PRELOAD:
    with contextlib.suppress(ImportError):
        import torch

        if os.environ.get("EXPORTLINT_DECLARE"):
            _LIBRARY = torch.library.Library("torchvision", "DEF")
            for _name in ("nms", "qnms"):
                _LIBRARY.define(f"{_name}(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
    for _module in _PRELOAD.split(","):
        with contextlib.suppress(Exception):
            importlib.import_module(_module)
