"""Make the binary sample documents from their sources in `samples_src/`.

```
利用規約.txt -> 利用規約.docx    headings by style, 第N条 and （N） by Word's automatic numbering, tables
料金表.txt   -> 料金表.pdf       Japanese font embedded as a subset, outline, tables
お知らせ.txt -> お知らせ.txt     CP932, with characters that plain Shift_JIS lacks
```

The samples that are text anyway (`.md`, `.html`, `.csv`) have no source: they are edited where they lie.
The same sources give the same bytes with the same libraries. The PDF needs the font of Debian's package
`fonts-ipafont-gothic`; its licence, IPA-1, allows embedding.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from fpdf import FPDF
from fpdf.enums import TableBordersLayout
from fpdf.fonts import FontFace

SOURCES = Path(__file__).parent / "samples_src"
TARGET = Path(__file__).parent.parent / "src" / "corpus2skill" / "samples" / "ja"
FONT = Path("/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf")
MADE_AT = datetime(2026, 4, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph or one table of a source."""

    mark: str
    """`#` title, `##` and `###` headings, `-` numbered item, `>` closing line, `|` table, `` paragraph."""
    text: str
    rows: tuple[tuple[str, ...], ...] = ()


def main() -> None:
    write_docx(SOURCES / "利用規約.txt", TARGET / "利用規約.docx")
    write_cp932(SOURCES / "お知らせ.txt", TARGET / "お知らせ.txt")
    if not FONT.exists():
        sys.exit(f"{FONT} is missing, so 料金表.pdf stays as it is. Try: apt install fonts-ipafont-gothic")
    write_pdf(SOURCES / "料金表.txt", TARGET / "料金表.pdf")


def read_blocks(source: Path) -> list[Block]:
    """The blocks of a source; lines that begin with `|` and follow each other are one table."""
    blocks: list[Block] = []
    for line in filter(None, source.read_text(encoding="utf-8").splitlines()):
        if line.startswith("|"):
            row = tuple(cell.strip() for cell in line.strip("|").split("|"))
            before = blocks.pop().rows if blocks[-1].mark == "|" else ()
            blocks.append(Block("|", "", (*before, row)))
        else:
            mark, text = re.fullmatch(r"(?:(#{1,3}|[->]) )?(.*)", line).groups(default="")
            blocks.append(Block(mark, text))
    return blocks


# CP932 ----------------------------------------------------------------------------------------------


def write_cp932(source: Path, target: Path) -> None:
    text = source.read_text(encoding="utf-8")
    target.write_bytes(text.replace("\n", "\r\n").encode("cp932"))


# Word -----------------------------------------------------------------------------------------------

DOCX_PARTS = SOURCES / "docx"
"""The parts of the package that hold no text of ours: styles, numbering, relations."""

STYLES = {"": "a", "#": "a3", "##": "1", "###": "2", "-": "a4", ">": "a5"}
"""Ids as Japanese Word gives them; the names behind them are Word's own."""


def write_docx(source: Path, target: Path) -> None:
    blocks = read_blocks(source)
    body = "".join(_docx_table(block) if block.mark == "|" else _docx_paragraph(block) for block in blocks)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for name, part in _docx_parts(body):
            package.writestr(zipfile.ZipInfo(name, MADE_AT.timetuple()[:6]), part, zipfile.ZIP_DEFLATED)


def _docx_parts(body: str) -> Iterator[tuple[str, str]]:
    for path in sorted(path for path in DOCX_PARTS.rglob("*") if path.is_file()):
        part = path.read_text(encoding="utf-8")
        yield path.relative_to(DOCX_PARTS).as_posix(), part.replace("<!-- body -->", body)


def _docx_paragraph(block: Block) -> str:
    # Headings are numbered by their style, items by the paragraph itself: both ways occur in real files.
    number = '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>' if block.mark == "-" else ""
    style = f'<w:pStyle w:val="{STYLES[block.mark]}"/>'
    return f"<w:p><w:pPr>{style}{number}</w:pPr><w:r><w:t>{escape(block.text)}</w:t></w:r></w:p>"


