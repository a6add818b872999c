"""What browsers fetch once: scripts, the style sheet, drawings, and each language's sentences as a script.

All of it lies below an address with a digest of its content, so that it may be kept for ever.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from corpus2skill.messages import LANGUAGES, messages_below

_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_SPOKEN = ("outcome.", "verdict.")
"""Sentences beside those of the screens (`ui.`) that a screen says by their full key. The server says the others."""
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*[\s\S]*?\*/[ \t]*)\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StaticFile:
    media_type: str
    content: bytes
    packed: bytes
    """The same, gzipped."""


@cache
def static_files() -> dict[str, StaticFile]:
    """By path below the address of this build."""
    read = dict(_read(resources.files("corpus2skill.entrypoints.web") / "static", ""))
    for language in LANGUAGES:
        read[f"messages.{language}.js"] = _sentences(language).encode("utf-8")
    return {
        name: StaticFile(_media_type(name), content, gzip.compress(content, 9, mtime=0))
        for name, content in read.items()
    }


@cache
def build() -> str:
    """A digest of everything that is served."""
    whole = hashlib.sha256()
    for name, file in sorted(static_files().items()):
        whole.update(f"{name}\0{len(file.content)}\0".encode())
        whole.update(file.content)
    return whole.hexdigest()[:12]


def _read(folder: Traversable, above: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        name = f"{above}{item.name}"
        if item.is_dir():
            found.extend(_read(item, f"{name}/"))
        elif _suffix(name) in _TYPES:
            found.append((name, _lean(item.read_bytes()) if _suffix(name) == ".js" else item.read_bytes()))
    return found


def _lean(script: bytes) -> bytes:
    """Without whole lines of comment and without indentation: a seventh less to send.

    Lines stay lines, and no text of ours is broken over several.
    """
    return _INDENT.sub("", _COMMENT.sub("", script.decode("utf-8"))).encode("utf-8")


def _sentences(language: str) -> str:
    said = {
        name.removeprefix("ui."): text for name, text in messages_below(language, ("ui.", *_SPOKEN)).items()
    }
    return f"export default {json.dumps(said, ensure_ascii=False, sort_keys=True)};\n"


def _media_type(name: str) -> str:
    return f"{_TYPES[_suffix(name)]}; charset=utf-8"


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]
