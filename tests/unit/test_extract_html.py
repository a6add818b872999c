"""Step 1 for HTML: what a reader of the page reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.extract.extractors import extract_document
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused


def extracted(page: str | bytes) -> ExtractedText:
    return extract_document("a.html", page if isinstance(page, bytes) else page.encode(), Limits())


def body(inside: str) -> str:
    return extracted(f"<html><body>{inside}</body></html>").text


def test_headings_paragraphs_and_the_title_are_found() -> None:
    """Step 1: HTML headings."""
    text = extracted(
        "<!doctype html><title>マニュアル | サンプル</title><h1>操作<br>マニュアル</h1><p>はじめに<b>読む</b>。</p>"
        "<div>段落<p>次</p>尾</div><h2>解約</h2>"
    )
    assert text.text.split("\n\n") == ["操作 マニュアル", "はじめに読む。", "段落", "次", "尾", "解約"]
    assert [(heading.level, text.text[heading.start : heading.end]) for heading in text.headings] == [
        (1, "操作 マニュアル"),
        (2, "解約"),
    ]
    assert text.title == "操作 マニュアル"


def test_navigation_scripts_and_hidden_parts_are_left_out() -> None:
    """Step 1: navigation, scripts, styles and hidden parts are left out."""
    page = (
        "<header><a>ロゴ</a></header><nav>メニュー</nav><div class='breadcrumb'>トップ</div><script>x()</script>"
        "<style>p{}</style><p hidden>隠し</p><p style='display: none'>隠し</p><p aria-hidden='true'>隠し</p>"
        "<template>型</template><p>本文<button>押す</button></p><details><summary>質問</summary>答え</details>"
        "<section><footer>注</footer></section><footer>©</footer>"
    )
    assert body(page).split("\n\n") == ["本文", "質問", "答え", "注"]


def test_the_main_part_is_the_page() -> None:
    """Step 1: navigation is left out."""
    assert (
        body("<div>広告</div><main><p>契約の本文がここに長く続く。</p></main>")
        == "契約の本文がここに長く続く。"
    )
    assert "この本文は長い" in body("<main>空</main><p>" + "この本文は長い。" * 9 + "</p>")


def test_lists_keep_their_numbers_and_nesting() -> None:
    """Step 1: lists, ordered numbers kept."""
    lists = (
        "<ol start=3><li>申請する<ul><li>画面で</li><li><p>書面で</p></li></ul></li><li value=7>待つ <b>一日</b></li></ol>"
        "<ol type=a><li>甲</li><li>乙</li></ol>"
    )
    assert body(lists).split("\n\n") == [
        "3. 申請する\n  - 画面で\n  - 書面で\n7. 待つ 一日",
        "a. 甲\nb. 乙",
    ]


def test_a_list_that_holds_headings_is_no_list() -> None:
    """Pages of questions wrap each question and answer in a list item."""
    text = extracted("<body><ul><li><h3>Q1</h3><p>A1</p></li><li><h3>Q2</h3><p>A2</p></li></ul></body>")
    assert text.text.split("\n\n") == ["Q1", "A1", "Q2", "A2"]
    assert len(text.headings) == 2


def test_a_term_and_its_description_stay_together() -> None:
    """A question and its answer are one paragraph."""
    assert body(
        "<dl><dt>解約できますか</dt><dd>できます。</dd><dt>返金は</dt><dd>ありません。</dd></dl>"
    ).split("\n\n") == [
        "解約できますか\nできます。",
        "返金は\nありません。",
    ]


def test_tables_are_pipe_rows_with_spans_filled() -> None:
    """Step 1: tables readable as pipe rows."""
    text = extracted(
        "<table><caption>料金</caption><thead><tr><th>プラン<th colspan=2>額</tr></thead>"
        "<tbody><tr><td rowspan=2>年額<td>基本<td>98,000円<br>税抜</tr><tr><td>追加<td>800|円</tr></tbody></table>"
    )
    assert text.text == (
        "料金\n\n| プラン | 額 |  |\n| --- | --- | --- |\n| 年額 | 基本 | 98,000円 税抜 |\n| 年額 | 追加 | 800\\|円 |"
    )
    (region,) = text.regions
    assert text.text[region.start : region.header_end].count("\n") == 1


def test_a_table_for_layout_is_read_as_blocks() -> None:
    """Old pages place everything with tables."""
    assert body("<table><tr><td><h2>解約</h2><p>末日まで</p></td><td><p>横</p></td></tr></table>").split(
        "\n\n"
    ) == [
        "解約",
        "末日まで",
        "横",
    ]


def test_preformatted_text_is_code() -> None:
    """Step 1: pre as code."""
    text = extracted("<body><pre>a\n\n  b</pre></body>")
    assert (text.text, [region.kind for region in text.regions]) == ("a\n\n  b", ["code"])


def test_lines_that_wrap_in_the_source_join_without_a_space_in_japanese() -> None:
    """The body must read as on the screen and be found by its words."""
    assert body("<p>契約管理\n  画面の\n解約 申請 of\n the plan</p>") == "契約管理画面の解約 申請 of the plan"


def test_ruby_is_left_out_and_links_are_text() -> None:
    """Step 1: links as text."""
    assert (
        body("<p><ruby>解約<rt>かいやく</rt></ruby>は<a href='x'>こちら</a>&nbsp;から</p>")
        == "解約はこちら から"
    )


def test_a_list_of_contents_is_left_out() -> None:
    """It only repeats the headings, and led navigators astray."""
    assert body("<div class='toc'><ul><li><a href='#a'>解約</a></li></ul></div><h2 id=a>解約</h2>") == "解約"


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="x-sjis">', "cp932"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', "cp932"),
        ('<meta charset="euc-jp">', "euc_jp"),
        ('<meta charset="iso-2022-jp">', "iso2022_jp"),
        ('<?xml version="1.0" encoding="UTF-8"?>', "utf-8"),
        ('<meta charset="utf-8">', "cp932"),
        ('<meta charset="iso-8859-1">', "utf-8"),
        ('<meta charset="no-such">', "euc_jp"),
        ("", "cp932"),
        ("", "utf-16"),
    ],
)
def test_the_encoding_is_the_declared_one_unless_the_bytes_say_otherwise(
    declaration: str, encoding: str
) -> None:
    """Field report 10: HTML meta charset honoured; brief: declared x-sjis."""
    page = f"{declaration}<html><body><p>年額プランの解約は、画面から申請する。</p></body></html>"
    assert extracted(page.encode(encoding)).text == "年額プランの解約は、画面から申請する。"


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE html [ <!ENTITY a \"b>c]\"> <!ENTITY d 'x'> ]>",
        """<?xml version="1.0"?>\n<!-- [x] -->\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x[y]" [
        <!-- don't ]> -->\n<!ATTLIST p a CDATA #IMPLIED>\n%x;]\n>\n""",
        "<!doctype html []>",
        "<!doctype html>",
    ],
)
def test_definitions_that_a_page_begins_with_are_no_words_of_it(doctype: str) -> None:
    """XHTML: an internal subset ends at its own bracket, not at the first `>`."""
    page = f"{doctype}<html><body><p>第1条 [注] 本文</p><p>x <!DOCTYPE html [y]> z</p></body></html>"
    assert extracted(page).text == "第1条 [注] 本文\n\nx z"


