"""The index of words: written as files, read by mapping them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.offline.lexical_index import OfflineLexicalIndex
from corpus2skill.adapters.offline.mapped_index import MappedIndex
from corpus2skill.adapters.offline.navigator import NOT_FOUND_BELOW
from corpus2skill.adapters.offline.question import understand
from corpus2skill.errors import Damaged
from corpus2skill.ports.lexical_index import IndexedLeaf


def leaf(number: int, text: str, *headings: str, source: str = "利用規約.md") -> IndexedLeaf:
    return IndexedLeaf(
        path=f"group-{number % 3}/doc_chunk_{number}.md",
        title=headings[-1] if headings else "",
        headings=headings,
        source=source,
        text=text,
    )


LEAVES = (
    leaf(1, "年額プランは契約期間の末日まで利用できる。日割りの返金は行わない。", "年額プランの解約"),
    leaf(2, "月額プランは申請した月の末日で終了する。返金は行わない。", "月額プランの解約"),
    leaf(3, "従量課金の上限を超えた分は超過レートで加算する。", "従量課金", source="料金表.md"),
    leaf(4, "The annual plan can be cancelled at any time.", "Cancelling", source="terms.md"),
)


def opened(folder: Path, leaves: Sequence[IndexedLeaf]) -> MappedIndex:
    folder.mkdir(exist_ok=True)
    for name, data in OfflineLexicalIndex().write(leaves):
        (folder / name).write_bytes(data)
    return MappedIndex(folder)


def best(index: MappedIndex, question: str) -> str:
    return index.rank(understand(question), 10).leaves[0].path


def test_the_leaf_that_fits_best_comes_first(tmp_path: Path) -> None:
    """Annual is not monthly."""
    index = opened(tmp_path, LEAVES)
    assert best(index, "年額プランの解約で返金はありますか") == LEAVES[0].path
    assert best(index, "月額プランを解約したい") == LEAVES[1].path
    assert best(index, "上限を超えたらどうなりますか") == LEAVES[2].path
    assert best(index, "How do I cancel the annual plan?") == LEAVES[3].path


def test_a_match_is_high_for_what_is_there_and_low_for_what_is_not(tmp_path: Path) -> None:
    """What the not-found rule goes by."""
    index = opened(tmp_path, LEAVES)
    there = index.rank(understand("年額プランの解約"), 5).match
    absent = index.rank(understand("送料無料の配達地域"), 5).match
    assert absent < 0.2 < there


def test_a_leaf_knows_which_words_it_has(tmp_path: Path) -> None:
    """What reasons go by: they say truly which words were found."""
    index = opened(tmp_path, LEAVES)
    assert index.has_all(0, ("年額", "プラン"))
    assert not index.has_all(1, ("年額",))
    assert not index.has_all(0, ("unknown",))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.text(max_size=60), st.sampled_from(["a.md", "b.md"])), max_size=12),
    st.text(max_size=40),
)
@example([], "年額")
@example([("", "a.md")], "年額")
@example([("年額プラン", "a.md"), ("年額プラン", "a.md")], "年額")
def test_any_leaves_can_be_written_opened_and_asked(
    tmp_path: Path, texts: list[tuple[str, str]], question: str
) -> None:
    """No text breaks the index; scores fall and paths are the leaves' own."""
    leaves = [leaf(number, text, source=source) for number, (text, source) in enumerate(texts)]
    index = opened(tmp_path, leaves)
    ranking = index.rank(understand(question), 5)
    assert len(ranking.leaves) <= 5
    assert {ranked.path for ranked in ranking.leaves} <= {one.path for one in leaves}
    scores = [ranked.score for ranked in ranking.leaves]
    assert scores == sorted(scores, reverse=True)
    assert 0 <= ranking.match <= 1.0


@pytest.mark.requirement("C-27")
def test_the_same_leaves_give_the_same_bytes() -> None:
    """C-27, for the files beside the tree."""
    assert list(OfflineLexicalIndex().write(LEAVES)) == list(OfflineLexicalIndex().write(LEAVES))


@given(
    st.lists(
        st.sampled_from([item.text for item in LEAVES] + ["第十二条\n第 3 項", "千葉", "API a"]), max_size=6
    ),
    st.data(),
)
def test_what_was_prepared_gives_the_same_bytes(texts: list[str], data: st.DataObject) -> None:
    """Promised by the port: preparing changes nothing but how long writing takes."""
    leaves = [leaf(number, text, "第12条", "API") for number, text in enumerate(texts)]
    ahead = OfflineLexicalIndex()
    for text in data.draw(st.permutations(texts)):
        if data.draw(st.booleans()):
            ahead.prepare(text)
    assert list(ahead.write(leaves)) == list(OfflineLexicalIndex().write(leaves))


def test_an_index_with_a_file_missing_cut_or_of_another_format_is_damaged(tmp_path: Path) -> None:
    """A damaged version is named, not guessed at."""
    files = dict(OfflineLexicalIndex().write(LEAVES))
    spoiled = {"words.u64": None, "starts.u64": b"\0" * 8, "index.json": b'{"format": 2}'}
    for name, data in spoiled.items():
        opened(tmp_path, LEAVES)
        if data is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(Damaged) as caught:
            MappedIndex(tmp_path)
        assert name in str(caught.value)
    assert len(files["words.u64"]) % 8 == 0


@pytest.mark.parametrize("name", ["words.u64", "starts.u64", "posting_leaves.u32", "leaf_documents.u32"])
@pytest.mark.parametrize("garbage", [b"\xff", b"\x07", b"\x80\x01"])
def test_an_index_of_the_right_size_that_holds_nonsense_is_damaged_or_answers(
    tmp_path: Path, name: str, garbage: bytes
) -> None:
    """A hand-edited version ends in a clear message, never in a fault of a library."""
    opened(tmp_path, LEAVES)
    for file in (tmp_path / name, tmp_path / "path_starts.u64"):
        size = file.stat().st_size
        file.write_bytes((garbage * size)[:size])
    index = MappedIndex(tmp_path)
    with suppress(Damaged):
        assert len(index.rank(understand("年額プランの解約"), 5).leaves) <= 5


def test_a_leaf_that_has_every_word_of_a_question_is_no_less_than_a_weak_match(tmp_path: Path) -> None:
    """A long leaf has each word too seldom to show; refusing it would deny what it plainly says."""
    filler = " ".join(f"The shelf {number} holds {number * 7} boxes of paper." for number in range(60))
    long = leaf(
        5, f"{filler} The blue forklift may carry at most 1275 kilograms on the ramp.", "Warehouse rules"
    )
    index = opened(tmp_path, (*LEAVES, long))
    for question in ("How many kilograms may the blue forklift carry?", "forklift ramp kilograms"):
        ranking = index.rank(understand(question), 5)
        assert ranking.leaves[0].path == long.path
        assert ranking.match >= NOT_FOUND_BELOW
