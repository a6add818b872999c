"""The audit records over HTTP: found, read, exported, verified, deleted."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.feedback import Feedback
from tests.http.answering import CORPUS, QUESTION, compile_corpus
from tests.http.conftest import ClientOf
from tests.ports.runs import record, visit

COUNT = 7


@pytest.fixture
def kept(server: Server) -> Server:
    """Records of every kind: `run_0` to `run_6`, newest last, some of them judged."""
    with_all = server.workspace(TENANT).records()
    for number in range(COUNT):
        question = "=HYPERLINK(1)" if number == 3 else f"質問{number}"
        outcome = "not_found" if number % 2 else "answered"
        with_all.close_run(
            record(
                f"run_{number}",
                question=question,
                outcome=outcome,
                session=f"s{number // 3}",
                version=1 + number // 4,
                visits=(visit(1), visit(2, doc_id="doc_chunk_7")),
            )
        )
    for number, comment in ((1, None), (3, "＝数式"), (4, None)):
        said = Feedback(
            is_helpful=number == 4,
            reasons=(),
            comment=comment,
            given_at="2026-04-01T10:00:00.000Z",
            given_by="token_1",
        )
        with_all.put_feedback(TENANT, f"run_{number}", said)
    with_all.close()
    return server


def runs_of(api: TestClient, **which: object) -> list[str]:
    answer = api.get("/v1/records", params=which)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    return [line["run_id"] for line in answer.json()["data"]]


@pytest.mark.requirement("S-69")
def test_records_are_listed_newest_first_page_by_page(api: TestClient, kept: Server) -> None:
    """Issue: the server."""
    found: list[str] = []
    cursor = None
    while True:
        page = api.get("/v1/records", params={"limit": 3} | ({"cursor": cursor} if cursor else {})).json()
        found += [line["run_id"] for line in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == [f"run_{number}" for number in reversed(range(COUNT))]


@pytest.mark.parametrize(
    ("which", "numbers"),
    [
        ({"rating": "not_helpful"}, [3, 1]),
        ({"rating": "helpful"}, [4]),
        ({"has_comment": True}, [3]),
        ({"visited": "cancellation/doc_chunk_7.md", "version": 2}, [6, 5, 4]),
        ({"cited": "doc_chunk_7", "version": 2}, [6, 4]),
        ({"outcome": "not_found", "rating": "not_helpful"}, [3, 1]),
        ({"session_id": "s1"}, [5, 4, 3]),
        ({"version": 2, "outcome": "answered"}, [6, 4]),
        ({"end_user": "nobody"}, []),
        ({"channel": "voice"}, []),
        ({"until": "2026-03-31"}, []),
        ({"since": "2026-04-01", "until": "2026-04-01", "corpus": "terms"}, [6, 5, 4, 3, 2, 1, 0]),
    ],
)
def test_the_same_filters_find_the_same_records_in_lists_and_exports(
    api: TestClient, kept: Server, which: dict[str, object], numbers: list[int]
) -> None:
    """S-70. Field reports: the export of a filtered list has the same count; filter by thumbs, has-comment, ..."""
    wanted = [f"run_{number}" for number in numbers]
    assert runs_of(api, **which) == wanted
    lines = api.get("/v1/exports", params=which).text.splitlines()  # type: ignore[arg-type]
    assert [json.loads(line)["ids"]["run"] for line in lines] == wanted
    table = api.get("/v1/exports", params={**which, "format": "csv"}).text  # type: ignore[arg-type]
    assert [row["run"] for row in csv.DictReader(io.StringIO(table))] == wanted


@pytest.mark.requirement("S-70")
def test_the_csv_opens_as_text_with_all_that_is_asked_for(api: TestClient, kept: Server) -> None:
    """Field reports: steps, ms, sources, version, outcome, feedback and comment; formula cells neutralised."""
    answer = api.get("/v1/exports", params={"format": "csv", "bom": True})
    assert answer.content.startswith("\ufeff".encode())
    rows = {row["run"]: row for row in csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff")))}
    assert rows["run_3"]["question"] == "'=HYPERLINK(1)"
    assert (rows["run_3"]["comment"], rows["run_3"]["rating"]) == ("'＝数式", "not_helpful")
    assert rows["run_4"]["rating"] == "helpful"
    assert (rows["run_0"]["rating"], rows["run_0"]["comment"]) == ("", "")
    assert (rows["run_0"]["step_ms"], rows["run_0"]["version"], rows["run_0"]["total_ms"]) == (
        "910 > 910",
        "1",
        "1000",
    )
    assert "利用規約.docx" in rows["run_0"]["citations"]
    (line,) = api.get("/v1/exports", params={"rating": "helpful"}).text.splitlines()
    assert json.loads(line)["feedback"]["is_helpful"] is True


@pytest.mark.requirement("S-72")
def test_the_chain_is_verified_and_its_head_shown(api: TestClient, kept: Server) -> None:
    """Issue: the server."""
    verdict = api.get("/v1/records/verify").json()
    assert (verdict["is_sound"], verdict["records"], verdict["faults"]) == (True, COUNT, [])
    again = api.get("/v1/records/verify", params={"kept_head": verdict["head"]}).json()
    assert again["kept_head_at"] == COUNT
    assert not api.get("/v1/records/verify", params={"kept_head": "f" * 64}).json()["is_sound"]
    assert api.get("/v1/records/verify", params={"kept_head": "x"}).status_code == 422


@pytest.mark.requirement("S-72")
def test_the_exchange_is_made_again_from_record_and_version(
    api: TestClient, server: Server, tmp_path: Path
) -> None:
    """Field reports: the raw model exchange is one click away; here it is said that it is not verbatim."""
    compile_corpus(server, tmp_path / "documents")
    session = api.post("/v1/sessions", json={"corpus": CORPUS}).json()["session_id"]
    run = api.post(f"/v1/sessions/{session}/runs", json={"question": QUESTION}).json()["run_id"]
    assert "run.finished" in api.get(f"/v1/runs/{run}/events").text
    kept_record = api.get(f"/v1/records/{run}").json()
    exchange = api.get(f"/v1/records/{run}/exchange").json()
    assert exchange["is_verbatim"] is False
    parts = exchange["parts"]
    assert (parts[0], parts[-1]["text"]) == (
        {"role": "user", "text": QUESTION, "path": None},
        kept_record["answer"],
    )
    results = [part for part in parts if part["role"] == "tool"]
    assert [part["path"] for part in results] == [step["path"] for step in kept_record["trail"]]
    assert all(part["text"] for part in results)


@pytest.mark.requirement("S-67")
def test_what_was_said_is_deleted_and_the_chain_still_verifies(api: TestClient, kept: Server) -> None:
    """Issue: the server."""
    dry = api.delete("/v1/records", params={"session_id": "s1", "dry_run": True}).json()
    assert ([line["run_id"] for line in dry["records"]], dry["is_done"]) == (
        ["run_5", "run_4", "run_3"],
        False,
    )
    assert len(runs_of(api)) == COUNT
    done = api.delete("/v1/records", params={"session_id": "s1"}).json()
    assert (len(done["records"]), done["is_done"]) == (3, True)
    assert runs_of(api) == ["run_6", "run_2", "run_1", "run_0"]
    assert runs_of(api, has_comment=True) == []
    assert runs_of(api, cursor="run_5") == ["run_2", "run_1", "run_0"]
    assert api.get("/v1/records/verify").json()["is_sound"]
    assert api.get("/v1/records/run_4").status_code == 404
    assert api.delete("/v1/records", params={"end_user": "nobody"}).status_code == 404
    assert api.delete("/v1/records").status_code == 422


@pytest.mark.requirement("S-69")
def test_records_are_for_those_who_may_see_them(client_of: ClientOf, kept: Server) -> None:
    """Tenant isolation, scopes."""
    asker, reviewer, stranger = client_of(TENANT, "ask"), client_of(TENANT, "records"), client_of("acme")
    for path in ("/v1/records", "/v1/records/run_1", "/v1/exports", "/v1/records/verify"):
        assert asker.get(path).status_code == 403
        assert reviewer.get(path).status_code == 200
    assert reviewer.delete("/v1/records", params={"session_id": "s1"}).status_code == 403
    assert stranger.get("/v1/records").json()["data"] == []
    assert stranger.get("/v1/exports").text == ""
    assert stranger.get("/v1/records/run_1").status_code == 404
    assert (
        stranger.get("/v1/records/run_1").json()["detail"]
        == stranger.get("/v1/records/run_1").json()["detail"]
    )
