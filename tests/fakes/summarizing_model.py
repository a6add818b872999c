"""What a model that summarises well enough answers: the first words of the text that it was shown."""

from __future__ import annotations

import json
import re

from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT
from corpus2skill.domain.message import ProgramMessage, Text
from corpus2skill.domain.model_call import TextCall

_PARTS = re.compile(r"<<<text (?P<mark>[0-9a-f]{12}(?:-x)*)>>>\n(?P<text>.*)\n<<<end (?P=mark)>>>", re.DOTALL)


def question(call: TextCall) -> str:
    """All that the program said in a call, fault and all."""
    return "\n".join(
        part.text
        for message in call.messages
        if isinstance(message, ProgramMessage)
        for part in message.parts
        if isinstance(part, Text)
    )


def shown_text(call: TextCall) -> str:
    """The chunk's text as a call shows it."""
    match = _PARTS.search(question(call))
    assert match is not None
    return match["text"]


def first_words(call: TextCall) -> str:
    text = " ".join(shown_text(call).split())
    said = {"title": text[:TITLE_LIMIT].strip(), "summary": text[: SUMMARY_LIMIT - 60].strip()}
    return json.dumps(said, ensure_ascii=False)
