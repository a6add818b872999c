"""Source names of what was handed in."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.source_names import upload_name

DEVICES = {"con", "prn", "aux", "nul", "com1", "lpt1"}


@given(sent=st.text(max_size=600), folder=st.text(max_size=60))
@example(sent="..\\..\\第1章\\規約.docx", folder="")
@example(sent="\u202e" * 3, folder="..")
@example(sent="が" * 300 + ".pdf", folder="か\u3099")
@example(sent="a/" * 400, folder="b/" * 40)
@example(sent="NUL .txt", folder="aux")
@example(sent="c:..:d", folder="C:")
@pytest.mark.requirement("S-23")
def test_no_name_leads_anywhere_and_each_stays_as_it_is(sent: str, folder: str) -> None:
    """Whatever was sent: a harmless path, the same again when it is sent back."""
    name = upload_name(sent, folder)
    parts = name.split("/")
    assert all(parts)
    assert len(parts) <= 20
    assert all(len(part) <= 201 for part in parts)
    assert not {".", ".."} & set(parts)
    assert "\\" not in name
    assert not any(unicodedata.category(character) in {"Cc", "Cs"} for character in name)
    assert not any(part.partition(".")[0].strip().lower() in DEVICES for part in parts)
    assert name == unicodedata.normalize("NFC", name)
    assert upload_name(name) == name


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("利用規約.docx", "利用規約.docx"),
        ("第1章/規約.docx", "第1章/規約.docx"),
        ("C:\\Users\\a\\規約.docx", "規約.docx"),
        ("\\\\server\\share\\規約.docx", "規約.docx"),
        ("/home/a/規約.docx", "規約.docx"),
        ("./a/../b.txt", "a/b.txt"),
        ("か\u3099.txt", "が.txt"),
        ("a\x00\n.txt", "a.txt"),
        ("規約. ", "規約"),
        ("...", "document"),
        ("con", "_con"),
        ("lpt1.txt", "_lpt1.txt"),
    ],
)
@pytest.mark.requirement("S-23")
def test_a_name_is_kept_as_far_as_it_is_harmless(sent: str, name: str) -> None:
    """Folders that were dropped stay; those of the sender's machine do not."""
    assert upload_name(sent) == name
