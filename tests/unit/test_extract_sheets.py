"""Workbooks: every visible sheet as tables that read as text, numbers as their owner sees them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from io import BytesIO

import pytest
import xlsxwriter
import xlwt
from hypothesis import given
from hypothesis import strategies as st
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.workbook import Workbook

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.number_format import number_format, plain_number
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused
from tests.fakes.archives import zip_file

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'


def workbook(fill: Callable[[Workbook], None]) -> bytes:
    data = BytesIO()
    with xlsxwriter.Workbook(data, {"in_memory": True}) as book:
        fill(book)
    return data.getvalue()


def bare_workbook(rows: str, *, strings: str = "", head: str = "", after: str = "") -> bytes:
    """Return an .xlsx of bare XML; `head` stands before the shared strings' element."""
    return zip_file(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": f'<Relationships {_PACKAGE}><Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets><sheet name="表" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships {_PACKAGE}><Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="r2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f"<worksheet {_MAIN}><sheetData>{rows}</sheetData>{after}</worksheet>",
            "xl/sharedStrings.xml": f"{head}<sst {_MAIN}>{strings}</sst>",
        }
    )


def open_document(rows: str, *, styles: str = "", manifest: str = "") -> bytes:
    names = (
        'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    )
    return zip_file(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": manifest or "<manifest/>",
            "content.xml": f"<office:document-content {names}><office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:spreadsheet>{rows}</office:spreadsheet></office:body></office:document-content>",
        }
    )


def read(data: bytes, name: str = "a.xlsx", limits: Limits = Limits()) -> ExtractedText:
    return extract_document(name, data, limits)


def refused(data: bytes, name: str = "a.xlsx", limits: Limits = Limits()) -> tuple[str, str | None]:
    with pytest.raises(SourceRefused) as refusal:
        read(data, name, limits)
    return refusal.value.verdict, refusal.value.detail


def test_a_sheet_is_its_name_and_its_rows() -> None:
    """Issue 3, formats: tables readable as text."""

    def fill(book: Workbook) -> None:
        sheet = book.add_worksheet("料金表")
        sheet.write_row(0, 0, ["料金のご案内"])
        sheet.write_row(1, 0, ["区分", "プラン", "", "月額", "開始日", "割引", ""])
        sheet.merge_range(2, 0, 3, 0, "個人")
        for number, plan in enumerate(("標準", "年額"), start=2):
            sheet.write(number, 1, plan)
            sheet.write(number, 3, 1200 * number, book.add_format({"num_format": '"¥"#,##0'}))
            date = dt.datetime(2024, 4, number)  # noqa: DTZ001 - sheets know no zones
            sheet.write_datetime(number, 4, date, book.add_format({"num_format": "yyyy/mm/dd"}))
            sheet.write(number, 5, 0.125, book.add_format({"num_format": "0.0%"}))
        sheet.write(4, 0, "※税込")
        book.add_worksheet("空")
        book.add_worksheet("連絡先").write_row(3, 2, ["窓口", "本社"])

    extracted = read(workbook(fill))
    table = (
        "| 区分 | プラン | 月額 | 開始日 | 割引 |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| 個人 | 標準 | ¥2,400 | 2024-04-02 | 12.5% |\n"
        "| 個人 | 年額 | ¥3,600 | 2024-04-03 | 12.5% |"
    )
    assert extracted.text == f"料金表\n\n料金のご案内\n\n{table}\n\n※税込\n\n連絡先\n\n窓口 本社"
    assert [(page.kind, page.label) for page in extracted.pages] == [("sheet", "料金表"), ("sheet", "連絡先")]
    assert [heading.title for heading in extracted.headings] == ["料金表", "連絡先"]
    (region,) = extracted.regions
    assert (extracted.text[region.start : region.end], region.kind) == (table, "table")
    assert extracted.text[region.start : region.header_end].endswith("---  |".replace("  ", " "))


def test_empty_rows_part_tables_and_only_names_of_columns_are_a_header() -> None:
    def fill(book: Workbook) -> None:
        sheet = book.add_worksheet("集計")
        sheet.write_row(0, 0, ["年度", "件数"])
        sheet.write_row(1, 0, [2023, 15])
        sheet.write_row(3, 0, [1, 2])
        sheet.write_row(4, 0, [3, 4])

    text = read(workbook(fill)).text
    assert text == "集計\n\n| 年度 | 件数 |\n| --- | --- |\n| 2023 | 15 |\n\n| 1 | 2 |\n| 3 | 4 |"


