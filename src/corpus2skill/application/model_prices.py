"""What a model's tokens cost: what was stated for it, what the price list says, or unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.money import Price, flat_price, unknown_price
from corpus2skill.domain.stated_price import StatedPrice, stated_prices
from corpus2skill.settings import Settings

_BATCH_SHARE = 0.5
"""Of the price: what both providers' batches cost."""


def price_of(
    settings: Settings,
    name: ModelName,
    listed: Callable[[ModelName], Price],
    *,
    beside: Iterable[ModelName] = (),
    is_batch: bool = False,
) -> Price:
    """Return the price; `domain.money.unknown_price` where nobody knows it.

    A price stated for this very model wins over `listed`, the list's. The pair of settings that names no model
    counts only where it can mean no other: each one `beside` it has a price of its own.
    """
    stated = {} if settings.prices is None else stated_prices(settings.prices)
    if str(name) in stated:
        return _flat(stated[str(name)], is_batch=is_batch)
    if (price := listed(name)) is not unknown_price:
        return price
    if settings.input_price is None or settings.output_price is None:
        return unknown_price
    others = {other for other in beside if other != name and str(other) not in stated}
    if any(listed(other) is unknown_price for other in others):
        return unknown_price
    return _flat(StatedPrice(settings.input_price, settings.output_price), is_batch=is_batch)


def _flat(stated: StatedPrice, *, is_batch: bool) -> Price:
    share = _BATCH_SHARE if is_batch else 1.0
    return flat_price(stated.input * share, stated.output * share)
