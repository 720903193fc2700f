"""The models of transformers, each with a tiny configuration and the inputs that its `forward` names.

Many configurations have sizes that depend on each other, so several tiny ones are tried, then several inputs, in eager.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

TASKS = (
    "MODEL_MAPPING_NAMES",
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES",
    "MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES",
    "MODEL_FOR_DEPTH_ESTIMATION_MAPPING_NAMES",
    "MODEL_FOR_CTC_MAPPING_NAMES",
    "MODEL_FOR_TIME_SERIES_PREDICTION_MAPPING_NAMES",
)

LAYERS, BATCH, LENGTH, WORDS = 2, 2, 12, 99

SIZES = (
    ("hidden_size d_model n_embd dim embed_dim projection_dim", 32),
    ("num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers depth", LAYERS),
    ("num_attention_heads n_head n_heads encoder_attention_heads decoder_attention_heads num_heads", 4),
    ("intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff n_inner moe_intermediate_size", 64),
    ("num_key_value_heads", 2),
    ("head_dim", 8),
    ("num_experts n_routed_experts num_local_experts", 4),
    ("num_experts_per_tok", 2),
    ("vocab_size", WORDS),
    ("image_size", 32),
    ("patch_size", 8),
    ("n_group topk_group", 1),
)

_example: dict[str, Any] = {}


def cases() -> Iterator[dict[str, Any]]:
    """The base models first, then those for tasks."""
    known = set()
    for task in TASKS:
        for kind, names in getattr(modeling_auto, task).items():
            for name in (names,) if isinstance(names, str) else names:
                if name not in known and kind in CONFIG_MAPPING:
                    known.add(name)
                    yield {
                        "name": name,
                        "model": "transformers_zoo:build",
                        "arguments": [kind, name],
                        "inputs": "transformers_zoo:inputs",
                    }


def build(kind: str, name: str) -> torch.nn.Module:
    """A tiny model that runs on some inputs.

    Raises:
        LookupError: none does.
    """
    said: list[str] = []
    cls = getattr(transformers, name)
    for names in ([part for part, _ in SIZES], [part for part, _ in SIZES if "layers" in part or "vocab" in part]):
        try:
            config = CONFIG_MAPPING[kind]()
            shrink(config, {n: size for part, size in SIZES if part in names for n in part.split()})
            with torch.device("meta"):
                large = sum(weight.numel() for weight in cls._from_config(config).parameters()) > 60_000_000
            if large:
                said.append("too many weights")
                continue
            model = cls._from_config(config).float().eval()
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}"[:80])
            continue
        for given in candidates(model, config):
            try:
                with torch.no_grad():
                    model(**given)
            except Exception as error:
                said.append(f"{type(error).__name__}: {error}"[:80])
            else:
                _example.clear()
                _example.update(given)
                return model
    raise LookupError(" | ".join(said[-3:]))


def inputs() -> dict[str, Any]:
    """What the model that was built last ran on."""
    return _example


def shrink(config: Any, sizes: Mapping[str, int]) -> None:
    """Make a configuration tiny, with those in it."""
    known = config.to_dict()
    for name, size in sizes.items():
        if isinstance(known.get(name), int) and not isinstance(known[name], bool) and known[name] > size:
            setattr(config, name, size)
    for name, value in known.items():
        if name.endswith(("layer_types", "layers_block_type")) and isinstance(value, list):
            kinds = list(dict.fromkeys(value))
            setattr(config, name, (kinds * LAYERS)[:LAYERS])
        if name.endswith("token_id") and isinstance(value, int) and value >= WORDS:
            setattr(config, name, WORDS - 2)
    if known.get("prediction_length", 0) is None:
        config.prediction_length = 4
    if hasattr(config, "use_cache"):
        config.use_cache = False
    for part in vars(config).values():
        if isinstance(part, transformers.PretrainedConfig):
            shrink(part, sizes)


def candidates(model: torch.nn.Module, config: Any) -> Iterator[dict[str, torch.Tensor]]:
    """Inputs that a model may take, the fullest first."""
    takes = inspect.signature(model.forward).parameters
    draw = torch.Generator().manual_seed(0)
    tokens = torch.randint(5, WORDS - 5, (BATCH, LENGTH), generator=draw)
    text: dict[str, torch.Tensor] = {}
    if "input_ids" in takes:
        text["input_ids"] = tokens
    if "attention_mask" in takes and text:
        text["attention_mask"] = torch.ones(BATCH, LENGTH, dtype=torch.long)
    if "bbox" in takes:
        text["bbox"] = torch.randint(0, 50, (BATCH, LENGTH, 4), generator=draw).sort(-1).values
    answer = {"decoder_input_ids": tokens[:, :6].clone()} if "decoder_input_ids" in takes else {}
    others = (
        list(_images(takes, config, draw)) + list(_sounds(takes, config, draw)) + list(_series(takes, config, draw))
    )
    for other in others:
        yield {**text, **other, **answer}
    for other in others:
        yield {**other, **answer}
    if text:
        yield {**text, **answer}
        yield text


def _images(takes: Mapping[str, Any], config: Any, draw: torch.Generator) -> Iterator[dict[str, torch.Tensor]]:
    vision = getattr(config, "vision_config", None) or config
    own = getattr(vision, "image_size", None)
    channels = getattr(vision, "num_channels", 3)
    for size in dict.fromkeys((*([own] if isinstance(own, int) else []), 64, 224)):
        if "pixel_values" in takes:
            image = torch.randn(BATCH, channels, size, size, generator=draw)
            if "pixel_mask" in takes:
                yield {"pixel_values": image, "pixel_mask": torch.ones(BATCH, size, size, dtype=torch.long)}
            yield {"pixel_values": image}
            frames = getattr(config, "num_frames", None)
            if frames:
                yield {"pixel_values": torch.randn(BATCH, frames, channels, size, size, generator=draw)}
        if "pixel_values_videos" in takes and "input_ids" not in takes:
            frames = getattr(config, "frames_per_clip", 8)
            yield {"pixel_values_videos": torch.randn(BATCH, frames, channels, size, size, generator=draw)}


def _sounds(takes: Mapping[str, Any], config: Any, draw: torch.Generator) -> Iterator[dict[str, torch.Tensor]]:
    audio = getattr(config, "audio_config", None) or config
    bins = next((n for n in (getattr(audio, a, None) for a in ("num_mel_bins", "feature_size")) if n), 80)
    if "input_features" in takes:
        for shape in ((BATCH, 40, bins), (BATCH, bins, 3000), (BATCH, bins, 40), (BATCH, 1, 1001, bins)):
            yield {"input_features": torch.randn(shape, generator=draw)}
    if "input_values" in takes:
        for shape in ((BATCH, 2000), (BATCH, 1, 2000), (BATCH, 1024, 128), (BATCH, 40, bins)):
            yield {"input_values": torch.randn(shape, generator=draw)}


def _series(takes: Mapping[str, Any], config: Any, draw: torch.Generator) -> Iterator[dict[str, torch.Tensor]]:
    if "past_values" not in takes:
        return
    length = (getattr(config, "context_length", None) or 32) + max(getattr(config, "lags_sequence", None) or [0])
    channels = getattr(config, "num_input_channels", 1)
    features = getattr(config, "num_time_features", 0)
    for shape in ((BATCH, length, channels), (BATCH, length)):
        past = torch.rand(shape, generator=draw)
        made = {"past_values": past}
        if "past_time_features" in takes:
            made["past_time_features"] = torch.rand(BATCH, length, features, generator=draw)
        if "past_observed_mask" in takes:
            made["past_observed_mask"] = torch.ones_like(past)
        yield made