def test_readings_of_kanji_are_no_words_and_runs_of_one_cell_are_one() -> None:
    """Japanese Excel keeps the reading of every typed word beside it."""
    strings = "<si><t>解約</t><rPh sb='0' eb='2'><t>カイヤク</t></rPh></si><si><r><t>届</t></r><r><t>け出</t></r></si>"
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    assert read(bare_workbook(rows, strings=strings)).text == "表\n\n解約 届け出"


def test_cells_of_every_kind_are_read() -> None:
    rows = (
        '<row><c t="inlineStr"><is><t>行内</t></is></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c>'
        '<c t="str"><f>A1</f><v>式の\n結果</v></c><c><v>1e3</v></c><c t="d"><v>2024-04-01</v></c>'
        '<c t="s"><v>99</v></c><c r="J1"><v>x</v></c></row><row r="3"><c r="B3"><v>2</v></c><c><v>3</v></c></row>'
    )
    assert read(bare_workbook(rows)).text == "表\n\n行内 TRUE #N/A 式の 結果 1000 2024-04-01 x\n\n2 3"


def test_hidden_sheets_are_left_out_and_said() -> None:
    """Issue 3: everything said about a file names the place."""

    def fill(book: Workbook) -> None:
        book.add_worksheet("公開").write_row(0, 0, ["表", "裏"])
        book.add_worksheet("原価").write_row(0, 0, ["秘密", "一"])
        book.worksheets()[1].hide()

    extracted = read(workbook(fill))
    assert "秘密" not in extracted.text
    assert [(notice.code, dict(notice.values)) for notice in extracted.notices] == [
        ("sheets_hidden", {"count": 1, "names": "原価"})
    ]


def test_a_table_of_50000_rows_is_read_in_whole_rows_and_beyond_the_limit_refused_by_its_name() -> None:
    """Issue 3, bad input."""
    rows = "".join(
        f'<row r="{number}"><c r="A{number}"><v>{number}</v></c><c r="B{number}" t="inlineStr"><is><t>第{number}号</t></is></c></row>'
        for number in range(1, 50_001)
    )
    data = bare_workbook(rows)
    lines = read(data).text.split("\n")
    assert (lines[-1], len(lines)) == ("| 50000 | 第50000号 |", 50_002)
    assert refused(data, limits=Limits(max_rows=999)) == ("too_large", "rows")
    assert refused(data, limits=Limits(max_characters=100_000)) == ("too_large", "characters")


def test_a_cell_far_away_costs_nothing() -> None:
    """Issue 3, hostile files: a sheet as a full rectangle would be 17 thousand million cells."""
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    assert read(bare_workbook(rows)).text == "表\n\n1\n\n2"


def test_one_long_string_in_many_cells_is_too_large_before_it_is_written_out() -> None:
    """Issue 3, hostile files: shared-strings bombs."""
    cells = "".join('<c t="s"><v>0</v></c>' for _ in range(3_000))
    data = bare_workbook(f"<row>{cells}</row>", strings=f"<si><t>{'長' * 100_000}</t></si>")
    assert refused(data) == ("too_large", "characters")
    merged = '<mergeCells><mergeCell ref="A1:A3000"/></mergeCells>'
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c><c><v>1</v></c></row>' + "".join(
        f'<row r="{number}"><c r="B{number}"><v>1</v></c></row>' for number in range(2, 3_001)
    )
    data = bare_workbook(rows, strings=f"<si><t>{'長' * 100_000}</t></si>", after=merged)
    assert refused(data) == ("too_large", "characters")


@pytest.mark.parametrize(
    ("rows", "strings", "detail"),
    [
        (f"<row>{'<c><v>1</v></c>' * 700_000}</row>", "", "element"),
        ("<row/>", f"<si>{'<r><t>a</t></r>' * 700_000}</si>", "element"),
        (f"<row>{'<c><v>1</v></c>' * 100}</row>" * 30, "", "cells"),
    ],
)
def test_a_workbook_is_bounded_in_its_cells_and_in_each_row_and_string(
    rows: str, strings: str, detail: str
) -> None:
    """Issue 3, hostile files: memory: the tree of an element takes many times its bytes."""
    data = bare_workbook(rows, strings=strings)
    assert refused(data, limits=Limits(max_cells=2_000)) == ("too_large", detail)


def test_a_part_of_millions_of_elements_is_refused_before_it_is_parsed() -> None:
    """Issue 3, hostile files: memory."""
    data = zip_file({"xl/workbook.xml": f"<workbook>{'<a/>' * 3_000_001}</workbook>"})
    assert refused(data) == ("too_large", "tags")


