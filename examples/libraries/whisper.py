"""Whisper of transformers, with one small layer in encoder and decoder."""

from torch import nn
from transformers import WhisperConfig, WhisperForConditionalGeneration


def model(use_cache: bool = True) -> nn.Module:
    config = WhisperConfig(
        vocab_size=50, num_mel_bins=8, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
        max_source_positions=20, max_target_positions=12,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3, use_cache=use_cache,
    )  # fmt: skip
    return WhisperForConditionalGeneration(config).eval()
