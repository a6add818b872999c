"""The fakes' brain answers what the product asks: whole compiles and whole runs go through real adapters."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.offline.summarizer import OfflineSummarizer
from corpus2skill.compiler.group_prompts import Wanted, describe_call, group_call, place_call
from corpus2skill.compiler.model_grouper import ModelGrouper
from corpus2skill.compiler.model_summarizer import ModelSummarizer
from corpus2skill.compiler.pipeline import CompileRequest, compile_corpus
from corpus2skill.compiler.publish import verify
from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.job import CompileReport
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Text
from corpus2skill.domain.model_call import TextCall
from tests.fakes.navigation import Navigation
from tests.fakes.opened_models import opened
from tests.fakes.providers import ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.behaviour import edited
from tests.fakes.providers.brain import rule_brain
from tests.fakes.providers.prompt import Prompt, Turn
from tests.fakes.providers.quirks import GEMINI_LIKE, LM_STUDIO_LIKE, OLLAMA_LIKE, VLLM_LIKE, Quirks
from tests.fakes.providers.rubbish import every_kind, spoiled_ids
from tests.fakes.providers.wire import items
from tests.fakes.providers.wording import SUMMARY, TITLE, titled
from tests.fakes.version_store import FakeVersionStore
from tests.unit.test_pipeline import FAQ, TERMS, world

pytestmark = pytest.mark.anyio

ENGLISH = "\n\n".join(
    f"Article {number}\nThe subscriber gives notice within {number} days, see [the form](#form{number})."
    for number in range(1, 31)
)
LINES = [f"chunk_{number} | 見出し{number} | 要約{number}" for number in range(1, 31)]


async def compiled(
    server: ProviderServer, store: FakeVersionStore, model: str | None = None
) -> CompileReport:
    async with server, opened(server, model) as opened_model:
        ports = world(
            {"terms.md": TERMS, "faq.md": FAQ, "en.md": ENGLISH},
            store,
            summarizer=ModelSummarizer(opened_model, OfflineSummarizer()),
            grouper=ModelGrouper(model=opened_model),
        )
        request = CompileRequest(
            corpus="docs", title="サンプル", sizes=ChunkSizes(limit=60, minimum=10), language="ja"
        )
        return await compile_corpus(request, ports, lambda _: None)


@pytest.mark.parametrize("provider", [anthropic_server, openai_server])
async def test_a_whole_compile_runs_and_nothing_has_to_be_asked_again(provider: object) -> None:
    """Issue 4: the fakes are good enough for whole compiles."""
    server = anthropic_server() if provider is anthropic_server else openai_server()
    store = FakeVersionStore()
    report = await compiled(server, store)
    assert list(verify(store, "docs", 1)) == []
    assert report.manifest.stand_ins == 0
    assert [call for call in server.calls.answered if len(items(call.json["messages"])) > 2] == []
    assert server.calls.paid_twice == []


async def test_a_compile_against_rubbish_still_covers_every_chunk() -> None:
    """Issue 4, what it must reach: rubbish for 20% of calls, 5% of ids dropped, doubled and invented."""
    script = Script().share(0.2, *every_kind(), seed=2)
    script.always(edited(spoiled_ids(dropped=0.05, doubled=0.05, invented=0.05, seed=1)))
    store = FakeVersionStore()
    await compiled(anthropic_server(script=script), store)
    assert list(verify(store, "docs", 1)) == []


@pytest.mark.parametrize("quirks", [None, OLLAMA_LIKE, VLLM_LIKE, LM_STUDIO_LIKE, GEMINI_LIKE])
async def test_the_navigator_walks_to_the_leaf_and_cites_it(quirks: Quirks | None) -> None:
    """Issue 4: streaming rounds with get_document; quirks of servers that speak OpenAI's format."""
    server = anthropic_server() if quirks is None else openai_server(quirks=quirks)
    async with server, opened(server, None if quirks is None else "qwen3:8b") as model:
        record = await Navigation().ask(model)
    assert (record.outcome, record.citations != ()) == ("answered", True)
    assert [visit.node for visit in record.visits][-1:] == [source.doc_id for source in record.citations]


def asked(call: TextCall) -> dict[str, object]:
    parts = tuple(part for part in call.messages[0].parts if isinstance(part, Text))
    prompt = Prompt(
        provider="anthropic",
        model="m",
        system=call.system,
        turns=(Turn(role="user", parts=parts),),
        schema=json.loads(call.schema),
    )
    with_schema, without = (
        rule_brain(prompt),
        rule_brain(Prompt(provider="openai", model="m", system=call.system, turns=prompt.turns)),
    )
    assert set(json.loads(with_schema.text)) <= set(json.loads(without.text))
    return json.loads(with_schema.text)


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize(("least", "most", "members", "count"), [(3, 8, 30, 3), (5, 5, 10, 5), (2, 8, 6, 5)])
def test_groups_are_as_many_as_are_wanted(
    language: Language, least: int, most: int, members: int, count: int
) -> None:
    """The brain reads the task in the words of the product's own prompts."""
    wanted = Wanted(least=least, most=most, members=members)
    for of_groups in (False, True):
        call = group_call(
            LINES, wanted, language, parent_title="見出し1など", of_groups=of_groups, max_output_tokens=99
        )
        groups = asked(call)["groups"]
        assert isinstance(groups, list)
        assert len(groups) == count
        assert [name for group in groups for name in group["memberIds"]] == [
            line.split(" | ")[0] for line in LINES
        ]
        assert "見出し1など" not in {group["title"] for group in groups}


@pytest.mark.parametrize("language", ["ja", "en"])
def test_items_are_placed_and_groups_described(language: Language) -> None:
    """The brain reads the task in the words of the product's own prompts."""
    cards = ["group_1 | 月額プラン | 月末まで", "group_2 | 年額プラン | 期末まで"]
    lines = ["chunk_1 | 年額 | 期末", "chunk_2 | 月額 | 月末"]
    call = place_call(lines, cards, language, may_leave_out=True, max_output_tokens=99)
    assert asked(call)["places"] == [
        {"id": "chunk_1", "group": "group_2"},
        {"id": "chunk_2", "group": "group_1"},
    ]
    member, named = {"ja": ("年額", "年額など"), "en": ("Annual", "Annual and more")}[language]
    for title, wanted in (("いまの題", "いまの題"), ("", named)):
        call = describe_call(
            title,
            [f"{member} | 期末"],
            ["月額 | 月末"],
            language,
            count=1,
            parent_title="",
            max_output_tokens=99,
        )
        assert asked(call)["title"] == wanted


@example("# 年額プラン\n\n[申請](https://example.com/a?b=1)から**30日**以内")
@example('<a name="x"></a>\n---\n| a | b |')
@given(st.text(max_size=400))
def test_titles_and_summaries_fit_whatever_the_text(body: str) -> None:
    """The article, step 3: 40 and 160 characters, one line."""
    title, summary = titled("", body)
    assert 0 < len(title) <= TITLE
    assert 0 < len(summary) <= SUMMARY
    assert "\n" not in title + summary
