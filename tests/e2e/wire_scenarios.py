"""What providers do, and what becomes of the run: the table that test_navigation_wire.py walks through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from corpus2skill.domain.message import StopReason, Text, Thinking, ToolCall
from corpus2skill.domain.run import Outcome, RunRecord
from tests.fakes.providers import KEY, Script
from tests.fakes.providers.behaviour import (
    Behaviour,
    RawAnswer,
    answers,
    cut_before,
    cut_stream,
    edited,
    error_event,
    fails,
    gateway_page,
    malformed_body,
    overloaded,
    rate_limited,
    says,
    slow,
    stalled,
)
from tests.fakes.providers.rubbish import empty, filtered, refusing, truncated_call
from tests.fakes.providers.wire import encode
from tests.fakes.sample_version import ANNUAL_LEAF, CANCELLATION, PRICING

Check = Callable[[RunRecord], bool]
SHORT = {"round_seconds": 0.25}
NEEDS_THINKING = Behaviour(
    fault=RawAnswer(
        status=400,
        body=encode(
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                    "`tool_use`. When `thinking` is enabled, a final `assistant` message must start with a "
                    "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
                },
            }
        ),
    )
)
NEEDS_SIGNATURE = Behaviour(
    fault=RawAnswer(
        status=400,
        body=encode(
            {
                "error": {
                    "message": "Function call is missing a thought_signature in functionCall parts.",
                    "type": "invalid_request_error",
                    "param": None,
                    "code": None,
                }
            }
        ),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One row: what the provider does, and the outcome that design.md names for it."""

    name: str
    script: Callable[[], Script] = Script
    outcome: Outcome
    question: str | None = None
    limits: Mapping[str, object] = field(default_factory=dict[str, object])
    retries: int = 0
    error: str | None = None
    """Class of the error in the record."""
    is_400_scripted: bool = False
    """The status 400 comes from the script, and not from the fake's own rules."""
    check: Check = lambda _record: True


def asks(path: object, number: int = 1, *, name: str = "get_document", words: str = "") -> Behaviour:
    """A reply that asks for one path."""
    return answers(*_words(words), _call({"path": path}, number, name))


def _call(arguments: object, number: int = 1, name: str = "get_document") -> ToolCall:
    written = arguments if isinstance(arguments, str) else encode(arguments).decode()
    return ToolCall(call_id=f"toolu_{number:04d}", name=name, arguments=written)


def _words(words: str) -> tuple[Text, ...]:
    return (Text(words),) if words else ()


def replies(*behaviours: Behaviour) -> Callable[[], Script]:
    """These, one a call; then the fake's own brain goes on."""
    return lambda: Script().on_call(1, *behaviours)


def always(behaviour: Behaviour) -> Callable[[], Script]:
    return lambda: Script().always(behaviour)


def _says(words: str, *, stop: StopReason = "end") -> Behaviour:
    return says(words, stop=stop)


def _made_up(refusal: Behaviour) -> Callable[[], Script]:
    return lambda: Script().when(lambda prompt: "prefetch_root" in str(prompt.turns), refusal)


