"""One JSON reply and one tool call: what an endpoint can and cannot do."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from corpus2skill.application.compile_options import CompileOptions, compile_models
from corpus2skill.application.find_window import Measuring, Window, find_window
from corpus2skill.application.model_wiring import model_for, open_single_model
from corpus2skill.application.wiring import OFFLINE, Workspace
from corpus2skill.compiler.json_reply import first_object
from corpus2skill.compiler.summary_call import summary_call
from corpus2skill.domain.chunk import Chunk, Place
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import ProgramMessage, Reply, Text, TextDelta
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import BadReply, Corpus2SkillError
from corpus2skill.messages import message
from corpus2skill.navigator.channel import max_output_tokens
from corpus2skill.navigator.get_document import asked_path, tool_spec
from corpus2skill.navigator.prompt import system_prompt
from corpus2skill.ports.language_model import LanguageModel
from corpus2skill.ports.navigator_model import NavigatorRequest

Finding = Literal[
    "json", "json_among_words", "no_json", "tool_call", "tool_call_without_reason", "no_tool_call"
]
"""What came. `json_among_words` and a call without a reason can be worked with."""
_USABLE: frozenset[Finding] = frozenset({"json", "json_among_words", "tool_call", "tool_call_without_reason"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One thing tried with one model."""

    model: str
    what: Literal["json", "tool"]
    finding: Finding | None
    """None where the call failed."""
    ms: int
    is_streamed: bool = False
    """Of a tool call: words came in pieces before it."""
    input_tokens: int = 0
    error: Corpus2SkillError | None = None

    @property
    def is_usable(self) -> bool:
        return self.finding in _USABLE


async def try_models(
    workspace: Workspace, model: str | None, base_url: str | None, language: Language
) -> tuple[Trial, ...]:
    """Try what each configured model is for: JSON for compiling, a tool call for navigating.

    Two to three short calls are paid for. Empty where only the offline engine is configured.

    Raises:
        UnusableSettings: no such model.
    """
    compiling, navigating = _models(workspace, model)
    trials = list[Trial]()
    for name in compiling:
        trials.append(await _try(workspace, name, base_url, "json", lambda one: _json(one, language)))
    for name in navigating:
        trials.append(await _try(workspace, name, base_url, "tool", lambda one: _tool(one, language)))
    return tuple(trials)


async def find_windows(
    workspace: Workspace,
    model: str | None,
    base_url: str | None,
    trials: Iterable[Trial],
    tell: Callable[[Measuring], None],
) -> tuple[Window, ...]:
    """Find out how much each configured model reads, as far as it answered in `trials`.

    Raises:
        UnusableSettings: no such model.
    """
    answering = {trial.model for trial in trials if trial.error is None}
    compiling, navigating = _models(workspace, model)
    names = dict.fromkeys((*compiling, *navigating))
    return tuple(
        [await find_window(workspace, name, base_url, tell) for name in names if str(name) in answering]
    )


def _models(workspace: Workspace, model: str | None) -> tuple[tuple[ModelName, ...], tuple[ModelName, ...]]:
    """What compiles and what navigates; the embedded engine is none of them."""
    settings = workspace.settings
    models = compile_models(settings, CompileOptions(model=model))
    compiling = dict.fromkeys(name for name in (models.summarize, models.group) if name is not None)
    navigate = model or settings.navigation_model or settings.model
    return tuple(compiling), () if navigate == OFFLINE else (model_for(navigate, "navigate"),)


async def _try(
    workspace: Workspace,
    name: ModelName,
    base_url: str | None,
    what: Literal["json", "tool"],
    attempt: Callable[[LanguageModel], Awaitable[Trial]],
) -> Trial:
    began = time.monotonic()
    try:
        opened = open_single_model(workspace, name, base_url)
        try:
            trial = await attempt(opened)
        finally:
            await opened.close()
    except Corpus2SkillError as error:
        trial = Trial(model=str(name), what=what, finding=None, ms=0, error=error)
    return replace(trial, ms=round((time.monotonic() - began) * 1000))


async def _json(model: LanguageModel, language: Language) -> Trial:
    sample = message(language, "trial.text")
    chunk = Chunk(
        chunk_id="chunk_1", source="", start=0, end=len(sample), text=sample, place=Place(headings=())
    )
    reply = await model.complete(replace(summary_call(chunk), purpose="trial"))
    return Trial(
        model=model.name,
        what="json",
        finding=_json_finding(reply.text),
        ms=0,
        input_tokens=reply.usage.input_tokens,
    )


def _json_finding(text: str) -> Finding:
    try:
        first_object(text, {"title": "string", "summary": "string"})
    except BadReply:
        return "no_json"
    return "json" if text.strip().startswith("{") and text.strip().endswith("}") else "json_among_words"


async def _tool(model: LanguageModel, language: Language) -> Trial:
    request = NavigatorRequest(
        system=system_prompt(language, "text", 8),
        messages=(ProgramMessage((Text(message(language, "trial.question")),)),),
        tools=(tool_spec(language),),
        max_output_tokens=max_output_tokens("text"),
        language=language,
        channel="text",
    )
    deltas, replies = 0, list[Reply]()
    async for event in model.reply(request):
        if isinstance(event, TextDelta):
            deltas += 1
        else:
            replies.append(event)
    if not replies:
        raise BadReply("no_reply", model=model.name)
    return Trial(
        model=model.name,
        what="tool",
        finding=_tool_finding(replies[-1]),
        ms=0,
        is_streamed=deltas > 1,
        input_tokens=replies[-1].usage.input_tokens,
    )


def _tool_finding(reply: Reply) -> Finding:
    if not any(asked_path(call) for call in reply.tool_calls):
        return "no_tool_call"
    return "tool_call" if reply.text else "tool_call_without_reason"
