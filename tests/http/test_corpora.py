"""Corpora over HTTP."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from starlette.testclient import TestClient

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from tests.http.conftest import ClientOf


def compile_folder(server: Server, tmp_path: Path, corpus: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "規約.txt").write_text("解約の条件。", encoding="utf-8")
    options = CompileOptions(corpus=corpus, paths=(folder,), title="利用規約")

    async def run() -> None:
        await compile_documents(server.workspace(TENANT), options, silent)

    anyio.run(run)


@pytest.mark.requirement("S-34")
def test_a_corpus_is_made_shown_and_changed(api: TestClient) -> None:
    """Interfaces: corpora."""
    made = api.post("/v1/corpora", json={"corpus": "terms", "title": "利用規約", "language": "ja"})
    assert made.status_code == 201
    assert made.headers["location"] == "/v1/corpora/terms"
    assert made.json()["documents"] == {}
    changed = api.patch(
        "/v1/corpora/terms", json={"tests_required": True, "hand_off": "mailto:help@example.com"}
    )
    assert changed.json()["title"] == "利用規約"
    assert changed.json()["tests_required"]
    assert api.patch("/v1/corpora/terms", json={"title": None}).json()["title"] is None
    assert api.get("/v1/corpora/terms").json()["hand_off"] == "mailto:help@example.com"


@pytest.mark.requirement("S-34")
@pytest.mark.parametrize("name", ["Terms", "con", "a--b", "規約", "../x", ""])
def test_a_name_that_cannot_be_a_folder_is_refused(api: TestClient, name: str) -> None:
    """domain.ids: names of corpora."""
    assert api.post("/v1/corpora", json={"corpus": name}).status_code == 422


@pytest.mark.requirement("S-34")
def test_a_name_is_taken_once(api: TestClient, server: Server, tmp_path: Path) -> None:
    """409, also for what the command line made."""
    compile_folder(server, tmp_path, "cli")
    api.post("/v1/corpora", json={"corpus": "terms"})
    for name in ("terms", "cli"):
        again = api.post("/v1/corpora", json={"corpus": name})
        assert (again.status_code, again.json()["code"]) == (409, "corpus_exists")


@pytest.mark.requirement("S-34")
@pytest.mark.parametrize(
    "changes",
    [
        {"chunk_limit": 30},
        {"chunk_limit": 0},
        {"hand_off": "javascript:alert(1)"},
        {"title": "一\n二"},
        {"unknown": 1},
        {"language": "fr"},
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_changes(
    api: TestClient, changes: dict[str, object]
) -> None:
    """422 with the field."""
    before = api.post("/v1/corpora", json={"corpus": "terms"}).json()
    assert api.patch("/v1/corpora/terms", json=changes).status_code == 422
    assert api.get("/v1/corpora/terms").json() == before


@pytest.mark.requirement("S-34")
def test_what_the_command_line_compiled_is_there_too(api: TestClient, server: Server, tmp_path: Path) -> None:
    """One workspace for both doors; its settings are the folder's until they are changed here."""
    compile_folder(server, tmp_path, "cli")
    api.post("/v1/corpora", json={"corpus": "terms"})
    first = api.get("/v1/corpora", params={"limit": 1}).json()
    assert [row["corpus"] for row in first["data"]] == ["cli"]
    assert (first["data"][0]["active_version"], first["data"][0]["title"]) == (1, "利用規約")
    rest = api.get("/v1/corpora", params={"cursor": first["next_cursor"]}).json()
    assert [row["corpus"] for row in rest["data"]] == ["terms"]
    assert api.patch("/v1/corpora/cli", json={"language": "ja"}).json()["title"] == "利用規約"


@pytest.mark.requirement("S-34")
def test_a_corpus_is_deleted_only_by_its_name_and_by_an_administrator(
    api: TestClient, client_of: ClientOf, server: Server, tmp_path: Path
) -> None:
    """With all its files; version numbers are not given again, because records cite them."""
    compile_folder(server, tmp_path, "terms")
    api.post("/v1/corpora/terms/documents", files=[("files", ("秘密.txt", "秘密の条件。".encode()))])
    writer = client_of(TENANT, "read", "write")
    assert writer.delete("/v1/corpora/terms", params={"confirm": "terms"}).status_code == 403
    assert api.delete("/v1/corpora/terms").json()["code"] == "corpus_not_confirmed"
    gone = api.delete("/v1/corpora/terms", params={"confirm": "terms"}).json()
    assert (gone["versions"], gone["documents"], gone["unopened_records"]) == ([1], 1, 0)
    assert api.get("/v1/corpora/terms").status_code == 404
    assert api.get("/v1/corpora").json()["data"] == []
    files = [path for path in server.home.rglob("*") if path.is_file() and "uploads" in path.parts]
    assert not any("秘密".encode() in path.read_bytes() for path in files)
    compile_folder(server, tmp_path, "terms")
    assert api.get("/v1/corpora/terms").json()["active_version"] == 2
