"""Versions over HTTP: listed, looked into, compared, switched, removed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fpdf import FPDF
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image
from starlette.testclient import TestClient

from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.audit import AuditFilter
from corpus2skill.navigator.node_path import find_node
from corpus2skill.navigator.tree_reader import TreeReader
from tests.http.answering import CORPUS, QUESTION, compile_corpus
from tests.http.conftest import ClientOf
from tests.http.versions import BASE, two_versions
from tests.ports.runs import record

V2 = f"{BASE}/versions/2"


@pytest.fixture
def two(server: Server, tmp_path: Path) -> Server:
    two_versions(server, tmp_path / "documents")
    return server


def actions(server: Server) -> list[tuple[str, dict[str, Any]]]:
    found = server.audit.events(TENANT, which=AuditFilter(action="version."))
    return [(event.action, dict(event.values)) for event in found]


@pytest.mark.requirement("S-112")
def test_versions_are_listed_newest_first_page_by_page(api: TestClient, two: Server) -> None:
    """Issue 6: versions."""
    first = api.get(f"{BASE}/versions", params={"limit": 1}).json()
    second = api.get(f"{BASE}/versions", params={"limit": 1, "cursor": first["next_cursor"]}).json()
    assert second["next_cursor"] is None
    newest, oldest = first["data"][0], second["data"][0]
    assert (newest["version"], newest["is_active"], newest["is_previous"]) == (2, True, False)
    assert (oldest["version"], oldest["is_active"], oldest["is_previous"]) == (1, False, True)
    assert newest["sources"] == 4
    assert newest["bytes"] > oldest["bytes"] > 0
    assert newest["predecessor"] == 1
    assert (newest["author"], newest["author_name"]) == (None, None)
    assert (newest["dollars"], newest["tests"]) == (None, None)
    whole = api.get(V2).json()
    assert whole["manifest"]["summarizer"].startswith("offline")
    assert whole["manifest"]["spending"] == []


@pytest.mark.requirement("S-112")
@pytest.mark.parametrize("version", ["3", "0", "-1", "x", "1e1", "999999999999999999999", "１"])
def test_what_is_no_version_is_not_found(api: TestClient, two: Server, version: str) -> None:
    """Bad input: whatever stands in the place of the number."""
    for path in ("", "/nodes", "/tree", "/search?q=a", "/sources", "/leaves/doc_chunk_1", "/diff/1"):
        answer = api.get(f"{BASE}/versions/{version}{path}")
        assert answer.status_code in (404, 422), path
        assert answer.json()["code"] in ("thing_not_found", "invalid_request")


@pytest.mark.requirement("S-112", "S-117")
def test_a_corpus_without_a_version_says_so(api: TestClient) -> None:
    """Bad input: no version at all."""
    assert api.post("/v1/corpora", json={"corpus": CORPUS}).status_code == 201
    assert api.get(f"{BASE}/versions").json() == {"data": [], "next_cursor": None}
    active = api.get(f"{BASE}/active")
    assert (active.json(), active.headers["etag"]) == ({"version": None, "previous": None}, '"0"')
    switched = api.put(f"{BASE}/active", json={"version": 1}, headers={"If-Match": '"0"'})
    assert switched.status_code == 404
    assert api.post(f"{BASE}/rollback", headers={"If-Match": '"0"'}).status_code == 409
    assert api.post(f"{BASE}/versions/prune").json() == {"dry_run": True, "data": []}
    assert api.get(f"{BASE}/versions/1/nodes").status_code == 404


@pytest.mark.requirement("S-113")
def test_a_node_is_answered_as_the_tool_answers_it(api: TestClient, two: Server) -> None:
    """interfaces.md: versions/{v}/nodes?path=."""
    root = api.get(f"{V2}/nodes").json()
    tree = TreeReader(store=two.workspace(TENANT).versions, corpus=CORPUS, version=2)
    assert root["content"] == tree.root().content
    assert root["children"] == list(tree.root().children)
    assert root["leaves"] == sum(branch["leaves"] for branch in root["branches"]) > 4
    path, node = root["branches"][0]["path"], None
    while (node := api.get(f"{V2}/nodes", params={"path": path}).json())["node_type"] != "document":
        assert node["parents"][0]["path"] == "SKILL.md"
        path = node["branches"][0]["path"]
    assert (node["leaves"], node["branches"], node["children"]) == (1, [], [])
    assert node["doc_id"].startswith("doc_chunk_")
    assert api.get(f"{V2}/nodes", params={"path": node["doc_id"]}).json()["path"] == path


@pytest.mark.requirement("S-113")
def test_visits_are_counted_by_node(api: TestClient, two: Server) -> None:
    """Issue: how often the branches are walked is seen in the tree."""
    session = api.post("/v1/sessions", json={"corpus": CORPUS}).json()["session_id"]
    run = api.post(f"/v1/sessions/{session}/runs", json={"question": QUESTION}).json()["run_id"]
    while (shown := api.get(f"/v1/runs/{run}").json())["outcome"] is None:
        pass
    record = api.get(f"/v1/records/{run}").json()
    api.app.state.runs.stop(5.0)  # type: ignore[attr-defined] - what follows its end is done then
    walked = [one["path"] for one in record["trail"] if not one["is_prefetched"]]
    assert shown["outcome"] == "answered"
    assert walked
    for path in walked:
        assert api.get(f"{V2}/nodes", params={"path": path}).json()["visits"] == walked.count(path)


@pytest.mark.requirement("S-113")
def test_a_wrong_path_names_the_nearest_node_and_its_children(api: TestClient, two: Server) -> None:
    """The article: no such node, and what there is instead."""
    root = api.get(f"{V2}/nodes").json()
    branch = root["children"][0]
    answer = api.get(f"{V2}/nodes", params={"path": f"{branch}/none"})
    assert answer.status_code == 404
    problem = answer.json()
    assert (problem["code"], problem["at"]) == ("node_not_found", f"{branch}/SKILL.md")
    assert problem["children"] == api.get(f"{V2}/nodes", params={"path": branch}).json()["children"]


@pytest.mark.requirement("S-113", "S-14")
def test_no_path_leaves_the_version(api: TestClient, server: Server, tmp_path: Path) -> None:
    """Bad input: any text as a path is a node of this version or a 404, as the tool would say."""
    compile_corpus(server, tmp_path / "documents")
    tree = TreeReader(store=server.workspace(TENANT).versions, corpus=CORPUS, version=1)
    names = st.sampled_from(["..", ".", "/", "SKILL.md", "doc_chunk_1", "%2e%2e", "\\", "規約", "\x00", "a"])

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.one_of(st.text(max_size=40), st.lists(names, max_size=6).map("/".join)))
    @example("../../../../etc/passwd")
    @example("../1/tree")
    @example("/")
    @example("解約/SKILL.md")
    def same_as_the_tool(path: str) -> None:
        answer = api.get(f"{BASE}/versions/1/nodes", params={"path": path})
        try:
            node = find_node(tree, path or "SKILL.md")
        except Exception:  # noqa: BLE001 - whatever the tool refuses with
            assert answer.status_code == 404, answer.text
        else:
            assert answer.status_code == 200, answer.text
            assert answer.json()["content"] == node.content

    same_as_the_tool()


@pytest.mark.requirement("S-114")
def test_a_tree_opens_branch_by_branch(api: TestClient, two: Server) -> None:
    """Screens: a tree view that loads what is opened."""
    shallow = api.get(f"{V2}/tree", params={"depth": 0}).json()
    assert [(node["depth"], node["path"]) for node in shallow["data"]] == [(0, "SKILL.md")]
    whole = api.get(f"{V2}/tree", params={"depth": 20}).json()
    leaves = [node for node in whole["data"] if node["node_type"] == "document"]
    assert not whole["is_cut"]
    assert len(leaves) == shallow["data"][0]["leaves"]
    branch = next(node for node in whole["data"] if node["depth"] == 1)
    below = api.get(f"{V2}/tree", params={"path": branch["path"], "depth": 20}).json()["data"]
    inside = [node for node in below if node["node_type"] == "document"]
    assert len(inside) == branch["leaves"]
    assert api.get(f"{V2}/tree", params={"path": "none"}).status_code == 404


@pytest.mark.requirement("S-114")
def test_a_search_finds_branches_and_leaves_page_by_page(api: TestClient, two: Server) -> None:
    """Width and case make no difference; all words must occur."""

    def found(q: str, **more: object) -> list[dict[str, Any]]:
        return api.get(f"{V2}/search", params={"q": q, **more}).json()["data"]  # type: ignore[arg-type]

    assert any("８日以内" in one["excerpt"] or "8日以内" in one["excerpt"] for one in found("８日以内　送料"))
    assert found("存在しない言葉") == []
    assert found("   ") == []
    everything = found("。", limit=200)
    first = api.get(f"{V2}/search", params={"q": "。", "limit": 2}).json()
    second = api.get(f"{V2}/search", params={"q": "。", "limit": 200, "cursor": first["next_cursor"]}).json()
    assert first["data"] + second["data"] == everything
    assert {one["node_type"] for one in everything} == {"skill_summary", "document"}


@pytest.mark.requirement("S-115")
def test_a_leaf_stands_between_its_neighbours_in_its_document(api: TestClient, two: Server) -> None:
    """Issue: from a citation to its place in the original."""
    (source,) = (one for one in api.get(f"{V2}/sources").json()["data"] if one["name"] == "利用規約.md")
    text = api.get(f"{V2}/sources/text", params={"source": source["name"]}).json()
    assert text["chunk_count"] == source["chunks"] == len(text["data"]) >= 2
    first, second = text["data"][:2]
    leaf = api.get(f"{V2}/leaves/{second['doc_id']}").json()
    assert (leaf["chunk"]["text"], leaf["before"]["text"]) == (second["text"], first["text"])
    assert leaf["chunk"]["headings"]
    assert leaf["original"] is None
    assert api.get(f"{V2}/leaves/{first['doc_id']}").json()["before"] is None
    page = api.get(f"{V2}/sources/text", params={"source": source["name"], "limit": 1, "cursor": "1"}).json()
    assert page["data"] == [second]
    assert api.get(f"{V2}/sources/text", params={"source": "none"}).status_code == 404
    for wrong in ("doc_chunk_999", "doc_chunk_0", "doc_chunk_１"):
        assert api.get(f"{V2}/leaves/{wrong}").status_code in (404, 422)


@pytest.mark.requirement("S-115")
def test_sources_are_listed_as_a_person_looks_for_them(api: TestClient, two: Server) -> None:
    """Cursors by name, in any script."""
    names, cursor = list[str](), None
    while True:
        query = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        page = api.get(f"{V2}/sources", params=query).json()
        names += [one["name"] for one in page["data"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert sorted(names) == sorted(["利用規約.md", "料金.csv", "案内/営業時間.txt", "返品.md"])


@pytest.mark.requirement("S-115")
def test_a_leaf_of_an_uploaded_document_leads_to_its_original(
    api: TestClient, server: Server, tmp_path: Path
) -> None:
    """Issue: the original is there to be downloaded, and whether it is the same."""
    compile_corpus(server, tmp_path / "documents")
    text = (tmp_path / "documents" / "料金.csv").read_bytes()
    api.post(f"{BASE}/documents", files={"files": ("料金.csv", text, "text/csv")})
    found = api.get(f"{BASE}/versions/1/search", params={"q": "98000円"}).json()["data"]
    doc_id = next(one["doc_id"] for one in found if one["doc_id"])
    original = api.get(f"{BASE}/versions/1/leaves/{doc_id}").json()["original"]
    assert original["is_same"]
    assert api.get(original["download"]).content == text


@pytest.mark.requirement("S-115")
def test_the_page_of_a_pdf_is_drawn_with_the_leaf_marked(
    api: TestClient, server: Server, tmp_path: Path
) -> None:
    """Issue: from a citation to its place in the original, to be seen."""
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    pdf.text(20, 30, "The annual plan is cancelled on the contract page, without any refund.")
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "plan.pdf").write_bytes(bytes(pdf.output()))
    compile_corpus(server, folder)
    found = api.get(f"{BASE}/versions/1/search", params={"q": "annual plan"}).json()["data"]
    doc_id = next(one["doc_id"] for one in found if one["doc_id"])
    path = f"{BASE}/versions/1/leaves/{doc_id}/page.png"
    assert api.get(path).json()["code"] == "page_unavailable"
    sent = (folder / "plan.pdf").read_bytes()
    api.post(f"{BASE}/documents", files={"files": ("plan.pdf", sent, "application/pdf")})
    picture = api.get(path)
    assert picture.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(picture.content)) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape[1] == 1000
    assert (pixels[:, :, 2] < pixels[:, :, 0] - 50).any(), "nothing is marked"
    assert api.get(path).content == picture.content
    assert api.get(path, params={"page": "7"}).json()["code"] == "page_unreadable"
    other = next(
        one["doc_id"]
        for one in api.get(f"{BASE}/versions/1/sources/text", params={"source": "料金.csv"}).json()["data"]
    )
    assert api.get(f"{BASE}/versions/1/leaves/{other}/page.png").status_code == 409


@pytest.mark.requirement("S-116")
def test_two_versions_are_compared_in_plain_words(api: TestClient, two: Server) -> None:
    """Issue 6: diff."""
    diff = api.get(f"{BASE}/versions/1/diff/2", headers={"Accept-Language": "ja"}).json()
    assert diff["sources_added"] == ["返品.md"]
    assert diff["sources_changed"] == ["案内/営業時間.txt"]
    assert {leaf["source"] for leaf in diff["leaves_added"]} == {"返品.md", "案内/営業時間.txt"}
    assert diff["counts"]["leaves_added"] == len(diff["leaves_added"])
    assert "追加された文書 1 件" in diff["summary"]
    back = api.get(f"{BASE}/versions/2/diff/1").json()
    assert back["sources_removed"] == ["返品.md"]
    same = api.get(f"{BASE}/versions/2/diff/2", headers={"Accept-Language": "en"}).json()
    assert (same["is_same"], same["summary"]) == (True, "Nothing differs.")


@pytest.mark.requirement("S-116")
def test_the_words_of_a_node_are_compared_on_request(api: TestClient, two: Server) -> None:
    """Issue 6: rewording with its text."""
    diff = f"{BASE}/versions/1/diff/2/nodes"
    added = api.get(f"{BASE}/versions/1/diff/2").json()["leaves_added"][0]
    words = api.get(diff, params={"path": added["doc_id"]}).json()
    assert words["title_before"] is None
    assert any(line.startswith("+# ") for line in words["lines"])
    assert api.get(diff, params={"path": "doc_chunk_1"}).json()["lines"] == []
    assert api.get(diff, params={"path": "../none"}).status_code == 404


@pytest.mark.requirement("S-117")
def test_a_switch_names_the_version_that_it_saw(api: TestClient, two: Server) -> None:
    """interfaces.md: If-Match, 412 if someone was faster; 428 without."""
    assert api.put(f"{BASE}/active", json={"version": 1}).status_code == 428
    assert api.post(f"{BASE}/rollback").status_code == 428
    tag = api.get(f"{BASE}/active").headers["etag"]
    switched = api.put(f"{BASE}/active", json={"version": 1}, headers={"If-Match": tag})
    assert (switched.json()["version"], switched.headers["etag"]) == (1, '"1"')
    late = api.put(f"{BASE}/active", json={"version": 2}, headers={"If-Match": tag})
    assert (late.status_code, late.json()["code"]) == (412, "version_outrun")
    assert api.post(f"{BASE}/rollback", headers={"If-Match": tag}).status_code == 412
    assert api.post(f"{BASE}/rollback", headers={"If-Match": "nonsense"}).status_code == 412
    back = api.post(f"{BASE}/rollback", headers={"If-Match": '"1"'})
    assert back.json()["version"] == 2
    anyway = api.put(f"{BASE}/active", json={"version": 1}, headers={"If-Match": "*"})
    assert anyway.json() == {"version": 1, "previous": 2}
    assert actions(two) == [
        ("version.activated", {"before": 2, "after": 1}),
        ("version.rolled_back", {"before": 1, "after": 2}),
        ("version.activated", {"before": 2, "after": 1}),
    ]


@pytest.mark.requirement("S-117")
def test_a_switch_is_possible_while_the_corpus_is_compiled(api: TestClient, two: Server) -> None:
    """Operation: a bad version is left at once, whatever is under way."""
    with two.workspace(TENANT).versions.exclusive(CORPUS):
        assert api.post(f"{BASE}/rollback", headers={"If-Match": '"2"'}).status_code == 200
        assert api.delete(f"{BASE}/versions/2").status_code == 409


@pytest.mark.requirement("S-117")
def test_a_damaged_version_is_not_switched_to(api: TestClient, two: Server) -> None:
    """Design: publish = write + verify + activate."""
    folder = two.home / "corpora" / CORPUS / "versions" / "1" / "tree"
    next(folder.rglob("SKILL.md")).write_text("damaged", encoding="utf-8")
    answer = api.put(f"{BASE}/active", json={"version": 1}, headers={"If-Match": '"2"'})
    assert (answer.status_code, answer.json()["code"]) == (500, "version_damaged")
    assert api.get(f"{BASE}/active").json()["version"] == 2


@pytest.mark.requirement("S-118")
def test_neither_the_active_version_nor_a_cited_one_is_removed_by_mistake(
    api: TestClient, client_of: ClientOf, two: Server
) -> None:
    """Issue: old answers open the text of the version they used."""
    records = two.workspace(TENANT).records()
    records.close_run(record("run_1", version=1))
    records.close()
    assert api.delete(f"{BASE}/versions/2").json()["code"] == "version_is_active"
    assert api.delete(f"{BASE}/versions/1").json()["code"] == "version_cited"
    assert api.post(f"{BASE}/versions/prune", params={"dry_run": False}).json()["data"] == []
    writer = client_of(TENANT, "read", "write")
    assert writer.delete(f"{BASE}/versions/1", params={"force": True}).status_code == 403
    assert api.delete(f"{BASE}/versions/1", params={"force": True}).json()["version"] == 1
    assert api.delete(f"{BASE}/versions/1").status_code == 404
    assert actions(two) == [("version.removed", {"version": 1, "forced": True})]


@pytest.mark.requirement("S-118")
def test_pruning_says_first_what_it_would_remove(api: TestClient, server: Server, tmp_path: Path) -> None:
    """A dry run by default; `rollback` keeps where to go."""
    two_versions(server, tmp_path / "documents")
    for version in (1, 2):
        api.put(f"{BASE}/active", json={"version": version}, headers={"If-Match": "*"})
    assert api.post(f"{BASE}/versions/prune").json() == {"dry_run": True, "data": []}
    (tmp_path / "documents" / "料金.csv").unlink()
    two_versions(server, tmp_path / "documents")
    found = api.post(f"{BASE}/versions/prune").json()["data"]
    numbers = [one["version"] for one in found]
    assert numbers[0] == 1
    removed = api.post(f"{BASE}/versions/prune", params={"dry_run": False}).json()["data"]
    assert [one["version"] for one in removed] == numbers
    assert api.get(f"{BASE}/versions/1").status_code == 404


@pytest.mark.requirement("W-52")
def test_the_documents_of_a_branch_are_those_with_a_leaf_there(api: TestClient, two: Server) -> None:
    """Issue 7: a node's card names its source documents."""
    every = {line["name"] for line in api.get(f"{V2}/sources").json()["data"]}
    root = api.get(f"{V2}/nodes").json()
    below = [
        {line["name"] for line in api.get(f"{V2}/sources", params={"under": branch["path"]}).json()["data"]}
        for branch in root["branches"]
    ]
    assert set[str]().union(*below) == every
    assert all(names < every for names in below)
    assert api.get(f"{V2}/sources", params={"under": "nowhere/SKILL.md"}).json()["data"] == []
