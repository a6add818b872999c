"""A conversation: questions one after another, each answered on the version that is active when it is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from corpus2skill.application.ask import Asking, AskOptions, check_user, own_session
from corpus2skill.application.choose import chosen_corpus, chosen_version
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import TENANT, Workspace
from corpus2skill.domain.run import Heard, RunRecord
from corpus2skill.domain.session import Channel, Door
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.question import check_question
from corpus2skill.ports.events import RunListener
from corpus2skill.ports.store import RecordFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOptions:
    """Where the questions come from and who answers them; None leaves the workspace's settings."""

    corpus: str | None = None
    session: str | None = None
    """A conversation to go on with, or the beginning of its id. None: the first question begins one."""
    user: str | None = None
    """Who asks, as in `AskOptions`."""
    channel: Channel = "text"
    door: Door = "cli"
    model: str | None = None
    base_url: str | None = None
    tenant: str = TENANT


class Conversation:
    """Keeps one version open, with its index and its connections, for as long as it stays the active one."""

    def __init__(self, workspace: Workspace, options: ConversationOptions) -> None:
        """Raises: CorpusNotFound, SessionNotFound, InvalidInput (an empty user, a session about another corpus)."""
        check_user(options.user)
        self._workspace = workspace
        self._options = options
        self._asking: Asking | None = None
        self.corpus = chosen_corpus(workspace, options.corpus)
        self.session = None if options.session is None else self._known(options.session)
        self.version: int | None = None
        """The version that is open, None before the first."""

    @property
    def channel(self) -> Channel:
        return self._options.channel

    @property
    def model(self) -> str:
        """Who answers, as the option or the settings name it."""
        settings = self._workspace.settings
        return self._options.model or settings.navigation_model or settings.model

    @property
    def options(self) -> ConversationOptions:
        """As it was begun."""
        return self._options

    async def turn_to_active(self) -> int | None:
        """Open the active version unless it is open; return the one whose place it took, None without a change.

        Raises:
            VersionNotFound, Damaged: no version can be opened.
            UnusableSettings, ModelUnusable: the model cannot be called.
        """
        _, active = chosen_version(self._workspace, self.corpus, None)
        if self._asking is not None and self.version == active:
            return None
        opened = Asking.of_version(
            self._workspace, self.corpus, active, self._options.model, self._options.base_url
        )
        await self.close()
        before, self.version, self._asking = self.version, active, opened
        return None if before == active else before

    async def ask(
        self,
        question: str,
        listener: RunListener,
        cancellation: Cancellation,
        heard_before: Heard | None = None,
    ) -> RunRecord:
        """Answer on the version that is open, or on the active one where none is.

        `heard_before`: how much of the answer before was heard, where this question breaks into it.

        Raises:
            InvalidQuestion, and whatever `turn_to_active` raises: nothing was begun.
        """
        check_question(question, self._workspace.settings.question_characters)
        if self._asking is None:
            await self.turn_to_active()
        assert self._asking is not None
        options = replace(self._ask_options(question), heard_before=heard_before)
        record = await self._asking.ask(options, listener, cancellation)
        self.session = record.ids.session
        return record

    def turns(self, limit: int) -> list[RunRecord]:
        """The last turns on this corpus, oldest first."""
        if self.session is None:
            return []
        which = RecordFilter(session=self.session, corpus=self.corpus, limit=limit)
        with opened_records(self._workspace) as records:
            return list(records.records(self._options.tenant, which))[::-1]

    def begin_anew(self) -> None:
        """Let the next question begin a conversation of its own."""
        self.session = None

    async def close(self) -> None:
        """Give back what is held open; the next question opens it again."""
        if self._asking is not None:
            asking, self._asking = self._asking, None
            await asking.__aexit__()

    def _known(self, session: str) -> str:
        with opened_records(self._workspace) as records:
            return own_session(records, self._options.tenant, session, self._options.user, self.corpus)[0]

    def _ask_options(self, question: str) -> AskOptions:
        options = self._options
        return AskOptions(
            question=question,
            session=self.session,
            user=options.user,
            channel=options.channel,
            door=options.door,
            tenant=options.tenant,
        )
