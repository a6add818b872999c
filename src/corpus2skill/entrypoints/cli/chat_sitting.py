"""One sitting of a chat: what its commands look at and change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from corpus2skill.application.conversation import Conversation
from corpus2skill.application.original import open_passage
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.money import total
from corpus2skill.domain.run import RunRecord
from corpus2skill.entrypoints.cli.chat_commands import Command, CommandName
from corpus2skill.entrypoints.cli.chat_screen import Screen
from corpus2skill.entrypoints.cli.chat_views import (
    show_facts,
    show_help,
    show_passage,
    show_sources,
    show_trail,
    sources_of,
)
from corpus2skill.entrypoints.cli.money import dollars


@dataclass(slots=True, kw_only=True)
class Sitting:
    """From the first prompt to the last, over one conversation or several."""

    workspace: Workspace
    screen: Screen
    conversation: Conversation
    last: RunRecord | None = None
    """Of this conversation."""
    asked: list[RunRecord] = field(default_factory=list["RunRecord"])
    """In this sitting."""
    is_over: bool = False

    def say(self, key: str, /, **values: object) -> None:
        """Tell something beside the answers."""
        self.screen.notes.line(self.screen.out.say(key, **values))


def carry_out(sitting: Sitting, command: Command) -> None:
    """Raises: whatever opening a passage raises."""
    _ACTIONS[command.name](sitting, command.argument)


def _trail(sitting: Sitting, _: str) -> None:
    if (record := _last(sitting)) is not None:
        show_trail(sitting.screen, record)


def _sources(sitting: Sitting, _: str) -> None:
    record = _last(sitting)
    if record is None:
        return
    if sources_of(record):
        show_sources(sitting.screen, record)
    else:
        sitting.say("chat.no_sources")


def _open(sitting: Sitting, wanted: str) -> None:
    record = _last(sitting)
    if record is None:
        return
    sources = sources_of(record)
    number = _number(sitting, wanted, len(sources))
    if number is None:
        return
    source = sources[number - 1]
    passage = open_passage(sitting.workspace, record.ids.corpus, record.ids.version, source)
    show_passage(sitting.screen, number, passage, record.ids.version, source.place)


def _new(sitting: Sitting, _: str) -> None:
    sitting.conversation.begin_anew()
    sitting.last = None
    sitting.say("chat.new")


def _session(sitting: Sitting, _: str) -> None:
    said, conversation = sitting.screen.out.say, sitting.conversation
    corpus = conversation.corpus
    if conversation.version is not None:
        corpus = said("chat.corpus_version", corpus=corpus, version=conversation.version)
    show_facts(
        sitting.screen,
        [
            (said("chat.session"), conversation.session or said("chat.session_none")),
            (said("chat.questions"), str(sitting.last.ids.turn if sitting.last else 0)),
            (said("chat.corpus"), corpus),
            (said("chat.model"), conversation.model),
            (said("chat.channel"), conversation.channel),
            (said("chat.spent"), dollars(sitting.screen.out, total(one.usd for one in sitting.asked))),
        ],
    )


def _help(sitting: Sitting, _: str) -> None:
    show_help(sitting.screen)


def _quit(sitting: Sitting, _: str) -> None:
    sitting.is_over = True


_ACTIONS: Mapping[CommandName, Callable[[Sitting, str], None]] = {
    "trail": _trail,
    "sources": _sources,
    "open": _open,
    "new": _new,
    "session": _session,
    "help": _help,
    "quit": _quit,
}


def _last(sitting: Sitting) -> RunRecord | None:
    """The record that a command is about; where there is none yet, that is said."""
    if sitting.last is None:
        sitting.say("chat.nothing_asked")
    return sitting.last


def _number(sitting: Sitting, wanted: str, count: int) -> int | None:
    """The source that is meant; the only one needs no number. None where it was said what is wrong."""
    if count == 0:
        sitting.say("chat.no_sources")
    elif not wanted and count == 1:
        return 1
    elif not (wanted.isascii() and wanted.isdecimal()):
        sitting.say("chat.open_which", count=count)
    elif not 1 <= int(wanted[:9]) <= count:
        sitting.say("chat.no_such_source", wanted=wanted, count=count)
    else:
        return int(wanted)
    return None
