"""No text that leaves an adapter, and no line that a library logs, shows a key."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote

from corpus2skill.domain.message import ModelPart, Text, Thinking, ToolCall

HIDDEN = "[key]"
_SHORTEST = 12
"""Shorter ones are the made-up keys of local servers, `ollama` or `none`: to blot out such a word spoils replies."""
_LOGGERS = ("anthropic", "openai", "httpx2", "httpcore2", "hpack", "botocore", "google", "urllib3")


class Redactor:
    """Replaces every one of `secrets` in texts, however it is escaped."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        escaped = "|".join(re.escape(form) for form in self._forms)
        self._pattern = re.compile(escaped, re.IGNORECASE) if escaped else None

    def guard_logs(self) -> None:
        """Keep the same secrets out of what the SDKs and their HTTP libraries log, at any level, from now on."""
        redact_logs(self._forms)

    def clean(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def clean_part(self, part: ModelPart) -> ModelPart:
        """Clean what a model wrote. A signed thinking block whose text held the key is no use to anyone."""
        match part:
            case Text(text):
                return Text(self.clean(text))
            case Thinking(text=text):
                return replace(part, text=self.clean(text))
            case ToolCall(call_id=call_id, name=name, arguments=arguments):
                return ToolCall(
                    call_id=self.clean(call_id), name=self.clean(name), arguments=self.clean(arguments)
                )

    def held_back(self, text: str) -> int:
        """Return how many of the last characters may be the beginning of a secret."""
        lowered = text.lower()
        return max((_overlap(lowered, form.lower()) for form in self._forms), default=0)


class StreamRedactor:
    """Cleans a text that comes in pieces: a key may be cut between two of them."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept = ""

    def feed(self, piece: str) -> str:
        """Return what may be shown now."""
        text = self._redactor.clean(self._kept + piece)
        shown = len(text) - self._redactor.held_back(text)
        self._kept = text[shown:]
        return text[:shown]

    def rest(self) -> str:
        """Return what was held back, at the end of the text."""
        rest, self._kept = self._kept, ""
        return rest


class _LogFilter(logging.Filter):
    """Cleans the records of libraries, their tracebacks counted."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: set[str] = set()
        self._redactor = Redactor(())

    def add(self, secrets: Iterable[str]) -> None:
        self._secrets.update(secrets)
        self._redactor = Redactor(self._secrets)

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._redactor.clean(record.getMessage())
        record.args = None
        if record.exc_info:
            record.exc_text = self._redactor.clean(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


_log_filter = _LogFilter()


def redact_logs(secrets: Iterable[str]) -> None:
    """Keep `secrets` out of what the SDKs and their HTTP libraries log, at any level, from now on.

    A filter of a logger does not see its children's records, so each logger there is gets it.
    """
    _log_filter.add(secrets)
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.split(".", 1)[0] in _LOGGERS:
            logging.getLogger(name).addFilter(_log_filter)


def _forms(secret: str) -> tuple[str, ...]:
    return secret, quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1]


def _overlap(text: str, form: str) -> int:
    for length in range(min(len(text), len(form) - 1), 0, -1):
        if text.endswith(form[:length]):
            return length
    return 0
