"""A fault of a version or of the records as a sentence."""

from __future__ import annotations

from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.ports.store import Fault


def fault_sentence(out: Output, fault: Fault) -> str:
    return out.say(f"fault.{fault.code}", file=fault.file, detail=fault.detail)
