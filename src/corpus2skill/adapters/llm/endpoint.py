"""Where a model is and how it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx2
import msgspec

from corpus2skill.adapters.llm.capped_body import BodyTooLarge, head_of
from corpus2skill.adapters.llm.failures import (
    Failure,
    Target,
    broken,
    classify,
    no_api,
    shortened,
    timed_out,
    too_large,
    unreachable,
    unreadable,
)
from corpus2skill.adapters.llm.redaction import Redactor
from corpus2skill.adapters.llm.timeouts import Timeouts
from corpus2skill.errors import BadReply, ModelError

_NO_CONNECTION = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address, as an adapter needs it."""

    target: Target
    redactor: Redactor
    timeouts: Timeouts
    window: int

    @property
    def identity(self) -> str:
        """Nothing that an endpoint taught us is in it: what was paid for stays found."""
        return f"{self.target.model} at {self.target.endpoint}, thinking least"

    def timeout_of_replies(self) -> httpx2.Timeout:
        return httpx2.Timeout(self.timeouts.reply, connect=self.timeouts.connect, pool=None)

    def timeout_of_streams(self) -> httpx2.Timeout:
        return httpx2.Timeout(self.timeouts.silence, connect=self.timeouts.connect, pool=None)

    def failure(self, status: int, body: object, headers: Mapping[str, str], message: str) -> Failure:
        """Read an error body, whoever's it is: `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}`, a page."""
        error = _error_object(body)
        words = str(error.get("message") or error.get("detail") or message)
        kinds = (error.get(name) for name in ("type", "code", "status", "error_code"))
        return Failure(
            status=status,
            words=shortened(self.redactor.clean(words)),
            kinds=frozenset(str(kind).lower() for kind in kinds if isinstance(kind, str)),
            parameter=str(error.get("param") or ""),
            headers=headers,
            is_api=bool(error),
        )

    def transport_error(self, error: BaseException) -> ModelError:
        """Return what a broken, late or missing connection is."""
        if isinstance(error, TimeoutError):
            return timed_out(self.target, self.timeouts.reply)
        cause = error if isinstance(error, httpx2.RequestError) else error.__cause__ or error
        if isinstance(cause, BodyTooLarge):
            return too_large(self.target, cause.most_bytes)
        reason = self.redactor.clean(f"{type(cause).__name__}: {cause}")
        if isinstance(cause, _NO_CONNECTION):
            return unreachable(self.target, reason)
        if isinstance(cause, httpx2.TimeoutException):
            return timed_out(self.target, self.timeouts.silence)
        return broken(self.target, reason)

    def page_instead_of_stream(self, response: httpx2.Response) -> ModelError | None:
        """Return the fault where another site answers with a page; None for anything else."""
        content_type = response.headers.get("content-type", "")
        if "html" not in content_type:
            return None
        return no_api(self.target, response.status_code, content_type)

    def stream_without_reply(self, response: httpx2.Response, field: str, *, has_events: bool) -> ModelError:
        """Return what a stream is that ended before a reply began: cut at its head, or nothing of an API's.

        `field` is what every whole reply has.
        """
        content_type, head = response.headers.get("content-type", ""), head_of(response)
        if "event-stream" in content_type and has_events:
            return no_api(self.target, response.status_code, self._words(head))
        if "event-stream" not in content_type:
            fault = self.not_a_reply(response.status_code, content_type, head, "", field)
            if not isinstance(fault, BadReply):
                return fault
        return broken(self.target, "the stream ended before its beginning")

    def not_a_reply(self, status: int, content_type: str, body: bytes, reason: str, field: str) -> ModelError:
        """Return what a body that is no reply is: another site's, an error in disguise, or a reply that broke.

        `field` is what every reply has.
        """
        said = _json_of(body)
        if isinstance(said, dict) and "error" in said and field not in said:
            return classify(self.failure(0, said, {}, str(said["error"])), self.target)
        is_page = "html" in content_type or body.lstrip()[:1] != b"{"
        if is_page or (isinstance(said, dict) and field not in said):
            return no_api(self.target, status, self._words(body))
        return unreadable(self.target, self.redactor.clean(reason))

    def _words(self, body: bytes) -> str:
        return self.redactor.clean(body[:2000].decode("utf-8", "replace"))


def _json_of(body: bytes) -> object:
    """Return what the body says; None where it is no JSON."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _error_object(body: object) -> Mapping[str, object]:
    """Return the object that describes the error; an empty one where the body is no API's."""
    if isinstance(body, list) and body:
        body = body[0]  # Gemini's
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error", body)
    if isinstance(inner, str):
        return {"message": inner}
    if not isinstance(inner, Mapping):
        return {}
    details = inner.get("details")
    return {**inner, **details} if isinstance(details, Mapping) else inner
