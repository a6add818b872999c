"""Excel before 2007 (.xls): read by calamine, which lays every sheet out as a full rectangle."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from io import BytesIO

import olefile
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError, SheetVisibleEnum

from corpus2skill.adapters.extract.biff_size import require_size
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.number_format import plain_number, shown_moment
from corpus2skill.adapters.extract.sheets import Workbook
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_MAX_CELLS = 4_000_000
"""Of all rectangles together; a full sheet of 65,536 rows may have 61 columns."""

_Cell = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


def extract_xls(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of an .xls file.

    Raises:
        SourceRefused: `corrupt`, `encrypted`, `too_large`.
    """
    require_size(_stream(data), max_cells=_MAX_CELLS)
    workbook = Workbook(limits)
    with _opened(data) as book:
        for number, about in enumerate(book.sheets_metadata):
            if about.visible == SheetVisibleEnum.Visible:
                _read(book.get_sheet_by_index(number), workbook)
            else:
                workbook.hidden(about.name)
    return workbook.text()


def _stream(data: bytes) -> bytes:
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            name = next(name for name in ("Workbook", "Book") if ole.exists(name))
            return ole.openstream(name).read()
    except (OSError, ValueError, IndexError, StopIteration, TypeError) as error:
        raise SourceRefused("corrupt") from error


def _opened(data: bytes) -> CalamineWorkbook:
    try:
        return CalamineWorkbook.from_filelike(BytesIO(data))
    except PasswordError as error:
        raise SourceRefused("encrypted") from error
    except (CalamineError, OSError, ValueError) as error:
        raise SourceRefused("corrupt") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how Rust fails on bytes that it did not expect
            raise
        raise SourceRefused("corrupt") from error


def _read(sheet: CalamineSheet, workbook: Workbook) -> None:
    workbook.begin(sheet.name)
    first_row, first_column = sheet.start or (0, 0)
    for number, row in enumerate(sheet.iter_rows(), start=first_row):
        workbook.row(number, dict(_cells(row, first_column)))
    for (row, column), (last_row, _) in sheet.merged_cell_ranges or ():
        workbook.merge(column, row, last_row)


def _cells(row: list[_Cell], first_column: int) -> Iterator[tuple[int, str]]:
    for column, cell in enumerate(row, start=first_column):
        if words := _shown(cell):
            yield column, words


def _shown(cell: _Cell) -> str:
    match cell:
        case str():
            return in_one_line(cell)
        case bool():
            return "TRUE" if cell else "FALSE"
        case int() | float():
            return plain_number(cell)
        case datetime.datetime():
            return shown_moment(cell)
        case datetime.timedelta():
            minutes = round(cell.total_seconds() / 60)
            return f"{minutes // 60}:{minutes % 60:02}"
        case datetime.time():
            return cell.isoformat("seconds" if cell.second else "minutes")
        case _:
            return cell.isoformat()
