"""SAM 2 of transformers, with five small blocks: a method of the model, and masks for points on an image."""

from collections.abc import Callable

from torch import Tensor, nn
from transformers import (
    Sam2Config,
    Sam2HieraDetConfig,
    Sam2MaskDecoderConfig,
    Sam2Model,
    Sam2PromptEncoderConfig,
    Sam2VisionConfig,
)


def model() -> Sam2Model:
    stages = {
        "blocks_per_stage": [1, 1, 2, 1], "embed_dim_per_stage": [8, 16, 32, 64],
        "num_attention_heads_per_stage": [1, 1, 2, 2], "global_attention_blocks": [3],
        "window_size_per_stage": [8, 4, 14, 7],
    }  # fmt: skip
    backbone = Sam2HieraDetConfig(hidden_size=8, image_size=[64, 64], num_attention_heads=1, **stages)
    vision = Sam2VisionConfig(
        backbone_config=backbone, backbone_channel_list=[64, 32, 16, 8], fpn_hidden_size=16,
        backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]],
    )  # fmt: skip
    prompts = Sam2PromptEncoderConfig(hidden_size=16, image_size=64, patch_size=16, mask_input_channels=4)
    masks = Sam2MaskDecoderConfig(
        hidden_size=16, mlp_dim=32, num_attention_heads=2, iou_head_hidden_dim=16, attention_downsample_rate=1
    )
    config = Sam2Config(vision_config=vision, prompt_encoder_config=prompts, mask_decoder_config=masks)
    return Sam2Model(config).eval()


def method() -> Callable[..., object]:
    return model().get_image_embeddings


class Prompted(nn.Module):
    """Gives the masks for points on an image."""

    def __init__(self) -> None:
        super().__init__()
        self.model = model()

    def forward(self, image: Tensor, points: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        masks = self.model(pixel_values=image, input_points=points, input_labels=labels)
        return masks.pred_masks, masks.iou_scores
