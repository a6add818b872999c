"""The talk of a chat: read an entry, do what it says, tell what failed, go on."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from corpus2skill.application.conversation import Cancellation
from corpus2skill.domain.run import RunRecord
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.chat_commands import (
    Command,
    Question,
    Unknown,
    command_words,
    parse_entry,
)
from corpus2skill.entrypoints.cli.chat_input import ChatInput, TypedInput, unassembled, unechoed
from corpus2skill.entrypoints.cli.chat_screen import Steps
from corpus2skill.entrypoints.cli.chat_sitting import Sitting, carry_out
from corpus2skill.entrypoints.cli.chat_views import show_answer, show_earlier
from corpus2skill.entrypoints.cli.faults import error_sentence
from corpus2skill.entrypoints.cli.interrupts import interrupts_to
from corpus2skill.errors import Corpus2SkillError, UnusableSettings
from corpus2skill.ports.events import RunListener

_EARLIER_TURNS = 3
"""Shown when a conversation is taken up again."""
_REMEMBERED = 100
"""Questions of it that the arrow keys find."""


class Talk:
    """Reads until the end of the input, or until a person leaves."""

    def __init__(self, sitting: Sitting, entries: ChatInput, runner: asyncio.Runner) -> None:
        self._sitting = sitting
        self._screen = sitting.screen
        self._conversation = sitting.conversation
        self._entries = entries
        self._typed = entries if isinstance(entries, TypedInput) else None
        self._runner = runner
        self._code = exit_codes.OK

    def run(self) -> int:
        """Return 0 to a person, and to a program the exit code of its last question.

        Raises:
            UnusableSettings: no question could ever be answered.
        """
        self._take_up()
        with self._failures_told():
            self._open()
        self._code = exit_codes.OK
        self._greet()
        with unassembled() if self._typed and self._typed.is_edited else nullcontext():
            while not self._sitting.is_over:
                with self._failures_told():
                    self._deal_with(self._entries.read())
        self._say_farewell()
        return exit_codes.OK if self._typed else self._code

    def _take_up(self) -> None:
        """Show where a conversation that is gone on with stands; its last answer is this chat's, too."""
        if self._conversation.session is None:
            return
        turns = self._conversation.turns(_REMEMBERED)
        self._sitting.say(
            "chat.continued",
            session=self._conversation.session,
            count=turns[-1].ids.turn if turns else 0,
        )
        show_earlier(self._screen, turns[-_EARLIER_TURNS:])
        self._screen.notes.line()
        self._sitting.last = turns[-1] if turns else None
        if self._typed:
            self._typed.remember(turn.question for turn in turns)

    def _greet(self) -> None:
        if not self._typed:
            return
        conversation = self._conversation
        greeting = self._screen.out.say(
            "chat.greeting_unopened" if conversation.version is None else "chat.greeting",
            corpus=conversation.corpus,
            version=conversation.version,
            model=conversation.model,
        )
        self._screen.notes.line((greeting, "bold"))
        self._screen.notes.line((self._screen.out.say("chat.hint"), "dim"))

    def _say_farewell(self) -> None:
        if self._typed and self._sitting.asked and self._conversation.session is not None:
            farewell = self._screen.out.say("chat.farewell", command=self._way_back())
            self._screen.notes.line((farewell, "dim"))

    def _way_back(self) -> str:
        """The command that goes on with this conversation: over the same corpus, with the same model."""
        conversation, options = self._conversation, self._conversation.options
        given = {
            "--session": conversation.session,
            "--corpus": conversation.corpus,
            "--model": options.model,
            "--base-url": options.base_url,
        }
        words = [word for name, value in given.items() if value is not None for word in (name, value)]
        return shlex.join(["corpus2skill", "chat", *words])

    def _deal_with(self, text: str | None) -> None:
        if text is None:
            self._sitting.is_over = True
            return
        match parse_entry(text):
            case Question(text=""):
                return
            case Question(text=question):
                with unechoed() if self._typed else nullcontext():
                    self._ask(question)
            case Command() as command:
                carry_out(self._sitting, command)
            case Unknown() as unknown:
                self._explain(unknown)
        self._part()

    def _explain(self, unknown: Unknown) -> None:
        if unknown.candidates:
            words = "  ".join(command_words(self._screen.out, name) for name in unknown.candidates)
            self._sitting.say("chat.ambiguous_command", command=unknown.word, commands=words)
        else:
            self._sitting.say("chat.unknown_command", command=unknown.word)
        self._code = exit_codes.USAGE

    def _ask(self, question: str) -> None:
        if not self._typed:
            self._screen.notes.lines(question, margin="> ")
        self._open()
        record = self._record(question)
        self._sitting.last = record
        self._sitting.asked.append(record)
        self._code = exit_codes.of_outcome(record.outcome)
        show_answer(self._screen, record)

    def _open(self) -> None:
        """Turn to the version that is active now, and say so where it is another one than before."""
        before = self._runner.run(self._conversation.turn_to_active())
        if before is not None:
            self._sitting.say("chat.switched", before=before, after=self._conversation.version)

    def _record(self, question: str) -> RunRecord:
        """Walk. A person's Ctrl-C ends the run alone; a program's signal, as everywhere, the program."""
        cancellation = Cancellation()
        with ExitStack() as stack:
            if self._typed:
                loop = self._runner.get_loop()
                stack.enter_context(interrupts_to(loop, lambda: cancellation.cancel("stop")))
            listener = stack.enter_context(self._listener())
            return self._runner.run(self._conversation.ask(question, listener, cancellation))

    def _listener(self) -> AbstractContextManager[RunListener]:
        """Show a run while it lasts: each visit stays; what is under way is wiped at its end."""
        console = self._screen.notes.console
        if console is None:
            return nullcontext(Steps(self._screen))
        from corpus2skill.entrypoints.cli.chat_live import LiveRun

        return LiveRun(self._screen, console, self._sitting.workspace.settings.fetch_limit)

    @contextmanager
    def _failures_told(self) -> Generator[None]:
        """Tell what went wrong and go on: the next question may do better."""
        try:
            yield
        except UnusableSettings:
            raise
        except Corpus2SkillError as error:
            self._screen.error(error_sentence(self._screen.out, error))
            self._code = exit_codes.of_error(error)
            self._part()

    def _part(self) -> None:
        """Leave a line free above the next prompt."""
        if self._typed and not self._sitting.is_over:
            self._screen.notes.line()
