"""The first part of a text that is too long for what is left of a model's window."""

from __future__ import annotations

import json
import re

from corpus2skill.domain.tokens import upper_tokens

_LEAST_TOKENS_OF_A_CHARACTER = 0.5
_SENTENCE_END = re.compile(r"[。！？!?]+[」』）)\"']*|\.(?=\s)|\n")


def first_part(text: str, tokens: int) -> str:
    """Return as much of the beginning of `text` as stays below `tokens` as JSON, up to a line or sentence end.

    Where none lies in the second half of what fits, the cut is made wherever it has to be; a text that fits
    comes back whole.
    """
    fitting = _fitting(text, tokens)
    if fitting == len(text):
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, fitting)]
    return text[: ends[-1] if ends and ends[-1] >= fitting // 2 else fitting].rstrip()


def json_tokens(text: str) -> int:
    """Return what `text` stays below as a JSON string."""
    return upper_tokens(json.dumps(text, ensure_ascii=False))


def _fitting(text: str, tokens: int) -> int:
    """Return how many characters fit."""
    low, high = 0, min(len(text), max(0, int(tokens / _LEAST_TOKENS_OF_A_CHARACTER)))
    while low < high:
        middle = (low + high + 1) // 2
        if json_tokens(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low
