"""The packaged samples over HTTP, and what the screens of documents and estimates ask for."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from corpus2skill.domain.server_job import EstimateLine, probable_minutes


@pytest.mark.parametrize(("language", "documents"), [("ja", 5), ("en", 4)])
def test_the_samples_become_a_corpus_with_a_free_compile(
    api: TestClient, language: str, documents: int
) -> None:
    """Issue 7: the first run needs no key."""
    made = api.post("/v1/samples", json={"language": language})
    assert made.status_code == 202, made.text
    assert made.json()["corpus"] == f"sample-{language}"
    job = api.get(made.headers["Location"]).json()
    assert job["options"]["model"] == "offline"
    assert api.get(f"/v1/corpora/sample-{language}").json()["documents"] == {"received": documents}


def test_samples_that_are_there_are_not_made_again(api: TestClient) -> None:
    """Whoever comes twice is told, and nothing is done to what is there."""
    assert api.post("/v1/samples", json={}, headers={"Accept-Language": "ja"}).status_code == 202
    again = api.post("/v1/samples", json={}, headers={"Accept-Language": "ja"})
    assert (again.status_code, again.json()["code"]) == (409, "corpus_exists")


def test_a_list_of_documents_tells_where_its_watcher_begins(api: TestClient) -> None:
    """A page of 10,000 documents does not have to be told of each of them again."""
    api.post("/v1/corpora", json={"corpus": "terms"})
    path = "/v1/corpora/terms/documents"
    assert api.get(path, params={"counts": True}).json()["last_event"] == 0
    api.post(path, files=[("files", ("a.txt", b"a", "text/plain")), ("files", ("b.txt", b"b", "text/plain"))])
    assert api.get(path, params={"counts": True}).json()["last_event"] == 2
    assert api.get(path).json()["last_event"] is None


def test_the_time_of_calls_is_a_span_that_the_rate_bounds() -> None:
    """S4: minutes beside the money."""
    line = EstimateLine(
        purpose="summarize",
        model="anthropic:x",
        calls=(100, 100),
        input_tokens=(1, 1),
        output_tokens=(10_000, 30_000),
        dollars=None,
    )
    quick = probable_minutes((line,), 10, None)
    assert quick is not None
    assert 0 < quick[0] < quick[1]
    assert probable_minutes((line,), 10, 2) == (50.0, 50.0)
    assert probable_minutes((), 10, None) is None
