"""What differs between reading and listening: length and wording."""

from __future__ import annotations

from typing import assert_never

from corpus2skill.domain.session import Channel


def max_output_tokens(channel: Channel) -> int:
    """Return the cap on a round's visible output. A long last answer is itself what makes a run slow."""
    match channel:
        case "text":
            return 400
        case "voice":
            return 160
        case _:
            assert_never(channel)


def is_spoken(channel: Channel) -> bool:
    """True where an answer is heard: it must be free of all that has no sound."""
    return channel == "voice"


def shows_sources(channel: Channel) -> bool:
    """True where an answer may carry numbers of sources; nobody wants to hear them."""
    return channel == "text"


def places_named(channel: Channel) -> int:
    """Return how many of the places looked at are named when the fetch limit ends a run."""
    return 8 if channel == "text" else 3
