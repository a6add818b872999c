"""Reads what a language model answers to the grouper: what can be used, what is wrong, what was put right."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus2skill.compiler.asking import Judged
from corpus2skill.compiler.group_prompts import Wanted
from corpus2skill.compiler.json_reply import Json, first_object
from corpus2skill.compiler.plain_title import title_faults
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT
from corpus2skill.domain.grouping import GroupDescription, Repairs
from corpus2skill.domain.ids import is_slug, slugify
from corpus2skill.domain.language import Language, majority_language
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.errors import BadReply

_PREFIXES = ("chunk_", "group_")
_SHOWN_IDS = 12
"""Ids named in a fault."""
_FEW_MISSING = 5
"""So many ids may be missing, or a tenth of them, before everything is asked again instead of their places."""
_LEAST_USED = 0.5
"""Share of the ids that a reply must have to be used at all."""
_SPARE = 1.5
"""So many times the groups that were wanted are taken without asking again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadGroup:
    """A group as the model gave it, its ids checked."""

    slug: str
    title: str
    summary: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadGroups:
    groups: tuple[ReadGroup, ...]
    missing: tuple[str, ...]
    repairs: Repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPlaces:
    homes: Mapping[str, str]
    left_out: frozenset[str]
    """Items that the model says suit no group; others that have no home it has forgotten."""
    repairs: Repairs


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReader:
    """What the reply to one grouping call is measured by."""

    titles: Mapping[str, str]
    """The ids of the list, in its order, and what stands behind each."""
    wanted: Wanted
    language: Language
    parent_title: str
    of_groups: bool

    def __call__(self, reply: str) -> Judged[ReadGroups]:
        """Return the groups of `reply` with its lesser faults.

        Raises:
            BadReply: it is not in the form that was asked for, or has too few of the ids.
        """
        entries = first_object(reply, {"groups": "array"})["groups"]
        taking = _Taking(self.titles)
        given = [self._group(number, entry, taking) for number, entry in enumerate(_list(entries), start=1)]
        groups = tuple(group for group in given if group.names)
        missing = tuple(name for name in self.titles if name not in taking.taken)
        if not groups:
            raise BadReply("grouping_no_groups")
        if len(groups) == 1 and self.wanted.least > 1:
            raise BadReply("grouping_one_group", least=self.wanted.least)
        if len(taking.taken) < _LEAST_USED * len(self.titles):
            raise _missing_ids(missing)
        read = ReadGroups(
            groups=tuple(map(_within_limits, groups)),
            missing=missing,
            repairs=taking.repairs + Repairs(missing_ids=len(missing)),
        )
        return Judged(read, tuple(self._faults(groups, missing)))

    def _group(self, number: int, entry: Json, taking: _Taking) -> ReadGroup:
        if not isinstance(entry, dict):
            raise BadReply("grouping_bad_group", number=number)
        slug, title, summary = entry.get("slug", ""), entry.get("title"), entry.get("summary")
        ids = entry.get("memberIds")
        if not (isinstance(title, str) and isinstance(summary, str) and isinstance(ids, list)):
            raise BadReply("grouping_bad_group", number=number)
        _require_plain(title, "\n".join(self.titles.values()))
        title, summary = one_line(title), one_line(summary)
        if not title or not summary:
            raise BadReply("grouping_blank", number=number)
        slug = slug.strip() if isinstance(slug, str) else ""
        return ReadGroup(slug=slug, title=title, summary=summary, names=tuple(taking.take(ids)))

    def _faults(self, groups: Sequence[ReadGroup], missing: Sequence[str]) -> Iterator[BadReply]:
        if len(missing) > max(_FEW_MISSING, len(self.titles) // 10):
            yield _missing_ids(missing)
        if len(groups) > (1 if self.wanted.is_limit else _SPARE) * self.wanted.most:
            yield BadReply("grouping_too_many", came=len(groups), most=self.wanted.most)
        yield from _language_faults(
            (text for group in groups for text in (group.title, group.summary)), self.language
        )
        yield from self._title_faults(groups)
        for group in groups:
            yield from _length_faults(group.title, group.summary)
            if slugify(group.slug, "") == "":
                yield BadReply("grouping_bad_slug", slug=group.slug[:TITLE_LIMIT])

    def _title_faults(self, groups: Sequence[ReadGroup]) -> Iterator[BadReply]:
        for title, count in Counter(group.title for group in groups).items():
            if count > 1:
                yield BadReply("grouping_same_title", title=title)
            if title == self.parent_title:
                yield BadReply("grouping_parent_title", title=title)
        if self.of_groups:
            for group in groups:
                if len(group.names) > 1 and group.title in {self.titles[name] for name in group.names}:
                    yield BadReply("grouping_member_title", title=group.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceReader:
    """What the reply to one placing call is measured by."""

    names: Sequence[str]
    groups: Collection[str]
    may_leave_out: bool

    def __call__(self, reply: str) -> Judged[ReadPlaces]:
        """Return the homes that `reply` gives with its lesser faults.

        Raises:
            BadReply: it is not in the form that was asked for, or says nothing of most items.
        """
        entries = first_object(reply, {"places": "array"})["places"]
        taking = _Taking(dict.fromkeys(self.names, ""))
        homes: dict[str, str] = {}
        left_out: set[str] = set()
        unknown: list[str] = []
        for entry in _list(entries):
            name, group = (entry.get("id"), entry.get("group")) if isinstance(entry, dict) else (None, None)
            for taken in taking.take([name]):
                if isinstance(group, str) and group in self.groups:
                    homes[taken] = group
                elif group is None and self.may_leave_out:
                    left_out.add(taken)
                else:
                    unknown.append(str(group))
        missing = [name for name in self.names if name not in homes and name not in left_out]
        if len(missing) > (1 - _LEAST_USED) * len(self.names):
            raise _unknown_ids(unknown) if unknown else _missing_ids(missing)
        repairs = taking.repairs + Repairs(unknown_ids=len(unknown), missing_ids=len(missing))
        read = ReadPlaces(homes=homes, left_out=frozenset(left_out), repairs=repairs)
        return Judged(read, tuple(_place_faults(unknown, missing)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionReader:
    """What the reply to one describing call is measured by."""

    language: Language
    siblings: frozenset[str]
    """Titles that are taken."""
    parent_title: str

    def __call__(self, reply: str) -> Judged[GroupDescription]:
        """Return title and summary with their lesser faults.

        Raises:
            BadReply: the reply is not in the form that was asked for.
        """
        said = first_object(reply, {"title": "string", "summary": "string"})
        _require_plain(str(said["title"]))
        title, summary = one_line(str(said["title"])), one_line(str(said["summary"]))
        if not title or not summary:
            raise BadReply("grouping_blank", number=1)
        faults = [*_language_faults((title, summary), self.language), *_length_faults(title, summary)]
        if title in self.siblings:
            faults.append(BadReply("grouping_same_title", title=title))
        if title == self.parent_title:
            faults.append(BadReply("grouping_parent_title", title=title))
        described = GroupDescription(
            title=shortened(title, TITLE_LIMIT), summary=shortened(summary, SUMMARY_LIMIT)
        )
        return Judged(described, tuple(faults))


class _Taking:
    """Ids as a reply brings them: known ones once, at their first place."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        self.taken: set[str] = set()
        self.repairs = Repairs()

    def take(self, ids: Iterable[Json]) -> Iterator[str]:
        for given in ids:
            name = self._as_listed(given)
            if name not in self._known:
                self.repairs += Repairs(unknown_ids=1)
            elif name in self.taken:
                self.repairs += Repairs(doubled_ids=1)
            else:
                self.taken.add(name)
                yield name

    def _as_listed(self, given: Json) -> str:
        """An id as the list has it, where a model wrote its number alone, its whole line, or it in wide letters."""
        name = unicodedata.normalize("NFKC", str(given)).partition("|")[0].strip()
        if not name.isdecimal():
            return name
        return next((known for prefix in _PREFIXES if (known := prefix + name) in self._known), name)


def _within_limits(group: ReadGroup) -> ReadGroup:
    slug = group.slug if is_slug(group.slug) else slugify(group.slug, slugify(group.title, ""))
    return replace(
        group,
        slug=slug,
        title=shortened(group.title, TITLE_LIMIT),
        summary=shortened(group.summary, SUMMARY_LIMIT),
    )


def _require_plain(title: str, source: str = "") -> None:
    """Raises: BadReply: the title is a path, or holds what nobody sees; what `source` has is let through."""
    fault = next(title_faults(" ".join(title.split()), source), None)
    if fault is not None:
        raise fault


def _language_faults(texts: Iterable[str], language: Language) -> Iterator[BadReply]:
    if majority_language(list(texts), language) != language:
        yield BadReply("grouping_wrong_language")


def _length_faults(title: str, summary: str) -> Iterator[BadReply]:
    if len(title) > TITLE_LIMIT:
        yield BadReply("grouping_long_title", title=title[:TITLE_LIMIT], limit=TITLE_LIMIT)
    if len(summary) > SUMMARY_LIMIT:
        yield BadReply(
            "grouping_long_summary", title=title[:TITLE_LIMIT], came=len(summary), limit=SUMMARY_LIMIT
        )


def _place_faults(unknown: Sequence[str], missing: Sequence[str]) -> Iterator[BadReply]:
    if unknown:
        yield _unknown_ids(unknown)
    elif missing:
        yield _missing_ids(missing)


def _missing_ids(names: Sequence[str]) -> BadReply:
    return BadReply("grouping_missing_ids", count=len(names), ids=", ".join(names[:_SHOWN_IDS]))


def _unknown_ids(names: Sequence[str]) -> BadReply:
    shown = ", ".join(name[:TITLE_LIMIT] for name in names[:_SHOWN_IDS])
    return BadReply("grouping_unknown_ids", count=len(names), ids=shown)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
