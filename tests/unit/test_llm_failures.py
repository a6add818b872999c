"""What a provider's failure means, told by status, kind and words."""

from __future__ import annotations

import pytest

from corpus2skill.adapters.llm.endpoint import Endpoint
from corpus2skill.adapters.llm.failures import (
    REASON_CHARACTERS,
    Failure,
    Target,
    classify,
    is_about_features,
    retry_after,
    unreachable,
)
from corpus2skill.adapters.llm.redaction import Redactor
from corpus2skill.adapters.llm.timeouts import Timeouts
from corpus2skill.errors import ModelRefused, ModelUnavailable, ModelUnusable
from corpus2skill.messages import error_message

TARGET = Target(model="openai:gpt-6-luna", endpoint="https://api.openai.com/v1")
ENDPOINT = Endpoint(target=TARGET, redactor=Redactor(()), timeouts=Timeouts(), window=8_192)


def failure(status: int, body: object, message: str = "") -> Failure:
    return ENDPOINT.failure(status, body, {}, message)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_passes_by_itself_is_transient(status: int) -> None:
    """Issue 4, rates: retried above the adapter."""
    error = classify(failure(status, {"error": {"message": "busy", "type": "x"}}), TARGET)
    assert isinstance(error, ModelUnavailable)
    assert not error.is_unreachable


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            429,
            {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
            "quota_used_up",
        ),
        (402, {"error": {"message": "pay", "type": "billing_error"}}, "quota_used_up"),
        (
            400,
            {
                "type": "error",
                "error": {
                    "message": "Your credit balance is too low to access",
                    "type": "invalid_request_error",
                },
            },
            "quota_used_up",
        ),
        (
            429,
            {
                "error": {
                    "message": "limit",
                    "type": "rate_limit_error",
                    "details": {"error_code": "enforced_spend_limit_reached"},
                }
            },
            "quota_used_up",
        ),
        (401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, "key_refused"),
        (403, {"error": {"message": "no", "type": "permission_error"}}, "permission_refused"),
        (404, {"error": {"message": "model: claude-x", "type": "not_found_error"}}, "model_unknown"),
        (404, {"error": {"message": "The deployment", "code": "DeploymentNotFound"}}, "model_unknown"),
        (
            404,
            {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError"},
            "model_unknown",
        ),
        (404, {"error": "model 'x' not found, try pulling it first"}, "model_unknown"),
        (404, "404 page not found", "endpoint_not_api"),
        (404, {"error": {"message": "Invalid URL (POST /v1/v1/chat/completions)"}}, "endpoint_not_api"),
        (405, "<html>nginx</html>", "endpoint_not_api"),
        (403, "<html>blocked</html>", "endpoint_not_api"),
        (407, "<html>proxy</html>", "proxy_unusable"),
        (301, "", "endpoint_not_api"),
        (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "window_exceeded"),
        (
            400,
            {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}},
            "window_exceeded",
        ),
        (413, {"error": {"message": "big", "type": "request_too_large"}}, "window_exceeded"),
        (400, {"error": {"message": "messages: field required"}}, "request_refused"),
        (400, [{"error": {"message": "API key not valid", "status": "INVALID_ARGUMENT"}}], "request_refused"),
    ],
)
def test_what_does_not_pass_says_what_to_change(status: int, body: object, code: str) -> None:
    """Issue 4, bad input: each a clear error naming what to do, in both languages."""
    error = classify(failure(status, body, "words"), TARGET)
    assert isinstance(error, ModelUnusable)
    assert error.code == code
    for language in ("ja", "en"):
        assert TARGET.model in error_message(language, error) or TARGET.endpoint in error_message(
            language, error
        )


def test_the_provider_s_filter_is_a_refusal() -> None:
    """design.md, section 4: refused by the provider."""
    azure = {"error": {"message": "filtered", "code": "content_filter", "status": 400}}
    assert isinstance(classify(failure(400, azure), TARGET), ModelRefused)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("overloaded_error", "model_overloaded"),
        ("rate_limit_error", "rate_limited"),
        ("unheard_of", "provider_failed"),
    ],
)
def test_an_error_within_a_stream_is_told_by_its_kind(kind: str, code: str) -> None:
    """The stream's own status is 200."""
    body = {"type": "error", "error": {"type": kind, "message": "m"}}
    assert classify(failure(200, body), TARGET).code == code


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 18:00:30 GMT", "date": "Mon, 30 Nov 2026 18:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 17:00:00 GMT", "date": "Mon, 30 Nov 2026 18:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    """field report 5: Retry-After honoured. A date is measured by the provider's own clock."""
    assert retry_after(headers) == seconds


def test_the_words_are_one_line_and_not_long() -> None:
    """An error's text stays readable, whatever a server sends."""
    words = failure(500, {"error": {"message": "雪\n" * 1_000}}).words
    assert len(words) == REASON_CHARACTERS
    assert "\n" not in words


def test_a_bad_certificate_is_no_passing_fault() -> None:
    """Issue 4: CA bundles. Waiting does not change a certificate."""
    error = unreachable(TARGET, "ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate")
    assert isinstance(error, ModelUnusable)
    assert error.code == "certificate_refused"


def test_a_proxy_that_wants_a_password_is_no_passing_fault() -> None:
    """Issue 4: proxies."""
    assert unreachable(TARGET, "ProxyError: 407 Proxy Authentication Required").code == "proxy_unusable"


def test_only_a_malformed_request_may_be_about_features() -> None:
    """A prompt that is too long mentions `max_tokens`, and no field is to blame."""
    assert is_about_features(failure(400, {"error": {"message": "unknown field"}}))
    assert not is_about_features(failure(400, {"error": {"message": "maximum context length, max_tokens"}}))
    assert not is_about_features(failure(401, {"error": {"message": "tools"}}))
