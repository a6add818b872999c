"""What a model's tokens cost: what was stated for it, what the price list says, or unknown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from corpus2skill.domain.model_name import ModelName, Role
from corpus2skill.domain.money import Price, flat_price, unknown_price
from corpus2skill.domain.stated_price import StatedPrice, stated_prices
from corpus2skill.errors import UnusableSettings
from corpus2skill.settings import Settings

_BATCH_SHARE = 0.5
"""Of the price: what both providers' batches cost."""


def price_of(
    settings: Settings,
    name: ModelName,
    base_url: str | None,
    *,
    beside: Iterable[ModelName] = (),
    is_batch: bool = False,
) -> Price:
    """Return the price; `domain.money.unknown_price` where nobody knows it.

    A price stated for this very model wins over the list's; the pair of settings that names no model counts only
    where it can mean no other: not one used `beside` it, nor one that the settings name.

    Raises:
        UnusableSettings: the address is none.
    """
    own = _own_price(settings, name, base_url, is_batch=is_batch)
    if own is not unknown_price or settings.input_price is None or settings.output_price is None:
        return own
    others = {*beside, *_configured(settings)} - {name}
    if any(_own_price(settings, other, base_url) is unknown_price for other in others):
        return unknown_price
    return _flat(StatedPrice(settings.input_price, settings.output_price), is_batch=is_batch)


def _own_price(settings: Settings, name: ModelName, base_url: str | None, *, is_batch: bool = False) -> Price:
    from corpus2skill.adapters.llm.connection import base_url_in_force
    from corpus2skill.adapters.llm.prices import price_of as listed_price_of

    stated = {} if settings.prices is None else stated_prices(settings.prices)
    if str(name) in stated:
        return _flat(stated[str(name)], is_batch=is_batch)
    return listed_price_of(name, base_url_in_force(name, base_url, os.environ), is_batch=is_batch)


def _flat(stated: StatedPrice, *, is_batch: bool) -> Price:
    share = _BATCH_SHARE if is_batch else 1.0
    return flat_price(stated.input * share, stated.output * share)


def _configured(settings: Settings) -> Iterator[ModelName]:
    """The models that the settings name for some role; one that cannot be used is its command's to refuse."""
    from corpus2skill.adapters.llm.catalogue import parse_model

    roles: tuple[tuple[str | None, Role], ...] = (
        (settings.summary_model, "summarize"),
        (settings.grouping_model, "group"),
        (settings.navigation_model, "navigate"),
    )
    for text, role in roles:
        with suppress(UnusableSettings):
            yield parse_model(text or settings.model, role)
