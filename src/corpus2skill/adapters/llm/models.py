"""Opening a language model by its name. The provider's SDK is imported here and not before."""

from __future__ import annotations

import os
from collections.abc import Mapping

from corpus2skill.adapters.llm.catalogue import context_window
from corpus2skill.adapters.llm.connection import Connection, base_url_in_force
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import ModelUnusable
from corpus2skill.ports.batch_model import BatchModel
from corpus2skill.ports.language_model import LanguageModel

_BATCHING = frozenset({"anthropic", "openai"})


def open_model(
    name: ModelName, connection: Connection = Connection(), environment: Mapping[str, str] | None = None
) -> LanguageModel:
    """Open the model `name`. Nothing is sent before it is asked something.

    Raises:
        UnusableSettings: the address or the CA bundle cannot be used.
        ModelUnusable: no key, no SDK, or a setting of the cloud is missing.
    """
    environment = os.environ if environment is None else environment
    base_url = base_url_in_force(name, connection.base_url, environment)
    window = connection.window or context_window(name, base_url)
    try:
        if name.provider in {"openai", "azure"}:
            from corpus2skill.adapters.llm.openai_clients import open_openai

            return open_openai(name, connection, base_url, window, environment)
        from corpus2skill.adapters.llm.anthropic_clients import open_anthropic

        return open_anthropic(name, connection, base_url, window, environment)
    except ImportError as error:
        raise ModelUnusable("sdk_missing", model=str(name), library=error.name or str(error)) from error


def open_batches(
    name: ModelName, connection: Connection = Connection(), environment: Mapping[str, str] | None = None
) -> BatchModel:
    """Open the batch interface of the model `name`, with the same keys and addresses.

    Raises:
        UnusableSettings, ModelUnusable: as `open_model`; `no_batches` where the provider has none.
    """
    if name.provider not in _BATCHING:
        raise ModelUnusable("no_batches", model=str(name))
    model = open_model(name, connection, environment)
    if name.provider == "openai":
        from corpus2skill.adapters.llm.openai_batches import OpenAIBatches
        from corpus2skill.adapters.llm.openai_model import OpenAIModel

        assert isinstance(model, OpenAIModel)
        return OpenAIBatches(model)
    from corpus2skill.adapters.llm.anthropic_batches import AnthropicBatches
    from corpus2skill.adapters.llm.anthropic_model import AnthropicModel

    assert isinstance(model, AnthropicModel)
    return AnthropicBatches(model)
