"""Fake provider servers: Anthropic's and OpenAI's wire formats over real HTTP on loopback. See README.md."""

from __future__ import annotations

import time
from collections.abc import Mapping

from tests.fakes.providers.anthropic_dialect import AnthropicDialect
from tests.fakes.providers.batches import BatchPlan
from tests.fakes.providers.brain import rule_brain
from tests.fakes.providers.calls import Clock
from tests.fakes.providers.models import ModelCard
from tests.fakes.providers.openai_dialect import OpenAIDialect
from tests.fakes.providers.quirks import OPENAI, Quirks
from tests.fakes.providers.script import Script
from tests.fakes.providers.server import Brain, ProviderServer

KEY = "sk-fake-0123456789abcdefghijklmnop"
"""The key that the servers take unless they are told another."""


def anthropic_server(
    *,
    key: str | None = KEY,
    brain: Brain = rule_brain,
    script: Script | None = None,
    latency: float = 0.0,
    port: int = 0,
    keeps_bodies: bool = True,
    clock: Clock = time.monotonic,
    models: Mapping[str, ModelCard] | None = None,
    batch_plan: BatchPlan | None = None,
    omits_thoughts: bool = False,
) -> ProviderServer:
    """A server that speaks as Anthropic does; `async with` starts and stops it. `key` None takes every key."""
    dialect = AnthropicDialect(key=key, models=models, batch_plan=batch_plan, omits_thoughts=omits_thoughts)
    return ProviderServer(
        dialect, brain, script=script, latency=latency, port=port, keeps_bodies=keeps_bodies, clock=clock
    )


def openai_server(
    *,
    key: str | None = KEY,
    brain: Brain = rule_brain,
    script: Script | None = None,
    latency: float = 0.0,
    port: int = 0,
    keeps_bodies: bool = True,
    clock: Clock = time.monotonic,
    models: Mapping[str, ModelCard] | None = None,
    batch_plan: BatchPlan | None = None,
    quirks: Quirks = OPENAI,
) -> ProviderServer:
    """A server that speaks as OpenAI does, or as one of those that speak its format with `quirks`."""
    dialect = OpenAIDialect(key=key, models=models, batch_plan=batch_plan, quirks=quirks)
    return ProviderServer(
        dialect, brain, script=script, latency=latency, port=port, keeps_bodies=keeps_bodies, clock=clock
    )


__all__ = [
    "KEY",
    "BatchPlan",
    "Brain",
    "ModelCard",
    "ProviderServer",
    "Quirks",
    "Script",
    "anthropic_server",
    "openai_server",
]
