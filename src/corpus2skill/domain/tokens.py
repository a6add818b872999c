"""How many tokens a text may be, without asking the tokenizer of its model.

The weights come from counting 1,973 pieces of 1,500 characters (Japanese statutes, terms and encyclopedia
pages; English guides) with four tokenizers that are public: o200k and cl100k of OpenAI, DeepSeek's and
Anthropic's older one. A character of Japanese was 0.69 (DeepSeek) to 1.11 (cl100k) tokens, a character of
English 0.23 to 0.25; the piece with the most had 1.28 and 0.71. Newer models of Anthropic, whose tokenizer
is not public, are said to count up to 1.35 times as many: the high weights allow for that.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.domain.money import Span

FRAME_TOKENS = 600
"""What a call may have beside its texts: roles, and the form that a provider wraps around a wanted schema."""

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz "


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weights:
    """Tokens for each Latin letter or blank, each other ASCII character, each three bytes of any other."""

    letter: float
    sign: float
    other: float


_LOW = _Weights(letter=0.19, sign=0.5, other=0.7)
_HIGH = _Weights(letter=0.30, sign=0.65, other=1.5)
_UPPER = _Weights(letter=0.5, sign=1.0, other=1.7)


def likely_tokens(text: str) -> Span:
    """Return how many tokens `text` probably is, with the models of today."""
    return Span(_weighed(text, _LOW), _weighed(text, _HIGH))


def upper_tokens(text: str) -> int:
    """Return a number that texts of documents stay below: what windows are filled by.

    No piece that was counted had more than 0.97 of it. Noise can have more (base64, rare characters only).
    """
    return round(_weighed(text, _UPPER)) + 1


def upper_prompt_tokens(*texts: str) -> int:
    """Return what a prompt of these texts (system, messages, schema) stays below, its frame counted."""
    return FRAME_TOKENS + sum(map(upper_tokens, texts))


def most_tokens(text: str) -> int:
    """Return a number that no text goes over, noise or not: what money is reserved by.

    It is the length in UTF-8. Tokenizers of today fall back on bytes, and none makes two tokens of one byte.
    """
    return len(text.encode("utf-8", "surrogatepass"))


def _weighed(text: str, weights: _Weights) -> float:
    ascii_text = text.encode("ascii", "ignore")
    signs = len(ascii_text.translate(None, _LETTERS))
    others = (most_tokens(text) - len(ascii_text)) / 3
    return (len(ascii_text) - signs) * weights.letter + signs * weights.sign + others * weights.other
