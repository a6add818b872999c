"""A call that wants one piece of text back: what a compile asks of a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.message import Message, StopReason, Usage

Purpose = Literal["summarize", "group", "place", "describe", "navigate", "trial"]
"""What a call is for. `navigate` is a question's, `trial` the doctor's; the others are a compile's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCall:
    """One call: no tools, no conversation but a fault named and asked about again."""

    purpose: Purpose
    prompt_version: str
    """Changes with the prompt's wording, e.g. `summary-1`."""
    system: str
    messages: tuple[Message, ...]
    """The question; then, where a reply could not be used, that reply and what was wrong with it."""
    schema: str
    """JSON Schema of the wanted object, as JSON text. Providers that can are held to it."""
    max_output_tokens: int
    """Of the visible reply; thinking goes on top."""
    subject: str = ""
    """Fingerprint of the one chunk that the call is about; "" where it is about many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReply:
    """What came back, unread."""

    text: str
    stop: StopReason
    usage: Usage = Usage()
