"""Prices stated by the settings: for one model each, or for the one model that is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.llm.prices import price_of as listed_price_of
from corpus2skill.application.change_settings import set_setting
from corpus2skill.application.model_wiring import price_in_force as price_of
from corpus2skill.application.wiring import open_workspace
from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.stated_price import StatedPrice, prices_text, stated_prices
from corpus2skill.errors import UnusableSettings
from corpus2skill.settings import Settings, load_settings, parse_value

QWEN, BIG = ModelName("openai", "qwen3:8b"), ModelName("openai", "org/big=2")
HAIKU = ModelName("anthropic", "claude-haiku-5-5")
LOCAL = "http://localhost:11434/v1"
MILLION = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
PAIR = Settings(input_price=1.0, output_price=4.0)
TABLE = Settings(prices="openai:qwen3:8b=0.5/2, openai:org/big=2=3/15", input_price=1.0, output_price=4.0)


def test_each_model_has_the_price_that_was_stated_for_it() -> None:
    """Issue 4, money: two models behind one address rarely cost the same."""
    assert price_of(TABLE, QWEN, LOCAL, beside=(BIG,))(MILLION) == 2.5
    assert price_of(TABLE, BIG, LOCAL, beside=(QWEN,))(MILLION) == 18


def test_the_pair_that_names_no_model_counts_where_one_model_is_used() -> None:
    """Issue 4, money: an amount that may be another model's is no amount."""
    assert price_of(PAIR, QWEN, LOCAL, beside=(QWEN,))(MILLION) == 5
    assert price_of(PAIR, QWEN, LOCAL, beside=(BIG,))(MILLION) is None


def test_the_pair_counts_beside_models_that_have_prices_of_their_own() -> None:
    """A model of the price list, or of the table, cannot be meant by it."""
    assert price_of(TABLE, ModelName("openai", "third"), LOCAL, beside=(QWEN, BIG))(MILLION) == 5
    assert price_of(PAIR, QWEN, None, beside=(HAIKU,))(MILLION) == 5


def test_the_pair_does_not_count_where_the_settings_name_another_model_for_another_role() -> None:
    """The pair may be the navigator's as well as the compile's."""
    settings = Settings(
        model=str(QWEN), navigation_model=str(BIG), base_url=LOCAL, input_price=1.0, output_price=4.0
    )
    assert price_of(settings, QWEN, LOCAL)(MILLION) is None
    assert price_of(settings, BIG, LOCAL)(MILLION) is None


def test_what_is_stated_for_a_model_wins_over_the_price_list() -> None:
    """A discount, or a list that is out of date."""
    assert price_of(Settings(prices="anthropic:claude-haiku-5-5=0/0"), HAIKU, None)(MILLION) == 0
    assert price_of(PAIR, HAIKU, None)(MILLION) == listed_price_of(HAIKU)(MILLION)


def test_batches_have_stated_prices_at_half() -> None:
    """Issue 4, batch mode: at half the price, as the list has it."""
    assert price_of(TABLE, QWEN, LOCAL, is_batch=True)(MILLION) == 1.25
    assert price_of(PAIR, QWEN, LOCAL, is_batch=True)(MILLION) == 2.5


def test_an_address_of_one_s_own_makes_a_price_unknown() -> None:
    """Issue 4, money: unknown prices say so. Who knows what a gateway takes?"""
    assert price_of(Settings(), HAIKU, LOCAL)(MILLION) is None
    assert price_of(Settings(), HAIKU, None)(MILLION)


def test_prices_are_written_as_a_table_as_well(tmp_path: Path) -> None:
    """Issue 4, money: in the settings file, keyed by the model's name."""
    (tmp_path / "settings.toml").write_text(
        '[prices]\n"openai:qwen3:8b" = { input = 0.5, output = 2 }\n"openai:big" = "3/15"\n', encoding="utf-8"
    )
    settings = load_settings(tmp_path, {"HOME": "/"})
    assert settings.prices is not None
    assert stated_prices(settings.prices) == {
        "openai:qwen3:8b": StatedPrice(0.5, 2.0),
        "openai:big": StatedPrice(3.0, 15.0),
    }


def test_prices_can_be_set_beside_a_table_that_is_there(tmp_path: Path) -> None:
    """`config set` writes the file anew with all that it held."""
    (tmp_path / "settings.toml").write_text(
        'corpus = "terms"\n[prices]\n"openai:a" = { input = 1, output = 2 }\n', encoding="utf-8"
    )
    set_setting(open_workspace(tmp_path, load_settings(tmp_path, {"HOME": "/"})), "chunk_limit", "1200")
    kept = load_settings(tmp_path, {"HOME": "/"})
    assert (kept.corpus, kept.chunk_limit) == ("terms", 1200)
    assert stated_prices(kept.prices or "") == {"openai:a": StatedPrice(1.0, 2.0)}


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0.5/2",
        "qwen3=0.5/2",
        "openai:=1/2",
        ":m=1/2",
        "openai:m=1",
        "openai:m=1/x",
        "openai:m=-1/2",
        "openai:m=nan/2",
        "openai:m=1/inf",
        "openai:m=1/2000000",
        "openai:m=1/2,",
        {},
        {"openai:m": 1.0},
        {"openai:m": {"input": 1.0}},
        {"openai:m": {"input": 1.0, "output": 2.0, "cached": 0.1}},
        {"openai:m": {"input": True, "output": 2.0}},
        ["openai:m=1/2"],
        1.5,
    ],
)
def test_what_is_no_table_of_prices_is_refused(value: object) -> None:
    """Issue 4, bad input: before anything is begun with it, and with the wanted form."""
    with pytest.raises(UnusableSettings) as refused:
        parse_value("prices", value)
    assert "INPUT/OUTPUT" in str(refused.value.values["wanted"])


@given(
    prices=st.dictionaries(
        st.text(st.characters(exclude_characters=",", exclude_categories=("C", "Z")), min_size=1),
        st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)),
        min_size=1,
    )
)
@example(prices={"雪:8b/日本語=1": (0.1, 1e-7)})
def test_a_table_says_the_same_as_its_text(prices: dict[str, tuple[float, float]]) -> None:
    """However small the price, and whatever the model is called."""
    table = {f"openai:{name}": {"input": given, "output": made} for name, (given, made) in prices.items()}
    wanted = {f"openai:{name}": StatedPrice(given, made) for name, (given, made) in prices.items()}
    assert stated_prices(prices_text(dict(table))) == wanted
