"""An error, or a fault of a version or of the records, as a sentence."""

from __future__ import annotations

from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message
from corpus2skill.ports.store import Fault


def fault_sentence(out: Output, fault: Fault) -> str:
    return out.say(f"fault.{fault.code}", file=fault.file, detail=fault.detail)


def error_sentence(out: Output, error: Corpus2SkillError) -> str:
    try:
        return error_message(out.language, error)
    except KeyError:  # a sentence that is missing must not hide the fault itself
        return str(error)