def _docx_table(block: Block) -> str:
    grid = "<w:gridCol/>" * len(block.rows[0])
    rows = "".join(_docx_row(row, is_header=row is block.rows[0]) for row in block.rows)
    # The empty paragraph is what Word itself puts after a table.
    return (
        f'<w:tbl><w:tblPr><w:tblStyle w:val="a6"/></w:tblPr><w:tblGrid>{grid}</w:tblGrid>{rows}</w:tbl><w:p/>'
    )


def _docx_row(row: tuple[str, ...], *, is_header: bool) -> str:
    header = "<w:trPr><w:tblHeader/></w:trPr>" if is_header else ""
    cells = "".join(f"<w:tc><w:p><w:r><w:t>{escape(cell)}</w:t></w:r></w:p></w:tc>" for cell in row)
    return f"<w:tr>{header}{cells}</w:tr>"


# PDF ------------------------------------------------------------------------------------------------

SIZES = {"#": 18, "##": 13, "": 10.5}
"""Points."""

WORD = re.compile(r"[（「]?(?:[0-9A-Za-z,.]+|.)[、。）」]*")
"""What may not be torn apart at a line's end: numbers, and punctuation from what it belongs to."""


class PriceList(FPDF):
    """A4 in one Japanese font, with page numbers at the foot."""

    def __init__(self) -> None:
        super().__init__(format="A4")
        self.set_creation_date(MADE_AT)
        self.set_lang("ja")
        self.set_margin(20)
        self.set_auto_page_break(auto=True, margin=20)
        self.add_font("IPAGothic", fname=FONT)
        self.set_font("IPAGothic", size=SIZES[""])
        self.add_page()

    def footer(self) -> None:
        self.set_y(-15)
        self.set_font_size(9)
        self.cell(w=self.epw, h=5, text=f"{self.page_no()} / {{nb}}", align="C")
        self.set_font_size(SIZES[""])

    def write_block(self, block: Block) -> None:
        if block.mark == "|":
            self._write_table(block)
        elif block.mark == "":
            self._write_lines(block.text, size=SIZES[""], space_after=3)
        else:
            self._write_heading(block)

    def _write_heading(self, block: Block) -> None:
        if self.will_page_break(45):
            self.add_page()
        self.ln(2)
        self.start_section(block.text, level=len(block.mark) - 1)
        self._write_lines(block.text, size=SIZES[block.mark], space_after=2)

    def _write_lines(self, text: str, *, size: float, space_after: float) -> None:
        self.set_font_size(size)
        for line in self._wrapped(text):
            self.cell(w=self.epw, h=size * 0.6, text=line, new_x="LMARGIN", new_y="NEXT")
        self.set_font_size(SIZES[""])
        self.ln(space_after)

    def _wrapped(self, text: str) -> Iterator[str]:
        line = ""
        for word in WORD.findall(text):
            if self.get_string_width(line + word) > self.epw - 2:
                yield line
                line = ""
            line += word
        yield line

    def _write_table(self, block: Block) -> None:
        widths = self._column_widths(block.rows)
        with self.table(
            block.rows,
            width=sum(widths),
            col_widths=widths,
            align="L",
            text_align="LEFT",
            line_height=7,
            padding=(0.5, 1),
            borders_layout=TableBordersLayout.ALL,
            headings_style=FontFace(fill_color=(232, 236, 242)),
            wrapmode="CHAR",
        ):
            pass
        self.ln(4)

    def _column_widths(self, rows: tuple[tuple[str, ...], ...]) -> list[float]:
        """Every column as wide as its text; the last one takes no more than is left."""
        *widths, last = (max(map(self.get_string_width, column)) + 4 for column in zip(*rows, strict=True))
        return [*widths, min(last, self.epw - sum(widths))]


def write_pdf(source: Path, target: Path) -> None:
    pdf = PriceList()
    blocks = read_blocks(source)
    pdf.set_title(blocks[0].text)
    for block in blocks:
        pdf.write_block(block)
    pdf.output(target)


if __name__ == "__main__":
    main()
