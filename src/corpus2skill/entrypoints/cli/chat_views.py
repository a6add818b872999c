"""What a chat shows: an answer, a trail, sources, a passage in its place, what there is to type."""

from __future__ import annotations

from collections.abc import Sequence

from corpus2skill.application.original import Passage
from corpus2skill.domain.run import RunRecord, Source
from corpus2skill.entrypoints.cli.chat_commands import NAMES, command_words
from corpus2skill.entrypoints.cli.chat_screen import Screen
from corpus2skill.entrypoints.cli.output import one_line, width_of
from corpus2skill.entrypoints.cli.trail import (
    EXPLAINED,
    cause_of,
    facts_line,
    source_line,
    visit_title,
)

_EARLIER = 200
"""Characters of an earlier turn that are shown when it is taken up again."""
_QUOTED = 120
"""Characters of a quotation that does not hold."""


def show_answer(screen: Screen, record: RunRecord) -> None:
    """The answer and its numbered sources; then, beside it, how the run ended and what it took."""
    screen.notes.line()
    screen.answers.lines(record.answer)
    if record.is_truncated:
        screen.answers.line(screen.out.say("cli.truncated"))
    if record.unheld_quotations:
        screen.answers.line()
        screen.answers.line((screen.out.say("cli.unheld"), "yellow"))
    for quotation in record.unheld_quotations:
        text = one_line(quotation.text, _QUOTED)
        screen.answers.line(screen.out.say("cli.unheld_quotation", text=text), hanging=2)
    if record.channel == "text" and sources_of(record):
        screen.answers.line()
        show_sources(screen, record, with_uncited=not record.citations)
    screen.answers.line()
    if record.outcome in EXPLAINED and (cause := cause_of(screen.out, record)):
        screen.notes.line((screen.out.say("chat.cause", cause=cause), "red"))
    screen.notes.line((facts_line(screen.out, record), "dim"))


def sources_of(record: RunRecord) -> tuple[Source, ...]:
    """What can be opened by its number: what the answer cites, then what was read beside it."""
    return (*record.citations, *(source for source in record.evidence if source not in record.citations))


def show_sources(screen: Screen, record: RunRecord, *, with_uncited: bool = True) -> None:
    """Number the sources; those that were only read go on behind the cited ones."""
    cited = len(record.citations)
    if cited:
        screen.answers.line((screen.out.say("cli.sources"), "bold"))
        _number(screen, record.citations, 1)
    if with_uncited and (uncited := sources_of(record)[cited:]):
        heading = "chat.read_only" if cited else "cli.read"
        screen.answers.line((screen.out.say(heading), "bold"))
        _number(screen, uncited, cited + 1)


def show_trail(screen: Screen, record: RunRecord) -> None:
    """Every visit with its whole reason and what could have been chosen instead."""
    out, sheet = screen.out, screen.answers
    for visit in record.visits:
        title = visit_title(out, visit)
        sheet.line(
            (f"{visit.number}. ", "cyan"),
            (title, "bold"),
            (f"  {visit.path}  {visit.elapsed_ms} ms", "dim"),
            hanging=3,
        )
        sheet.lines(visit.reason, margin="   ")
        if visit.offered:
            titles = out.say("chat.offered_separator").join(child.title for child in visit.offered)
            sheet.line(("   " + out.say("chat.offered", titles=titles), "dim"), hanging=3)
    sheet.line((facts_line(screen.out, record), "dim"))


def show_passage(screen: Screen, number: int, passage: Passage, version: int, place: str) -> None:
    """The passage behind a bar, between what stands before and after it in its document."""
    out, sheet = screen.out, screen.answers
    sheet.line((f"[{number}] {passage.source}", "bold"), hanging=4)
    if passage.title:
        sheet.line(out.say("chat.document_title", title=passage.title))
    if place:
        sheet.line(out.say("chat.place", place=place))
    sheet.line(_file_line(screen, passage))
    sheet.line((out.say("chat.version_read", version=version), "dim"))
    sheet.line()
    if passage.before or not passage.is_first:
        sheet.lines(("" if passage.is_first else "…\n") + passage.before, "dim", margin="  ")
        sheet.line()
    sheet.lines(passage.text, margin="│ ", margin_style="bold cyan")
    if passage.after or not passage.is_last:
        sheet.line()
        sheet.lines(passage.after + ("" if passage.is_last else "\n…"), "dim", margin="  ")


def show_earlier(screen: Screen, turns: Sequence[RunRecord]) -> None:
    """Turns of a conversation that is taken up again, in short."""
    for record in turns:
        screen.notes.line()
        screen.notes.line(("> ", "bold cyan"), one_line(record.question, _EARLIER), hanging=2)
        screen.notes.line(("  " + one_line(record.answer, _EARLIER), "dim"), hanging=2)


def show_help(screen: Screen) -> None:
    out, sheet = screen.out, screen.answers
    sheet.line(out.say("chat.help"))
    words = {name: command_words(out, name) + (" N" if name == "open" else "") for name in NAMES}
    widest = max(map(width_of, words.values()))
    for name, word in words.items():
        padded = word + " " * (widest - width_of(word))
        sheet.line("  ", (padded, "cyan"), "  " + out.say(f"chat.help.{name}"), hanging=widest + 4)
    sheet.line(out.say("chat.help.more"))


def show_facts(screen: Screen, facts: Sequence[tuple[str, str]]) -> None:
    """Names and values under each other."""
    widest = max(width_of(name) for name, _ in facts)
    for name, value in facts:
        padded = name + " " * (widest - width_of(name))
        screen.answers.line((padded, "cyan"), "  " + value, hanging=widest + 2)


def _number(screen: Screen, sources: Sequence[Source], first: int) -> None:
    for number, source in enumerate(sources, start=first):
        screen.answers.line((f"[{number}] ", "cyan"), source_line(source), hanging=4)


def _file_line(screen: Screen, passage: Passage) -> str:
    keys = {"same": "chat.file", "changed": "chat.file_changed", "holds": "chat.file_holding"}
    key = keys.get(passage.file_state, "chat.file_gone")
    return screen.out.say(key, file=str(passage.file))
