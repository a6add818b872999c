"""The real SDKs, pointed at a fake, and one plain question to each."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import openai

from tests.fakes.providers import KEY, ProviderServer

CLAUDE, GPT, OLD_GPT = "claude-haiku-5-5", "gpt-5-mini", "gpt-4.1-mini"
TEXT = "<<<text 0a1b>>>\n# 年額プラン\n解約は契約管理画面の「解約申請」から行う。\n<<<end 0a1b>>>"


def claude_for(
    server: ProviderServer, key: str = KEY, *, timeout: float | None = None
) -> anthropic.AsyncAnthropic:
    """A client that tries once."""
    return anthropic.AsyncAnthropic(
        api_key=key, base_url=server.base_url, max_retries=0, timeout=timeout, http_client=_plain()
    )


def gpt_for(server: ProviderServer, key: str = KEY, *, timeout: float | None = None) -> openai.AsyncOpenAI:
    """A client that tries once."""
    return openai.AsyncOpenAI(
        api_key=key, base_url=server.base_url, max_retries=0, timeout=timeout, http_client=_plain()
    )


async def ask_claude(client: anthropic.AsyncAnthropic, **more: Any) -> Any:
    """Ask about `TEXT`, or what `more` says."""
    wanted: dict[str, Any] = {
        "model": CLAUDE,
        "max_tokens": 2048,
        "messages": [{"role": "user", "content": TEXT}],
    } | more
    create: Any = client.messages.create
    return await create(**wanted)


async def ask_gpt(client: openai.AsyncOpenAI, **more: Any) -> Any:
    """Ask about `TEXT`, or what `more` says."""
    wanted: dict[str, Any] = {"model": GPT, "messages": [{"role": "user", "content": TEXT}]} | more
    create: Any = client.chat.completions.create
    return await create(**wanted)


def claude_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


def gpt_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "wanted", "strict": True, "schema": schema}}


def _plain() -> httpx2.AsyncClient:
    """Without certificates, whose loading takes longer than a test."""
    return httpx2.AsyncClient(verify=False, trust_env=False)
