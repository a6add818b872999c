"""What is wrong with a command line, in the reader's language: the libraries that parse it only speak English."""

from __future__ import annotations

import re

from corpus2skill.entrypoints.cli.output import Output

_MAX_COST = "--max-cost"
"""Of compile; whoever looks for it at a question is told where a question's limit is set."""
_NAMED = "(?P<name>.+?)"
_SENTENCES = (
    (rf"Missing argument '{_NAMED}'\.", "missing_argument"),
    (rf"Missing option '{_NAMED}'\.", "missing_option"),
    (r"Missing command\.", "missing_command"),
    (rf"No such option: {_NAMED} \(Possible options: (?P<near>.+)\)", "option_like"),
    (rf"No such option: {_NAMED}", "no_such_option"),
    (rf"No such command '{_NAMED}'\. Did you mean (?P<near>.+)\?", "command_like"),
    (rf"No such command '{_NAMED}'\.", "no_such_command"),
    (rf"Option '{_NAMED}' requires an argument\.", "option_value_wanted"),
    (rf"Option '{_NAMED}' does not take a value\.", "option_value_unwanted"),
    (rf"Got unexpected extra argument\(s\) \({_NAMED}\)", "extra_arguments"),
)
_INVALID = re.compile(rf"Invalid value for {_NAMED}: (?P<reason>.+)", re.DOTALL)
_REASONS = (
    (r"(?:Value error, )?'(?P<came>.*)' is not one of (?P<known>.+)\.", "not_one_of"),
    (r"Input should be a valid integer.*", "integer_wanted"),
    (r"Input should be a valid number.*", "number_wanted"),
    (r"Input should be a finite number", "number_wanted"),
    (r"Input should be greater than or equal to (?P<least>.+)", "too_small"),
    (r"Input should be less than or equal to (?P<most>.+)", "too_big"),
)


def usage_sentence(out: Output, english: str) -> str:
    """Return what `english`, the parser's sentence, says; one that is not known stays as it is."""
    if _is_unknown(english, _MAX_COST):
        return out.say("usage.max_cost_elsewhere", name=_MAX_COST)
    invalid = _INVALID.fullmatch(english)
    if invalid is None:
        return _said(out, english, _SENTENCES)
    reason = _said(out, invalid["reason"], _REASONS)
    return out.say("usage.invalid_value", name=invalid["name"], reason=reason)


def _is_unknown(english: str, name: str) -> bool:
    return english == f"No such option: {name}" or english.startswith(f"No such option: {name} ")


def _said(out: Output, english: str, known: tuple[tuple[str, str], ...]) -> str:
    for pattern, key in known:
        if match := re.fullmatch(pattern, english, re.DOTALL):
            return out.say(f"usage.{key}", **match.groupdict())
    return english
