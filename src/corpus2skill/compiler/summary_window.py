"""Whether every chunk's calls fit into the model's window; asked before anything is paid."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from corpus2skill.compiler.summary_call import language_of, material_of, tokens_beside
from corpus2skill.domain.chunk import Chunk
from corpus2skill.domain.language import Language
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.errors import UnusableSettings

_LEAST_LIMIT = 200
"""Characters of a chunk below which smaller ones are no way out."""


def check_window(chunks: Iterable[Chunk], window: int) -> None:
    """See that the calls for every chunk, those that ask again too, fit into a window of so many tokens.

    Raises:
        UnusableSettings: one does not; the smallest window and the largest chunks that do are named.
    """
    largest: Chunk | None = None
    needed, beside, density = window, 0, 0.0
    for chunk in chunks:
        tokens, material = upper_tokens(chunk.text), upper_tokens(material_of(chunk))
        around = _beside(language_of(chunk), chunk.is_choices_only) + material - tokens
        beside, density = max(beside, around), max(density, tokens / max(len(chunk.text), 1))
        if around + tokens > needed:
            largest, needed = chunk, around + tokens
    if largest is None:
        return
    limit = int((window - beside - 1) / density) if density else 0
    if limit < _LEAST_LIMIT:
        raise UnusableSettings("window_below_prompt", window=window, needed=needed)
    raise UnusableSettings(
        "chunks_over_window",
        window=window,
        needed=needed,
        chunk=largest.chunk_id,
        source=largest.source,
        chunk_limit=limit,
    )


@cache
def _beside(language: Language, is_choices_only: bool) -> int:
    return tokens_beside(language, is_choices_only=is_choices_only)
