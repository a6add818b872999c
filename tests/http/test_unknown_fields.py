"""A body with a field that nobody knows is refused, so that a misspelled one is never left aside in silence."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

_BODIES: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("POST", "/v1/corpora", {"corpus": "a"}),
    ("PATCH", "/v1/corpora/a", {}),
    ("POST", "/v1/corpora/a/jobs", {}),
    ("POST", "/v1/jobs/job_x/retry", {}),
    ("POST", "/v1/jobs/job_x/continue", {"max_cost": 1}),
    ("POST", "/v1/sessions", {"corpus": "a"}),
    ("PUT", "/v1/retention", {"audit": 30}),
    ("POST", "/v1/retention/holds", {"kind": "corpus", "name": "a", "reason": "b"}),
    ("POST", "/v1/webhook-endpoints", {"url": "https://example.jp/", "kinds": ["compilation.succeeded"]}),
    ("PATCH", "/v1/webhook-endpoints/endpoint_x", {}),
    ("POST", "/v1/invitations", {"name": "a", "role": "viewer"}),
    ("POST", "/v1/api-tokens", {"name": "a", "scopes": ["read"]}),
    ("PATCH", "/v1/members/user_x", {"role": "viewer"}),
)


@pytest.mark.parametrize(("method", "path", "body"), _BODIES)
def test_an_unknown_field_is_refused_by_its_name(
    api: TestClient, method: str, path: str, body: dict[str, object]
) -> None:
    """`max_costs` must not become a job without a limit."""
    answer = api.request(method, path, json={**body, "max_costs": 1})
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"
    (fault,) = answer.json()["errors"]
    assert (fault["field"], fault["code"]) == ("body.max_costs", "extra_forbidden")
    assert api.request(method, path, json=body).status_code != 422
