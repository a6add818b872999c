"""What models cost and can read, from the list that genai-prices brings along. It asks no network."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from corpus2skill.adapters.llm.summed_price import summed
from corpus2skill.domain.model_name import ModelName
from corpus2skill.domain.money import Price, unknown_price

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

    from corpus2skill.domain.message import Usage

_LISTS = {
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "azure": ("azure", "openai"),
    "bedrock": ("aws",),
    "vertex": ("google", "anthropic"),
}
"""Where a provider's models are listed, in the order of looking."""
_BATCH = {"processing": "batch"}


def price_of(name: ModelName, base_url: str | None = None, *, is_batch: bool = False) -> Price:
    """Return the price of a model; `domain.money.unknown_price` where no list names it.

    A model behind `base_url` has a price only where the list knows that address.
    """
    entry = _entry(name, base_url)
    if entry is None:
        return unknown_price
    provider, model = entry

    def price(usage: Usage) -> float | None:
        return _dollars(usage, provider, model, is_batch=is_batch)

    return price if _changes_by_the_hour(model) else summed(price)


def _changes_by_the_hour(model: ModelInfo) -> bool:
    """False for prices that hold from a date on: that of the day when a compile begins is its price."""
    from genai_prices.types import StartDateConstraint

    parts = model.prices if isinstance(model.prices, list) else []
    return any(not isinstance(part.constraint, StartDateConstraint | None) for part in parts)


def context_window_of(name: ModelName, base_url: str | None = None) -> int | None:
    entry = _entry(name, base_url)
    return None if entry is None else entry[1].context_window


def _entry(name: ModelName, base_url: str | None) -> tuple[Provider, ModelInfo] | None:
    # Imported here: it takes longer than the rest of a command that pays nothing.
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    if base_url is not None:
        try:
            return snapshot.find_provider_model(name.model, None, None, base_url)
        except LookupError:
            return None
    for provider_id in _LISTS.get(name.provider, ()):
        try:
            return snapshot.find_provider_model(_listed(name), None, provider_id, None)
        except LookupError:
            continue
    return None


def _listed(name: ModelName) -> str:
    """Vertex dates its names behind an `@`."""
    return name.model.partition("@")[0] if name.provider == "vertex" else name.model


def _dollars(usage: Usage, provider: Provider, model: ModelInfo, *, is_batch: bool) -> float | None:
    from genai_prices.types import Usage as ListedUsage

    listed = ListedUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_written_tokens,
    )
    try:
        cost = model.calc_price(
            listed,
            provider,
            genai_request_timestamp=datetime.now(UTC),
            auto_update_timestamp=None,
            price_context=_BATCH if is_batch else None,
        )
    except (LookupError, ValueError):  # a price of one kind of token is missing
        return None
    return float(cost.total_price)
