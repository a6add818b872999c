"""Which reader a document gets: by its content first, then by its name; and what the refusals say."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from corpus2skill.adapters.extract.extractors import Extractors, extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import SourceFile
from corpus2skill.errors import SourceRefused
from corpus2skill.messages import LANGUAGES, has_message, message
from tests.fakes.word_documents import paragraph, word_document

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)


def archive(*names: str) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return data.getvalue()


def refused(name: str, data: bytes) -> SourceRefused:
    with pytest.raises(SourceRefused) as refusal:
        extract_document(name, data, Limits())
    return refusal.value


@pytest.mark.parametrize("name", ["a.docx", "a.doc", "a.txt", "a.pdf", "a.zip", "a"])
def test_content_goes_before_the_name(name: str) -> None:
    """Step 1: the type is decided by content first, then by name."""
    assert extract_document(name, word_document(paragraph("解約")), Limits()).text == "解約"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README", "解約"),
        ("a.TXT", "解約"),
        ("a.txt", "<!DOCTYPE html><title>x</title><p>解約"),
        ("a.md", "解約"),
        ("a.pdf.txt", "解約"),
    ],
)
def test_texts_are_told_by_their_names(name: str, text: str) -> None:
    """Step 1: then by name."""
    assert extract_document(name, text.encode(), Limits()).text == "解約"


def test_a_text_that_mentions_pdf_is_a_text() -> None:
    assert "%PDF-" in extract_document("a.md", b"The mark is %PDF-1.7.", Limits()).text


@pytest.mark.parametrize(
    ("name", "data", "verdict", "detail"),
    [
        ("a.doc", OLE, "unsupported", "legacy_office"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted", None),
        ("a.xlsb", archive("xl/workbook.bin"), "unsupported", "workbook"),
        ("a.pptx", archive("a.txt"), "corrupt", "not_as_named"),
        ("a.xlsx", b"text", "corrupt", "not_as_named"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "unsupported", "image"),
        ("a.txt", b"\xff\xd8\xff\xe0" + bytes(50), "unsupported", "image"),
        ("a.jar", archive("a.txt"), "unsupported", None),
        ("a.txt", b"\x1f\x8b\x08" + bytes(50), "unsupported", "archive"),
        ("a.rtf", b"{\\rtf1 a}", "unsupported", "other_format"),
        ("a.exe", b"MZ", "unsupported", None),
        ("a.docx", b"text", "corrupt", "not_docx"),
        ("a.docx", archive("a.txt"), "corrupt", "not_docx"),
        ("a.docx", b"PK\x03\x04 cut", "corrupt", "archive"),
        ("a.pdf", b"text", "corrupt", "not_pdf"),
        ("a.pdf", b"", "empty", None),
    ],
)
def test_what_is_not_read_is_refused_with_what_to_do(
    name: str, data: bytes, verdict: str, detail: str | None
) -> None:
    """design.md, verdicts; the old binary .doc is refused with what to do."""
    refusal = refused(name, data)
    assert (refusal.verdict, refusal.detail) == (verdict, detail)
    assert has_message(refusal.code)
    assert all(message(language, refusal.code, **refusal.values) for language in LANGUAGES)


@pytest.mark.anyio
async def test_the_port_names_its_version_and_reads() -> None:
    """ports/extractor.py: the same identity gives the same text for the same bytes."""
    data = "解約".encode()
    extractors = Extractors(Limits())
    assert extractors.identity == "extract-5"
    file = SourceFile(source="a.txt", data=data, sha256=sha256(data).hexdigest())
    assert await extractors.extract(file) == extract_document("a.txt", data, Limits())


def test_real_documents_get_the_verdict_they_must(documents: Path) -> None:
    """design.md, section 7: real files of every format and encoding."""
    expected: dict[str, Mapping[str, object]] = json.loads(
        (documents / "expected.json").read_text(encoding="utf-8")
    )
    wrong: list[tuple[str, str]] = []
    for path in sorted((documents / "files").iterdir()):
        outcomes = {expected[path.name]["outcome"], *expected[path.name].get("also", ())}  # type: ignore[misc]
        try:
            extract_document(path.name, path.read_bytes(), Limits())
            verdict = "text"
        except SourceRefused as refusal:
            verdict = refusal.verdict
        if verdict not in outcomes:
            wrong.append((path.name, verdict))
    assert wrong == []
