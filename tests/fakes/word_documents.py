"""Word documents made from bare XML, to say exactly what a test needs and nothing else."""

from __future__ import annotations

import zipfile
from io import BytesIO

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NAMESPACES = (
    f'xmlns:w="{_W}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="word/document.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)


def word_document(
    body: str, *, styles: str = "", numbering: str = "", footnotes: str = "", head: str = ""
) -> bytes:
    """Return a .docx whose parts hold the given WordprocessingML; `head` stands before the document element."""
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": _RELATIONS,
        "word/document.xml": f"{head}<w:document {_NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_NAMESPACES}>{styles}</w:styles>",
        "word/numbering.xml": f"<w:numbering {_NAMESPACES}>{numbering}</w:numbering>",
        "word/footnotes.xml": f"<w:footnotes {_NAMESPACES}>{footnotes}</w:footnotes>",
    }
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()


def paragraph(text: str, *, style: str = "", number: str = "", level: int = 0) -> str:
    """Return a `w:p`; `number` is a list's id."""
    listed = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>' if number else ""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{styled}{listed}</w:pPr>{run(text)}</w:p>"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def style(
    style_id: str, name: str, *, outline: int | None = None, based_on: str = "", inside: str = ""
) -> str:
    outlined = f'<w:outlineLvl w:val="{outline}"/>' if outline is not None else ""
    based = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{style_id}"><w:name w:val="{name}"/>{based}'
        f"<w:pPr>{outlined}{inside}</w:pPr></w:style>"
    )


def sequence(abstract: str, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{abstract}">{"".join(levels)}</w:abstractNum>'


def level(at: int, text: str, form: str = "decimal", *, inside: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/>{inside}</w:lvl>'
    )


def numbered_list(number: str, abstract: str, *, inside: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{abstract}"/>{inside}</w:num>'


def table(*rows: tuple[str, ...], first_row: bool = False) -> str:
    """Return a `w:tbl`; a cell is its text, or WordprocessingML of its own where it begins with `<`."""
    look = '<w:tblPr><w:tblLook w:firstRow="1"/></w:tblPr>' if first_row else ""
    body = "".join(f"<w:tr>{''.join(map(_cell, row))}</w:tr>" for row in rows)
    return f"<w:tbl>{look}{body}</w:tbl>"


def _cell(content: str) -> str:
    return f"<w:tc>{content if content.startswith('<') else paragraph(content)}</w:tc>"
