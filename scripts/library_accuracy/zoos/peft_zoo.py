"""The adapters of peft, each around a model of two layers."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

ADAPTERS = {
    "LoraConfig": {"r": 4},
    "LoraConfig dora": {"r": 4, "use_dora": True},
    "LoraConfig rslora": {"r": 4, "use_rslora": True},
    "LoHaConfig": {"r": 4},
    "LoKrConfig": {"r": 4},
    "IA3Config": {"feedforward_modules": []},
    "OFTConfig": {"r": 0, "oft_block_size": 4},
    "BOFTConfig": {"boft_block_size": 4},
    "VeraConfig": {"r": 4},
    "FourierFTConfig": {"n_frequency": 8},
    "HRAConfig": {"r": 4},
    "VBLoRAConfig": {"r": 4, "num_vectors": 8, "vector_length": 4},
    "LNTuningConfig": {},
    "BoneConfig": {"r": 4},
    "MissConfig": {"r": 4},
    "RandLoraConfig": {"r": 4},
    "ShiraConfig": {"r": 4},
    "C3AConfig": {"block_size": 4},
    "RoadConfig": {"group_size": 8},
    "WaveFTConfig": {"n_frequency": 8},
    "DeloraConfig": {"r": 4},
}


def cases() -> Iterator[dict[str, Any]]:
    """One case for each."""
    for name, options in ADAPTERS.items():
        yield {"model": "peft_zoo:adapted", "arguments": [name, options], "inputs": ["float32[2, 16]"]}


class Base(nn.Module):
    """What is adapted."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.second = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        """Two layers."""
        made: Tensor = self.second(self.first(x).relu())
        return made


def adapted(name: str, options: dict[str, Any]) -> nn.Module:
    """The base with an adapter on both layers."""
    import peft

    config = getattr(peft, name.split()[0])(target_modules=["first", "second"], **options)
    made: nn.Module = peft.get_peft_model(Base(), config)
    return made
