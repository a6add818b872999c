"""What a provider's failure means: wait, change something, or take it as an answer.

Every SDK's exception comes here as a `Failure`; `classify` is the one place that decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from corpus2skill.errors import BadReply, ModelError, ModelRefused, ModelUnavailable, ModelUnusable

REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An answer that is none, in neutral words. All of it is clean of keys."""

    status: int
    """HTTP status; 0 where an error came within a stream and named none."""
    words: str
    """The provider's own."""
    kinds: frozenset[str] = frozenset()
    """Its `type`, `code` and the like, lower case."""
    parameter: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in lower case."""
    is_api: bool = True
    """The body had the shape of a model API's error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What was called, for the error's text."""

    model: str
    """`provider:model`."""
    endpoint: str
    """Address without path secrets, e.g. `https://api.openai.com/v1`."""
    has_key: bool = True
    """False where none was there to be sent, which servers of one's own may not mind."""


_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_QUOTA_KINDS = frozenset(
    {
        "billing_error",
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        "linked_organization_billing_unavailable",
    }
)
_QUOTA_WORDS = ("credit balance is too low", "exceeded your current quota", "check your plan and billing")
_FILTER_KINDS = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_WINDOW_KINDS = frozenset({"context_length_exceeded", "string_above_max_length", "request_too_large"})
_WINDOW_WORDS = (
    "prompt is too long",
    "context length",
    "context window",
    "context_length",
    "exceed the available context",
    "exceeds the available context",
    "input is too long",
    "maximum number of tokens allowed",
)
_MODEL_KINDS = frozenset({"model_not_found", "deploymentnotfound", "model_not_available"})
_TRANSIENT = frozenset({408, 409, 425, 429, 499})
_REFUSING = frozenset({400, 413, 422, 501})


def classify(failure: Failure, target: Target) -> ModelError:
    """Return the error of the product that `failure` is."""
    status = _status(failure)
    values = {"model": target.model, "endpoint": target.endpoint, "reason": failure.words, "status": status}
    if _is_quota(failure, status):
        return ModelUnusable("quota_used_up", **values)
    if failure.kinds & _FILTER_KINDS:
        return ModelRefused(**values)
    if status in _TRANSIENT or status >= 500:
        return _unavailable(failure, status, target)
    if status == 401 and not target.has_key:
        variable = f"{target.model.partition(':')[0].upper()}_API_KEY"
        return ModelUnusable("key_wanted", variable=variable, **values)
    return _unusable(failure, status, values)


def is_about_features(failure: Failure) -> bool:
    """True where the request was refused as malformed: it may do without something."""
    return _status(failure) in _REFUSING and not _is_window(failure) and not _is_quota(failure, 400)


def unreachable(target: Target, reason: str) -> ModelError:
    """No connection came about."""
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return ModelUnusable(
            "certificate_refused", model=target.model, endpoint=target.endpoint, reason=shortened(reason)
        )
    if "407" in reason:
        return ModelUnusable("proxy_unusable", model=target.model, reason=shortened(reason))
    return ModelUnavailable(
        "network_unreachable",
        is_unreachable=True,
        model=target.model,
        endpoint=target.endpoint,
        reason=shortened(reason),
    )


def broken(target: Target, reason: str) -> ModelUnavailable:
    """A connection that was there broke."""
    return ModelUnavailable(
        "connection_broken", model=target.model, endpoint=target.endpoint, reason=shortened(reason)
    )


def timed_out(target: Target, seconds: float) -> ModelUnavailable:
    return ModelUnavailable(
        "model_timed_out", model=target.model, endpoint=target.endpoint, seconds=f"{seconds:g}"
    )


def no_api(target: Target, status: int, words: str) -> ModelUnusable:
    """What answers there is no model API."""
    return ModelUnusable(
        "endpoint_not_api",
        model=target.model,
        endpoint=target.endpoint,
        status=status,
        reason=shortened(words) or "-",
    )


def too_large(target: Target, most_bytes: int) -> ModelUnusable:
    """What comes from there has no end."""
    return ModelUnusable(
        "reply_too_large", model=target.model, endpoint=target.endpoint, megabytes=most_bytes // 1_000_000
    )


def unreadable(target: Target, reason: str) -> BadReply:
    return BadReply("unreadable_reply", model=target.model, reason=shortened(reason))


def shortened(words: str) -> str:
    """Return one line of at most `REASON_CHARACTERS` characters."""
    line = " ".join(words.split())
    return line if len(line) <= REASON_CHARACTERS else line[: REASON_CHARACTERS - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the provider wants waited: `retry-after-ms`, or `retry-after` as number or date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    wanted = headers.get("retry-after")
    seconds = _number(wanted)
    if seconds is not None or wanted is None:
        return seconds
    until, now = _date(wanted), _date(headers.get("date")) or datetime.now(UTC)
    return None if until is None else max((until - now).total_seconds(), 0.0)


def _status(failure: Failure) -> int:
    """An error within a stream comes with the status 200 of its head: its kind says what it is."""
    if failure.status >= 300:
        return failure.status
    return next((_STATUS_OF_KIND[kind] for kind in sorted(failure.kinds) if kind in _STATUS_OF_KIND), 500)


def _is_quota(failure: Failure, status: int) -> bool:
    if status == 402 or failure.kinds & _QUOTA_KINDS:
        return True
    words = failure.words.lower()
    return status in {400, 403, 429} and any(phrase in words for phrase in _QUOTA_WORDS)


def _is_window(failure: Failure) -> bool:
    words = failure.words.lower()
    return (
        failure.status == 413
        or bool(failure.kinds & _WINDOW_KINDS)
        or any(phrase in words for phrase in _WINDOW_WORDS)
    )


def _unavailable(failure: Failure, status: int, target: Target) -> ModelUnavailable:
    return ModelUnavailable(
        "rate_limited"
        if status == 429
        else "model_overloaded"
        if status in {503, 529}
        else "provider_failed",
        retry_after=retry_after(failure.headers),
        model=target.model,
        endpoint=target.endpoint,
        reason=failure.words,
        status=status,
    )


def _unusable(failure: Failure, status: int, values: Mapping[str, object]) -> ModelError:
    if status == 407:
        return ModelUnusable("proxy_unusable", **values)
    if status == 403 and not failure.is_api:
        return ModelUnusable("endpoint_not_api", **values)
    if status == 401:
        return ModelUnusable("key_refused", **values)
    if status == 403:
        return ModelUnusable("permission_refused", **values)
    if status == 404 and failure.is_api and _names_model(failure):
        return ModelUnusable("model_unknown", **values)
    if not failure.is_api or status in {404, 405} or status < 400:
        return ModelUnusable("endpoint_not_api", **values)
    if failure.kinds & _MODEL_KINDS:
        return ModelUnusable("model_unknown", **values)
    if _is_window(failure):
        return ModelUnusable("window_exceeded", **values)
    return ModelUnusable("request_refused", **values)


def _names_model(failure: Failure) -> bool:
    return bool(failure.kinds & _MODEL_KINDS) or "model" in failure.words.lower()


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e9 else None


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text) if text is not None else None
    except ValueError:
        return None
    return date if date is None or date.tzinfo is not None else date.replace(tzinfo=UTC)
