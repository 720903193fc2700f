"""BLIP of transformers, with one small layer in each half."""

from torch import nn
from transformers import BlipConfig, BlipForConditionalGeneration


def model() -> nn.Module:
    text = {
        "vocab_size": 60, "hidden_size": 16, "encoder_hidden_size": 16, "intermediate_size": 16, "projection_dim": 16,
        "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 20,
        "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "sep_token_id": 2, "use_cache": False,
    }  # fmt: skip
    vision = {
        "hidden_size": 16, "intermediate_size": 16, "projection_dim": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "image_size": 32, "patch_size": 8,
    }  # fmt: skip
    return BlipForConditionalGeneration(BlipConfig(text_config=text, vision_config=vision)).eval()
