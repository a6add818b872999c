"""The tool: which node a path names, and what comes back."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.ids import is_node_path
from corpus2skill.domain.tree import Node
from corpus2skill.errors import NodeNotFound
from corpus2skill.navigator.get_document import document_json, not_found_result, tool_spec
from corpus2skill.navigator.tree_reader import TreeReader
from tests.fakes.navigator_model import call
from tests.fakes.sample_version import (
    ALL_PATHS,
    ANNUAL,
    ANNUAL_BODY,
    ANNUAL_LEAF,
    CANCELLATION,
    CORPUS,
    MONTHLY,
    MONTHLY_LEAF,
    PRICING,
    ROOT,
    VERSION,
    sample_store,
)
from tests.fakes.version_store import FakeVersionStore

HOSTILE = (
    "..",
    "../SKILL.md",
    "../../2/tree/terms/SKILL.md",
    "cancellation/../pricing/SKILL.md",
    "cancellation/./SKILL.md",
    "%2e%2e/SKILL.md",
    "cancellation%2fSKILL.md",
    "SKILL.md\0",
    "cancellation\\SKILL.md",
    "C:\\SKILL.md",
    "C:/SKILL.md",
    "//server/share",
    "~/SKILL.md",
    "file:///etc/passwd",
    "/etc/passwd",
    "manifest.json",
    "../manifest.json",
    "tree/terms/SKILL.md",
    "terms/SKILL.md",
    "SKILL.md ",
    " SKILL.md",
    "skill.md",
    "Cancellation/SKILL.md",
    "ｃancellation/SKILL.md",
    "cancellation/\ud800/SKILL.md",
    "\u202eSKILL.md",
    "a/" * 300 + "SKILL.md",
    "a" * 100_000,
    "doc_chunk_07",
    "doc_chunk_７",
    "doc_chunk_70",
    "chunk_7",
    "doc_",
    "*",
    "解約手続き",
    ".",
    "...",
    "\n",
)


def reader(store: FakeVersionStore | None = None) -> TreeReader:
    return TreeReader(store or sample_store(), CORPUS, VERSION)


def nodes(*paths: str) -> tuple[Node, ...]:
    return tuple(reader().fetch(path) for path in paths)


@pytest.mark.requirement("N-01")
def test_the_tool_is_described_in_the_articles_words() -> None:
    """The article, ナビゲータに渡す道具は、たった1つ."""
    spec = tool_spec("ja")
    assert spec.name == "get_document"
    assert spec.description == (
        "スキルツリーのノードを取得する。要約ノード（SKILL.md）なら要約と子ノードの一覧を、葉ノードなら文書の本文を返す。"
    )
    assert json.loads(spec.schema)["required"] == ["path"]
    assert "cancellation/annual/SKILL.md" in spec.schema
    assert json.loads(tool_spec("en").schema).keys() == json.loads(spec.schema).keys()


@pytest.mark.requirement("N-02")
def test_a_summary_node_returns_the_articles_five_fields() -> None:
    """The article, 道具を使うと、次のような結果が返ります."""
    fields = json.loads(document_json(reader().fetch(CANCELLATION)))
    content = fields.pop("content")
    assert fields == {
        "path": "cancellation/SKILL.md",
        "node_type": "skill_summary",
        "children": ["annual", "monthly"],
        "doc_id": None,
    }
    assert content.startswith("# 解約手続き\n\nプラン別の解約方法と、利用できる期間の扱い。")
    assert "name: cancellation" not in content


@pytest.mark.requirement("N-02")
def test_a_leaf_returns_its_body_unchanged_and_its_doc_id() -> None:
    """The article: 葉ノードなら文書の本文."""
    node = reader().fetch(ANNUAL_LEAF)
    fields = json.loads(document_json(node))
    assert (fields["node_type"], fields["children"], fields["doc_id"]) == ("document", [], "doc_chunk_7")
    assert fields["content"].endswith(f"\n---\n\n{ANNUAL_BODY}\n")
    assert node.body == ANNUAL_BODY
    assert "source:" not in fields["content"]


@pytest.mark.requirement("N-03")
@pytest.mark.parametrize(
    ("asked", "path"),
    [
        *((path, path) for path in ALL_PATHS),
        *((f"/{path}", path) for path in ALL_PATHS),
        *((f"./{path}", path) for path in ALL_PATHS),
        *((path.removesuffix(".md"), path) for path in ALL_PATHS),
        *((path.removesuffix("/SKILL.md"), path) for path in (CANCELLATION, ANNUAL)),
        *((path.removesuffix("SKILL.md"), path) for path in (ROOT, CANCELLATION, ANNUAL)),
        ("/", ROOT),
        ("./", ROOT),
        ("/cancellation", CANCELLATION),
        ("doc_chunk_7", ANNUAL_LEAF),
        ("doc_chunk_5.md", MONTHLY_LEAF),
        ("/doc_chunk_7", ANNUAL_LEAF),
    ],
)
def test_a_node_is_found_by_each_spelling(asked: str, path: str) -> None:
    """design.md, paths."""
    assert reader().fetch(asked).path == path


@pytest.mark.requirement("N-03")
@pytest.mark.parametrize(
    ("asked", "base", "path"),
    [
        ("annual", CANCELLATION, ANNUAL),
        ("./annual", CANCELLATION, ANNUAL),
        ("annual/", CANCELLATION, ANNUAL),
        ("annual/SKILL.md", CANCELLATION, ANNUAL),
        ("annual/doc_chunk_7.md", CANCELLATION, ANNUAL_LEAF),
        ("doc_chunk_7.md", ANNUAL, ANNUAL_LEAF),
        ("SKILL.md", CANCELLATION, ROOT),
        ("pricing", ANNUAL_LEAF, PRICING),
        ("cancellation/monthly", ANNUAL_LEAF, MONTHLY),
    ],
)
def test_a_name_is_read_from_the_node_just_read(asked: str, base: str, path: str) -> None:
    """design.md, paths: relative to the node just read."""
    assert reader().fetch(asked, nodes(base)).path == path


@pytest.mark.requirement("N-03", "N-04")
def test_a_name_that_two_nodes_just_read_offer_is_not_guessed() -> None:
    """design.md: it never guesses."""
    store = sample_store()
    files = store.files(CORPUS, VERSION)
    files["tree/terms/pricing/annual/SKILL.md"] = files[f"tree/terms/{ANNUAL}"]
    tree = reader(store)
    assert tree.fetch("annual", nodes(CANCELLATION)).path == ANNUAL
    with pytest.raises(NodeNotFound):
        tree.fetch("annual", nodes(CANCELLATION, PRICING))


@pytest.mark.requirement("N-03")
def test_a_bare_name_is_the_child_just_offered_and_a_path_with_a_slash_is_from_the_root() -> None:
    """design.md, paths: from the root stays what it is, wherever the model stands."""
    store = sample_store()
    files = store.files(CORPUS, VERSION)
    files["tree/terms/annual/SKILL.md"] = files[f"tree/terms/{ANNUAL}"]
    tree = reader(store)
    assert tree.fetch("annual", nodes(CANCELLATION)).path == ANNUAL
    assert tree.fetch("/annual", nodes(CANCELLATION)).path == "annual/SKILL.md"
    assert tree.fetch("annual", nodes(PRICING)).path == "annual/SKILL.md"


@pytest.mark.requirement("N-04")
@pytest.mark.parametrize(
    ("asked", "base", "at"),
    [
        ("cancellation/weekly/SKILL.md", (), CANCELLATION),
        ("cancellation/weekly/deep/doc_chunk_1.md", (), CANCELLATION),
        ("cancellation/annual/doc_chunk_9.md", (), ANNUAL),
        ("cancellation/annual.md", (), CANCELLATION),
        ("weekly", (), ROOT),
        ("weekly", (CANCELLATION,), CANCELLATION),
        ("weekly", (ANNUAL_LEAF,), ANNUAL),
        ("pricing/weekly", (CANCELLATION,), PRICING),
        ("cancellation/../pricing", (), CANCELLATION),
        ("doc_chunk_70", (), ROOT),
        ("解約", (), ROOT),
    ],
)
def test_a_wrong_path_names_the_children_of_the_nearest_node(
    asked: str, base: tuple[str, ...], at: str
) -> None:
    """design.md, paths; field report 16."""
    with pytest.raises(NodeNotFound) as error:
        reader().fetch(asked, nodes(*base))
    assert (error.value.at, error.value.children) == (at, reader().fetch(at).children)


@pytest.mark.requirement("N-05")
@pytest.mark.parametrize("asked", HOSTILE)
def test_a_hostile_path_gets_the_same_answer_as_a_wrong_one(asked: str) -> None:
    """Field report 15: refused by the tool, same answer shape."""
    store = sample_store()
    with pytest.raises(NodeNotFound) as error:
        reader(store).fetch(asked)
    result = not_found_result(call({"path": "x"}), error.value, "ja")
    fields = json.loads(result.content.encode("utf-8"))
    assert list(fields) == ["error", "message", "path", "at", "children"]
    assert fields["children"]
    assert len(fields["path"]) <= 210
    assert fields["path"].isprintable()
    assert all(is_node_path(path) for path in store.reads)


@pytest.mark.requirement("N-04", "N-05")
@given(
    asked=st.text()
    | st.text(alphabet="./\\%aclnotid_chunk7SKILLmd\0", max_size=40)
    | st.sampled_from(HOSTILE)
)
@example(asked="解約手続き/SKILL.md")
@example(asked="cancellation/SKILL.md/../../SKILL.md")
def test_whatever_the_path_only_nodes_of_the_version_are_read(asked: str) -> None:
    """Issue: a path with .., %2e, NUL, backslash or another version in it."""
    store = sample_store()
    assert _path_or_refuge(reader(store), asked) in ALL_PATHS
    assert all(is_node_path(path) for path in store.reads)


def _path_or_refuge(tree: TreeReader, asked: str) -> str:
    """The path of the node found, else of the node whose children the refusal names."""
    try:
        return tree.fetch(asked, nodes(CANCELLATION)).path
    except NodeNotFound as error:
        return error.at
