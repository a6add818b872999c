"""Step 1: bytes become exactly the characters they were, or are refused before anything is paid for."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_encoding import decoded, decoded_as
from corpus2skill.errors import SourceRefused

ENCODINGS = ("cp932", "euc_jp", "iso2022_jp", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")
CLAUSE = (
    "第12条（解約）\n年額プランの解約は、契約管理画面の「解約申請」から行う。\n日割りによる返金は行わない。\n"
)
KANJI = "年額月契約解除料金利用規支払者間場合以上下第条項日本会社申請末返"
KANA = (
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげご"
)
KATAKANA = "アイウエオカキクケコサシスセソタチツテトプランサービスー"
MARKS = "、。「」・（）　０１２9abcABC %/"

words = st.text(st.sampled_from(KANJI + KANA * 2 + KATAKANA + MARKS), min_size=1, max_size=40)
lines = st.tuples(st.sampled_from(KANA), words).map("".join)
japanese = st.lists(lines, min_size=3, max_size=12).map("\n".join)


def verdict(data: bytes) -> tuple[str, str | None]:
    with pytest.raises(SourceRefused) as refusal:
        extract_document("a.txt", data, Limits())
    return refusal.value.verdict, refusal.value.detail


def decoded_or_refused(data: bytes) -> str | None:
    try:
        return decoded(data)
    except SourceRefused as refusal:
        if refusal.verdict != "undecodable":
            raise
        return None


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None)
@given(text=japanese)
@example(text=CLAUSE)
@example(text="ソ\n表示\n能力ソース十貼予暴\n")
@example(text="ああ\nんん\nをを")
def test_japanese_text_is_decoded_exactly_or_refused(encoding: str, text: str) -> None:
    """Field report 10: UTF-8, UTF-16, CP932, EUC-JP, ISO-2022-JP round-trip exactly; never another text."""
    assert decoded_or_refused(text.encode(encoding)) in {text, None}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_clause_is_never_refused(encoding: str) -> None:
    """Field report 10: what a business writes is read in every encoding that Japan uses."""
    assert decoded(CLAUSE.encode(encoding)) == CLAUSE


def test_vendor_characters_of_cp932_are_read() -> None:
    """design.md, stack, encodings: always cp932, never shift_jis."""
    text = "①基本料金は㈱サンプルの髙橋まで。\n№１　℡のあとに番号を書く。\n9時～17時に受け付ける。\n"
    assert decoded(text.encode("cp932")) == text


def test_nec_and_ibm_rows_of_euc_jp_are_read() -> None:
    """design.md, stack, encodings: EUC-JP with the NEC/IBM rows."""
    prose = "これは契約の書類です。\nよく読んでください。\n".encode("euc_jp")
    assert (
        decoded(prose + b"\xad\xa1\xad\xb5\xad\xea") == "これは契約の書類です。\nよく読んでください。\n①Ⅰ㈱"
    )


def test_ibm_characters_in_three_bytes_keep_their_order() -> None:
    """design.md, stack, encodings: EUC-JP with the NEC/IBM rows."""
    data = bytes(byte for at in range(0xF3, 0xFF) for byte in (0x8F, 0xF3, at))
    assert decoded_as(data, "euc-jp") == "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡ"
    assert decoded_as(b"\x8f\xf4\xfe\x8f\xf4\xa1", "euc-jp") == "黑Ⅲ"
    assert decoded_as(b"\x8f\xf3\xa1", "euc-jp") is None


def test_half_width_kana_are_read_in_every_encoding() -> None:
    """A bank's list of payers is nothing else."""
    text = "ﾀﾅｶ ﾀﾛｳ 10000\nｻﾄｳ ﾊﾅｺ 20000\nｽｽﾞｷ ｲﾁﾛｳ 500\n"
    assert decoded(text.encode("cp932")) == text
    assert decoded(text.encode("euc_jp")) == text


def test_iso_2022_jp_reads_all_its_sets() -> None:
    """design.md, stack, encodings: ISO-2022-JP escapes."""
    assert decoded(b"\x1b$B4A;z\x1b(B and \x1b(I1\x1b(B \x1b(J\\\x1b(B") == "漢字 and ｱ ¥"
    assert decoded(b"\x1b$B-!\x1b(B") == "①"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Le café était généralement fermé à Noël.\nL'élève a répondu très vite.\n", "cp1252"),
        ("The naïve résumé — “quoted” text isn’t long.\nA second line follows here.\n", "cp1252"),
        ("Настоящее соглашение регулирует отношения сторон.\nОбщие положения.\n", "cp1251"),
        ("本协议由双方签订，有效期为一年。\n任何一方均可提前三十天书面通知终止本协议。\n", "gb18030"),
        ("이 약관은 서비스 이용에 관한 사항을 정합니다.\n이용자는 동의하여야 합니다.\n", "cp949"),
    ],
)
def test_other_languages_are_read_where_the_bytes_are_clear(text: str, encoding: str) -> None:
    """design.md, stack, encodings: a detector's guess, decoded strictly."""
    assert decoded(text.encode(encoding)) == text


