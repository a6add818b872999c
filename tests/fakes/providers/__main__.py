"""`python -m tests.fakes.providers`: both providers by hand, until they are interrupted."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys

from tests.fakes.providers import KEY, BatchPlan, ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import cut_before, edited, fails, overloaded, rate_limited
from tests.fakes.providers.models import ANTHROPIC_MODELS, LOCAL_MODELS, OPENAI_MODELS, cards
from tests.fakes.providers.quirks import GEMINI_LIKE, LM_STUDIO_LIKE, OLLAMA_LIKE, OPENAI, VLLM_LIKE
from tests.fakes.providers.rubbish import every_kind, spoiled_ids
from tests.fakes.providers.wire import encode

_LIKE = {
    "openai": OPENAI,
    "ollama": OLLAMA_LIKE,
    "vllm": VLLM_LIKE,
    "lm-studio": LM_STUDIO_LIKE,
    "gemini": GEMINI_LIKE,
}


def main() -> None:
    options = _parser().parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.providers", description=__doc__)
    add = parser.add_argument
    add("--anthropic-port", type=int, default=0, help="0: a free one")
    add("--openai-port", type=int, default=0, help="0: a free one")
    add("--key", default=KEY, help="the key that is taken; empty: any")
    add("--latency", type=float, default=0.0, metavar="SECONDS")
    add("--pace", type=float, default=0.0, metavar="SECONDS", help="between the events of a stream")
    add("--window", type=int, default=None, metavar="TOKENS", help="of every model")
    add("--like", choices=sorted(_LIKE), default="openai", help="whose manners the second server has")
    add("--failing", type=float, default=0.0, metavar="SHARE", help="of calls that fail in transport")
    add("--rubbish", type=float, default=0.0, metavar="SHARE", help="of replies that are spoiled")
    add("--spoiled-ids", type=float, default=0.0, metavar="SHARE", help="of ids dropped, doubled, invented")
    add("--storm", type=float, default=0.0, metavar="SECONDS", help="of 429 and 529 from the start on")
    add("--batch-polls", type=int, default=0, metavar="N", help="looks that find a batch in progress")
    add("--seed", type=int, default=0)
    add("--no-bodies", action="store_true", help="keep fingerprints of the calls only: long runs")
    add("--json", action="store_true", help="print the ports as one line of JSON")
    return parser


async def _serve(options: argparse.Namespace) -> None:
    quirks = _LIKE[options.like]
    own = LOCAL_MODELS if quirks.is_lax else OPENAI_MODELS
    plan = BatchPlan(polls=options.batch_polls)
    anthropic = anthropic_server(
        key=options.key or None,
        script=_script(options),
        latency=options.latency,
        port=options.anthropic_port,
        keeps_bodies=not options.no_bodies,
        models=cards(*ANTHROPIC_MODELS, window=options.window),
        batch_plan=plan,
    )
    openai = openai_server(
        key=options.key or None,
        script=_script(options),
        latency=options.latency,
        port=options.openai_port,
        keeps_bodies=not options.no_bodies,
        models=cards(*own, window=options.window),
        batch_plan=plan,
        quirks=quirks,
    )
    anthropic.pace = openai.pace = options.pace
    async with anthropic, openai:
        _announce(anthropic, openai, options)
        await _interrupted()


def _script(options: argparse.Namespace) -> Script:
    script = Script()
    if options.storm:
        script.for_seconds(options.storm, rate_limited(1), overloaded())
    if options.failing:
        kinds = (rate_limited(0), overloaded(), fails("server_error"), cut_before())
        script.share(options.failing, *kinds, seed=options.seed)
    if options.rubbish:
        script.share(options.rubbish, *every_kind(), seed=options.seed + 1)
    if part := options.spoiled_ids:
        spoil = spoiled_ids(dropped=part, doubled=part, invented=part, seed=options.seed)
        script.always(edited(spoil))
    return script


def _announce(anthropic: ProviderServer, openai: ProviderServer, options: argparse.Namespace) -> None:
    if options.json:
        words = encode({"anthropic_port": anthropic.port, "openai_port": openai.port}).decode()
    else:
        words = (
            f"Anthropic  {anthropic.base_url}\nOpenAI     {openai.base_url}\nkey        {options.key or '(any)'}\n"
            f"counts     {anthropic.origin}/_fake/summary  {openai.origin}/_fake/summary"
        )
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


async def _interrupted() -> None:
    stopped = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopped.set)
    await stopped.wait()


if __name__ == "__main__":
    main()
