"""How runs end: the declared not found, and the fixed sentences."""

from __future__ import annotations

import pytest

from corpus2skill.domain.language import Language
from corpus2skill.domain.run import OUTCOMES, Outcome
from corpus2skill.domain.session import Channel
from corpus2skill.messages import message
from corpus2skill.navigator.outcome import declares_not_found, fixed_sentence
from tests.fakes.navigation import Navigation
from tests.fakes.navigator_model import ScriptedModel, says

UNANSWERED: tuple[Outcome, ...] = tuple(outcome for outcome in OUTCOMES if outcome != "answered")


@pytest.mark.requirement("N-15")
@pytest.mark.parametrize(
    "answer",
    [
        "適合する情報が見つかりませんでした。",
        "適合する情報が見つかりませんでした。返金の規定は登録された文書にありません。",
        "「適合する情報が見つかりませんでした」",
        " \n『適合する情報が 見つかりませんでした』。",
        "**適合する情報が見つかりませんでした**",
        "適合する情報が、見つかりませんでした",
        "No matching information was found.",
        '"No matching information was found" in the documents.',
        "NO MATCHING INFORMATION WAS FOUND",
        "Ｎｏ ｍａｔｃｈｉｎｇ ｉｎｆｏｒｍａｔｉｏｎ ｗａｓ ｆｏｕｎｄ．",
        "[doc_chunk_7] 適合する情報が見つかりませんでした。",
    ],
)
def test_the_phrase_at_the_head_is_a_declaration(answer: str) -> None:
    """design.md, not found: both languages, tolerant of quotes, spaces, width."""
    assert declares_not_found(answer)


@pytest.mark.requirement("N-15")
@pytest.mark.parametrize(
    "answer",
    [
        "",
        "年額プランは末日まで使えます。",
        "画面に「適合する情報が見つかりませんでした」と出たときは、条件を変えて検索します。",
        "日割り返金については、適合する情報が見つかりませんでした。",
        "If no matching information was found, try other words.",
        "見つかりませんでした。",
    ],
)
def test_the_phrase_further_on_is_none(answer: str) -> None:
    """design.md: never a phrase further on."""
    assert not declares_not_found(answer)


@pytest.mark.requirement("N-15")
@pytest.mark.anyio
async def test_a_declared_not_found_keeps_the_models_whole_text() -> None:
    """design.md, not found: the model's whole text is shown."""
    text = "適合する情報が見つかりませんでした。送料の記載は規約にありません。"
    record = await Navigation().ask(ScriptedModel(says(text)))
    assert (record.outcome, record.answer, record.confidence) == ("not_found", text, None)


@pytest.mark.requirement("N-41")
@pytest.mark.parametrize("outcome", UNANSWERED)
@pytest.mark.parametrize("channel", ["text", "voice"])
def test_every_outcome_has_its_sentence_in_both_languages(outcome: Outcome, channel: Channel) -> None:
    """design.md, outcomes: one fixed sentence per language and channel."""
    ja, en = (fixed_sentence(outcome, language, channel) for language in ("ja", "en"))
    assert ja.endswith("。")
    assert en.endswith(".")


@pytest.mark.requirement("N-07", "N-41")
@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("channel", ["text", "voice"])
def test_the_fetch_limit_reads_as_not_found_with_the_places_once_each(
    language: Language, channel: Channel
) -> None:
    """design.md, at the limit: the fixed not-found sentence and where was looked."""
    places = ("解約", "料金", "解約", "請求", "問い合わせ")
    sentence = fixed_sentence("fetch_limit", language, channel, places)
    assert declares_not_found(sentence)
    assert sentence.count("解約") == 1
    assert ("問い合わせ" in sentence) == (channel == "text")


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_fixed_not_found_sentence_begins_with_the_phrase(language: Language) -> None:
    """design.md, not found."""
    phrase = message(language, "not_found_phrase")
    assert fixed_sentence("not_found", language, "voice").startswith(phrase)
