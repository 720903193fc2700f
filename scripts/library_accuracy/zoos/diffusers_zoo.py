"""Transformers, U-Nets and autoencoders of diffusers with tiny configurations."""

from collections.abc import Iterator
from typing import Any

DOWN, UP = ["DownBlock2D", "CrossAttnDownBlock2D"], ["CrossAttnUpBlock2D", "UpBlock2D"]
UNET = {"block_out_channels": [8, 8], "layers_per_block": 1, "norm_num_groups": 4, "sample_size": 16}
LATENT, TIME, TEXT = "float32[2, 4, 16, 16]", "int64[2] < 1000", "float32[2, 6, 8]"
VAE = {"block_out_channels": [8, 8], "norm_num_groups": 4, "latent_channels": 4}
HEADS = {"num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 1}


def cases() -> Iterator[dict[str, Any]]:
    """One case for each."""
    yield _case(
        "UNet2DModel",
        {**UNET, "down_block_types": ["DownBlock2D", "AttnDownBlock2D"], "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
         "in_channels": 4, "out_channels": 4, "attention_head_dim": 4},
        [LATENT, TIME],
    )  # fmt: skip
    yield _case(
        "UNet2DConditionModel",
        {**UNET, "down_block_types": DOWN, "up_block_types": UP, "cross_attention_dim": 8, "attention_head_dim": 2},
        [LATENT, TIME, TEXT],
    )
    yield _case(
        "UNet1DModel",
        {
            "block_out_channels": [8, 8, 8],
            "in_channels": 4,
            "out_channels": 4,
            "extra_in_channels": 16,
            "sample_size": 32,
        },
        ["float32[2, 4, 32]", "int64[2] < 1000"],
    )
    yield _case(
        "ControlNetModel",
        {"block_out_channels": [8, 8], "layers_per_block": 1, "norm_num_groups": 4, "down_block_types": DOWN,
         "cross_attention_dim": 8, "attention_head_dim": 2, "conditioning_embedding_out_channels": [4, 8]},
        [LATENT, TIME, TEXT, "float32[2, 3, 32, 32]"],
    )  # fmt: skip
    two = {"down_block_types": ["DownEncoderBlock2D"] * 2, "up_block_types": ["UpDecoderBlock2D"] * 2}
    yield _case("AutoencoderKL", {**VAE, **two}, ["float32[2, 3, 16, 16]"])
    yield _case(
        "AutoencoderTiny",
        {"encoder_block_out_channels": [8, 8, 8, 8], "decoder_block_out_channels": [8, 8, 8, 8]},
        ["float32[2, 3, 32, 32]"],
    )
    yield _case("VQModel", {"block_out_channels": [8, 8], "norm_num_groups": 4, **two}, ["float32[2, 3, 16, 16]"])
    yield _case(
        "AsymmetricAutoencoderKL",
        {
            "norm_num_groups": 4,
            "down_block_out_channels": [8, 8],
            "up_block_out_channels": [8, 8],
            "layers_per_down_block": 1,
            "layers_per_up_block": 1,
            **two,
        },
        ["float32[2, 3, 16, 16]"],
    )
    yield _case(
        "DiTTransformer2DModel",
        {**HEADS, "sample_size": 16, "in_channels": 4, "norm_num_groups": 4, "num_embeds_ada_norm": 10},
        [LATENT, TIME, "int64[2] < 10"],
    )
    yield _case("Transformer2DModel", {**HEADS, "in_channels": 16, "norm_num_groups": 4}, ["float32[2, 16, 8, 8]"])
    yield _case(
        "PixArtTransformer2DModel",
        {**HEADS, "sample_size": 16, "caption_channels": 8, "cross_attention_dim": 16},
        {
            "keywords": {
                "hidden_states": LATENT,
                "encoder_hidden_states": TEXT,
                "timestep": TIME,
                "added_cond_kwargs": {"resolution": "float32[2, 2]", "aspect_ratio": "float32[2, 1]"},
            }
        },
    )
    yield _case(
        "PriorTransformer",
        {**HEADS, "embedding_dim": 16, "num_embeddings": 7},
        ["float32[2, 16]", TIME, "float32[2, 16]", "float32[2, 7, 16]"],
    )
    yield _case(
        "SD3Transformer2DModel",
        {
            **HEADS,
            "sample_size": 16,
            "in_channels": 4,
            "out_channels": 4,
            "joint_attention_dim": 8,
            "caption_projection_dim": 16,
            "pooled_projection_dim": 8,
            "pos_embed_max_size": 16,
        },
        [LATENT, TEXT, "float32[2, 8]", TIME],
    )
    yield _case(
        "FluxTransformer2DModel",
        {
            **HEADS,
            "num_single_layers": 1,
            "in_channels": 4,
            "joint_attention_dim": 8,
            "pooled_projection_dim": 8,
            "axes_dims_rope": [2, 2, 4],
        },
        {
            "keywords": {
                "hidden_states": "float32[2, 16, 4]",
                "encoder_hidden_states": TEXT,
                "pooled_projections": "float32[2, 8]",
                "timestep": "float32[2]",
                "img_ids": "float32[16, 3]",
                "txt_ids": "float32[6, 3]",
            }
        },
    )
    yield _case(
        "AuraFlowTransformer2DModel",
        {
            "sample_size": 16,
            "num_mmdit_layers": 1,
            "num_single_dit_layers": 1,
            "attention_head_dim": 8,
            "num_attention_heads": 2,
            "joint_attention_dim": 8,
            "caption_projection_dim": 16,
        },
        [LATENT, TEXT, "float32[2]"],
    )
    yield _case(
        "SanaTransformer2DModel",
        {
            **HEADS,
            "sample_size": 16,
            "in_channels": 4,
            "out_channels": 4,
            "num_cross_attention_heads": 2,
            "cross_attention_head_dim": 8,
            "cross_attention_dim": 16,
            "caption_channels": 8,
        },
        [LATENT, TEXT, TIME],
    )
    yield _case(
        "CogVideoXTransformer3DModel",
        {
            **HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "time_embed_dim": 8,
            "text_embed_dim": 8,
            "sample_width": 16,
            "sample_height": 16,
            "sample_frames": 9,
            "max_text_seq_length": 6,
        },
        ["float32[2, 3, 4, 16, 16]", TEXT, TIME],
    )
    yield _case(
        "LatteTransformer3DModel",
        {
            **HEADS,
            "in_channels": 4,
            "out_channels": 8,
            "sample_size": 16,
            "patch_size": 2,
            "caption_channels": 8,
            "cross_attention_dim": 16,
            "norm_type": "ada_norm_single",
            "video_length": 2,
        },
        ["float32[2, 4, 2, 16, 16]", TIME, TEXT],
    )
    yield _case(
        "WanTransformer3DModel",
        {
            **HEADS,
            "attention_head_dim": 12,
            "in_channels": 4,
            "out_channels": 4,
            "text_dim": 8,
            "freq_dim": 16,
            "ffn_dim": 16,
            "cross_attn_norm": True,
            "rope_max_seq_len": 32,
        },
        ["float32[2, 4, 2, 16, 16]", TIME, TEXT],
    )
    yield _case(
        "MochiTransformer3DModel",
        {
            **HEADS,
            "pooled_projection_dim": 16,
            "in_channels": 4,
            "text_embed_dim": 8,
            "time_embed_dim": 4,
            "activation_fn": "swiglu",
            "max_sequence_length": 6,
        },
        ["float32[2, 4, 2, 16, 16]", TEXT, TIME, "int64[2, 6] < 2"],
    )
    yield _case(
        "StableAudioDiTModel",
        {
            "sample_size": 8,
            "in_channels": 4,
            "num_layers": 1,
            "attention_head_dim": 8,
            "num_attention_heads": 2,
            "num_key_value_attention_heads": 2,
            "out_channels": 4,
            "cross_attention_dim": 8,
            "time_proj_dim": 8,
            "global_states_input_dim": 8,
            "cross_attention_input_dim": 8,
        },
        ["float32[2, 4, 8]", TIME, TEXT, "float32[2, 1, 8]"],
    )
    yield _case(
        "T5FilmDecoder",
        {"input_dims": 8, "targets_length": 8, "d_model": 16, "num_layers": 1, "num_heads": 2, "d_kv": 8, "d_ff": 16},
        {
            "keywords": {
                "encodings_and_masks": [["float32[2, 6, 16]", "int64[2, 6] < 2"]],
                "decoder_input_tokens": "float32[2, 8, 8]",
                "decoder_noise_time": "float32[2]",
            }
        },
    )
    for name, keywords, inputs in (
        (
            "attention:BasicTransformerBlock",
            {"dim": 16, "num_attention_heads": 2, "attention_head_dim": 8},
            ["float32[2, 6, 16]"],
        ),
        ("attention:FeedForward", {"dim": 16}, ["float32[2, 6, 16]"]),
        ("attention_processor:Attention", {"query_dim": 16, "heads": 2, "dim_head": 8}, ["float32[2, 6, 16]"]),
        (
            "resnet:ResnetBlock2D",
            {"in_channels": 8, "temb_channels": 8, "groups": 4},
            ["float32[2, 8, 8, 8]", "float32[2, 8]"],
        ),
        ("resnet:Downsample2D", {"channels": 8, "use_conv": True}, ["float32[2, 8, 8, 8]"]),
        ("resnet:Upsample2D", {"channels": 8, "use_conv": True}, ["float32[2, 8, 8, 8]"]),
        ("embeddings:TimestepEmbedding", {"in_channels": 8, "time_embed_dim": 16}, ["float32[2, 8]"]),
        (
            "embeddings:PatchEmbed",
            {"height": 16, "width": 16, "patch_size": 2, "in_channels": 4, "embed_dim": 16},
            [LATENT],
        ),
        ("embeddings:GaussianFourierProjection", {"embedding_size": 8}, ["float32[2] >= 1"]),
        (
            "normalization:AdaLayerNorm",
            {"embedding_dim": 16, "num_embeddings": 10},
            ["float32[2, 6, 16]", "int64[] < 10"],
        ),
        ("normalization:RMSNorm", {"dim": 16, "eps": 1e-6}, ["float32[2, 6, 16]"]),
        (
            "unets.unet_2d_blocks:UNetMidBlock2D",
            {"in_channels": 8, "temb_channels": 8, "resnet_groups": 4, "attention_head_dim": 4},
            ["float32[2, 8, 8, 8]", "float32[2, 8]"],
        ),
    ):
        yield {"model": f"diffusers.models.{name}", "keywords": keywords, "inputs": inputs}


def _case(name: str, keywords: dict[str, Any], inputs: Any) -> dict[str, Any]:
    return {"model": f"diffusers:{name}", "keywords": keywords, "inputs": inputs}
