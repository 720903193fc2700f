"""ViT and GPT-2 of transformers as an image captioner, split in two for export."""

from torch import Tensor, nn
from transformers import AutoConfig, VisionEncoderDecoderConfig, VisionEncoderDecoderModel


def both() -> nn.Module:
    vit = AutoConfig.for_model(
        "vit",
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=32,
        patch_size=8,
    )
    gpt2 = AutoConfig.for_model(
        "gpt2", vocab_size=60, n_embd=16, n_layer=1, n_head=2, n_positions=32, bos_token_id=1, eos_token_id=2
    )
    made = VisionEncoderDecoderModel(config=VisionEncoderDecoderConfig.from_encoder_decoder_configs(vit, gpt2)).eval()
    made.encoder.pooler = None
    return made


def encoder() -> nn.Module:
    return both().encoder


class Decoder(nn.Module):
    """Returns logits without the cache, whose class torch.export does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = both().decoder

    def forward(self, ids: Tensor, states: Tensor) -> Tensor:
        return self.decoder(input_ids=ids, encoder_hidden_states=states, use_cache=False, return_dict=False)[0]
