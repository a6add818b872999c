"""Titles, summaries and slugs of groups."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence, Set
from itertools import pairwise

from corpus2skill.adapters.offline.romaji import romanise
from corpus2skill.adapters.offline.words import HAN, HIRAGANA, KATAKANA
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT
from corpus2skill.domain.ids import is_slug, slugify
from corpus2skill.domain.language import Language
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.messages import message

_TITLE_TERMS = 3
_TITLE_NAMES = 3
_SUMMARY_TERMS = 4
_RANGE = " ～ "
_SHORT_RANGE = 26
"""Characters of a range that leaves room to say what it lies in."""
_LEAST_COMMON_ROOM = 16
"""Characters that are left for what both ends of a range begin with, if it needs so many."""
_LEAST_COMMON = 4
"""Characters that two titles must share at their beginning for it to be said once."""
_KANA_RUN = re.compile(f"[{KATAKANA}]+|(?<![{HAN}])[{HIRAGANA}]{{3,}}")
_HIRAGANA = re.compile(f"[{HIRAGANA}]+")
_WORD_START = re.compile(r"(?<=[\s:：])|(?=第)")


def range_title(around: str, first: str, last: str) -> str:
    """Return `first ～ last` in 40 characters, `around` before it where there is room.

    What the two begin with is said once.
    """
    ends = first + _RANGE + last
    if around and len(ends) <= _SHORT_RANGE:
        return f"{shortened(around, TITLE_LIMIT - len(ends) - 1)} {ends}"
    common = _common_beginning(first, last) if len(ends) > TITLE_LIMIT else ""
    if not common:
        return _joined(first, last, TITLE_LIMIT)
    room = TITLE_LIMIT - min(len(common), _LEAST_COMMON_ROOM)
    ends = _joined(first[len(common) :], last[len(common) :], room)
    return f"{shortened(common.rstrip(), TITLE_LIMIT - len(ends) - 1)} {ends}"


def names_title(names: Sequence[str], language: Language) -> str:
    """Return all of `names` as a title, "" where they are more than three or too long."""
    title = message(language, "offline.term_separator").join(names)
    return title if len(names) <= _TITLE_NAMES and len(title) <= TITLE_LIMIT else ""


def some_names_title(names: Sequence[str], language: Language, *, least: int) -> str:
    """Return the first of `names` as a title that says that there are more, "" where fewer than `least` fit."""
    separator = message(language, "offline.term_separator")
    room = TITLE_LIMIT - len(message(language, "offline.title_some", names=""))
    listed: list[str] = []
    for name in names[:_TITLE_NAMES]:
        if len(separator.join([*listed, name])) <= room:
            listed.append(name)
    if len(listed) < least:
        return "" if least > 1 else message(language, "offline.title_some", names=shortened(names[0], room))
    return message(language, "offline.title_some", names=separator.join(listed))


def terms_title(telling: Sequence[str], language: Language) -> str:
    """Return the first two or three of `telling` as a title, "" where there are none."""
    title = ""
    for term in telling[:_TITLE_TERMS]:
        longer = (
            title + message(language, "offline.term_separator") + term
            if title
            else shortened(term, TITLE_LIMIT)
        )
        if len(longer) > TITLE_LIMIT:
            break
        title = longer
    return title


def distinct_title(title: str, taken: Set[str], telling: Sequence[str], language: Language) -> str:
    """Return `title`, with a telling term or a number behind it where it is in `taken`."""
    plain = shortened(one_line(title), TITLE_LIMIT)
    tails = [message(language, "offline.title_with_term", term=term) for term in telling]
    tails += [f" ({number})" for number in range(2, len(taken) + 3)]
    candidates = [
        plain,
        *(shortened(plain, TITLE_LIMIT - len(tail)) + tail for tail in tails if len(tail) < 24),
    ]
    return next(candidate for candidate in candidates if candidate and candidate not in taken)


def group_summary(contents: Sequence[str], telling: Sequence[str], language: Language) -> str:
    """Return what is in a group and by which terms it differs from its siblings."""
    tail = _telling_sentence(telling[:_SUMMARY_TERMS], language)
    return _contents_sentence(_said_once(contents), SUMMARY_LIMIT - len(tail), language) + tail


def slug_of(title: str, number: int) -> str:
    """Return a slug from the Latin words, numbers and kana of `title`, `topic-N` where it has none."""
    fallback = f"topic-{number}"
    latin = _KANA_RUN.sub(lambda run: f" {romanise(run[0])} ", title)
    slug = slugify(_HIRAGANA.sub(" ", latin), fallback)
    if not re.search("[a-z]", slug):
        slug = f"topic-{slug}"
    return slug if is_slug(slug) else fallback


def _common_beginning(first: str, last: str) -> str:
    """What both begin with, up to the start of a word; "" where it is not worth saying once."""
    common = os.path.commonprefix((first, last))  # noqa: RUF071 (characters are what is meant)
    starts = {match.end() for match in _WORD_START.finditer(first[: len(common) + 1])}
    both = starts & {match.end() for match in _WORD_START.finditer(last[: len(common) + 1])}
    end = max((at for at in both if at <= len(common)), default=0)
    return common[:end] if end >= _LEAST_COMMON else ""


def _joined(first: str, last: str, limit: int) -> str:
    room = limit - len(_RANGE)
    end = shortened(last, max(room // 2, room - len(first)))
    return shortened(first, room - len(end)) + _RANGE + end


def _said_once(contents: Sequence[str]) -> list[str]:
    """Each of `contents` once, without the name of document or law that the one before begins with too."""
    told = list(dict.fromkeys(one_line(content) for content in contents))
    return [*told[:1], *(short for before, content in pairwise(told) if (short := _short(before, content)))]


def _short(before: str, content: str) -> str:
    common = _common_beginning(before, content)
    rest = content[len(common) :]
    return rest if rest.startswith("第") or common.rstrip().endswith((":", "：")) else content


def _telling_sentence(telling: Sequence[str], language: Language) -> str:
    kept = list(telling)
    while kept:
        joined = message(language, "offline.list_separator").join(kept)
        sentence = message(language, "offline.group_telling", terms=joined)
        if len(sentence) <= SUMMARY_LIMIT // 2:
            return sentence
        kept.pop()
    return ""


def _contents_sentence(contents: Sequence[str], room: int, language: Language) -> str:
    """List as many of `contents` as have room, the first shortened rather than none named."""
    separator = message(language, "offline.list_separator")
    whole = message(language, "offline.group_all", contents=separator.join(contents))
    if len(whole) <= room:
        return whole
    frame = len(message(language, "offline.group_some", contents=""))
    listed = shortened(contents[0], room - frame)
    for content in contents[1:]:
        longer = listed + separator + content
        if len(longer) > room - frame:
            break
        listed = longer
    return message(language, "offline.group_some", contents=listed)
