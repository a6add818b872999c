"""A run as people read it: its trail, its answer, its sources, how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus2skill.domain.run import NodeVisited, RunEvent, RunRecord, Source
from corpus2skill.domain.trail import Visit
from corpus2skill.entrypoints.cli.output import Output, one_line


class TrailListener:
    """Writes each visit to standard error as it happens."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._number = 0

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, NodeVisited):
            for line in visit_lines(self._out, event.visit, self._number_of(event.visit)):
                self._out.note(line)

    def _number_of(self, visit: Visit) -> int:
        """Fetches are counted from 1; the prefetched root, which is none, is 0."""
        if not visit.is_prefetched:
            self._number += 1
        return 0 if visit.is_prefetched else self._number


def trail_lines(out: Output, visits: Sequence[Visit]) -> Iterator[str]:
    """Yield a recorded trail in the form in which it was shown live."""
    first = 0 if visits and visits[0].is_prefetched else 1
    for number, visit in enumerate(visits, start=first):
        yield from visit_lines(out, visit, number)


def visit_lines(out: Output, visit: Visit, number: int) -> Iterator[str]:
    yield out.say(
        "cli.visit", number=number, title=visit_title(out, visit), path=visit.path, ms=visit.elapsed_ms
    )
    yield "   " + one_line(visit.reason, 200)


def visit_title(out: Output, visit: Visit) -> str:
    """The title of what was visited, or what was the matter with it."""
    match visit.status:
        case "found":
            return visit.title
        case "not_found":
            return out.say("cli.no_such_node")
        case "too_large":
            return out.say("cli.node_too_large", title=visit.title)


def answer_lines(out: Output, record: RunRecord) -> Iterator[str]:
    """Yield the answer and its numbered sources, or what was read where none is cited."""
    yield record.answer
    if record.is_truncated:
        yield out.say("cli.truncated")
    if record.unheld_quotations:
        yield from ("", out.say("cli.unheld"))
        yield from (_unheld(out, quotation.text) for quotation in record.unheld_quotations)
    if record.channel == "voice":
        return
    if record.citations:
        yield from ("", out.say("cli.sources"))
        yield from _numbered(record.citations)
    elif record.evidence:
        yield from ("", out.say("cli.read"))
        yield from (f"- {source_line(source)}" for source in record.evidence)


def _unheld(out: Output, text: str) -> str:
    return out.say("cli.unheld_quotation", text=one_line(text, 120))


def quotation_lines(out: Output, record: RunRecord) -> Iterator[str]:
    """Yield every quotation of the answer and where it stands."""
    if record.quotations:
        yield from ("", out.say("cli.quotations"))
    for quotation in record.quotations:
        text = one_line(quotation.text, 60)
        if quotation.doc_id is not None:
            yield out.say("cli.quotation_held", text=text, doc_id=quotation.doc_id)
        else:
            yield out.say("cli.quotation_name" if quotation.is_name else "cli.quotation_unheld", text=text)


def _numbered(sources: Sequence[Source]) -> Iterator[str]:
    for number, source in enumerate(sources, start=1):
        yield f"[{number}] {source_line(source)}"


def source_line(source: Source) -> str:
    """Document and place: what a person needs to open the original."""
    where = f"{source.source} › {source.place}" if source.place else source.source
    return f"{where} ({source.doc_id})"


def ending_line(out: Output, record: RunRecord) -> str:
    """How it ended, what it took, and where it is kept."""
    return out.say(
        "cli.ending",
        outcome=outcome_name(out, record),
        seconds=record.total_ms / 1000,
        fetches=record.fetches,
        run=record.ids.run,
        session=record.ids.session,
    )


def cause_of(record: RunRecord) -> str:
    """What went wrong, for whoever runs the program; "" where nothing did."""
    return " ".join(filter(None, (record.error_class, record.error_detail)))


def outcome_name(out: Output, record: RunRecord) -> str:
    name = out.say(f"outcome.{record.outcome}")
    return out.say("cli.weak_outcome", outcome=name) if record.confidence == "weak" else name
