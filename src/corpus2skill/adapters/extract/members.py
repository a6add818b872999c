"""Documents within documents: the entries of archives, the attachments of mails, and those within them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.archive import Budget, ContainerTooLarge, Entry, entries
from corpus2skill.adapters.extract.formats import Format, format_of
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.member_names import safe_name
from corpus2skill.domain.corpus import SourceFile, SourceReport, Verdict
from corpus2skill.domain.source_names import UniqueNames
from corpus2skill.errors import SourceRefused

_CONTAINERS: frozenset[Format] = frozenset({"zip", "eml", "msg"})

Member = SourceFile | SourceReport


def members_of(source: str, data: bytes, limits: Limits) -> Iterator[Member]:
    """Yield the documents within one document; nothing for most. Pure: it could run in another process.

    Those of an archive in an archive are named `<source>/<archive>/<member>`. An archive is reported, under its
    own name, once all of it was read: it has no text of its own, as a mail does.

    Raises:
        SourceRefused: as a whole it is `corrupt`, `hostile`, `too_large` or `empty`.
    """
    kind = _container(source, data)
    if kind is not None:
        budget = Budget(
            members=limits.max_members,
            max_bytes=limits.max_member_bytes,
            max_member_bytes=limits.max_inflated_bytes,
        )
        try:
            yield from _Container(limits, budget).members(source, data, kind, depth=1)
        except RecursionError as error:
            raise SourceRefused("hostile", "nesting") from error


@dataclass(slots=True)
class _Container:
    """One file with all that is in it; the bound counts for everything together."""

    limits: Limits
    budget: Budget

    def members(self, source: str, data: bytes, kind: Format, *, depth: int) -> Iterator[Member]:
        names = UniqueNames()
        count = 0
        for entry in self._entries(data, kind):
            count += 1
            name = f"{source}/{names.take(entry.name)}"
            if entry.is_link:
                yield SourceReport(source=name, verdict="link")
            elif entry.refusal is not None:
                yield _refused(name, entry.refusal)
            else:
                yield from self._member(name, entry.data, depth=depth)
        if kind == "zip":
            if not count:
                raise SourceRefused("empty")
            yield SourceReport(source=source, verdict="archive", values=(("count", count),))

    def _member(self, name: str, data: bytes, *, depth: int) -> Iterator[Member]:
        kind = _container(name, data)
        if kind != "zip":
            yield SourceFile(source=name, data=data, sha256=hashlib.sha256(data).hexdigest())
        if kind is None:
            return
        try:
            if depth < self.limits.max_depth:
                yield from self.members(name, data, kind, depth=depth + 1)
            else:
                yield from self._too_deep(name, data, kind)
        except ContainerTooLarge:
            raise
        except SourceRefused as refusal:
            if kind == "zip":  # a mail says it of itself when it is read
                yield _refused(name, refusal)

    def _too_deep(self, name: str, data: bytes, kind: Format) -> Iterator[Member]:
        """What lies deeper than we look is named, so that nothing is missing in silence."""
        refusal = SourceRefused("too_large", "depth", limit=self.limits.max_depth)
        if kind == "zip":
            yield _refused(name, refusal)
            return
        names = UniqueNames()
        for entry in self._entries(data, kind):
            yield _refused(f"{name}/{names.take(entry.name)}", refusal)

    def _entries(self, data: bytes, kind: Format) -> Iterator[Entry]:
        if kind == "zip":
            yield from entries(data, self.budget)
            return
        for number, (name, content) in enumerate(_attached(data, kind, self.limits), start=1):
            self.budget.require_members(1)
            try:
                self.budget.take(name, len(content), 0)
            except ContainerTooLarge:
                raise
            except SourceRefused as refusal:
                yield Entry(name=_attachment_name(name, number), refusal=refusal)
            else:
                yield Entry(name=_attachment_name(name, number), data=content)


def _container(source: str, data: bytes) -> Format | None:
    """Return the format of what holds documents; None for any other file, readable or not."""
    try:
        kind = format_of(source, data)
    except SourceRefused:
        return None
    return kind if kind in _CONTAINERS else None


def _attached(data: bytes, kind: Format, limits: Limits) -> Iterator[tuple[str, bytes]]:
    if kind == "eml":
        from corpus2skill.adapters.extract.eml import eml_attachments

        yield from ((attachment.name, attachment.data) for attachment in eml_attachments(data))
    else:
        from corpus2skill.adapters.extract.msg import msg_attachments

        yield from ((attachment.name, attachment.data) for attachment in msg_attachments(data, limits))


def _attachment_name(name: str, number: int) -> str:
    """An attachment is a file, not a path: what looks like folders in its name is part of the name."""
    return safe_name(name.replace("/", "_").replace("\\", "_")).lstrip(".") or f"attachment-{number}"


def _refused(source: str, refusal: SourceRefused) -> SourceReport:
    verdict: Verdict = refusal.verdict  # type: ignore[assignment]
    values = tuple(sorted(refusal.values.items()))
    return SourceReport(source=source, verdict=verdict, detail=refusal.detail, values=values)  # type: ignore[arg-type]
