"""What a language model is asked about one chunk (the article, Step 3), and asked again."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from corpus2skill.compiler.prompt import prompt_text
from corpus2skill.domain.chunk import SUMMARY_LIMIT, Chunk
from corpus2skill.domain.language import Language, detect_language
from corpus2skill.domain.message import ModelMessage, ProgramMessage, Text
from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.domain.tokens import upper_prompt_tokens
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message, message

PROMPT_VERSION = "summary-1"
"""Raised with every change of wording or form here and in `prompts/`: summaries of another are not reused."""
MAX_OUTPUT_TOKENS = 600
"""Room for 200 characters of any script with their JSON, and for seeing that a reply is too long."""

_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"title": {"type": "string"}, "summary": {"type": "string"}},
        "required": ["title", "summary"],
        "additionalProperties": False,
    }
)
_LONGEST_HEADING = 120
_LONGEST_TABLE_HEADER = 500
_MOST_REPLY = 400
"""Characters of an unusable reply that are shown to the model again."""
_MOST_FAULTS = 300


def summary_call(chunk: Chunk) -> TextCall:
    """Return the call for the summary of `chunk`. It says nothing of the file's name, title or pages."""
    language = language_of(chunk)
    material = material_of(chunk)
    request = prompt_text(language, "summarize_request").format(
        material=material, limit=SUMMARY_LIMIT - len(choices_lead(chunk))
    )
    if chunk.is_choices_only:
        request = f"{request}\n\n{prompt_text(language, 'summarize_choices')}"
    return TextCall(
        purpose="summarize",
        prompt_version=PROMPT_VERSION,
        system=prompt_text(language, "summarize"),
        messages=(ProgramMessage((Text(request),)),),
        schema=_SCHEMA,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        subject=chunk.fingerprint,
    )


def asked_again(
    first: TextCall, language: Language, reply: str, faults: Sequence[Corpus2SkillError], number: int
) -> TextCall:
    """Return the `first` call followed by the unusable reply and its faults; `number` counts calls from 1.

    Replies before the last are not shown again: the prompt stays within what `check_window` counted. The
    number keeps two calls apart whose replies were alike, so that neither is taken for the other.
    """
    told = " ".join(error_message(language, fault) for fault in faults)
    told = shortened(one_line(_encodable(told)), _MOST_FAULTS)
    again = Text(prompt_text(language, "ask_again").format(fault=told, number=number))
    shown = _shown(reply)
    if shown:
        return replace(
            first, messages=(*first.messages, ModelMessage((Text(shown),)), ProgramMessage((again,)))
        )
    return replace(first, messages=(ProgramMessage((Text(_question(first)), again)),))


def choices_lead(chunk: Chunk) -> str:
    """Return what the summary of a bare list of choices begins with, "" for any other chunk."""
    if not chunk.is_choices_only:
        return ""
    language = language_of(chunk)
    lead = message(language, "offline.choices_only")
    return lead if language == "ja" else f"{lead} "


def language_of(chunk: Chunk) -> Language:
    """Return the language of a chunk's text, of its headings where the text is only figures and signs."""
    return detect_language(chunk.text, detect_language(" ".join(chunk.place.headings)))


def source_text(chunk: Chunk) -> str:
    """Return all that a summary may rest on."""
    return "\n".join((*chunk.place.headings, chunk.table_header or "", chunk.text))


def tokens_beside(language: Language, *, is_choices_only: bool) -> int:
    """Return what the calls for a chunk stay below in tokens, asked again and reply counted, its material not."""
    names = ("summarize", "summarize_request", "summarize_choices", "ask_again")
    texts = [prompt_text(language, name) for name in names if is_choices_only or name != "summarize_choices"]
    again = "\u3042" * (_MOST_REPLY + _MOST_FAULTS)
    return upper_prompt_tokens(*texts, again, _SCHEMA) + MAX_OUTPUT_TOKENS


def material_of(chunk: Chunk) -> str:
    """Return the shown parts of a chunk between lines that its text cannot contain."""
    headings = " › ".join(shortened(one_line(heading), _LONGEST_HEADING) for heading in chunk.place.headings)
    header = shortened(one_line(chunk.table_header or ""), _LONGEST_TABLE_HEADER)
    parts = {"headings": headings, "table_header": header, "text": chunk.text}
    shown = {name: _encodable(text) for name, text in parts.items() if text.strip() or name == "text"}
    mark = _mark(chunk, shown.values())
    sections = "\n".join(f"<<<{name} {mark}>>>\n{text}" for name, text in shown.items())
    return f"{sections}\n<<<end {mark}>>>"


def _shown(reply: str) -> str:
    """The beginning of a reply, with the bytes of at most so many Japanese characters."""
    beginning = _encodable(reply.strip()[:_MOST_REPLY])
    return (
        beginning if len(beginning.encode("utf-8")) <= 3 * _MOST_REPLY else beginning[: 3 * _MOST_REPLY // 4]
    )


def _question(call: TextCall) -> str:
    return "".join(part.text for part in call.messages[0].parts if isinstance(part, Text))


def _mark(chunk: Chunk, texts: Collection[str]) -> str:
    """Words that none of `texts` holds. They come from the text's own hash, so nobody can plan for them."""
    mark = chunk.fingerprint[:12]
    while any(mark in text for text in texts):
        mark += "-x"
    return mark


def _encodable(text: str) -> str:
    """Return `text` with a question mark for each half of a surrogate pair, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