def test_a_diagonal_of_cells_is_not_blown_up_to_a_square() -> None:
    """Issue 3, hostile files: output bounded."""
    rows = "".join(
        f'<row r="{n + 1}"><c r="{xl_col_to_name(n)}{n + 1}"><v>1</v></c><c><v>2</v></c></row>'
        for n in range(3_000)
    )
    assert refused(bare_workbook(rows)) == ("too_large", "characters")


@pytest.mark.parametrize("part", ["strings", "rows"])
def test_entities_are_refused_as_hostile(part: str) -> None:
    """Issue 3, hostile files: XML bombs, external entities."""
    head = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
    data = bare_workbook("<row><c t='s'><v>0</v></c></row>", strings="<si><t>&a;</t></si>", head=head)
    if part == "rows":
        data = bare_workbook("<row/>").replace(b"x", b"x")
        data = zip_file({"xl/workbook.xml": f"{head}<workbook/>"})
    assert refused(data) == ("hostile", "dtd")


def test_bytes_are_counted_while_they_are_inflated() -> None:
    """Field report 31: Zip limits by inflating with a cap."""
    data = bare_workbook("<row><c><v>1</v></c></row>" + " " * 5_000_000)
    assert refused(data, limits=Limits(max_inflated_bytes=1_000_000)) == ("too_large", "inflated")


@pytest.mark.parametrize("rows", ["<row><c><v>1</v>", "<row></c></row>"])
def test_a_broken_sheet_is_corrupt(rows: str) -> None:
    assert refused(bare_workbook(rows)) == ("corrupt", None)


def old_workbook(fill: Callable[[xlwt.Workbook], None]) -> bytes:
    book = xlwt.Workbook(encoding="utf-8")
    fill(book)
    data = BytesIO()
    book.save(data)
    return data.getvalue()


def test_an_old_workbook_reads_like_a_new_one() -> None:
    """Issue 3, formats: .xls."""

    def fill(book: xlwt.Workbook) -> None:
        sheet = book.add_sheet("料金表")
        for column, words in enumerate(("区分", "プラン", "月額", "開始日", "割引", "税込")):
            sheet.write(0, column, words)
        sheet.write_merge(1, 2, 0, 0, "個人")
        for row, plan in ((1, "標準"), (2, "年額")):
            sheet.write(row, 1, plan)
            sheet.write(row, 2, 1200 * row, xlwt.easyxf(num_format_str='"¥"#,##0'))
            day = dt.datetime(2024, 4, row)  # noqa: DTZ001 - sheets know no zones
            sheet.write(row, 3, day, xlwt.easyxf(num_format_str="yyyy/mm/dd"))
            sheet.write(row, 4, 0.125, xlwt.easyxf(num_format_str="0.0%"))
            sheet.write(row, 5, row == 1)
        hidden = book.add_sheet("原価")
        hidden.write(0, 0, "秘密")
        hidden.visibility = 1

    extracted = read(old_workbook(fill), "a.xls")
    assert extracted.text == (
        "料金表\n\n| 区分 | プラン | 月額 | 開始日 | 割引 | 税込 |\n| --- | --- | --- | --- | --- | --- |\n"
        "| 個人 | 標準 | ¥1,200 | 2024-04-01 | 12.5% | TRUE |\n| 個人 | 年額 | ¥2,400 | 2024-04-02 | 12.5% | FALSE |"
    )
    assert [notice.code for notice in extracted.notices] == ["sheets_hidden"]


def test_strings_of_an_old_workbook_go_on_over_the_edges_of_its_records() -> None:
    """The shared table is cut every 8,224 bytes, in the middle of strings, and their width may change there."""
    words = [
        f"{number}番の長い文字列" * (number % 7 + 1) if number % 3 else f"plain {number}"
        for number in range(5_000)
    ]

    def fill(book: xlwt.Workbook) -> None:
        sheet = book.add_sheet("表")
        for number, text in enumerate(words):
            sheet.write(number, 0, number)
            sheet.write(number, 1, text)

    lines = read(old_workbook(fill), "a.xls").text.split("\n")
    assert lines[-5_000:] == [f"| {number} | {text} |" for number, text in enumerate(words)]


