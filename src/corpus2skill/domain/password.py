"""What a password must be. There are no rules of composition: they make passwords worse (NIST SP 800-63B)."""

from __future__ import annotations

import unicodedata

from corpus2skill.domain.people import name_key
from corpus2skill.errors import InvalidInput

LEAST = 12
MOST = 1000
"""Characters."""


def password_as_kept(password: str) -> str:
    """The same characters, however the keyboard composed them or how wide it made them."""
    return unicodedata.normalize("NFKC", password)


def check_password(password: str, name: str) -> None:
    """Raises: InvalidInput: the password is too short, too long, or is the name."""
    length = len(password_as_kept(password))
    if length < LEAST:
        raise InvalidInput("password_short", least=LEAST, came=length)
    if length > MOST:
        raise InvalidInput("password_long", most=MOST)
    if not name_key(password).replace(name_key(name), "").strip():
        raise InvalidInput("password_is_name")
