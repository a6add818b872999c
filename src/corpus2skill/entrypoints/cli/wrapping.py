"""Where a line breaks in a terminal: between words, and in Japanese between characters that may be parted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus2skill.entrypoints.cli.output import width_of

_EAST_ASIAN = "\u2e80-\U0010ffff"
"""From here on scripts have no spaces between words, and a line may end after almost any character."""
_OPENING = "「『【〈《〔（［｛〝"
_CLOSING = "」』】〉》〕）］｝〟。、．，：；！？・ーゝゞ々〜～ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
"""Characters that no Japanese line ends with, and none begins with."""
_PIECE = re.compile(rf"\s+|[{_OPENING}]*(?:[^\s{_EAST_ASIAN}]+|.)[{_CLOSING}]*", re.DOTALL)


def wrapped(text: str, width: int, hanging: int = 0) -> Iterator[slice]:
    """Yield the part of one line of `text` that stands on each line of the screen.

    Every line but the first has `hanging` columns less: the caller indents it. The spaces at which a line
    breaks belong to no part. There is always at least one part.
    """
    start = end = used = 0
    room = width
    for piece, is_space in _pieces(text, max(width - hanging, 2)):
        size = width_of(text[piece])
        if used + size > room and end > start and not is_space:
            yield slice(start, end)
            start, used, room = piece.start, 0, width - hanging
        used += size
        if not is_space or piece.start == 0:
            end = piece.stop
    yield slice(start, max(end, start))


def _pieces(text: str, most: int) -> Iterator[tuple[slice, bool]]:
    """Yield what may not be parted, each with whether it is white space; what fits on no line is cut."""
    for match in _PIECE.finditer(text):
        if match[0].isspace() or width_of(match[0]) <= most:
            yield slice(match.start(), match.end()), match[0].isspace()
            continue
        begin = match.start()
        while begin < match.end():
            stop = begin + 1
            while stop < match.end() and width_of(text[begin : stop + 1]) <= most:
                stop += 1
            yield slice(begin, stop), False
            begin = stop
