"""AES-256-GCM with a key that is derived from the master key."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from corpus2skill.domain.credential import Sealed
from corpus2skill.errors import Damaged, UnusableSettings

_BYTES = 32
_NONCE = 12
_HEX = 64


class AesCipher:
    """`ports.ciphers.Cipher`."""

    def __init__(self, master_key: bytes) -> None:
        self._aead = AESGCM(_derived(master_key, b"corpus2skill sealing"))
        self._key = hashlib.sha256(_derived(master_key, b"corpus2skill name")).hexdigest()[:16]

    @property
    def key(self) -> str:
        return self._key

    def seal(self, text: str, bound_to: tuple[str, ...]) -> Sealed:
        nonce = secrets.token_bytes(_NONCE)
        sealed = nonce + self._aead.encrypt(nonce, text.encode("utf-8"), _bytes_of(bound_to))
        return Sealed(key=self.key, text=base64.b64encode(sealed).decode("ascii"))

    def open(self, sealed: Sealed, bound_to: tuple[str, ...]) -> str:
        try:
            text = base64.b64decode(sealed.text, validate=True)
            return self._aead.decrypt(text[:_NONCE], text[_NONCE:], _bytes_of(bound_to)).decode("utf-8")
        except (InvalidTag, ValueError):
            pass
        raise Damaged("sealed_damaged", what=" / ".join(bound_to))  # without the cause, which has the bytes


def new_master_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(_BYTES)).decode("ascii")


def cipher_of(text: str, source: str) -> AesCipher:
    """The cipher of a master key: 32 bytes in base64 or hexadecimal.

    Raises:
        UnusableSettings: it is none; it is not shown.
    """
    key = _decoded(text)
    if key is None or len(key) != _BYTES:
        raise UnusableSettings("master_key_form", source=source)
    return AesCipher(key)


def _decoded(text: str) -> bytes | None:
    try:
        if len(text) == _HEX:
            return bytes.fromhex(text)
        plain = text.replace("-", "+").replace("_", "/").rstrip("=")
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (ValueError, binascii.Error):
        return None


def _derived(master_key: bytes, use: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=_BYTES, salt=None, info=use).derive(master_key)


def _bytes_of(bound_to: tuple[str, ...]) -> bytes:
    return json.dumps(bound_to, ensure_ascii=True).encode("ascii")
