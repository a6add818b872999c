"""The fake providers take batches."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest

from tests.fakes.providers import (
    BatchPlan,
    Script,
    anthropic_server,
    openai_server,
)
from tests.fakes.providers.behaviour import (
    fails,
)
from tests.fakes.providers.sdk_clients import (
    CLAUDE,
    GPT,
    claude_for,
    gpt_for,
)

pytestmark = pytest.mark.anyio


def claude_request(name: str, text: str, **more: Any) -> Any:
    params = {"model": CLAUDE, "max_tokens": 500, "messages": [{"role": "user", "content": text}]} | more
    return {"custom_id": name, "params": params}


def gpt_line(name: str, text: str, **more: Any) -> str:
    body = {"model": GPT, "messages": [{"role": "user", "content": text}]} | more
    line = {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line, ensure_ascii=False)


class TestBatches:
    async def test_an_anthropic_batch_goes_from_creation_to_results(self) -> None:
        """Issue 4: the batch id is kept, a later look finds the results, in no promised order."""
        plan = BatchPlan(polls=1, expires=lambda name: name == "late")
        script = Script().when(lambda prompt: "失敗" in prompt.text, fails("server_error"))
        async with anthropic_server(batch_plan=plan, script=script) as server, claude_for(server) as client:
            batches = client.messages.batches
            requests = [
                claude_request("one", "解約"),
                claude_request("late", "解約"),
                claude_request("bad", "", max_tokens=500),
                claude_request("down", "失敗"),
            ]
            made = await batches.create(requests=requests)
            assert (made.processing_status, made.request_counts.processing) == ("in_progress", 4)
            assert (await batches.retrieve(made.id)).processing_status == "in_progress"
            ended = await batches.retrieve(made.id)
            assert (
                ended.processing_status,
                ended.request_counts.succeeded,
                ended.request_counts.errored,
            ) == (
                "ended",
                1,
                2,
            )
            results = {each.custom_id: each.result async for each in await batches.results(made.id)}
            assert list(results) == ["down", "bad", "late", "one"]
            assert results["one"].message.content[0].text == "解約"
            assert results["bad"].error.error.type == "invalid_request_error"
            assert results["late"].type == "expired"
            assert [batch.id async for batch in batches.list()] == [made.id]

    async def test_an_anthropic_batch_can_be_cancelled(self) -> None:
        """Issue 4: batch mode."""
        async with anthropic_server(batch_plan=BatchPlan(polls=0)) as server, claude_for(server) as client:
            made = await client.messages.batches.create(requests=[claude_request("one", "解約")])
            assert (await client.messages.batches.cancel(made.id)).processing_status == "canceling"
            assert (await client.messages.batches.retrieve(made.id)).request_counts.canceled == 1
            with pytest.raises(anthropic.NotFoundError):
                await client.messages.batches.retrieve("msgbatch_none")

    async def test_an_openai_batch_goes_from_upload_to_output(self) -> None:
        """Issue 4: files and batches, good and bad lines apart."""
        lines = "\n".join((gpt_line("one", "解約"), gpt_line("bad", "解約", max_tokens=5)))
        async with openai_server(batch_plan=BatchPlan(polls=1)) as server, gpt_for(server) as client:
            stored = await client.files.create(file=("calls.jsonl", lines.encode()), purpose="batch")
            made = await client.batches.create(
                input_file_id=stored.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"job": "年額"},
            )
            assert (made.status, made.metadata) == ("validating", {"job": "年額"})
            assert (await client.batches.retrieve(made.id)).status == "in_progress"
            done = await client.batches.retrieve(made.id)
            assert (done.status, done.request_counts.completed, done.request_counts.failed) == (
                "completed",
                1,
                1,
            )
            good = json.loads((await client.files.content(done.output_file_id)).text)
            bad = json.loads((await client.files.content(done.error_file_id)).text)
            assert good["response"]["body"]["choices"][0]["message"]["content"] == "解約"
            assert (bad["custom_id"], bad["response"]["body"]["error"]["code"]) == (
                "bad",
                "unsupported_parameter",
            )
            assert [batch.id async for batch in client.batches.list()] == [made.id]

    async def test_an_openai_batch_fails_and_is_cancelled(self) -> None:
        """Issue 4: batch mode."""
        async with openai_server() as server, gpt_for(server) as client:
            bad = await client.files.create(file=("a.jsonl", b'{"custom_id": "x"'), purpose="batch")
            good = await client.files.create(file=("b.jsonl", gpt_line("x", "y").encode()), purpose="batch")
            ids = [
                (
                    await client.batches.create(
                        input_file_id=stored.id, endpoint="/v1/chat/completions", completion_window="24h"
                    )
                ).id
                for stored in (bad, good)
            ]
            failed = await client.batches.retrieve(ids[0])
            assert (failed.status, failed.errors.data[0].code) == ("failed", "invalid_json_line")
            assert (await client.batches.cancel(ids[1])).status == "cancelling"
            assert (await client.batches.retrieve(ids[1])).status == "cancelled"
