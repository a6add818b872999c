"""The fake providers for navigation.py: a model that fetches four nodes and answers in pieces that say when they left.

usage: python benchmarks/navigation_provider.py LATENCY PACE

A question such as "18 pieces" without tools is answered with so many. Prints its ports as one line of JSON and serves until it is ended. A piece of the answer is the server's monotonic
clock in nanoseconds at the moment of writing: one clock for all processes of a machine, where that is Linux.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the fakes

from corpus2skill.domain.message import Text, ToolCall
from tests.fakes.providers import KEY, ProviderServer
from tests.fakes.providers.anthropic_dialect import AnthropicDialect
from tests.fakes.providers.hosting import SpawnedProviders
from tests.fakes.providers.openai_dialect import OpenAIDialect
from tests.fakes.providers.prompt import Answer, Prompt, ToolOutcome
from tests.fakes.providers.wire import decode, encode, obj, text

FETCHES = 4
"""Beside the root, which is read before the first round: five rounds with the answer."""
PIECES = 40
STAMP = re.compile(r"<(\d+)>")
_BLANK = "#" * 12
"""What the dialects send as one delta; the stamp takes its place."""
_LINK = re.compile(r"^- \[[^\]]*\]\(([^)]*)\)", re.MULTILINE)


class _Stamped(list[bytes]):
    """Events of a stream; those with a blank get the time when they are taken to be written.

    The pace is kept here by a sleeping process, which does for one client at a time: the server's own would
    pause after the last event too, and an SDK that waits for the end of the body would wait for that.
    """

    pace: float = 0.0

    def __iter__(self) -> Iterator[bytes]:
        blank = _BLANK.encode()
        for number, event in enumerate(super().__iter__()):
            if number and _Stamped.pace:
                time.sleep(_Stamped.pace)
            yield event.replace(blank, f"<{time.monotonic_ns()}>".encode()) if blank in event else event


class _StampedAnthropic(AnthropicDialect):
    def events(self, prompt: Prompt, answer: Answer) -> list[bytes]:
        return _Stamped(super().events(prompt, answer))


class _StampedOpenAI(OpenAIDialect):
    def events(self, prompt: Prompt, answer: Answer) -> list[bytes]:
        return _Stamped(super().events(prompt, answer))


@contextmanager
def timed_providers(latency: float, pace: float) -> Generator[SpawnedProviders]:
    """Both servers in a process of their own."""
    command = [sys.executable, __file__, str(latency), str(pace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ports = json.loads(process.stdout.readline())
        try:
            yield SpawnedProviders(anthropic_port=ports["anthropic"], openai_port=ports["openai"])
        finally:
            process.terminate()


def walk(prompt: Prompt) -> Answer:
    """Fetch what was last offered and not read yet; after enough of it, and without tools, answer."""
    outcomes = [part for turn in prompt.turns for part in turn.parts if isinstance(part, ToolOutcome)]
    if not prompt.tools:
        return Answer(parts=(Text(_BLANK * int(prompt.question.split()[0])),))
    if len(outcomes) > FETCHES:
        return Answer(parts=(Text(_BLANK * PIECES),))
    asked = json.dumps({"path": _next_path(prompt, outcomes)}, ensure_ascii=False)
    call = ToolCall(call_id=f"toolu_{len(outcomes):04d}", name=prompt.tools[0], arguments=asked)
    return Answer(parts=(Text("This looks closest to the question."), call), stop="tool_use")


def _next_path(prompt: Prompt, outcomes: list[ToolOutcome]) -> str:
    calls = [part for turn in prompt.turns for part in turn.parts if isinstance(part, ToolCall)]
    read = {text(obj(decode(call.arguments)).get("path")) for call in calls}
    offered = [path for outcome in outcomes for path in _offered(outcome)]
    return next(path for path in reversed(offered) if path not in read)


def _offered(outcome: ToolOutcome) -> list[str]:
    node = obj(decode(outcome.content))
    folder = text(node.get("path")).rpartition("/")[0]
    return [f"{folder}/{path}".strip("/") for path in _LINK.findall(text(node.get("content")))]


async def _serve(latency: float, pace: float) -> None:
    _Stamped.pace = pace
    anthropic = ProviderServer(_StampedAnthropic(key=KEY), walk, latency=latency, keeps_bodies=False)
    openai = ProviderServer(_StampedOpenAI(key=KEY), walk, latency=latency, keeps_bodies=False)
    async with anthropic, openai:
        sys.stdout.write(encode({"anthropic": anthropic.port, "openai": openai.port}).decode() + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), float(sys.argv[2])))