DONE = _says("契約期間の末日まで使えます [doc_chunk_7]。")
WALK = (
    Scenario(name="a walk by rule", outcome="answered", check=lambda record: len(record.visits) >= 3),
    Scenario(
        name="words before a call are its reason",
        script=replies(asks(PRICING, words="料金の枝を見ます。"), _says("はい。")),
        outcome="answered",
        check=lambda record: record.visits[1].reason == "料金の枝を見ます。",
    ),
    Scenario(
        name="a call without words has no reason",
        script=replies(asks(PRICING), _says("はい。")),
        outcome="answered",
        check=lambda record: not record.visits[1].has_reason,
    ),
    Scenario(
        name="several calls in one reply",
        script=replies(
            answers(
                Text("二つ見ます。"),
                _call({"path": CANCELLATION}, 1),
                _call({"path": PRICING}, 2),
                _call({"path": ANNUAL_LEAF}, 3),
            ),
            DONE,
        ),
        outcome="answered",
        check=lambda record: (record.fetches, len(record.citations)) == (3, 1),
    ),
    Scenario(
        name="a leaf is cited that was never read",
        script=replies(_says("末日までです [doc_chunk_7]。")),
        outcome="answered",
        check=lambda record: (record.struck_citations, record.citations) == (1, ()),
    ),
    Scenario(
        name="the eighth fetch is the last",
        script=lambda: Script().add(lambda asked: asks(PRICING, asked.call.number)),
        outcome="fetch_limit",
        check=lambda record: (record.fetches, record.rounds) == (8, 9),
    ),
    Scenario(
        name="a last word at the limit",
        script=replies(asks(PRICING, 1), asks(CANCELLATION, 2), _says("はい。")),
        outcome="answered",
        limits={"fetches": 1, "last_word": "answer"},
    ),
    Scenario(name="small talk needs no fetch", script=replies(_says("こんにちは。")), outcome="answered"),
    Scenario(
        name="an answer from summary nodes",
        script=replies(asks(CANCELLATION), _says("解約はプラン別です。")),
        outcome="answered",
        check=lambda record: record.evidence == (),
    ),
    Scenario(
        name="declared not found",
        script=replies(asks(PRICING), _says("「適合する情報が見つかりませんでした」。")),
        outcome="not_found",
    ),
    Scenario(
        name="a question in a third language",
        question="Quand le forfait annuel se termine-t-il ? Merci d’avance à vous",
        outcome="answered",
    ),
)
MISUSE = (
    Scenario(
        name="an unknown tool is answered",
        script=replies(asks(PRICING, 1, name="search"), asks(PRICING, 2), _says("はい。")),
        outcome="answered",
        check=lambda record: record.fetches == 1,
    ),
    Scenario(
        name="an unknown tool again and again",
        script=lambda: Script().add(lambda asked: asks("x", asked.call.number, name="search")),
        outcome="tool_misuse",
        check=lambda record: record.rounds == 2,
    ),
    Scenario(
        name="arguments of a wrong kind",
        script=replies(asks(7), DONE),
        outcome="answered",
        check=lambda record: record.fetches == 0,
    ),
    Scenario(
        name="arguments that are no JSON",
        script=replies(answers(_call('{"path": "SKI')), DONE),
        outcome="answered",
        check=lambda record: record.fetches == 0,
    ),
    Scenario(
        name="nothing but malformed calls",
        script=lambda: Script().add(lambda asked: asks(7, asked.call.number)),
        outcome="tool_misuse",
        check=lambda record: record.rounds == 3,
    ),
    Scenario(
        name="malformed calls all of one id",
        script=lambda: Script().add(lambda asked: asks(7, 1)),
        outcome="tool_misuse",
        check=lambda record: record.rounds == 3,
    ),
    Scenario(
        name="one id in all rounds",
        script=replies(asks(CANCELLATION, 1), asks(PRICING, 1), asks(ANNUAL_LEAF, 1), DONE),
        outcome="answered",
        check=lambda record: (record.fetches, len(record.citations)) == (3, 1),
    ),
    Scenario(
        name="one id twice in a reply",
        script=replies(
            answers(_call({"path": CANCELLATION}, 1), _call({"path": ANNUAL_LEAF}, 1)),
            answers(_call({"path": PRICING}, 1), _call('{"path', 1)),
            DONE,
        ),
        outcome="answered",
        check=lambda record: (record.fetches, len(record.citations)) == (3, 1),
    ),
    Scenario(
        name="one id behind signed thoughts",
        script=replies(
            answers(Thinking(text="まず料金。"), _call({"path": PRICING}, 1)),
            answers(Thinking(text="次に解約。"), _call({"path": ANNUAL_LEAF}, 1)),
            DONE,
        ),
        outcome="answered",
        check=lambda record: record.fetches == 2,
    ),
    Scenario(
        name="the id of the program's own call",
        script=replies(
            answers(ToolCall(call_id="prefetch_root", name="get_document", arguments='{"path": "pricing"}')),
            DONE,
        ),
        outcome="answered",
        check=lambda record: record.fetches == 1,
    ),
    Scenario(
        name="a wrong path is told what there is",
        script=replies(asks("weekly"), DONE),
        outcome="answered",
        check=lambda record: record.visits[1].status == "not_found",
    ),
    Scenario(
        name="the same wrong path three times",
        script=lambda: Script().add(lambda asked: asks("weekly", asked.call.number)),
        outcome="tool_misuse",
        check=lambda record: record.fetches == 3,
    ),
    Scenario(
        name="the same wrong path in other spellings",
        script=replies(asks("weekly", 1), asks("/weekly/", 2), asks("weekly/SKILL.md", 3)),
        outcome="tool_misuse",
        check=lambda record: record.fetches == 3,
    ),
    Scenario(
        name="a path out of the tree",
        script=replies(asks("../../../etc/passwd"), DONE),
        outcome="answered",
        check=lambda record: record.visits[1].status == "not_found",
    ),
)
SHAPES = (
    Scenario(name="an empty reply", script=replies(edited(empty)), outcome="answered"),
    Scenario(name="a blank reply", script=replies(_says(" \n")), outcome="answered"),
    Scenario(
        name="nothing but empty replies",
        script=always(edited(empty)),
        outcome="model_failed",
        error="BadReply",
    ),
    Scenario(
        name="an empty block before a call",
        script=replies(answers(Text(""), _call({"path": PRICING})), DONE),
        outcome="answered",
    ),
    Scenario(
        name="a thought before a call",
        script=replies(
            answers(Thinking(text="まず料金。"), Text("料金を見ます。"), _call({"path": PRICING})), DONE
        ),
        outcome="answered",
        check=lambda record: record.visits[1].reason == "料金を見ます。",
    ),
    Scenario(
        name="output cut within a call",
        script=replies(edited(truncated_call), asks(ANNUAL_LEAF, 2), DONE),
        outcome="answered",
        check=lambda record: (record.fetches, record.rounds) == (1, 3),
    ),
    Scenario(
        name="nothing but cut calls",
        script=lambda: Script().add(
            lambda asked: answers(_call('{"path": "pri', asked.call.number), stop="max_tokens")
        ),
        outcome="model_failed",
        error="BadReply",
    ),
    Scenario(
        name="a cut answer",
        script=replies(_says("年額プランは契約期間の", stop="max_tokens")),
        outcome="answered",
        check=lambda record: record.is_truncated,
    ),
    Scenario(name="a refusal", script=replies(edited(refusing)), outcome="refused"),
    Scenario(name="a content filter", script=replies(edited(filtered)), outcome="refused"),
    Scenario(
        name="a refusal after a fetch", script=replies(asks(PRICING), edited(refusing)), outcome="refused"
    ),
)
FAILURES = (
    Scenario(name="429 with Retry-After", script=replies(rate_limited(3)), outcome="answered", retries=1),
    Scenario(
        name="429 with milliseconds",
        script=replies(rate_limited(retry_after_ms=1500)),
        outcome="answered",
        retries=1,
    ),
    Scenario(
        name="429 that lasts longer than the run may",
        script=replies(rate_limited(600)),
        outcome="model_failed",
        error="ModelUnavailable",
    ),
    Scenario(name="overloaded", script=replies(overloaded(), overloaded()), outcome="answered", retries=2),
    Scenario(
        name="overloaded without end",
        script=always(overloaded()),
        outcome="model_failed",
        retries=7,
        error="ModelUnavailable",
    ),
    Scenario(name="an inner error", script=replies(fails("server_error")), outcome="answered", retries=1),
    Scenario(
        name="a gateway in the way",
        script=replies(gateway_page(502), fails("gateway_timeout")),
        outcome="answered",
        retries=2,
    ),
    Scenario(
        name="overload in mid-stream",
        script=replies(asks(PRICING, words="料金を見ます。長い一文です。"), error_event("overloaded", 4)),
        outcome="answered",
        retries=1,
    ),
    Scenario(
        name="overload as the first event",
        script=replies(error_event("overloaded", 0)),
        outcome="answered",
        retries=1,
    ),
    Scenario(name="severed before a word", script=replies(cut_before()), outcome="answered", retries=1),
    Scenario(name="severed in mid-stream", script=replies(cut_stream(3)), outcome="answered", retries=1),
    Scenario(
        name="severed in mid-stream again and again",
        script=always(cut_stream(3)),
        outcome="model_failed",
        limits={"tries": 3},
        retries=2,
        error="ModelUnavailable",
    ),
    Scenario(name="stalled before a word", script=replies(stalled()), outcome="answered", retries=1),
    Scenario(name="stalled in mid-stream", script=replies(stalled(3)), outcome="answered", retries=1),
    Scenario(name="half a body", script=replies(malformed_body()), outcome="answered", retries=1),
    Scenario(
        name="a round slower than its limit",
        script=replies(Behaviour(latency=0.12, pace=0.12)),
        limits=SHORT,
        outcome="timed_out",
        error="TimeoutError",
    ),
    Scenario(
        name="a run out of time",
        script=always(slow(0.12)),
        limits={"seconds": 0.3},
        outcome="timed_out",
        error="TimeoutError",
    ),
    Scenario(
        name="no such key",
        script=always(fails("authentication")),
        outcome="model_failed",
        error="ModelUnusable",
    ),
    Scenario(
        name="a refused key is repeated by the provider",
        script=always(fails("authentication", echoes_key=True)),
        outcome="model_failed",
        error="ModelUnusable",
        check=lambda record: KEY not in str(record),
    ),
    Scenario(
        name="no permission",
        script=always(fails("permission")),
        outcome="model_failed",
        error="ModelUnusable",
    ),
    Scenario(
        name="quota used up", script=always(fails("quota")), outcome="model_failed", error="ModelUnusable"
    ),
    Scenario(
        name="no credit left",
        script=always(fails("billing")),
        outcome="model_failed",
        error="ModelUnusable",
        is_400_scripted=True,
    ),
    Scenario(
        name="quota used up on the way",
        script=lambda: Script().on_call(2, fails("payment")),
        outcome="model_failed",
        error="ModelUnusable",
        check=lambda record: len(record.visits) == 2,
    ),
    Scenario(
        name="another site answers",
        script=always(gateway_page(200)),
        outcome="model_failed",
        error="ModelUnusable",
    ),
)
SCENARIOS = (*WALK, *MISUSE, *SHAPES, *FAILURES)
MADE_UP_CALL_REFUSED = {"anthropic": _made_up(NEEDS_THINKING), "openai": _made_up(NEEDS_SIGNATURE)}
