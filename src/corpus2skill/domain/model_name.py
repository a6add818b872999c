"""Which model is meant: a provider and its name for the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["summarize", "group", "navigate"]
"""What a model is used for; each role may have a model of its own."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A language model, written `provider:model`."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"
