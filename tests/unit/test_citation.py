"""From doc ids in an answer to numbered sources."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.run import Source
from corpus2skill.navigator.citation import CitedAnswer, resolve_citations, without_markers

EVIDENCE = {
    f"doc_chunk_{number}": Source(
        doc_id=f"doc_chunk_{number}",
        title=f"題{number}",
        source="規約.docx",
        place="",
        path=f"a/doc_chunk_{number}.md",
    )
    for number in (5, 7)
}


def cite(answer: str, *, is_numbered: bool = True) -> CitedAnswer:
    return resolve_citations(answer, EVIDENCE, is_numbered=is_numbered)


@pytest.mark.requirement("N-13")
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("末日まで [doc_chunk_7]。", "末日まで [1]。"),
        ("末日まで[doc_chunk_7]", "末日まで[1]"),
        ("月額 [doc_chunk_5]、年額 [doc_chunk_7]、月額 [doc_chunk_5]。", "月額 [1]、年額 [2]、月額 [1]。"),
        ("末日まで ［doc_chunk_7］。", "末日まで [1]。"),
        ("末日まで【doc_chunk_7】。", "末日まで[1]。"),
        ("末日まで（根拠: doc_chunk_7）。", "末日まで[1]。"),
        ("Until the end (source: doc_chunk_7).", "Until the end [1]."),
        ("末日まで [doc_chunk_7, doc_chunk_5]。", "末日まで [1][2]。"),
        ("末日まで [doc_chunk_7][doc_chunk_5]。", "末日まで [1][2]。"),
        ("末日まで [doc_chunk_7](cancellation/annual/doc_chunk_7.md)。", "末日まで [1]。"),
        ("末日まで [cancellation/annual/doc_chunk_7.md]。", "末日まで [1]。"),
        ("根拠は doc_chunk_7 です。", "根拠は [1] です。"),
        ("根拠は `doc_chunk_7` です。", "根拠は [1] です。"),
        ("末日まで [DOC_CHUNK_7]。", "末日まで [1]。"),
        ("料金は [1] の表と (注) を見てください。", "料金は [1] の表と (注) を見てください。"),
    ],
)
def test_each_way_of_naming_a_leaf_becomes_its_number(answer: str, text: str) -> None:
    """design.md, evidence and citation: the asker sees numbered sources."""
    assert cite(answer).text == text


@pytest.mark.requirement("N-13")
@pytest.mark.parametrize(
    ("answer", "text", "struck"),
    [
        ("末日まで [doc_chunk_9]。", "末日まで。", 1),
        (
            "末日まで [doc_chunk_7, doc_chunk_9]。返金なし [doc_chunk_9][doc_chunk_99]。",
            "末日まで [1]。返金なし。",
            2,
        ),
        ("Until then [doc_chunk_07].", "Until then.", 1),
    ],
)
def test_a_leaf_that_was_not_read_is_struck_out_and_counted(answer: str, text: str, struck: int) -> None:
    """Field report 25."""
    assert (cite(answer).text, cite(answer).struck) == (text, struck)


@pytest.mark.requirement("N-14")
def test_an_answer_for_the_ear_has_no_numbers_and_the_same_citations() -> None:
    """design.md: markers never reach voice."""
    spoken = cite("年額は末日まで [doc_chunk_7]。月額は月末まで [doc_chunk_5]。", is_numbered=False)
    assert spoken.text == "年額は末日まで。月額は月末まで。"
    assert [source.doc_id for source in spoken.citations] == ["doc_chunk_7", "doc_chunk_5"]


@pytest.mark.requirement("N-13", "N-14")
@given(
    st.lists(
        st.sampled_from(
            ["doc_chunk_", "7", "9", "[", "]", "［", "(", ")", "`", "/", ".md", " ", "、", "末日まで。"]
        )
        | st.text(max_size=3),
        max_size=12,
    ).map("".join)
)
@example("[doc_chunk_7](doc_chunk_9)")
@example("doc_chunk_[doc_chunk_9]7")
def test_no_doc_id_survives_and_citations_are_evidence(answer: str) -> None:
    """design.md: always a subset of evidence; markers never reach voice."""
    for cited in (cite(answer), cite(answer, is_numbered=False)):
        assert "doc_chunk_7" not in cited.text
        assert "doc_chunk_9" not in cited.text
        assert set(cited.citations) <= set(EVIDENCE.values())
    assert "doc_chunk_7" not in without_markers(answer)
