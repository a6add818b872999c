"""Documents that are handed in over HTTP: received, judged, shown, taken out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import MutableMapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from starlette.testclient import TestClient

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_host import CompileHost
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server.corpora import options_of_corpus
from corpus2skill.application.server.inspect_uploads import inspect_all
from corpus2skill.application.server.purge_uploads import purge_waiting
from corpus2skill.application.server_wiring import Server, cached_extractor, uploaded_sources
from corpus2skill.application.wiring import TENANT, open_workspace
from corpus2skill.domain.event_log import documents_topic
from corpus2skill.messages import message
from corpus2skill.settings import Settings
from tests.fakes.archives import zip_file
from tests.fakes.hostile_documents import laughing_doctype, word
from tests.http.conftest import ClientOf

TERMS = "# 利用規約\n\n第1条（目的）\n\nこの規約は、解約と返金の条件を定める。\n"
Sent = tuple[str, bytes | str]


@pytest.fixture
def corpus(api: TestClient) -> str:
    assert api.post("/v1/corpora", json={"corpus": "terms"}).status_code == 201
    return "/v1/corpora/terms/documents"


def hand_in(api: TestClient, corpus: str, *sent: Sent, folder: str = "") -> list[dict[str, object]]:
    files = [("files", (name, data, "application/octet-stream")) for name, data in sent]
    answer = api.post(corpus, files=files, data={"folder": folder} if folder else {})
    assert answer.status_code == 202, answer.text
    return answer.json()["data"]


def judge(server: Server) -> None:
    anyio.run(inspect_all, server)


def listed(api: TestClient, corpus: str, **parameters: str) -> list[dict[str, object]]:
    return api.get(corpus, params=parameters).json()["data"]


def left_on_disk(server: Server) -> list[Path]:
    """Every file of an upload or its text."""
    found = [*server.home.glob("uploads/**/*"), *server.home.glob("texts/**/*")]
    return sorted(path for path in found if path.is_file() and path.suffix != ".lock")


@pytest.mark.requirement("S-20")
def test_a_file_has_its_row_at_once_and_its_verdict_later(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Field reports, screens 1 and 3: a row at once, "accepted" later."""
    [row] = hand_in(api, corpus, ("利用規約.md", TERMS))
    assert (row["name"], row["state"], row["is_new"]) == ("利用規約.md", "received", True)
    assert str(row["document_id"]).startswith("document_")
    assert row["sha256"] == hashlib.sha256(TERMS.encode()).hexdigest()
    judge(server)
    shown = api.get(f"{corpus}/{row['document_id']}").json()
    assert (shown["state"], shown["verdict"], shown["chunks"]) == ("accepted", "accepted", 1)
    assert (shown["live_version"], shown["is_live_same"]) == (None, False)


