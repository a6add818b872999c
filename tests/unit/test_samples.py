"""The sample documents are what their sources say, and as awkward as real ones."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pypdfium2
import pytest

from tools import make_samples

ROOT = Path(__file__).parent.parent.parent
SAMPLES = ROOT / "src" / "corpus2skill" / "samples"
SOURCES = ROOT / "tools" / "samples_src"


def test_the_terms_of_use_are_made_from_their_source(tmp_path: Path) -> None:
    """`make samples` after an edit: the Word file's parts are those its source gives."""
    make_samples.write_docx(SOURCES / "利用規約.txt", tmp_path / "made.docx")
    assert _parts(SAMPLES / "ja" / "利用規約.docx") == _parts(tmp_path / "made.docx")


def test_the_notices_are_made_from_their_source(tmp_path: Path) -> None:
    """`make samples` after an edit: the CP932 file is its source."""
    make_samples.write_cp932(SOURCES / "お知らせ.txt", tmp_path / "made.txt")
    assert (SAMPLES / "ja" / "お知らせ.txt").read_bytes() == (tmp_path / "made.txt").read_bytes()


def test_the_fee_list_holds_every_line_of_its_source() -> None:
    """`make samples` after an edit: the PDF shows what its source says, whatever its lines' ends."""
    shown = _squeezed("".join(_pdf_pages(SAMPLES / "ja" / "料金表.pdf")))
    blocks = make_samples.read_blocks(SOURCES / "料金表.txt")
    texts = [text for block in blocks for text in (block.text, *(cell for row in block.rows for cell in row))]
    assert [text for text in texts if _squeezed(text) not in shown] == []


def test_the_notices_need_cp932_and_not_shift_jis() -> None:
    """Issue: one text file in CP932, the encoding that plain Shift_JIS is taken for."""
    data = (SAMPLES / "ja" / "お知らせ.txt").read_bytes()
    assert {"①", "～", "髙", "№", "Ⅱ"} <= set(data.decode("cp932"))
    with pytest.raises(UnicodeDecodeError):
        data.decode("shift_jis")


def test_the_annual_and_the_monthly_plan_end_by_the_rules_of_the_article() -> None:
    """Issue: an annual and a monthly plan whose cancellation rules differ, as in the article."""
    terms = _parts(SAMPLES / "ja" / "利用規約.docx")["word/document.xml"]
    for rule in (
        "年額プランの解約は、契約管理画面の「解約申請」から行うものとし",
        "お客様は契約期間の末日まで本サービスを利用することができます。日割りによる返金は行いません。",
        "月額プランの解約は、契約管理画面の「解約申請」から行うものとし、利用契約は申請した月の末日で終了します。",
    ):
        assert rule in terms


def _parts(docx: Path) -> dict[str, str]:
    with zipfile.ZipFile(docx) as package:
        return {name: package.read(name).decode("utf-8") for name in package.namelist()}


def _pdf_pages(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_range() for page in document]


def _squeezed(text: str) -> str:
    return "".join(text.split())
