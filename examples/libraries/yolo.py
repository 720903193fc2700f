"""YOLO11 of ultralytics for poses, in its smallest scale."""

from torch import nn
from ultralytics.nn.tasks import PoseModel


def model() -> nn.Module:
    return PoseModel("yolo11n-pose.yaml", ch=3, verbose=False).eval()
