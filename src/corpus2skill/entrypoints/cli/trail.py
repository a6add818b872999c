"""A run as people read it: its trail, its answer, its sources, how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from corpus2skill.domain.run import NodeVisited, Outcome, RoundDelayed, RunEvent, RunRecord, Source
from corpus2skill.domain.trail import Visit
from corpus2skill.entrypoints.cli.money import dollars
from corpus2skill.entrypoints.cli.output import Output, one_line

EXPLAINED: frozenset[Outcome] = frozenset(
    {"model_failed", "tree_unavailable", "stopped", "refused", "budget"}
)
"""Outcomes of which whoever runs the program is told the cause: something is to be set right."""


class TrailListener:
    """Writes each visit to standard error as it happens, and why it takes longer."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def __call__(self, event: RunEvent) -> None:
        match event:
            case NodeVisited(visit=visit):
                for line in visit_lines(self._out, visit):
                    self._out.note(line)
            case RoundDelayed():
                self._out.note(delay_line(self._out, event))
            case _:
                pass


def delay_line(out: Output, event: RoundDelayed) -> str:
    """Why the model is asked again, and when."""
    cause = _sentence(out, event.error_code, event.error_values) or event.error_code
    return out.say("cli.round_delayed", cause=cause, seconds=event.seconds, attempt=event.attempt)


def trail_lines(out: Output, visits: Sequence[Visit]) -> Iterator[str]:
    """Yield a recorded trail in the form in which it was shown live."""
    for visit in visits:
        yield from visit_lines(out, visit)


def visit_lines(out: Output, visit: Visit) -> Iterator[str]:
    yield out.say(
        "cli.visit", number=visit.number, title=visit_title(out, visit), path=visit.path, ms=visit.elapsed_ms
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
    """How it ended, what it took, who answered, and where it is kept."""
    ids = out.say("cli.end_ids", run=record.ids.run, session=record.ids.session)
    return "  ".join((facts_line(out, record), record.model, ids))


def facts_line(out: Output, record: RunRecord) -> str:
    """How it ended and what it took. The embedded engine costs nothing, which needs no word."""
    return "  ".join(_facts(out, record))


def _facts(out: Output, record: RunRecord) -> Iterator[str]:
    yield out.say(
        "cli.end_outcome",
        outcome=outcome_name(out, record),
        seconds=record.total_ms / 1000,
        fetches=record.fetches,
    )
    if record.retries:
        yield out.say("cli.end_retries", retries=record.retries)
    if cut := sum(visit.is_cut for visit in record.visits):
        yield out.say("cli.end_cut", count=cut)
    if record.usd != 0:
        yield dollars(out, record.usd)


def cause_of(out: Output, record: RunRecord) -> str:
    """What went wrong, for whoever runs the program; "" where nothing did."""
    if record.error_code is not None:
        sentence = _sentence(out, record.error_code, record.error_values)
        if sentence is not None:
            return sentence
    return " ".join(filter(None, (record.error_class, record.error_detail)))


def _sentence(out: Output, code: str, values: Mapping[str, str | int | float]) -> str | None:
    """The sentence of an error; None where this release has none for it, or lacks a value."""
    try:
        return out.say(f"error.{code}", **values)
    except (KeyError, ValueError):
        return None


def outcome_name(out: Output, record: RunRecord) -> str:
    name = out.say(f"outcome.{record.outcome}")
    return out.say("cli.weak_outcome", outcome=name) if record.confidence == "weak" else name
