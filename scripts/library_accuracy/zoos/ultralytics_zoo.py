"""The smallest model of each configuration of ultralytics, without its weights."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch import nn


def cases() -> Iterator[dict[str, Any]]:
    """One case for each file of the newest families first."""
    import ultralytics

    files = Path(ultralytics.__file__).parent.joinpath("cfg", "models").glob("*/*.yaml")
    skipped = (
        "yolov10b",
        "yolov10l",
        "yolov10m",
        "yolov10s",
        "yolov10x",
        "-x",
        "resnet101",
        "yolov9e",
        "yolov9c",
        "v3.",
        "v3-spp",
    )
    for file in sorted(files, key=lambda file: (file.parent.name not in ("11", "12", "26", "v8", "v10"), file.name)):
        if not any(part in file.name for part in skipped):
            yield {"model": "ultralytics_zoo:build", "arguments": [file.stem], "inputs": ["float32[2, 3, 64, 64]"]}


def build(name: str) -> nn.Module:
    """A model with three input channels."""
    from ultralytics import YOLO
    from ultralytics.nn import tasks

    if "rtdetr" in name:
        made: nn.Module = tasks.RTDETRDetectionModel(f"{name}.yaml", verbose=False)
        return made
    scaled = name.replace("yolo11", "yolo11n").replace("yolo12", "yolo12n").replace("yolo26", "yolo26n")
    scaled = scaled.replace("yolov8", "yolov8n").replace("yolov5", "yolov5n").replace("yolov6", "yolov6n")
    inner: nn.Module = YOLO(f"{scaled}.yaml").model
    return inner
