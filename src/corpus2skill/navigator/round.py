"""One round: the model is asked once, and what comes back is made safe to use and to send back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from corpus2skill.domain.message import (
    MADE_UP_CALL,
    ModelMessage,
    ModelPart,
    ProgramMessage,
    Reply,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    Usage,
)
from corpus2skill.domain.run import AnswerDelta, RoundDelayed, RoundFinished, RoundStarted
from corpus2skill.domain.tokens import upper_tokens
from corpus2skill.errors import BadReply, ModelError, ModelRefused, ModelUnavailable, ModelUnusable
from corpus2skill.messages import message
from corpus2skill.navigator.citation import without_markers
from corpus2skill.navigator.error_words import error_values
from corpus2skill.navigator.get_document import error_result, has_usable_arguments
from corpus2skill.navigator.outcome import RunEnded
from corpus2skill.navigator.request import build_request, prompt_tokens, reply_tokens
from corpus2skill.navigator.run import Run
from corpus2skill.navigator.spending import hold_round
from corpus2skill.navigator.tries import seconds_before_try
from corpus2skill.ports.navigator_model import NavigatorRequest

_UNUSABLE_IN_A_ROW = 2
"""So many unusable replies in a row end the run: each is asked once more."""


async def ask(run: Run, *, may_use_tools: bool = True) -> Reply | None:
    """Ask the model once; None where nothing usable came and it may be asked again.

    Raises:
        RunEnded: `timed_out`, `refused`, `budget`, or `model_failed` where trying or asking again is no use.
    """
    run.rounds += 1
    try:
        reply = await _answered(run, _fitting_request(run, may_use_tools=may_use_tools))
    except ModelRefused as error:
        raise _refused(run) from error
    except BadReply as error:
        return _unusable(run, error)
    except ModelError as error:
        raise RunEnded("model_failed") from error
    return _usable(run, reply)


def _fitting_request(run: Run, *, may_use_tools: bool) -> NavigatorRequest:
    """
    Raises:
        ModelUnusable: the model's window is too small for it.
    """
    request = build_request(run, may_use_tools=may_use_tools)
    model = run.navigator.model
    wanted = prompt_tokens(run, request, upper_tokens) + reply_tokens(run, request)
    if wanted > model.window:
        raise ModelUnusable("window_too_small", model=model.name, window=model.window, wanted=wanted)
    return request


async def _answered(run: Run, request: NavigatorRequest) -> Reply:
    """Return the reply of the first try that the model is available for."""
    for attempt in count(1):
        most = hold_round(run, request)
        run.tell(RoundStarted(round=run.rounds, attempt=attempt))
        try:
            async with run.within(run.limits.round_seconds):
                return await _reply(run, request, most)
        except ModelUnavailable as error:
            await _wait(run, error, attempt)
    raise AssertionError("there is always another try, or an error")


async def _wait(run: Run, error: ModelUnavailable, failed: int) -> None:
    """Wait before the next try.

    Raises:
        ModelUnavailable: `error`; there have been enough tries, or the next would come after the run's time.
        RunEnded: the run was cancelled, and the model made a failure of it.
    """
    run.cancellation.check()
    seconds = seconds_before_try(error, failed, run.navigator.chance)
    if failed >= run.limits.tries or seconds >= run.seconds_left:
        raise error
    run.retries += 1
    run.tell(
        RoundDelayed(
            round=run.rounds,
            attempt=failed + 1,
            seconds=seconds,
            error_code=error.code,
            error_values=error_values(error),
        )
    )
    await run.navigator.sleep(seconds)
    run.cancellation.check()


async def _reply(run: Run, request: NavigatorRequest, most: float) -> Reply:
    """Stream one reply; its time, tokens and money are counted however it ends."""
    began = run.navigator.clock.monotonic()
    replies: list[Reply] = []
    is_begun = False
    try:
        async for event in run.navigator.model.reply(request):
            if not is_begun:  # replies that come together are read one after another
                is_begun = True
                await run.navigator.turnstile.enter()
            if isinstance(event, TextDelta):
                run.tell(AnswerDelta(text=_encodable(event.text)))
            else:
                replies.append(event)
    finally:
        usage = sum((reply.usage for reply in replies), Usage())
        run.usage += usage
        run.unaccounted += most if is_begun and not replies else 0.0
        run.trail.add_round(began, usage)
    if len(replies) != 1:
        raise BadReply("not_one_reply", replies=len(replies))
    run.counted_messages, run.counted_tokens = len(request.messages), usage.input_tokens
    return replies[0]


def _usable(run: Run, reply: Reply) -> Reply | None:
    reply = replace(reply, parts=_told_apart(run, _cleaned(reply.parts)))
    if reply.stop == "refusal":
        raise _refused(run)
    if reply.tool_calls and reply.stop == "max_tokens":
        return _cut_within_calls(run, reply)
    if not reply.tool_calls and not without_markers(reply.text):
        return _empty(run)
    run.unusable_replies = 0
    run.messages.append(ModelMessage(_with_usable_arguments(reply.parts)))
    run.tell(RoundFinished(round=run.rounds, kind="navigate" if reply.tool_calls else "answer"))
    return reply


def _cleaned(parts: Sequence[ModelPart]) -> tuple[ModelPart, ...]:
    """Return the parts that a provider takes back: providers refuse a history with empty blocks in it.

    A signed thinking block stays exactly as it is, also when its text is empty.
    """
    return tuple(cleaned for part in parts if (cleaned := _cleaned_part(part)) is not None)


def _cleaned_part(part: ModelPart) -> ModelPart | None:
    match part:
        case Text(text):
            return Text(_encodable(text)) if text.strip() else None
        case Thinking(text=text, signature=signature):
            return part if signature is not None or text.strip() else None
        case ToolCall():
            return part


def _told_apart(run: Run, parts: Sequence[ModelPart]) -> tuple[ModelPart, ...]:
    """Give a call a new id where its own was used before in the run: providers refuse a history with two alike.

    The call goes back under the id that its result names. What is signed of a reply does not cover the ids.
    """
    return tuple(
        replace(part, call_id=_unused_id(run, part.call_id)) if isinstance(part, ToolCall) else part
        for part in parts
    )


def _unused_id(run: Run, call_id: str) -> str:
    """Return `call_id`, or where it cannot be used another one, which is used from now on."""
    if not call_id or call_id == MADE_UP_CALL or call_id in run.call_ids:
        numbered = (f"call_{number}" for number in count(len(run.call_ids) + 1))
        call_id = next(new for new in numbered if new not in run.call_ids)
    run.call_ids.add(call_id)
    return call_id


def _cut_within_calls(run: Run, reply: Reply) -> None:
    """Answer calls that may lack their end; none of them is carried out."""
    results = tuple(error_result(call, "cut_call", run.language) for call in reply.tool_calls)
    run.messages += [ModelMessage(_with_usable_arguments(reply.parts)), ProgramMessage(results)]
    return _unusable(run, BadReply("cut_call"))


def _empty(run: Run) -> None:
    """Ask once more, in words: the same request would be answered the same. The empty reply is dropped."""
    run.messages.append(ProgramMessage((Text(message(run.language, "tool.empty_reply")),)))
    return _unusable(run, BadReply("empty_reply"))


def _unusable(run: Run, error: ModelError) -> None:
    run.unusable_replies += 1
    if run.unusable_replies >= _UNUSABLE_IN_A_ROW:
        raise RunEnded("model_failed") from error


def _refused(run: Run) -> RunEnded:
    run.tell(RoundFinished(round=run.rounds, kind="refused"))
    return RunEnded("refused")


def _with_usable_arguments(parts: Sequence[ModelPart]) -> tuple[ModelPart, ...]:
    """Replace arguments that are no JSON object by an empty one: a provider takes nothing else back."""
    return tuple(
        replace(part, arguments="{}")
        if isinstance(part, ToolCall) and not has_usable_arguments(part)
        else part
        for part in parts
    )


def _encodable(text: str) -> str:
    """Return `text` with lone surrogates, which nothing can write down, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
