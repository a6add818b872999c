"""Signatures of thinking blocks: whoever alters the thought breaks them."""

from __future__ import annotations

import base64
import hashlib


def sign(thought: str) -> str:
    digest = hashlib.sha512(f"fake thinking\0{thought}".encode()).digest()
    return "Eq" + base64.b64encode(digest).decode()


def is_signed(thought: str, signature: str) -> bool:
    """An omitted thought comes as empty text with the signature of what was thought: any of ours is good."""
    return signature == sign(thought) or (not thought and len(signature) == len(sign("")))
