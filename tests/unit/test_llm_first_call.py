"""The first call to a provider goes alone: what would refuse it would refuse all of them."""

from __future__ import annotations

import asyncio

import pytest

from corpus2skill.adapters.llm.adapting import Adapting
from corpus2skill.adapters.llm.failures import Failure, Target, classify
from corpus2skill.domain.model_call import TextReply
from corpus2skill.errors import ModelError, ModelUnavailable, ModelUnusable
from corpus2skill.messages import error_message
from corpus2skill.ports.language_model import LanguageModel
from tests.fakes.opened_models import opened, text_call
from tests.fakes.providers import KEY, ProviderServer, Script
from tests.fakes.providers.behaviour import ErrorKind, fails

pytestmark = pytest.mark.anyio

TARGET = Target(model="openai:m", endpoint="http://localhost")


async def answers_of(model: LanguageModel, calls: int) -> list[TextReply | BaseException]:
    wanted = (model.complete(text_call(words=f"解約の条件 {number}")) for number in range(calls))
    return await asyncio.gather(*wanted, return_exceptions=True)


@pytest.fixture(params=["fake_anthropic", "fake_openai"])
def server(request: pytest.FixtureRequest) -> ProviderServer:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize(
    ("kind", "code"),
    [("authentication", "key_refused"), ("permission", "permission_refused"), ("quota", "quota_used_up")],
)
async def test_many_calls_at_a_time_are_refused_once(
    server: ProviderServer, kind: ErrorKind, code: str
) -> None:
    """Issue 4, rates: quota-exhausted and bad keys fail at once with what to do. No error shows the key."""
    server.script = Script().always(fails(kind, echoes_key=True))
    async with opened(server) as model:
        answered = await answers_of(model, 64)
    errors = [error for error in answered if isinstance(error, ModelUnusable)]
    assert [error.code for error in errors] == [code] * 64
    malformed = 1 if server.dialect.provider == "openai" else 0  # a field that it knows by another name
    assert len(server.calls) == 1 + malformed
    assert not any(KEY in repr(error) + error_message("ja", error) for error in errors)


async def test_another_key_s_refusal_is_its_own(server: ProviderServer) -> None:
    """A process may call one endpoint with several keys."""
    async with opened(server, key="sk-wrong-9876543210abcdef") as wrong, opened(server) as right:
        refused = await answers_of(wrong, 8)
        answered = await answers_of(right, 8)
    assert all(isinstance(answer, ModelUnusable) for answer in refused)
    assert all(isinstance(answer, TextReply) for answer in answered)


async def test_after_an_answer_no_call_waits_for_another(server: ProviderServer) -> None:
    """Once a call was answered the others go as they come."""
    async with opened(server) as model:
        await model.complete(text_call())
        server.script = Script().always(fails("authentication"))
        await answers_of(model, 8)
    assert len([call for call in server.calls if call.status == 401]) == 8


class NoQuirks:
    def without(self, failure: Failure) -> None:
        del failure


async def test_a_call_that_is_only_itself_at_fault_does_not_stop_the_others() -> None:
    """A prompt that is too long says nothing of the rest; nor does an overload."""
    for status, kind in ((413, "request_too_large"), (529, "overloaded_error")):
        habits = Adapting(TARGET, {}, NoQuirks())
        failures = [Failure(status=status, words="no", kinds=frozenset({kind}))]

        async def attempt(quirks: NoQuirks, failures: list[Failure] = failures) -> str | Failure:
            del quirks
            return failures.pop() if failures else "answered"

        answered = await asyncio.gather(*(habits.call(attempt) for _ in range(3)), return_exceptions=True)
        assert isinstance(answered[0], ModelUnusable | ModelUnavailable)
        assert answered[1:] == ["answered", "answered"]


async def test_a_first_call_that_takes_its_time_does_not_hold_up_the_others() -> None:
    """A model that writes takes seconds; a refusal does not."""
    habits = Adapting(TARGET, {}, NoQuirks())
    others_done = asyncio.Event()

    async def slowly(quirks: NoQuirks) -> str:
        del quirks
        await others_done.wait()
        return "first"

    async def quickly(quirks: NoQuirks) -> str:
        del quirks
        return "other"

    first = asyncio.create_task(habits.call(slowly))
    await asyncio.sleep(0)
    assert await asyncio.gather(habits.call(quickly), habits.call(quickly)) == ["other", "other"]
    others_done.set()
    assert await first == "first"


async def test_what_the_first_call_failed_with_is_said_to_the_others_too() -> None:
    """Each of them has an error of its own to raise."""
    habits = Adapting(TARGET, {}, NoQuirks())
    refused = Failure(status=401, words="wrong key")

    async def attempt(quirks: NoQuirks) -> str | Failure:
        del quirks
        await asyncio.sleep(0)
        return refused

    errors = await asyncio.gather(*(habits.call(attempt) for _ in range(3)), return_exceptions=True)
    assert len({id(error) for error in errors}) == 3
    assert {str(error) for error in errors} == {str(classify(refused, TARGET))}
    assert all(isinstance(error, ModelError) for error in errors)
