"""Ask a question of a corpus's active version."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from corpus2skill.application.choose import chosen_version
from corpus2skill.application.model_wiring import open_navigator
from corpus2skill.application.wiring import TENANT, Workspace
from corpus2skill.domain.run import Heard, LastWord, RunLimits, RunRecord
from corpus2skill.domain.session import Channel, Door
from corpus2skill.domain.usage import day_of
from corpus2skill.errors import InvalidInput, SessionNotFound
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.loop import navigate
from corpus2skill.navigator.question import Question, check_question
from corpus2skill.navigator.run import Navigator
from corpus2skill.navigator.spending import require_price
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.ports.events import RunListener
from corpus2skill.ports.result_store import ResultStore
from corpus2skill.ports.store import RecordFilter, RecordStore
from corpus2skill.settings import Settings

_RECENT = 1_000
"""Records among which a shortened id is looked for; a whole one is found however old it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """A question and where it comes from; None leaves the workspace's settings."""

    question: str
    corpus: str | None = None
    session: str | None = None
    """A conversation that there is, or the beginning of its id. None begins a new one."""
    channel: Channel = "text"
    door: Door = "cli"
    model: str | None = None
    base_url: str | None = None
    tenant: str = TENANT
    user: str | None = None
    """Who asks. A conversation is gone on with by the one who began it."""
    heard_before: Heard | None = None
    """How much of the answer before was heard, where this question breaks into it."""
    is_session_known: bool = False
    """True where the door itself keeps whose conversations are: `session` is taken as it stands."""
    run: str | None = None
    """Id of the run, where the door has given it one already."""


async def ask(
    workspace: Workspace,
    options: AskOptions,
    listener: RunListener,
    cancellation: Cancellation | None = None,
) -> RunRecord:
    """Answer by walking down the active version's tree; the record is kept however it ends.

    Raises:
        InvalidQuestion, CorpusNotFound, VersionNotFound, SessionNotFound, WorkspaceUnusable: nothing was begun.
    """
    check_question(options.question, workspace.settings.question_characters)
    check_user(options.user)
    corpus, version = chosen_version(workspace, options.corpus, None)
    async with Asking.of_version(workspace, corpus, version, options.model, options.base_url) as asking:
        return await asking.ask(options, listener, cancellation)


class Asking:
    """One version opened for questions: the index is opened once, however many are asked."""

    def __init__(
        self, workspace: Workspace, navigator: Navigator, results: ResultStore | None = None
    ) -> None:
        """`results`: closed with the rest."""
        self._workspace = workspace
        self._navigator = navigator
        self._results = results

    @classmethod
    def of_version(
        cls,
        workspace: Workspace,
        corpus: str,
        version: int,
        model: str | None,
        base_url: str | None = None,
        *,
        records: RecordStore | None = None,
    ) -> Asking:
        """`records`: where runs are recorded; the workspace's own unless the door has them opened already.

        Raises:
            UnusableSettings, ModelUnusable: no such model, or it lacks a key, an address, or, under a spending
                limit, a known price.
        """
        name = model or workspace.settings.navigation_model or workspace.settings.model
        limits = run_limits(workspace.settings)
        opened, price = open_navigator(workspace, corpus, version, name, base_url)
        require_price(opened.name, price, limits)
        results = None if limits.month_dollars is None else workspace.results()
        navigator = Navigator(
            model=opened,
            tree=TreeReader(store=workspace.versions, corpus=corpus, version=version),
            records=_tidied(workspace.records()) if records is None else records,
            clock=workspace.clock,
            ids=workspace.ids,
            sleep=asyncio.sleep,
            chance=random.random,
            limits=limits,
            price=price,
            held=workspace.held,
            spent_otherwise=_spent_on_compiles(results),
            turnstile=workspace.turnstile,
        )
        return cls(workspace, navigator, results)

    async def ask(
        self, options: AskOptions, listener: RunListener, cancellation: Cancellation | None = None
    ) -> RunRecord:
        """Raises: SessionNotFound, InvalidInput (it is about another corpus); nothing was begun."""
        tree = self._navigator.tree
        session, user = self._session(options)
        question = Question(
            text=options.question,
            tenant=options.tenant,
            session=session,
            user=user,
            corpus_language=self._workspace.versions.manifest(tree.corpus, tree.version).language,
            channel=options.channel,
            door=options.door,
            heard_before=options.heard_before,
            run=options.run,
        )
        return await navigate(question, self._navigator, listener, cancellation)

    def _session(self, options: AskOptions) -> tuple[str, str | None]:
        """The conversation and whose it is."""
        if options.session is None:
            return self._workspace.ids.new("session"), options.user
        if options.is_session_known:
            return options.session, options.user
        corpus = self._navigator.tree.corpus
        return own_session(self._navigator.records, options.tenant, options.session, options.user, corpus)

    async def __aenter__(self) -> Asking:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._navigator.model.close()
        self._navigator.records.close()
        if self._results is not None:
            self._results.close()


def _spent_on_compiles(results: ResultStore | None) -> Callable[[datetime], float]:
    return lambda since: 0.0 if results is None else results.spent(day_of(since))


def check_user(user: str | None) -> None:
    """Raises: InvalidInput: the id is empty, as an unset variable gives, and would be nobody's."""
    if user is not None and not user.strip():
        raise InvalidInput("empty_user")


def own_session(
    records: RecordStore, tenant: str, wanted: str, user: str | None, corpus: str
) -> tuple[str, str | None]:
    """Return the id of the conversation that is meant, as `known_session`, and whose it is.

    Raises:
        SessionNotFound: as there, or it is another user's.
        InvalidInput: it is about another corpus: its questions and answers mean nothing over this one.
    """
    session = known_session(records, tenant, wanted)
    newest = next(records.records(tenant, RecordFilter(session=session, limit=1)))
    if user not in (None, newest.user):
        raise SessionNotFound(session=wanted)
    if newest.ids.corpus != corpus:
        raise InvalidInput("session_of_other_corpus", session=session, held=newest.ids.corpus, asked=corpus)
    return session, newest.user


def known_session(records: RecordStore, tenant: str, wanted: str) -> str:
    """Return the id of the conversation that is meant: `wanted`, or the only recent one that begins so.

    Raises:
        SessionNotFound: there is none, or more than one; a new conversation is never begun in its stead.
    """
    if next(records.records(tenant, RecordFilter(session=wanted, limit=1)), None) is not None:
        return wanted
    recent = {record.ids.session for record in records.records(tenant, RecordFilter(limit=_RECENT))}
    found = sorted(session for session in recent if wanted and session.startswith(wanted))
    if len(found) > 1:
        raise SessionNotFound("session_ambiguous", session=wanted, sessions=len(found))
    if not found:
        raise SessionNotFound(session=wanted)
    return found[0]


def run_limits(settings: Settings) -> RunLimits:
    last_word: LastWord = "answer" if settings.last_word == "answer" else "stop"
    return RunLimits(
        fetches=settings.fetch_limit,
        seconds=settings.run_seconds,
        round_seconds=settings.round_seconds,
        last_word=last_word,
        history_tokens=settings.history_tokens,
        question_characters=settings.question_characters,
        run_dollars=settings.question_cost,
        session_dollars=settings.session_cost,
        day_dollars=settings.day_cost,
        month_dollars=settings.month_cost,
    )


def _tidied(records: RecordStore) -> RecordStore:
    """Close what a killed process left open, so that its record is not lost."""
    records.close_dead()
    return records
