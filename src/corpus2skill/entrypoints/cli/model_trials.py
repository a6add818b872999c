"""What models did when they were tried, as lines and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from corpus2skill.entrypoints.cli.money import dollars
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.messages import error_message

if TYPE_CHECKING:
    from corpus2skill.application.find_window import Measuring, Window
    from corpus2skill.application.try_models import Trial


def trial_lines(out: Output, trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a line for each thing tried; nothing where nothing was."""
    if trials:
        yield out.say("cli.models")
    for trial in trials:
        yield "  " + out.say(
            "cli.trial",
            model=trial.model,
            what=out.say(f"trial.{trial.what}"),
            finding=_finding(out, trial),
            ms=trial.ms,
        )


def trial_documents(out: Output, trials: Sequence[Trial]) -> list[dict[str, object]]:
    return [
        {
            "model": trial.model,
            "what": trial.what,
            "finding": trial.finding,
            "is_usable": trial.is_usable,
            "is_streamed": trial.is_streamed,
            "ms": trial.ms,
            "input_tokens": trial.input_tokens,
            "error": None
            if trial.error is None
            else {"code": trial.error.code, "message": error_message(out.language, trial.error)},
        }
        for trial in trials
    ]


def tell_of_measuring(out: Output, measuring: Measuring) -> None:
    """Say what is going to be sent, before it is."""
    spending = dollars(out, measuring.dollars)
    out.note(
        out.say(
            "cli.window_measuring",
            model=measuring.model,
            calls=measuring.calls,
            tokens=f"{measuring.tokens:,}",
            dollars=spending,
        )
    )


def window_lines(out: Output, windows: Sequence[Window]) -> Iterator[str]:
    """Yield how much each model reads, and the setting to write where a compile reckons with another number."""
    for window in windows:
        tokens = f"{window.tokens:,}"
        said = out.say(f"trial.window.{window.origin}", tokens=tokens)
        yield "  " + out.say("cli.window", model=window.model, said=said)
        if not window.is_used and window.tokens:
            yield "    " + out.say("cli.window_setting", tokens=window.tokens)


def window_documents(windows: Sequence[Window]) -> list[dict[str, object]]:
    return [
        {
            "model": window.model,
            "tokens": window.tokens or None,
            "origin": window.origin,
            "is_used": window.is_used,
        }
        for window in windows
    ]


def _finding(out: Output, trial: Trial) -> str:
    if trial.error is not None:
        return error_message(out.language, trial.error)
    said = out.say(f"trial.found.{trial.finding}")
    is_whole = trial.what == "tool" and not trial.is_streamed and trial.finding == "tool_call"
    notes = [out.say("trial.not_streamed")] if is_whole else []
    if not trial.input_tokens:
        notes.append(out.say("trial.no_usage"))
    return " ".join((said, *notes))
