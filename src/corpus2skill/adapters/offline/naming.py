"""Titles, summaries and slugs of groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from corpus2skill.adapters.offline.romaji import romanise
from corpus2skill.adapters.offline.shortening import one_line, shortened
from corpus2skill.adapters.offline.telling_terms import contrasting
from corpus2skill.adapters.offline.words import HIRAGANA, KATAKANA
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT
from corpus2skill.domain.ids import is_slug, slugify
from corpus2skill.domain.language import Language
from corpus2skill.messages import message

_TITLE_TERMS = 3
_SUMMARY_TERMS = 4
_KANA_RUN = re.compile(f"[{KATAKANA}]+|[{HIRAGANA}]{{3,}}")
_HIRAGANA = re.compile(f"[{HIRAGANA}]+")


def range_title(first: str, last: str) -> str:
    """Return `first ～ last`, both shortened alike where they are long."""
    mark = " ～ "
    room = TITLE_LIMIT - len(mark)
    last_room = max(room // 2, room - len(first))
    end = shortened(last, last_room)
    return shortened(first, room - len(end)) + mark + end


def terms_title(
    own: Counter[str], others: Sequence[Counter[str]], language: Language, avoided: frozenset[str]
) -> str:
    """Return the two or three most telling terms as a title, "" where there are none."""
    telling = [term for term in contrasting(own, others, _TITLE_TERMS + len(avoided)) if term not in avoided]
    title = ""
    for term in telling[:_TITLE_TERMS]:
        longer = title + message(language, "offline.term_separator") + term if title else term
        if len(longer) > TITLE_LIMIT:
            break
        title = longer
    return title


def distinct_title(title: str, taken: set[str], telling: Sequence[str], language: Language) -> str:
    """Return `title`, with a telling term or a number behind it where it is in `taken`."""
    plain = shortened(one_line(title), TITLE_LIMIT)
    tails = [message(language, "offline.title_with_term", term=term) for term in telling]
    tails += [f" ({number})" for number in range(2, len(taken) + 3)]
    candidates = [
        plain,
        *(shortened(plain, TITLE_LIMIT - len(tail)) + tail for tail in tails if len(tail) < 24),
    ]
    return next(candidate for candidate in candidates if candidate and candidate not in taken)


def group_summary(
    contents: Sequence[str], count: int, own: Counter[str], others: Sequence[Counter[str]], language: Language
) -> str:
    """Return what is in a group and by which terms it differs from its siblings."""
    telling = contrasting(own, others, _SUMMARY_TERMS) if others else []
    tail = _telling_sentence(telling, language)
    return (_contents_sentence(contents, count, SUMMARY_LIMIT - len(tail), language) + tail).strip()


def slug_of(title: str, number: int) -> str:
    """Return a slug from the Latin words, numbers and kana of `title`, `topic-N` where it has none."""
    fallback = f"topic-{number}"
    latin = _KANA_RUN.sub(lambda run: f" {romanise(run[0])} ", title)
    slug = slugify(_HIRAGANA.sub(" ", latin), fallback)
    if not re.search("[a-z]", slug):
        slug = f"topic-{slug}"
    return slug if is_slug(slug) else fallback


def _telling_sentence(telling: Sequence[str], language: Language) -> str:
    kept = list(telling)
    while kept:
        joined = message(language, "offline.list_separator").join(kept)
        sentence = message(language, "offline.group_telling", terms=joined)
        if len(sentence) <= SUMMARY_LIMIT // 2:
            return sentence
        kept.pop()
    return ""


def _contents_sentence(contents: Sequence[str], count: int, room: int, language: Language) -> str:
    """List as many of `contents` as have room, the last one shortened rather than none named."""
    separator = message(language, "offline.list_separator")
    whole = message(language, "offline.group_all", contents=separator.join(contents), count=count)
    if len(whole) <= room:
        return whole
    frame = len(message(language, "offline.group_some", contents="", count=count))
    listed = shortened(contents[0], max(room - frame, 2))
    for content in contents[1:]:
        longer = listed + separator + content
        if len(longer) > room - frame:
            break
        listed = longer
    return message(language, "offline.group_some", contents=listed, count=count)
