"""Excel before 2007 (.xls): every visible sheet, its cells as Excel shows them."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.biff_records import CELLS, Kind, Words, records, shared_strings
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.number_format import BUILT_IN, number_format
from corpus2skill.adapters.extract.ole_storage import OleFile
from corpus2skill.adapters.extract.sheets import Workbook
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_BIFF5, _BIFF8 = 0x0500, 0x0600
_MAX_STRINGS = 2_000_000
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}


def extract_xls(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of an .xls file.

    Raises:
        SourceRefused: `corrupt`, `encrypted`, `too_large`.
    """
    file = OleFile(data, max_bytes=limits.max_inflated_bytes)
    stream = file.stream("Workbook") or file.stream("Book")
    if not stream:
        raise SourceRefused("corrupt")
    workbook = Workbook(limits)
    try:
        about = _Globals(stream)
        for sheet in about.sheets:
            if sheet.is_hidden:
                workbook.hidden(sheet.name)
            else:
                workbook.begin(sheet.name)
                _SheetReader(about, workbook).read(stream, sheet.at)
    except (struct.error, IndexError) as error:
        raise SourceRefused("corrupt") from error
    return workbook.text()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    name: str
    at: int
    is_hidden: bool


class _Globals:
    """What holds for the whole workbook: its sheets, strings and number formats."""

    def __init__(self, stream: bytes) -> None:
        self.words = Words()
        self.sheets: list[_Sheet] = []
        self._is_from_1904 = False
        self._codes: dict[int, str] = dict(BUILT_IN)
        self._styles: list[int] = []
        strings: list[bytes] = []
        last = 0
        for kind, content in records(stream):
            if kind == Kind.END:
                break
            if kind == Kind.STRINGS or (kind == Kind.CONTINUE and last == Kind.STRINGS):
                strings.append(content)
                last = Kind.STRINGS
                continue
            last = kind
            self._take(kind, content)
        self.strings = [in_one_line(text) for text in shared_strings(strings, most=_MAX_STRINGS)]
        self._shown: dict[int, Callable[[float], str]] = {}

    def shown(self, number: float, style: int) -> str:
        """Return a number as the cell's style shows it."""
        if style not in self._shown:
            code = self._codes.get(self._styles[style], "") if style < len(self._styles) else ""
            self._shown[style] = number_format(code, is_from_1904=self._is_from_1904)
        try:
            return self._shown[style](number)
        except (ValueError, OverflowError):
            return ""

    def _take(self, kind: int, content: bytes) -> None:
        match kind:
            case Kind.BEGIN:
                self._require_version(int.from_bytes(content[:2], "little"))
            case Kind.LOCK:
                raise SourceRefused("encrypted")
            case Kind.CODE_PAGE:
                self.words.code_page = _codec(int.from_bytes(content[:2], "little"))
            case Kind.DATES:
                self._is_from_1904 = content[:1] == b"\1"
            case Kind.SHEET:
                self._take_sheet(content)
            case Kind.FORMAT:
                code = self.words.long(content[2:]) if self.words.is_biff8 else self.words.short(content[2:])
                self._codes[int.from_bytes(content[:2], "little")] = code
            case Kind.STYLE:
                self._styles.append(int.from_bytes(content[2:4], "little"))
            case _:
                pass

    def _require_version(self, version: int) -> None:
        if version not in {_BIFF5, _BIFF8}:
            raise SourceRefused("unsupported", "workbook", suffix=".xls")
        self.words.is_biff8 = version == _BIFF8

    def _take_sheet(self, content: bytes) -> None:
        at, state, kind = struct.unpack_from("<IBB", content)
        if kind == 0:
            name = in_one_line(self.words.short(content[6:]))
            self.sheets.append(_Sheet(name=name, at=at, is_hidden=bool(state & 3)))


class _SheetReader:
    """Reads the records of one sheet; a row is handed on when the next one begins."""

    def __init__(self, about: _Globals, workbook: Workbook) -> None:
        self._about = about
        self._workbook = workbook
        self._row = 0
        self._cells: dict[int, str] = {}
        self._awaited: int | None = None
        """Column of the formula whose string follows."""

    def read(self, stream: bytes, at: int) -> None:
        depth = 0
        for kind, content in records(stream, at):
            if kind == Kind.BEGIN:
                depth += 1
            elif kind == Kind.END:
                depth -= 1
                if depth <= 0:
                    break
            elif depth == 1:  # a chart within the sheet has records of its own
                self._take(kind, content)
        self._hand_on()

    def _take(self, kind: int, content: bytes) -> None:
        if kind in CELLS:
            row, column, style = struct.unpack_from("<HHH", content)
            if row != self._row:
                self._hand_on()
                self._row = row
            for at, words in self._words(kind, content, column, style):
                if words:
                    self._cells[at] = words
        elif kind == Kind.FORMULA_STRING and self._awaited is not None:
            self._cells[self._awaited] = in_one_line(self._about.words.long(content))
            self._awaited = None
        elif kind == Kind.MERGED:
            for first, last, column, _ in struct.iter_unpack(
                "<4H", content[2 : 2 + len(content[2:]) // 8 * 8]
            ):
                self._workbook.merge(column, first, last)

    def _words(self, kind: int, content: bytes, column: int, style: int) -> Iterator[tuple[int, str]]:
        match kind:
            case Kind.SHARED_LABEL:
                number = struct.unpack_from("<I", content, 6)[0]
                yield column, self._about.strings[number] if number < len(self._about.strings) else ""
            case Kind.NUMBER:
                yield column, self._about.shown(struct.unpack_from("<d", content, 6)[0], style)
            case Kind.SMALL_NUMBER:
                yield column, self._about.shown(_small(content[6:10]), style)
            case Kind.SMALL_NUMBERS:
                for place, at in enumerate(range(4, len(content) - 7, 6)):
                    style = struct.unpack_from("<H", content, at)[0]
                    yield column + place, self._about.shown(_small(content[at + 2 : at + 6]), style)
            case Kind.LOGICAL:
                yield column, _logical(content[6], is_error=content[7] == 1)
            case Kind.FORMULA:
                yield column, self._result(content[6:14], column, style)
            case _:
                yield column, in_one_line(self._about.words.long(content[6:]))

    def _result(self, result: bytes, column: int, style: int) -> str:
        """Return what a formula came to when the workbook was saved."""
        if result[6:8] != b"\xff\xff":
            return self._about.shown(struct.unpack("<d", result)[0], style)
        self._awaited = column if result[0] == 0 else None
        return _logical(result[2], is_error=result[0] == 2) if result[0] in {1, 2} else ""

    def _hand_on(self) -> None:
        self._workbook.row(self._row, self._cells)
        self._cells = {}
        self._awaited = None


def _small(raw: bytes) -> float:
    """Return a number in the four bytes that Excel keeps most numbers in."""
    bits = struct.unpack("<i", raw)[0]
    number = (
        float(bits >> 2) if bits & 2 else struct.unpack("<d", b"\0\0\0\0" + struct.pack("<i", bits & ~3))[0]
    )
    return number / 100 if bits & 1 else number


def _logical(value: int, *, is_error: bool) -> str:
    return _ERRORS.get(value, "#N/A") if is_error else "TRUE" if value else "FALSE"


def _codec(number: int) -> str:
    try:
        return codecs.lookup(f"cp{number}").name
    except LookupError:
        return "cp1252"
