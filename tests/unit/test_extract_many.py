"""Many files at once: each has its verdict, and none costs more than its share."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus2skill.adapters.extract.child_pool import ChildPool
from corpus2skill.adapters.extract.extractors import Extractors, extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.sources.folder import FolderSources
from corpus2skill.compiler.chunk import chunk_texts
from corpus2skill.compiler.extract import ExtractedSources, extract_sources
from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.corpus import SourceText
from tests.fakes.hostile_documents import pdf_with_laughing_forms
from tests.fakes.word_documents import paragraph, word_document

pytestmark = pytest.mark.anyio

MANY = pytest.mark.parametrize("many", [1_000, pytest.param(10_000, marks=pytest.mark.soak)])


async def extracted(folder: Path, children: ChildPool | None = None) -> ExtractedSources:
    extractors = Extractors(Limits(), children)
    return await extract_sources(FolderSources([folder]), extractors, {}, lambda *_: None)


@MANY
async def test_10000_files_in_one_folder_are_10000_texts(tmp_path: Path, many: int) -> None:
    """Issue 3: 10,000 files in one folder."""
    for number in range(many):
        (tmp_path / f"{number}.txt").write_text(f"第{number}条", encoding="utf-8")
    children = ChildPool(Limits())
    sources = await extracted(tmp_path, children)
    assert [text.source for text in sources.texts] == [f"{number}.txt" for number in range(many)]
    assert children.processes == ()


@MANY
async def test_10000_copies_are_one_text_and_the_rest_name_it(tmp_path: Path, many: int) -> None:
    """Issue 3: a folder of 10,000 copies."""
    data = word_document(paragraph("解約は30日前まで。"))
    for number in range(many):
        (tmp_path / f"{number:05}.docx").write_bytes(data)
    sources = await extracted(tmp_path, ChildPool(Limits()))
    assert [text.source for text in sources.texts] == ["00000.docx"]
    assert [report.verdict for report in sources.reports] == ["accepted"] + ["duplicate"] * (many - 1)
    assert {report.values for report in sources.reports[1:]} == {(("same_as", "00000.docx"),)}


async def test_bad_files_among_good_ones_are_named_and_stop_nothing(tmp_path: Path) -> None:
    """Issue 3: bounded by killable children; the others go on, and the reports keep their order."""
    for number in range(12):
        good = word_document(paragraph(f"第{number}条"))
        (tmp_path / f"{number:02}.docx").write_bytes(good if number % 4 else good[:200])
    (tmp_path / "99.pdf").write_bytes(pdf_with_laughing_forms(9))
    sources = await extracted(tmp_path, ChildPool(Limits(max_memory_bytes=200_000_000)))
    found = {report.source: f"{report.verdict}.{report.detail}" for report in sources.reports}
    assert list(found) == sorted(found)
    assert {name for name, verdict in found.items() if verdict != "accepted.None"} == {
        "00.docx",
        "04.docx",
        "08.docx",
        "99.pdf",
    }
    assert found["00.docx"] == "corrupt.archive"
    assert found["99.pdf"] in {"too_large.memory", "hostile.crash"}


@pytest.mark.parametrize(
    "line", ["解約は30日前までに申し出る。\n", "解約は30日前までに申し出る。", "あ", "word "]
)
def test_a_document_without_a_blank_line_becomes_chunks_within_the_limit(line: str) -> None:
    """Issue 3: a document without a single blank line, or without any line end at all."""
    text = extract_document("a.txt", (line * 20_000).encode(), Limits())
    source = SourceText(source="a.txt", sha256="", extractor="", extracted=text)
    chunks, _ = chunk_texts([source], ChunkSizes(limit=1_500, minimum=40), (), 1)
    assert all(0 < len(chunk.text) <= 1_540 for chunk in chunks)
    assert "".join("".join(chunk.text for chunk in chunks).split()) == "".join(text.text.split())
