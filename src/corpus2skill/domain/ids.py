"""Names with rules: corpora, slugs, chunk and doc ids, node paths."""

from __future__ import annotations

import re

ROOT_PATH = "SKILL.md"
SUMMARY_FILE = "SKILL.md"

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DOC_ID = re.compile(r"doc_chunk_([1-9][0-9]{0,11})")
_CORPUS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

SLUG_LIMIT = 48
CORPUS_LIMIT = 64
_RESERVED = frozenset(
    {"skill", "con", "prn", "aux", "nul", "scripts", "references", "assets"}
    | {f"{device}{n}" for device in ("com", "lpt") for n in range(10)}
)
"""Names that Windows or an Agent Skill folder gives a meaning of its own."""


def is_slug(text: str) -> bool:
    """True for `[a-z0-9-]`, 1 to 48 characters, no hyphen at an edge or doubled, not reserved."""
    return len(text) <= SLUG_LIMIT and bool(_SLUG.fullmatch(text)) and text not in _RESERVED


def is_corpus_name(text: str) -> bool:
    """True for a name that can be a folder and an Agent Skill name (agentskills.io: 1 to 64 characters)."""
    return len(text) <= CORPUS_LIMIT and bool(_CORPUS.fullmatch(text)) and text not in _RESERVED


def slugify(text: str, fallback: str) -> str:
    """Return the slug nearest to `text`, or `fallback` where nothing of it can be kept."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:SLUG_LIMIT]
        if len(longer) > SLUG_LIMIT:
            break
        slug = longer
    return slug if slug and is_slug(slug) else fallback


def unique_slug(slug: str, taken: set[str] | frozenset[str]) -> str:
    """Return `slug`, or `slug-2`, `slug-3`, ... until it is not in `taken`; never longer than the limit."""
    if slug not in taken:
        return slug
    number = 2
    while True:
        tail = f"-{number}"
        candidate = slug[: SLUG_LIMIT - len(tail)].rstrip("-") + tail
        if candidate not in taken:
            return candidate
        number += 1


def chunk_id(number: int) -> str:
    return f"chunk_{number}"


def chunk_number(name: str) -> int | None:
    """Return N of `chunk_N` or `doc_chunk_N`, or None for any other text."""
    match = _DOC_ID.fullmatch(name if name.startswith("doc_") else f"doc_{name}")
    return int(match[1]) if match else None


def is_doc_id(text: str) -> bool:
    return bool(_DOC_ID.fullmatch(text))


def leaf_file(doc_id: str) -> str:
    return f"{doc_id}.md"


def is_node_path(path: str) -> bool:
    """True for a canonical node path: slugs, then `SKILL.md` or `doc_chunk_N.md`.

    Everything that could leave the tree (`..`, an absolute path, a backslash, NUL, `%2e`) fails here by
    its characters, before any file is touched.
    """
    *folders, name = path.split("/")
    is_name = name == SUMMARY_FILE or (name.endswith(".md") and is_doc_id(name[:-3]))
    return is_name and all(is_slug(folder) for folder in folders)
