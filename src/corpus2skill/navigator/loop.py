"""The navigation loop (the article, Part 2).

```
history = earlier turns of the session + the question
repeat:
    reply = ask the model, which has one tool
    where it wants the tool: fetch the node, note the visit, go on
    where it only writes:    that is the answer
finally: record trail, answer and time
```
"""

from __future__ import annotations

import asyncio

from corpus2skill.domain.run import RunRecord
from corpus2skill.navigator.begin import begin_run
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.fetch import fetch, prefetch_root
from corpus2skill.navigator.outcome import RunEnded
from corpus2skill.navigator.question import Question, check_question
from corpus2skill.navigator.record import (
    Conclusion,
    close_record,
    conclude_from_reply,
    conclude_without_reply,
    open_record,
)
from corpus2skill.navigator.round import ask
from corpus2skill.navigator.run import Navigator, Run
from corpus2skill.ports.events import RunListener


async def navigate(
    question: Question,
    navigator: Navigator,
    listener: RunListener | None = None,
    cancellation: Cancellation | None = None,
) -> RunRecord:
    """Walk down the tree to an answer and return the run's record.

    However the run ends, exactly one record of it is written. A run that is cancelled through its task, or
    that meets something unexpected, is recorded and then raises what ended it.

    Raises:
        InvalidQuestion: nothing was begun.
    """
    check_question(question.text, navigator.limits.question_characters)
    await navigator.turnstile.enter()
    run = begin_run(question, navigator, listener, cancellation or Cancellation())
    open_record(run)
    conclusion = conclude_without_reply(run, "stopped")
    try:
        conclusion = await _walk_in_time(run)
    except RunEnded as end:
        conclusion = conclude_without_reply(run, end.outcome, end.__cause__)
    except asyncio.CancelledError:
        conclusion = conclude_without_reply(run, "cancelled")
        raise
    except BaseException as error:
        conclusion = conclude_without_reply(run, "stopped", error)
        raise
    finally:
        navigator.held.release(run.ids)
        record = close_record(run, conclusion)
    return record


async def _walk_in_time(run: Run) -> Conclusion:
    with run.cancellation.over_current_task():
        async with run.within(run.limits.seconds):
            return await _walk(run)


async def _walk(run: Run) -> Conclusion:
    if run.is_first_turn:
        prefetch_root(run)

    while run.rounds < run.limits.rounds:
        await _let_others_in(run)
        reply = await ask(run)
        if reply is None:
            continue
        if not reply.tool_calls:
            return conclude_from_reply(run, reply)
        if not fetch(run, reply):
            return await _end_at_limit(run)

    raise RunEnded("tool_misuse")


async def _let_others_in(run: Run) -> None:
    """Give way once a round: a model that never waits would hold up time limits and cancellation."""
    await asyncio.sleep(0)
    await run.navigator.turnstile.enter()
    run.cancellation.check()


async def _end_at_limit(run: Run) -> Conclusion:
    """End the run, or give the model one last word without tools where the limits say so."""
    if run.limits.last_word == "stop" or run.rounds >= run.limits.rounds:
        raise RunEnded("fetch_limit")
    reply = await ask(run, may_use_tools=False)
    if reply is None or reply.tool_calls:
        raise RunEnded("fetch_limit")
    return conclude_from_reply(run, reply)
