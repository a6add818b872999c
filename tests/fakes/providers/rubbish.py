"""Answers as models really spoil them. Each takes the brain's answer and returns what comes instead:
`edited(fenced)` makes a behaviour of one."""

from __future__ import annotations

import random
from collections.abc import Callable

from corpus2skill.domain.message import Text, ToolCall
from tests.fakes.providers.behaviour import Behaviour, Edit, edited
from tests.fakes.providers.prompt import Answer, Prompt
from tests.fakes.providers.wire import JsonObject, decode, encode, items, obj, objects, text


def fenced(answer: Answer, _prompt: Prompt) -> Answer:
    return _said(answer, f"```json\n{answer.text}\n```")


def wordy(answer: Answer, _prompt: Prompt) -> Answer:
    return _said(
        answer, f"Sure! Here is the JSON you asked for:\n\n{answer.text}\n\nLet me know if you need more."
    )


def thinking_aloud(answer: Answer, _prompt: Prompt) -> Answer:
    """A `<think>` prefix, with an object in it that is not the answer."""
    return _said(answer, f'<think>\nMaybe {{"title": "?", "summary": "?"}}. No.\n</think>\n\n{answer.text}')


def truncated(answer: Answer, _prompt: Prompt) -> Answer:
    """Cut by the limit, in the middle."""
    return Answer(parts=(Text(answer.text[: len(answer.text) // 2]),), stop="max_tokens")


def truncated_call(answer: Answer, _prompt: Prompt) -> Answer:
    """Cut by the limit within the arguments of a tool call."""
    parts = tuple(
        ToolCall(call_id=part.call_id, name=part.name, arguments=part.arguments[: len(part.arguments) // 2])
        if isinstance(part, ToolCall)
        else part
        for part in answer.parts
    )
    return Answer(parts=parts, stop="max_tokens")


def broken(answer: Answer, _prompt: Prompt) -> Answer:
    """Half a JSON, though the model says it ended."""
    return _said(answer, answer.text[: max(1, len(answer.text) // 2)])


def trailing_comma(answer: Answer, _prompt: Prompt) -> Answer:
    return _said(answer, answer.text.rstrip().removesuffix("}") + ",}")


def doubled_object(answer: Answer, _prompt: Prompt) -> Answer:
    return _said(answer, f"{answer.text}\n{answer.text}")


def decoy_first(answer: Answer, _prompt: Prompt) -> Answer:
    """Two objects; the first one has none of the wanted keys."""
    return _said(answer, f'{{"thoughts": "none", "confidence": 0.9}}\n{answer.text}')


def refusing(_answer: Answer, prompt: Prompt) -> Answer:
    """Anthropic's stop reason; OpenAI's `refusal` field."""
    words = (
        "申し訳ありませんが、お手伝いできません。"
        if _is_japanese(prompt)
        else "I'm sorry, but I can't help with that."
    )
    return Answer(parts=(Text(words),), stop="refusal")


def filtered(_answer: Answer, _prompt: Prompt) -> Answer:
    """Nothing at all: OpenAI's content filter."""
    return Answer(parts=(), stop="refusal")


def empty(_answer: Answer, _prompt: Prompt) -> Answer:
    return Answer(parts=())


def wrong_keys(answer: Answer, _prompt: Prompt) -> Answer:
    return _changed(answer, lambda value: {f"{key}_text": inner for key, inner in value.items()})


def wrong_types(answer: Answer, _prompt: Prompt) -> Answer:
    return _changed(
        answer,
        lambda value: {key: [inner] if isinstance(inner, str) else "?" for key, inner in value.items()},
    )


def null_values(answer: Answer, _prompt: Prompt) -> Answer:
    return _changed(answer, _nulled)


def too_long(answer: Answer, _prompt: Prompt) -> Answer:
    return _changed(
        answer,
        lambda value: {key: inner * 20 if isinstance(inner, str) else inner for key, inner in value.items()},
    )


def other_language(answer: Answer, prompt: Prompt) -> Answer:
    """English for a Japanese prompt, Japanese for any other."""
    title, summary = ("Some other title", "A summary in a language that nobody asked for.")
    if not _is_japanese(prompt):
        title, summary = ("別の見出し", "誰も頼んでいない言葉で書かれた要約です。")

    def change(value: JsonObject) -> JsonObject:
        swapped: JsonObject = {"title": title, "summary": summary}
        return {
            key: [{**group, **swapped} for group in objects(inner)]
            if key == "groups"
            else swapped.get(key, inner)
            for key, inner in value.items()
        }

    return _changed(answer, change)


def prompt_repeated(answer: Answer, prompt: Prompt) -> Answer:
    return _said(answer, prompt.question)


def echoes(secret: str) -> Edit:
    """The reply's text repeats the key that it was called with."""

    def edit(answer: Answer, _prompt: Prompt) -> Answer:
        if not answer.text.startswith("{"):
            return _said(answer, f"{answer.text} {secret}")
        return _changed(
            answer,
            lambda value: {
                key: f"{inner} {secret}" if isinstance(inner, str) else inner for key, inner in value.items()
            },
        )

    return edit


def spoiled_ids(*, dropped: float = 0.0, doubled: float = 0.0, invented: float = 0.0, seed: int = 0) -> Edit:
    """A grouping that loses, doubles and invents shares of its ids, drawn by seed and prompt."""

    def edit(answer: Answer, prompt: Prompt) -> Answer:
        chance = random.Random(f"{seed}/{prompt.question}")
        return _changed(answer, lambda value: _spoil(value, chance, dropped, doubled, invented))

    return edit


def _spoil(
    value: JsonObject, chance: random.Random, dropped: float, doubled: float, invented: float
) -> JsonObject:
    groups = objects(value.get("groups"))
    everything = [member for group in groups for name in group for member in items(group[name])]

    def spoil(members: list[object]) -> list[object]:
        kept = [member for member in members if chance.random() >= dropped]
        kept += [chance.choice(everything) for _ in members if chance.random() < doubled]
        kept += [f"chunk_{chance.randrange(10**6, 10**7)}" for _ in members if chance.random() < invented]
        return kept

    changed = [
        {name: spoil(items(inner)) if items(inner) else inner for name, inner in group.items()}
        for group in groups
    ]
    return {**value, "groups": changed} if groups else value


SPOILED: dict[str, Edit] = {
    "fenced": fenced,
    "wordy": wordy,
    "thinking_aloud": thinking_aloud,
    "truncated": truncated,
    "broken": broken,
    "trailing_comma": trailing_comma,
    "doubled_object": doubled_object,
    "decoy_first": decoy_first,
    "refusing": refusing,
    "filtered": filtered,
    "empty": empty,
    "wrong_keys": wrong_keys,
    "wrong_types": wrong_types,
    "null_values": null_values,
    "too_long": too_long,
    "other_language": other_language,
    "prompt_repeated": prompt_repeated,
}
"""All kinds, by name."""


def every_kind() -> tuple[Behaviour, ...]:
    """One behaviour of each kind, for `Script.share`."""
    return tuple(edited(edit) for edit in SPOILED.values())


def _nulled(value: JsonObject) -> JsonObject:
    return {**dict.fromkeys(value)}


def _said(answer: Answer, words: str) -> Answer:
    others = tuple(part for part in answer.parts if not isinstance(part, Text))
    return Answer(parts=(*others, Text(words)), stop=answer.stop, usage=answer.usage)


def _changed(answer: Answer, change: Callable[[JsonObject], JsonObject]) -> Answer:
    """Apply a change to the JSON object that was said; other answers stay as they are."""
    try:
        value = obj(decode(answer.text))
    except ValueError:
        return answer
    return _said(answer, encode(change(value)).decode()) if value else answer


def _is_japanese(prompt: Prompt) -> bool:
    return any("ぁ" <= character <= "ヿ" for character in text(prompt.text))
