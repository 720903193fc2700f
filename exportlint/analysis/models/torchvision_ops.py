"""torchvision.ops: the operators that detection models call.

Measured with torchvision 0.29.1 and torch 2.14.1 in both modes.
"""

from __future__ import annotations

import ast
from math import inf

from exportlint.analysis.domain.dim import Approximation, Dim
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import Tensor, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import DATA
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.library_functions import function
from exportlint.analysis.models.externals import call_opaque

SUPPRESSED = Approximation(2, inf, None, is_data=True)
"""How many boxes `nms` keeps. It tells torch.export that these are two at least, and programs raise on fewer."""


@function("torchvision.ops.nms torchvision.ops.batched_nms torchvision.ops.boxes.nms torchvision.ops.boxes.batched_nms")
def _suppressed(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return _indices(frame, name, arguments, node, SUPPRESSED)


@function("torchvision.ops.remove_small_boxes torchvision.ops.boxes.remove_small_boxes")
def _large(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return _indices(frame, name, arguments, node, DATA)


def _indices(frame: Frame, name: str, arguments: Arguments, node: ast.AST, count: Dim) -> Value:
    """The indices of the boxes that are kept: how many, data decides."""
    if not _takes_tensor(arguments):
        return call_opaque(frame, name, arguments, node)
    return result(frame, node, name, arguments.values, "int", TensorShape((count,), 1))


@function("torchvision.ops.box_convert torchvision.ops.clip_boxes_to_image")
@function("torchvision.ops.boxes.box_convert torchvision.ops.boxes.clip_boxes_to_image")
def _converted(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    boxes = arguments.get(0, "boxes")
    if not isinstance(boxes, Tensor):
        return call_opaque(frame, name, arguments, node)
    return result(frame, node, name, (boxes,), boxes.kind, boxes.shape)


@function(
    "torchvision.ops.box_iou torchvision.ops.generalized_box_iou torchvision.ops.complete_box_iou "
    "torchvision.ops.distance_box_iou torchvision.ops.boxes.box_iou torchvision.ops.boxes.generalized_box_iou "
    "torchvision.ops.boxes.complete_box_iou torchvision.ops.boxes.distance_box_iou"
)
def _compared(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A row for each of the first boxes, with a number for each of the others."""
    one, other = arguments.get(0, "boxes1"), arguments.get(1, "boxes2")
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return call_opaque(frame, name, arguments, node)
    shape = TensorShape((one.shape.at(0), other.shape.at(0)), 2)
    return result(frame, node, name, (one, other), "float", shape)


@function("torchvision.ops.box_area torchvision.ops.boxes.box_area")
def _area(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    boxes = arguments.get(0, "boxes")
    if not isinstance(boxes, Tensor):
        return call_opaque(frame, name, arguments, node)
    return result(frame, node, name, (boxes,), boxes.kind, TensorShape((boxes.shape.at(0),)))


@function(
    "torchvision.ops.roi_align torchvision.ops.roi_pool torchvision.ops.ps_roi_align torchvision.ops.ps_roi_pool "
    "torchvision.ops.deform_conv2d torchvision.ops.sigmoid_focal_loss torchvision.ops.generalized_box_iou_loss "
    "torchvision.ops.complete_box_iou_loss torchvision.ops.distance_box_iou_loss torchvision.ops.masks_to_boxes"
)
def _made(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if not _takes_tensor(arguments):
        return call_opaque(frame, name, arguments, node)
    return result(frame, node, name, arguments.values, "float")


def _takes_tensor(arguments: Arguments) -> bool:
    return any(isinstance(value, Tensor) for value in arguments.values)
