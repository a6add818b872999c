"""Which engine answers questions, where people may expect another."""

from __future__ import annotations

from corpus2skill.application.choose import chosen_version
from corpus2skill.application.wiring import OFFLINE, Workspace
from corpus2skill.errors import Corpus2SkillError


def model_left_out(workspace: Workspace, corpus: str | None, model: str | None) -> str | None:
    """The model that a corpus was compiled with, where none is named and the offline engine will answer.

    None where that is no surprise, and where asking will say itself that there is nothing to ask.
    """
    if (model or workspace.settings.navigation_model or workspace.settings.model) != OFFLINE or model:
        return None
    try:
        name, version = chosen_version(workspace, corpus, None)
        engines = workspace.versions.manifest(name, version).engines
    except Corpus2SkillError:
        return None
    paid = (engine for engine in (engines.grouper, engines.summarizer) if not engine.startswith(OFFLINE))
    return next((engine.rpartition("/")[0] for engine in paid), None)
