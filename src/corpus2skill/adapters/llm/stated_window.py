"""How much a model reads, as the server that runs it says: each kind of server says it in a place of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import quote, urlsplit

import httpx2
import msgspec

from corpus2skill.adapters.llm.anthropic_model import AnthropicModel
from corpus2skill.adapters.llm.failures import Failure
from corpus2skill.adapters.llm.openai_model import OpenAIModel
from corpus2skill.errors import ModelError
from corpus2skill.ports.language_model import LanguageModel

_SECONDS = 10.0
_FIELDS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
)
"""What a list of models calls it. What is loaded comes before what could be."""
_LEAST, _MOST = 256, 100_000_000
_Json = Mapping[str, object]


async def stated_window(model: LanguageModel, name: str) -> int | None:
    """Return the tokens that prompt and reply may have together; None where the server does not say.

    `name` is the server's own for the model. A few small requests are sent, none of which is paid for.
    """
    if isinstance(model, AnthropicModel):
        return _window_in(await _asked(model, f"/v1/models/{quote(name, safe='')}"))
    if not isinstance(model, OpenAIModel):
        return None
    root = _root(model.endpoint.target.endpoint)
    for path in ("/models", f"{root}/api/v0/models"):  # the second is LM Studio's
        if (said := _window_in(_named(await _asked(model, path), "data", "id", name))) is not None:
            return said
    return await _of_ollama(model, root, name) or await _of_llama_cpp(model, root)


async def _of_ollama(model: OpenAIModel, root: str, name: str) -> int | None:
    """It cuts prompts to what it was loaded with, whatever the model itself could read."""
    loaded = _window_in(_named(await _asked(model, f"{root}/api/ps"), "models", "name", name))
    if loaded is not None:
        return loaded
    shown = await _asked(model, f"{root}/api/show", {"model": name})
    found = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters", "")), re.MULTILINE)
    return None if found is None else _plausible(int(found[1]))


async def _of_llama_cpp(model: OpenAIModel, root: str) -> int | None:
    settings = (await _asked(model, f"{root}/props")).get("default_generation_settings")
    return _plausible(cast("_Json", settings).get("n_ctx")) if isinstance(settings, dict) else None


async def _asked(model: AnthropicModel | OpenAIModel, path: str, body: object = None) -> _Json:
    """Return the object that comes; an empty one for anything else."""
    options = {"timeout": httpx2.Timeout(_SECONDS)}
    sent = (
        model.client.get(path, cast_to=httpx2.Response, options=options)  # pyright: ignore[reportArgumentType]
        if body is None
        else model.client.post(path, cast_to=httpx2.Response, body=body, options=options)  # pyright: ignore[reportArgumentType]
    )
    try:
        answer = await model.attempt(sent)
        said = None if isinstance(answer, Failure) else msgspec.json.decode(answer.content)
    except (ModelError, msgspec.MsgspecError, RecursionError):
        return {}
    return cast("_Json", said) if isinstance(said, dict) else {}


def _named(said: _Json, field: str, key: str, name: str) -> _Json:
    """Return the entry of the model in a list; an empty one where there is none."""
    entries = list(_objects(said.get(field)))
    for entry in entries:
        if entry.get(key) in {name, f"{name}:latest"}:
            return entry
    return {}


def _objects(entries: object) -> Iterator[_Json]:
    for entry in cast("list[object]", entries) if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield cast("_Json", entry)


def _window_in(entry: _Json) -> int | None:
    return next((said for field in _FIELDS if (said := _plausible(entry.get(field))) is not None), None)


def _plausible(said: object) -> int | None:
    if not isinstance(said, int) or isinstance(said, bool):
        return None
    return said if _LEAST <= said <= _MOST else None


def _root(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc}"