@pytest.mark.requirement("S-21")
def test_of_fifty_files_exactly_the_three_bad_ones_are_named_and_the_others_usable(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Field reports, screens 2 and 5."""
    bomb = word("<w:p/>", before=laughing_doctype("w:document"))
    bad = {"a/爆弾.docx": bomb, "空.txt": b"", "画像.png": b"\x89PNG\r\n\x1a\n"}
    good = [(f"文書{number}.txt", f"第{number}条 解約の条件。") for number in range(47)]
    hand_in(api, corpus, *good[:20], *bad.items(), *good[20:])
    judge(server)
    refused = listed(api, corpus, state="refused")
    assert sorted(str(row["name"]) for row in refused) == sorted(bad)
    assert all(row["reason"] for row in refused)
    assert len(listed(api, corpus, state="accepted", limit="200")) == 47
    counts = api.get(corpus, params={"counts": "true"}).json()["counts"]
    assert counts == {"accepted": 47, "refused": 3}


@pytest.mark.requirement("S-22")
def test_the_same_bytes_twice_are_the_same_document(api: TestClient, server: Server, corpus: str) -> None:
    """Field reports, screens 3: nothing is done again."""
    [first] = hand_in(api, corpus, ("a.txt", "解約"))
    judge(server)
    [again] = hand_in(api, corpus, ("a.txt", "解約"))
    assert (again["document_id"], again["state"], again["is_new"]) == (
        first["document_id"],
        "accepted",
        False,
    )


@pytest.mark.requirement("S-22")
def test_the_same_bytes_under_another_name_are_told_as_a_duplicate(
    api: TestClient, server: Server, corpus: str
) -> None:
    """As the compiler does: of equal documents the first stands for the others, also when it goes."""
    hand_in(api, corpus, ("b.txt", "解約"))
    judge(server)
    [row] = hand_in(api, corpus, ("a.txt", "解約"))
    [named_b] = listed(api, corpus, name="b.txt")
    assert (named_b["state"], named_b["verdict"]) == ("duplicate", "duplicate")
    assert "a.txt" in str(named_b["reason"])
    assert row["state"] == "received"
    judge(server)
    assert api.get(f"{corpus}/{named_b['document_id']}/preview").json()["data"][0]["text"] == "解約"
    api.delete(f"{corpus}/{row['document_id']}")
    judge(server)
    assert [(row["name"], row["state"]) for row in listed(api, corpus)] == [("b.txt", "accepted")]


@pytest.mark.requirement("S-22")
def test_other_bytes_under_the_same_name_are_a_new_revision(
    api: TestClient, server: Server, corpus: str
) -> None:
    """The document id stays, the old bytes go."""
    [first] = hand_in(api, corpus, ("規約.txt", "古い規約"))
    judge(server)
    [second] = hand_in(api, corpus, ("規約.txt", "新しい規約"))
    assert (second["document_id"], second["revision"]) == (first["document_id"], 2)
    judge(server)
    assert api.get(f"{corpus}/{first['document_id']}/content").text == "新しい規約"
    assert not any("古い規約".encode() in path.read_bytes() for path in left_on_disk(server))


@pytest.mark.requirement("S-23")
def test_names_with_paths_become_harmless_and_dropped_folders_stay(api: TestClient, corpus: str) -> None:
    """Issue, bad input: a file name with a path in it."""
    sent = (
        ("../../etc/passwd", "a"),
        ("/etc/shadow", "b"),
        ("C:/Users/me/秘密.txt", "c"),
        ("規約/第1章/総則.txt", "d"),
        ("CON.txt", "e"),
        ("ガイド.txt", "f"),
        ("長" * 200 + ".txt", "g"),
    )
    rows = hand_in(api, corpus, *sent, folder="共有/../部")
    assert [row["name"] for row in rows] == [
        "共有/部/etc/passwd",
        "共有/部/shadow",
        "共有/部/秘密.txt",
        "共有/部/規約/第1章/総則.txt",
        "共有/部/_CON.txt",
        "共有/部/ガイド.txt",
        "共有/部/" + "長" * 196 + ".txt",
    ]


@pytest.mark.requirement("S-23")
def test_two_files_of_one_name_in_one_request_both_stay(api: TestClient, corpus: str) -> None:
    """Next in line of the field reports: the same file name in two folders."""
    rows = hand_in(api, corpus, ("a.txt", "一"), ("a.txt", "二"), ("a.txt", "一"), (".DS_Store", "x"))
    assert [row["name"] for row in rows] == ["a.txt", "a (2).txt", "a.txt", None]
    assert [row["state"] for row in rows] == ["received", "received", "received", "passed_over"]
    again = hand_in(api, corpus, ("a.txt", "一"), ("a.txt", "二"))
    assert [row["is_new"] for row in again] == [False, False]


@pytest.mark.requirement("S-24")
def test_too_many_bytes_are_not_kept_and_the_other_files_are(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Issue, bad input: a file over the limit stops where the limit is."""
    limit = 1_000
    object.__setattr__(server, "settings", Settings(max_file_bytes=limit))
    rows = hand_in(api, corpus, ("大.txt", b"x" * (limit + 1)), ("小.txt", b"y" * limit))
    assert [row["state"] for row in rows] == ["refused", "received"]
    assert "1,001" in str(rows[0]["reason"])
    stored = left_on_disk(server)
    assert [path.stat().st_size for path in stored] == [limit]
    endless = api.post(corpus, files=[("files", ("巨大.txt", b"z" * 3_000))])
    assert (endless.status_code, endless.json()["code"]) == (413, "upload_too_large")
    assert endless.headers["connection"] == "close"
    assert left_on_disk(server) == stored


@pytest.mark.requirement("S-25")
@pytest.mark.parametrize(
    ("content_type", "body", "status", "code"),
    [
        ("application/json", b"{}", 415, "not_multipart"),
        ("multipart/form-data", b"", 415, "not_multipart"),
        ("multipart/form-data; boundary=b", b"", 422, "cut_multipart"),
        ("multipart/form-data; boundary=b", b"nonsense", 422, "broken_multipart"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhalf',
            422,
            "cut_multipart",
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n',
            422,
            "no_file_sent",
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="files"; filename=""\r\n\r\n\r\n--b--\r\n',
            422,
            "no_file_sent",
        ),
    ],
)
def test_what_is_no_upload_is_a_clear_problem_and_leaves_nothing(
    api: TestClient, server: Server, corpus: str, content_type: str, body: bytes, status: int, code: str
) -> None:
    """Issue, bad input: a wrong content type, no file, a cut connection."""
    answer = api.post(corpus, content=body, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert left_on_disk(server) == []
    assert listed(api, corpus) == []


@pytest.mark.anyio
@pytest.mark.requirement("S-25")
async def test_a_connection_that_is_cut_leaves_nothing_half(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Issue, bad input: neither the file that was cut nor those before it."""
    body = (
        b'--b\r\nContent-Disposition: form-data; name="files"; filename="whole.txt"\r\n\r\nwhole\r\n'
        b'--b\r\nContent-Disposition: form-data; name="files"; filename="cut.txt"\r\n\r\n' + b"x" * 2_000_000
    )
    gone: dict[str, object] = {"type": "http.disconnect"}
    came: list[dict[str, object]] = [{"type": "http.request", "body": body, "more_body": True}]
    on_disk: list[int] = []

    async def receive() -> MutableMapping[str, object]:
        on_disk.append(len(left_on_disk(server)))
        return came.pop() if came else gone

    async def send(_message: MutableMapping[str, object]) -> None:
        """Nobody is there."""

    headers = {
        "host": "localhost",
        "authorization": api.headers["authorization"],
        "content-type": "multipart/form-data; boundary=b",
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": corpus,
        "raw_path": corpus.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }
    await api.app(scope, receive, send)
    assert max(on_disk) == 2
    assert left_on_disk(server) == []
    assert listed(api, corpus) == []


@pytest.mark.requirement("S-25")
def test_too_many_files_in_one_request_are_a_clear_problem(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Ten thousand files come in several requests."""
    files = [("files", (f"{number}.txt", b"a")) for number in range(201)]
    answer = api.post(corpus, files=files)
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_files")
    assert left_on_disk(server) == []


@pytest.mark.requirement("S-26")
def test_verdicts_follow_as_events_with_the_reason_in_both_languages(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Issue: a verdict follows its upload as an event."""
    hand_in(api, corpus, ("空.txt", b""))
    judge(server)
    events = server.events.since(TENANT, documents_topic("terms"), 0)
    assert [event.kind for event in events] == ["document.received", "document.judged"]
    assert events[1].payload["state"] == "refused"
    assert events[1].payload["reason"] == {
        "ja": message("ja", "refused.empty"),
        "en": message("en", "refused.empty"),
    }


@pytest.mark.requirement("S-27")
def test_an_archive_is_shown_with_the_documents_within_it(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Each member is a source of its own, with a preview of its own."""
    data = zip_file({"規約.txt": "解約の条件。", "空.txt": "", "../逃.txt": "外へ出ない。"})
    [row] = hand_in(api, corpus, ("一式.zip", data))
    judge(server)
    shown = api.get(f"{corpus}/{row['document_id']}").json()
    assert (shown["state"], shown["verdict"], shown["member_count"]) == ("accepted", "archive", 3)
    verdicts = {member["name"]: member["verdict"] for member in shown["members"]}
    assert verdicts == {
        "一式.zip/規約.txt": "accepted",
        "一式.zip/空.txt": "empty",
        "一式.zip/逃.txt": "accepted",
    }
    preview = f"{corpus}/{row['document_id']}/preview"
    assert (
        api.get(preview, params={"member": "一式.zip/規約.txt"}).json()["data"][0]["text"] == "解約の条件。"
    )
    assert api.get(preview).json()["code"] == "archive_has_members"
    assert api.get(preview, params={"member": "一式.zip/空.txt"}).status_code == 422


@pytest.mark.requirement("S-28")
def test_a_preview_shows_the_text_cut_as_the_corpus_is_cut_page_by_page(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Issue: a preview of its extracted chunks before anything is paid."""
    api.patch("/v1/corpora/terms", json={"chunk_limit": 60})
    text = "\n\n".join(f"第{number}条 " + "この条は解約の条件を定める。" * 3 for number in range(1, 8))
    [row] = hand_in(api, corpus, ("規約.txt", text))
    preview = f"{corpus}/{row['document_id']}/preview"
    assert api.get(preview).json()["code"] == "document_not_judged"
    judge(server)
    first = api.get(preview, params={"limit": 4}).json()
    second = api.get(preview, params={"limit": 4, "cursor": first["next_cursor"]}).json()
    chunks = [*first["data"], *second["data"]]
    assert [chunk["number"] for chunk in chunks] == list(range(7))
    assert "\n\n".join(chunk["text"] for chunk in chunks) == text
    assert (first["chunk_count"], second["next_cursor"]) == (7, None)


@pytest.mark.requirement("S-29")
def test_an_original_is_handed_out_as_a_download_that_can_do_nothing(
    api: TestClient, server: Server, corpus: str
) -> None:
    """A page that somebody uploaded must not act in the name of the server."""
    page = b"<script>alert(1)</script>"
    [row] = hand_in(api, corpus, ('規約/悪い"頁.html', page))
    answer = api.get(f"{corpus}/{row['document_id']}/content")
    assert answer.content == page
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; filename*=utf-8''")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


def compile_uploads(server: Server, tenant: str = TENANT) -> None:
    host = CompileHost(
        reader=uploaded_sources(server, tenant, "terms"), extractor=cached_extractor(server, tenant)
    )
    options = replace(options_of_corpus(server, tenant, "terms"), is_confirmed=True)

    async def run() -> None:
        await compile_documents(server.workspace(tenant), options, silent, host=host)

    anyio.run(run)


@pytest.mark.requirement("S-30")
def test_uploads_compile_to_the_very_files_that_a_folder_of_them_does(
    api: TestClient, server: Server, corpus: str, tmp_path: Path
) -> None:
    """The server and the command line have one compiler."""
    sent: dict[str, bytes] = {
        "b/第10章.md": TERMS.replace("目的", "十").encode(),
        "b/第2章.md": TERMS.encode(),
        "a.txt": "同じ文書。解約の条件。".encode(),
        "同じ.txt": "同じ文書。解約の条件。".encode(),
        "一式.zip": zip_file({"中.txt": "アーカイブの中の文書。"}),
        "空.txt": b"",
    }
    hand_in(api, corpus, *reversed(sent.items()))
    judge(server)
    compile_uploads(server)
    folder, other = tmp_path / "folder", tmp_path / "other"
    for name, data in sent.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    async def run() -> None:
        workspace = open_workspace(other, server.settings)
        await compile_documents(workspace, CompileOptions(corpus="terms", paths=(folder,)), silent)

    anyio.run(run)
    assert version_files(server.home) == version_files(other)
    [row] = [row for row in listed(api, corpus) if row["name"] == "a.txt"]
    assert (row["live_version"], row["is_live_same"]) == (1, True)


def version_files(home: Path) -> dict[str, bytes]:
    version = home / "corpora" / "terms" / "versions" / "1"
    kept = ("manifest.json",)  # says when it was written
    return {
        str(path.relative_to(version)): path.read_bytes()
        for path in version.rglob("*")
        if path.is_file() and path.name not in kept
    }


@pytest.mark.requirement("S-31")
def test_a_document_taken_out_is_gone_from_the_disk_and_from_the_next_version(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Field reports 7: delete means gone."""
    rows = hand_in(api, corpus, ("残る.txt", "返金の条件。"), ("消える.txt", "秘密の条件。"))
    judge(server)
    compile_uploads(server)
    gone = f"{corpus}/{rows[1]['document_id']}"
    removed = api.delete(gone).json()
    assert (removed["state"], removed["live_version"]) == ("removed", 1)
    assert not any("秘密".encode() in path.read_bytes() for path in left_on_disk(server))
    assert [row["name"] for row in listed(api, corpus)] == ["残る.txt"]
    assert api.get(f"{gone}/content").status_code == 404
    compile_uploads(server)
    assert api.get(gone).json()["live_version"] is None
    [again] = hand_in(api, corpus, ("消える.txt", "秘密の条件。"))
    assert (again["document_id"], again["state"]) == (rows[1]["document_id"], "received")


@pytest.mark.requirement("S-32")
def test_a_purged_document_goes_from_old_versions_once_no_active_one_has_it(
    api: TestClient, server: Server, corpus: str
) -> None:
    """design.md, deleting a document: `--purge` also out of old versions and records."""
    rows = hand_in(api, corpus, ("残る.txt", "返金の条件。"), ("消える.txt", "秘密の条件。"))
    judge(server)
    compile_uploads(server)
    gone = f"{corpus}/{rows[1]['document_id']}"
    assert api.delete(gone, params={"purge": "true"}).json()["state"] == "purging"
    assert purge_waiting(server) == 0
    again = api.post(corpus, files=[("files", ("消える.txt", b"a"))])
    assert again.json()["code"] == "document_being_purged"
    compile_uploads(server)
    assert purge_waiting(server) == 1
    assert api.get(gone).json()["state"] == "purged"
    assert server.workspace(TENANT).versions.versions("terms") == (2,)
    last = server.events.since(TENANT, documents_topic("terms"), 0)[-1]
    assert (last.kind, last.payload["versions_removed"]) == ("document.purged", [1])
    kept = [
        path for path in server.home.rglob("*") if path.is_file() and not path.name.startswith("state.db")
    ]
    assert not any("秘密".encode() in path.read_bytes() for path in kept)


@pytest.mark.requirement("S-33")
def test_another_tenants_documents_are_as_ones_that_do_not_exist(
    api: TestClient, client_of: ClientOf, server: Server, corpus: str
) -> None:
    """Issue: tenant isolation."""
    [row] = hand_in(api, corpus, ("規約.txt", "解約"))
    judge(server)
    theirs = client_of("acme")
    mine = f"{corpus}/{row['document_id']}"
    assert theirs.get("/v1/corpora").json()["data"] == []
    for path in (corpus, mine, f"{mine}/preview", f"{mine}/content", f"{corpus}/events"):
        nothing = path.replace("terms", "never")
        ours, none = theirs.get(path), theirs.get(nothing)
        assert (ours.status_code, ours.json()["code"]) == (404, "no_such_corpus")
        assert ours.json()["detail"].replace("terms", "never") == none.json()["detail"]
    theirs.post("/v1/corpora", json={"corpus": "terms"})
    assert theirs.get(mine).status_code == 404
    [copy] = hand_in(theirs, corpus, ("規約.txt", "解約"))
    assert copy["document_id"] != row["document_id"]
    theirs.delete(f"{corpus}/{copy['document_id']}")
    assert api.get(f"{mine}/content").text == "解約"


@pytest.mark.requirement("S-21")
def test_a_document_during_which_the_worker_dies_again_and_again_is_refused(
    api: TestClient, server: Server, corpus: str
) -> None:
    """Crash-safe: what was received is taken up again, but not for ever."""
    [row] = hand_in(
        api,
        corpus,
        ("毒.txt", "毒"),
    )
    upload = server.uploads.upload(TENANT, "terms", str(row["document_id"]))
    for _ in range(3):
        server.uploads.take_up([upload])
    judge(server)
    [refused] = listed(api, corpus, state="refused")
    assert refused["verdict"] == "hostile"
    assert api.post(f"{corpus}/{row['document_id']}/inspect").status_code == 202
    judge(server)
    assert [row["state"] for row in listed(api, corpus)] == ["accepted"]


@pytest.mark.requirement("S-20")
def test_lists_go_page_by_page_and_are_filtered_by_a_part_of_the_name(api: TestClient, corpus: str) -> None:
    """Interfaces: cursor lists."""
    hand_in(api, corpus, *((f"ＦＡＱ{number}.txt", f"{number}") for number in range(5)), ("規約.txt", "規約"))
    first = api.get(corpus, params={"limit": 2, "name": "faq"}).json()
    second = api.get(corpus, params={"limit": 9, "name": "faq", "cursor": first["next_cursor"]}).json()
    names = [row["name"] for row in [*first["data"], *second["data"]]]
    assert names == [f"ＦＡＱ{number}.txt" for number in range(5)]
    assert second["next_cursor"] is None
    assert json.dumps(listed(api, corpus, name="%")) == "[]"