def test_a_cut_old_workbook_is_refused() -> None:
    data = old_workbook(lambda book: book.add_sheet("表").write(0, 0, "解約"))
    assert refused(data[: len(data) // 2], "a.xls")[0] in {"corrupt", "empty"}


def test_a_page_that_a_system_saved_as_a_workbook_is_read_as_the_page_it_is() -> None:
    """Exports named .xls are often HTML."""
    page = (
        "<html><body><table><tr><th>区分</th><th>月額</th></tr><tr><td>標準</td><td>980円</td></tr></table>"
    )
    assert "| 標準 | 980円 |" in read(page.encode(), "export.xls").text


def test_an_open_document_sheet_reads_as_it_shows_itself() -> None:
    """Issue 3, formats: .ods."""
    rows = """<table:table table:name="料金表"><table:table-row>
        <table:table-cell><text:p>区分</text:p></table:table-cell><table:table-cell><text:p>月額</text:p></table:table-cell>
        <table:table-cell table:number-columns-repeated="1022"/></table:table-row>
        <table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>個<text:span>人</text:span></text:p></table:table-cell>
        <table:table-cell><office:annotation><text:p>注記</text:p></office:annotation><text:p>¥1,200</text:p></table:table-cell></table:table-row>
        <table:table-row><table:covered-table-cell/><table:table-cell><text:p>¥2<text:s/>400</text:p></table:table-cell></table:table-row>
        <table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>
        <table:table table:name="原価" table:style-name="h"><table:table-row><table:table-cell><text:p>秘密</text:p></table:table-cell></table:table-row></table:table>"""
    styles = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    extracted = read(open_document(rows, styles=styles), "a.ods")
    assert extracted.text == "料金表\n\n| 区分 | 月額 |\n| --- | --- |\n| 個人 | ¥1,200 |\n| 個人 | ¥2 400 |"
    assert [notice.code for notice in extracted.notices] == ["sheets_hidden"]


def test_repeated_cells_and_rows_of_an_open_document_are_bounded() -> None:
    """Issue 3, hostile files: output bounded."""
    cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>長い文字列</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    data = open_document(f'<table:table table:name="表">{row * 5}</table:table>')
    assert refused(data, "a.ods") == ("too_large", "cells")


def test_a_locked_open_document_is_encrypted() -> None:
    """design.md, verdicts."""
    data = open_document("", manifest="<manifest><encryption-data/></manifest>")
    assert refused(data, "a.ods") == ("encrypted", None)


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (1200.0, "General", "1200"),
        (0.1 + 0.2, "General", "0.3"),
        (1234567.891, "#,##0", "1,234,568"),
        (-1200, "#,##0;▲#,##0", "▲1,200"),
        (-1200, "#,##0", "-1,200"),
        (-1200, "#,##0;[赤]#,##0", "-1,200"),
        (-1200, "#,##0_);(#,##0)", "(1,200)"),
        (0, "0;-0;;@", ""),
        (-980, '"¥"#,##0', "-¥980"),
        (0, '#,##0;-#,##0;"なし"', "なし"),
        (0.155, "0.0%", "15.5%"),
        (980, '#,##0"円"', "980円"),
        (980, "[$¥-411]#,##0", "¥980"),
        (1234567, '#,##0,"千円"', "1,235千円"),
        (45383, "yyyy/m/d", "2024-04-01"),
        (45383, 'yyyy"年"m"月"d"日"', "2024年4月1日"),
        (45383, '[$-411]ggge"年"m"月"d"日";@', "2024年4月1日"),
        (45383, "yyyy/mm", "2024-04"),
        (45383.5, "yyyy/m/d h:mm", "2024-04-01 12:00"),
        (0.5625, "h:mm", "13:30"),
        (1.5, "[h]:mm", "36:00"),
        (1, "yyyy/m/d", "1900-01-01"),
        (60, "0.00E+00", "60"),
        (5, "000", "005"),
        (-1, "yyyy/m/d", "-1"),
        (3, "@", "3"),
        (12.5, "[赤]#,##0.0", "12.5"),
        (1e300, "yyyy/m/d", "1e+300"),
    ],
)
def test_a_number_is_shown_as_its_format_does(number: float, code: str, shown: str) -> None:
    """Issue 3: tables readable as text: dates, percentages and money are what people ask for."""
    assert number_format(code)(number) == shown


def test_dates_counted_from_1904_are_the_same_days() -> None:
    """Workbooks made on old Macs."""
    assert number_format("yyyy/m/d", is_from_1904=True)(45383 - 1462) == "2024-04-01"


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(alphabet='#0,.%;ymdhse[]"\\円 @/E+-', max_size=20),
)
def test_no_format_fails_on_a_number(number: float, code: str) -> None:
    """Formats come from files: any text may be one."""
    assert isinstance(number_format(code)(number), str)


@given(st.integers(min_value=-(10**14), max_value=10**14))
def test_whole_numbers_have_all_their_digits(number: int) -> None:
    assert plain_number(float(number)) == str(number)
