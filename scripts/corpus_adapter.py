"""Builds models of a corpus with the builders of its harness, for `verify_corpus.py`. Runs in verify's worker."""

from __future__ import annotations

import importlib
import os
import random
import sys
from typing import Any

_example: list[tuple[tuple[Any, ...], dict[str, Any]]] = []


def model(builder: str, case: dict[str, Any]) -> Any:
    """The model of a case, in evaluation mode, as the harness makes it."""
    sys.path.append(os.environ["CORPUS_HARNESS"])
    import numpy as np
    import torch

    harness = importlib.import_module("hx")
    if not hasattr(harness, "_tvlib"):  # its operators can be defined only once
        harness.tv_stub()
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    module, _, function = builder.partition(":")
    made, arguments, keywords, *_ = getattr(importlib.import_module(module), function)(case)
    _example[:] = [(tuple(arguments), dict(keywords or {}))]
    return made


def inputs() -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What the model that was built last is called with."""
    return _example[0]
