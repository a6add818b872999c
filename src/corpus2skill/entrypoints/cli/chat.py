"""`chat`: questions one after another, each trail lit while it is walked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.entrypoints.cli.desk import Desk, open_desk
from corpus2skill.entrypoints.cli.engine_note import note_engine
from corpus2skill.entrypoints.cli.options import (
    BaseUrlOption,
    Channel,
    CorpusOption,
    ModelOption,
    SessionOption,
    UserOption,
    WorkspaceOption,
)

if TYPE_CHECKING:
    from corpus2skill.application.conversation import ConversationOptions


def chat_command(
    corpus: CorpusOption = None,
    session: SessionOption = None,
    user: UserOption = None,
    channel: Annotated[Channel, typer.Option("--channel", help="Wording and length.")] = "text",
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    workspace: WorkspaceOption = None,
) -> int:
    """Converse: ask question after question, and see each trail as it is walked.

    \b
    corpus2skill chat
    corpus2skill chat --session SESSION
    corpus2skill chat < questions.txt

    What begins with a slash is a command; /help lists them. Ctrl-C stops a run, Ctrl-D leaves. Without a
    terminal every line is a question, and the exit code is that of the last one.
    """
    from corpus2skill.application.conversation import ConversationOptions

    desk = open_desk(workspace, is_json=False)
    options = ConversationOptions(
        corpus=corpus, session=session, user=user, channel=channel, model=model, base_url=base_url
    )
    note_engine(desk, corpus, model)
    with asyncio.Runner() as runner:
        return _converse(desk, options, runner)


def _converse(desk: Desk, options: ConversationOptions, runner: asyncio.Runner) -> int:
    from corpus2skill.application.conversation import Conversation
    from corpus2skill.entrypoints.cli.chat_commands import all_words
    from corpus2skill.entrypoints.cli.chat_input import chat_input
    from corpus2skill.entrypoints.cli.chat_screen import Screen
    from corpus2skill.entrypoints.cli.chat_sitting import Sitting
    from corpus2skill.entrypoints.cli.chat_talk import Talk

    sitting = Sitting(
        workspace=desk.workspace,
        screen=Screen(desk.out),
        conversation=Conversation(desk.workspace, options),
    )
    try:
        return Talk(sitting, chat_input(desk.out, all_words()), runner).run()
    finally:
        runner.run(sitting.conversation.close())
