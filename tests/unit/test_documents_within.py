"""Documents within archives and mails are sources like any other, in a first compile and in the next."""

from __future__ import annotations

import pytest

from corpus2skill.compiler.extract import ExtractedSources, extract_sources
from corpus2skill.domain.corpus import SourceText
from tests.fakes.sources import BOX, FakeExtractor, FakeSources

pytestmark = pytest.mark.anyio

TERMS, FAQ = "解約の届け出は書面による。", "よくある質問と答え。"


async def extracted(
    texts: dict[str, str],
    *,
    before: ExtractedSources | None = None,
    extractor: FakeExtractor | None = None,
    reader: FakeSources | None = None,
) -> ExtractedSources:
    previous: dict[str, SourceText] = {text.source: text for text in before.texts} if before else {}
    return await extract_sources(
        reader or FakeSources(texts), extractor or FakeExtractor(), previous, lambda *_: None
    )


def box(**members: str) -> str:
    return BOX + "\n".join(f"{name}={text}" for name, text in members.items())


def verdicts(sources: ExtractedSources) -> dict[str, str]:
    return {report.source: report.verdict for report in sources.reports}


async def test_members_become_sources_and_the_archive_none() -> None:
    """Issue 3: attachments are documents of their own."""
    sources = await extracted({"箱.zip": box(規約=TERMS, 質問=FAQ), "a.txt": "本文。"})
    assert [(text.source, text.extracted.text) for text in sources.texts] == [
        ("a.txt", "本文。"),
        ("箱.zip/規約", TERMS),
        ("箱.zip/質問", FAQ),
    ]
    assert verdicts(sources)["箱.zip"] == "archive"


async def test_a_broken_member_is_named_and_stops_nothing() -> None:
    """Step 1: a broken one stops nothing."""
    data = box(規約=TERMS) + "\n鍵!encrypted\n空= \n質問=" + FAQ
    sources = await extracted({"箱.zip": data})
    assert verdicts(sources) == {
        "箱.zip/規約": "accepted",
        "箱.zip/鍵": "encrypted",
        "箱.zip/空": "empty",
        "箱.zip/質問": "accepted",
        "箱.zip": "archive",
    }


async def test_members_are_compared_with_files_and_with_each_other() -> None:
    """Issue 2: duplicates by content skipped and said."""
    sources = await extracted(
        {
            "a.txt": TERMS,
            "箱.zip": box(規約=TERMS, 質問=FAQ, 写し=FAQ),
            "複製.zip": box(規約=TERMS, 質問=FAQ, 写し=FAQ),
        }
    )
    assert [text.source for text in sources.texts] == ["a.txt", "箱.zip/質問"]
    twins = {
        report.source: dict(report.values)["same_as"]
        for report in sources.reports
        if report.verdict == "duplicate"
    }
    assert twins == {"箱.zip/規約": "a.txt", "箱.zip/写し": "箱.zip/質問", "複製.zip": "箱.zip"}


async def test_of_equal_documents_the_file_is_kept_then_the_attachment_then_what_an_archive_holds() -> None:
    """A file that somebody keeps in the folder is what a citation should name, however it is called."""
    boxes = {"あ.zip": box(規約=TERMS, 質問=FAQ), "い.eml": box(質問=FAQ), "ん.txt": TERMS}
    sources = await extracted(boxes)
    assert [text.source for text in sources.texts] == ["い.eml/質問", "ん.txt"]
    twins = {
        report.source: dict(report.values)["same_as"]
        for report in sources.reports
        if report.verdict == "duplicate"
    }
    assert twins == {"あ.zip/規約": "ん.txt", "あ.zip/質問": "い.eml/質問"}


async def test_the_same_archive_is_not_read_twice() -> None:
    """Field report 8: an edit costs the edit."""
    texts = {"箱.zip": box(規約=TERMS, 質問=FAQ)}
    first = await extracted(texts)
    extractor = FakeExtractor()
    again = await extracted(
        {"箱.zip": box(規約=TERMS, 質問=FAQ + "追記。")}, before=first, extractor=extractor
    )
    assert extractor.read == ["箱.zip/質問"]
    assert verdicts(again)["箱.zip/規約"] == "accepted"


async def test_a_member_taken_out_of_its_archive_is_removed() -> None:
    """Design, what a second compile means: covered and no longer found."""
    first = await extracted({"箱.zip": box(規約=TERMS, 質問=FAQ)})
    again = await extracted({"箱.zip": box(規約=TERMS)}, before=first)
    assert verdicts(again)["箱.zip/質問"] == "removed"
    assert [text.source for text in again.texts] == ["箱.zip/規約"]


async def test_members_of_an_archive_that_is_gone_are_removed() -> None:
    """Design, what a second compile means."""
    first = await extracted({"箱.zip": box(規約=TERMS), "a.txt": FAQ})
    again = await extracted({"a.txt": FAQ}, before=first)
    assert verdicts(again)["箱.zip/規約"] == "removed"


@pytest.mark.parametrize("verdict", ["unreadable", "vanished", "too_large", "corrupt"])
async def test_members_of_an_archive_that_cannot_be_opened_are_kept(verdict: str) -> None:
    """Design, what a second compile means: refused now, last good text stays."""
    texts = {"箱.zip": box(規約=TERMS, 質問=FAQ)}
    first = await extracted(texts)
    reader = FakeSources({"a.txt": "別の文書。"}, refusals={"箱.zip": verdict})
    again = await extracted({}, before=first, reader=reader, extractor=FakeExtractor({"箱.zip": verdict}))
    assert {text.source for text in again.texts} == {"a.txt", "箱.zip/規約", "箱.zip/質問"}
    assert verdicts(again)["箱.zip"] == verdict
    assert verdicts(again)["箱.zip/質問"] == "kept"


async def test_members_of_an_archive_read_half_way_are_kept_where_they_were_not_reached() -> None:
    """ports/extractor.py: what was not yielded is unknown."""
    first = await extracted({"箱.zip": box(規約=TERMS, 質問=FAQ)})
    extractor = FakeExtractor({"箱.zip": "too_large"})
    again = await extracted({"箱.zip": box(規約=TERMS)}, before=first, extractor=extractor)
    assert verdicts(again) == {"箱.zip/規約": "accepted", "箱.zip": "too_large", "箱.zip/質問": "kept"}


async def test_a_member_that_is_refused_now_keeps_its_last_good_text() -> None:
    """Design, what a second compile means."""
    first = await extracted({"箱.zip": box(規約=TERMS, 質問=FAQ)})
    again = await extracted({"箱.zip": box(規約=TERMS) + "\n質問!encrypted"}, before=first)
    assert verdicts(again)["箱.zip/質問"] == "kept"
    assert {text.source for text in again.texts} == {"箱.zip/規約", "箱.zip/質問"}