def test_a_damaged_byte_refuses_the_whole_text() -> None:
    """The article, Step 1: text whose encoding is broken is stopped; never `errors="replace"`."""
    for encoding in ("cp932", "euc_jp", "utf-8"):
        data = bytearray(CLAUSE.encode(encoding))
        data[30:33] = b"\xff\xff\xff"
        assert verdict(bytes(data))[0] == "undecodable"


def test_a_broken_mark_is_said_with_its_place() -> None:
    """design.md, stack, encodings: a byte order mark is believed."""
    with pytest.raises(SourceRefused) as refusal:
        decoded(b"\xef\xbb\xbfabc\xff")
    assert (refusal.value.detail, refusal.value.values["encoding"]) == ("damaged", "utf-8-sig")


@pytest.mark.parametrize(
    ("written", "read"),
    [("utf-8", "cp932"), ("utf-8", "latin-1"), ("cp932", "cp1252"), ("euc_jp", "latin-1")],
)
def test_mojibake_that_was_saved_is_refused(written: str, read: str) -> None:
    """design.md, stack, encodings: mojibake saved as UTF-8 is caught by its look."""
    broken = (CLAUSE * 3).encode(written).decode(read, "ignore")
    assert verdict(broken.encode("utf-8")) == ("undecodable", "mojibake")


def test_replaced_characters_refuse_a_text_by_their_share_and_are_counted_below_it() -> None:
    """design.md, stack, encodings: texts full of U+FFFD are refused with the share."""
    with pytest.raises(SourceRefused) as refusal:
        decoded("解約は�申請��から".encode())
    assert refusal.value.values == {"percent": 30.0}
    few = extract_document("a.txt", (CLAUSE * 20 + "�").encode(), Limits())
    assert [(notice.code, notice.values) for notice in few.notices] == [
        ("replaced_characters", (("count", 1),))
    ]


@pytest.mark.parametrize(
    "data", [b"", b" \n\t\r\n", "　\n　　".encode(), "\u200b\ufeff".encode(), b"\xef\xbb\xbf"]
)
def test_a_text_without_anything_to_read_is_empty(data: bytes) -> None:
    """The article, Step 1: an empty result is stopped; design.md: text that is only U+3000 is empty."""
    assert verdict(data)[0] == "empty"


def test_binary_data_named_as_text_is_refused() -> None:
    """design.md, verdicts: undecodable."""
    assert verdict(bytes(range(256)) * 20) == ("undecodable", "binary")
    assert verdict(b"\x00\x01\x02\x03" * 50) == ("undecodable", "binary")


@pytest.mark.parametrize("label", ["x-sjis", "Shift_JIS", "windows-31j", "MS_Kanji", "shift-jis"])
def test_every_name_of_shift_jis_is_read_as_cp932(label: str) -> None:
    """design.md, stack, encodings: always cp932, never shift_jis."""
    assert decoded_as("①髙".encode("cp932"), label) == "①髙"


def test_an_unknown_declaration_is_none() -> None:
    assert decoded_as(b"a", "x-unheard-of") is None
    assert decoded_as(b"a", "hex") is None


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp"])
@pytest.mark.parametrize(
    "text",
    [
        "# 果物\n",
        "# 多国籍企業\n",
        "# Google_検索\n",
        "Git command line 機能\n",
        "注意\nA branch that has been pushed is not to be rebased.\n注意\n",
        "$ sudo apt install vim ”now” ←-\n$ exit\n",
        "”systemctl isolate rescue”\n",
    ],
)
def test_a_few_japanese_characters_among_plain_ones_are_not_taken_for_another_language(
    text: str, encoding: str
) -> None:
    """Issue 3: none silently wrong; headings and program text have hardly a kanji."""
    assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize("text", ["이용약관은 다음과 같습니다.\n", "요금 안내\n", "환불은 되지 않습니다\n"])
def test_korean_is_not_taken_for_japanese(text: str) -> None:
    """Its usual syllables tell it from kanji read as Hangul."""
    assert decoded(text.encode("cp949")) == text