def test_a_page_without_words_is_empty() -> None:
    """The article, Step 1: an empty result is stopped."""
    with pytest.raises(SourceRefused) as refusal:
        extracted("<html><body><script>a</script><img src=x></body></html>")
    assert refusal.value.verdict == "empty"


@pytest.mark.parametrize("tags", ["<div>", "<font>", "<table><tr><td>", "<ul><li>", "<dl><dd>"])
def test_tags_that_nobody_closed_do_not_break_reading(tags: str) -> None:
    """design.md, hostile files; old pages never close `font`."""
    assert "底" in body(tags * (1500 // tags.count("<")) + "底")


def test_nesting_beyond_what_can_be_read_is_hostile_and_never_cut() -> None:
    """design.md, limits: never cut."""
    with pytest.raises(SourceRefused) as refusal:
        body("<div>" * 3000 + "底")
    assert refusal.value.verdict == "hostile"


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<ul>",
                "<li>",
                "</li>",
                "<table>",
                "<tr>",
                "<td rowspan=3>",
                "<th>",
                "解約",
                " a ",
                "<br>",
                "<dl>",
                "<dt>",
                "<dd>",
                "<h2>",
                "</h2>",
                "<pre>",
                "</pre>",
                "<main>",
                "</table>",
                "<!-- x -->",
                "&#x3000;",
            ]
        ),
        max_size=30,
    )
)
def test_any_page_has_a_sound_shape(pieces: list[str]) -> None:
    """ports/extractor.py: offsets lie inside the text, regions are ordered and disjoint."""
    text = extracted("<html><body>解" + "".join(pieces))
    ends = 0
    for region in text.regions:
        assert ends <= region.start <= region.header_end <= region.end <= len(text.text)
        ends = region.end
    for heading in text.headings:
        assert text.text[heading.start : heading.end] == heading.title
