"""Documents made to do harm: bombs, loops, lies about sizes. Small on disk, each without end for a naive reader."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence

WORD_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
    'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP of `parts`."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return data.getvalue()


def word(body: str, *, before: str = "") -> bytes:
    """Return a Word document of this XML; `before` stands ahead of the root."""
    document = f'{before}<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
    return archive({"[Content_Types].xml": WORD_TYPES, "word/document.xml": document})


def laughing_doctype(root: str) -> str:
    """Entities of which each holds ten of the one before."""
    return f'<!DOCTYPE {root} [<!ENTITY l0 "ha">{_LAUGHS}]>'


def stealing_doctype(root: str, path: str) -> str:
    """An entity that stands for a file of the reader's machine."""
    return f'<!DOCTYPE {root} [<!ENTITY stolen SYSTEM "file://{path}">]>'


def book(chapter: str) -> bytes:
    """Return an EPUB of one chapter."""
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="a.opf"/></rootfiles></container>',
            "a.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="c" href="c.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
            "c.xhtml": chapter,
        }
    )


def workbook(sheet: str, *, strings: str = "") -> bytes:
    """Return an Excel workbook of one sheet."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    return archive(
        {
            "[Content_Types].xml": WORD_TYPES.replace("wordprocessingml.document", "spreadsheetml.sheet"),
            "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="r" Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="表" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}">'
            f'<Relationship Id="r1" Type="{office}/worksheet" Target="sheet.xml"/>'
            f'<Relationship Id="r2" Type="{office}/sharedStrings" Target="strings.xml"/></Relationships>',
            "xl/sheet.xml": sheet,
            "xl/strings.xml": strings or f'<sst xmlns="{main}"/>',
        }
    )


def sheet_rows(rows: str, *, before: str = "") -> str:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'{before}<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'


def deck(slide: str) -> bytes:
    """Return a PowerPoint presentation of one slide."""
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    return archive(
        {
            "[Content_Types].xml": WORD_TYPES.replace(
                "wordprocessingml.document", "presentationml.presentation"
            ),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{main}" xmlns:r="{office}"><p:sldIdLst>'
            '<p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{package}">'
            f'<Relationship Id="r1" Type="{office}/slide" Target="slide.xml"/></Relationships>',
            "ppt/slide.xml": slide,
        }
    )


def slide_shapes(shapes: str) -> str:
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    return f'<p:sld xmlns:p="{main}" xmlns:a="a"><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>'


def open_sheets(content: str) -> bytes:
    """Return an OpenDocument spreadsheet with this `content.xml`."""
    return archive({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def nested_mail(depth: int, *, is_forwarded: bool = False) -> bytes:
    """Return parts in parts in parts ..., or mails in mails in mails ..."""
    if is_forwarded:
        return b"Content-Type: message/rfc822\r\n\r\n" * depth + b"Subject: a\r\n\r\nhello"
    levels = (
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (at, at) for at in range(depth)
    )
    return b"".join(levels) + b"Content-Type: text/plain\r\n\r\nhello"


def nested_archives(depth: int) -> bytes:
    """Return an archive in an archive in an archive ..."""
    data = b"text"
    for level in range(depth):
        data = archive({f"{level}.zip" if level else "a.txt": data})
    return data


def pdf(objects: Sequence[str | bytes]) -> bytes:
    """Return a PDF of these objects, numbered from 1; the first is the catalogue."""
    data = io.BytesIO()
    data.write(b"%PDF-1.7\n")
    places: list[int] = []
    for number, content in enumerate(objects, start=1):
        places.append(data.tell())
        body = content.encode() if isinstance(content, str) else content
        data.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    start = data.tell()
    data.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    data.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    data.write(b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return data.getvalue()


def stream(content: bytes, extra: str = "", *, is_packed: bool = False) -> bytes:
    body = zlib.compress(content, 9) if is_packed else content
    packed = "/Filter/FlateDecode" if is_packed else ""
    return f"<</Length {len(body)}{packed}{extra}>>stream\n".encode() + body + b"\nendstream"


def simple_pdf(content: bytes = b"BT /F 12 Tf 72 700 Td (Hello) Tj ET", *, is_packed: bool = False) -> bytes:
    """Return a PDF of one page with this content."""
    return pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            _page(),
            stream(content, is_packed=is_packed),
            _FONT,
        ]
    )


def pdf_with_deep_tree(depth: int) -> bytes:
    """Page trees within page trees."""
    inner = [f"<</Type/Pages/Kids[{number + 5} 0 R]/Count 1>>" for number in range(depth)]
    inner[-1] = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
    first = "<</Type/Pages/Kids[6 0 R]/Count 1>>"
    content = stream(b"BT /F 12 Tf 72 700 Td (Hello) Tj ET")
    return pdf(["<</Type/Catalog/Pages 2 0 R>>", first, _page(), content, _FONT, *inner[1:], inner[-1]])


def pdf_with_circular_tree() -> bytes:
    """A page tree that holds itself."""
    return pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[2 0 R 2 0 R 2 0 R]/Count 1000>>",
            _page(),
            _FONT,
        ]
    )


def pdf_with_countless_pages(count: int) -> bytes:
    """A page tree that says how many pages it has, and does not have them."""
    return pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            f"<</Type/Pages/Kids[3 0 R]/Count {count}>>",
            _page(),
            stream(b"BT /F 12 Tf 72 700 Td (Hello) Tj ET"),
            _FONT,
        ]
    )


def pdf_with_one_page_again_and_again(times: int) -> bytes:
    return pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            f"<</Type/Pages/Kids[{'3 0 R ' * times}]/Count {times}>>",
            _page(),
            stream(b"BT /F 12 Tf 72 700 Td (Hello) Tj ET"),
            _FONT,
        ]
    )


def pdf_with_laughing_forms(levels: int, times: int = 10) -> bytes:
    """Forms of which each draws the next ten times: 10 ** levels in all. With one level, a form draws itself."""
    forms = [
        stream(
            b"/X Do " * times,
            f"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</XObject<</X {number} 0 R>>>>",
        )
        for number in range(7, 6 + levels)
    ]
    last = 6 if levels == 1 else 0
    resources = f"<</Font<</F 5 0 R>>/XObject<</X {last} 0 R>>>>" if last else "<</Font<</F 5 0 R>>>>"
    words = b"/X Do " if last else b"BT /F 12 Tf 72 700 Td (Hello) Tj ET"
    forms.append(stream(words, f"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources{resources}"))
    return pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            _page("/XObject<</X 6 0 R>>"),
            stream(b"/X Do"),
            _FONT,
            *forms,
        ]
    )


_FONT = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def _page(extra: str = "") -> str:
    return (
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        f"/Resources<</Font<</F 5 0 R>>{extra}>>>>"
    )
