"""A navigator by rule: goes down to what shares most characters with the question, then answers from the leaf."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from corpus2skill.domain.message import Text, ToolCall
from tests.fakes.providers.prompt import Answer, Prompt, ToolOutcome
from tests.fakes.providers.wire import JsonObject, decode, encode, items, obj, text

_LINK = re.compile(r"^- \[(?P<title>[^\]]*)\]\((?P<path>[^)]*)\)(?P<words>.*)$", re.MULTILINE)
_MAX_FETCHES = 7


def navigate(prompt: Prompt) -> Answer:
    """Return the next round: a reason with a call of the first tool, or the answer with its citation."""
    outcomes = [part for turn in prompt.turns for part in turn.parts if isinstance(part, ToolOutcome)]
    question = _question(prompt)
    if not question:
        return Answer(parts=(Text("…"),))
    if not outcomes:
        return _fetch(prompt, "SKILL.md", 0)
    node = _node(outcomes[-1].content)
    if text(node.get("node_type")) == "document":
        return Answer(parts=(Text(_from_leaf(node)),))
    target = _best_child(question, node, _fetched(prompt))
    if target is None or len(outcomes) > _MAX_FETCHES:
        return Answer(parts=(Text(_not_found(prompt)),))
    return _fetch(prompt, target, len(outcomes))


def _question(prompt: Prompt) -> str:
    """The newest words of the user's."""
    turns = [turn for turn in prompt.turns if turn.role == "user" and turn.text]
    return turns[-1].text if turns else ""


def _fetch(prompt: Prompt, path: str, number: int) -> Answer:
    reason = (
        f"「{path}」に答えがありそうです。"
        if _is_japanese(prompt)
        else f"{path} looks closest to the question."
    )
    call = ToolCall(
        call_id=f"toolu_{number:04d}", name=prompt.tools[0], arguments=encode({"path": path}).decode()
    )
    return Answer(parts=(Text(reason), call), stop="tool_use")


def _node(content: str) -> JsonObject:
    try:
        return obj(decode(content))
    except ValueError:
        return {}


def _fetched(prompt: Prompt) -> set[str]:
    calls = [part for turn in prompt.turns for part in turn.parts if isinstance(part, ToolCall)]
    return {text(_node(call.arguments).get("path")) for call in calls}


def _best_child(question: str, node: JsonObject, fetched: set[str]) -> str | None:
    wanted = _pairs(question)
    folder = text(node.get("path")).rpartition("/")[0]
    best: tuple[int, str] | None = None
    for match in _LINK.finditer(text(node.get("content"))):
        path = f"{folder}/{match['path']}" if folder else match["path"]
        shared = sum((_pairs(match["title"] + match["words"]) & wanted).values())
        if path not in fetched and (best is None or shared > best[0]):
            best = (shared, path)
    if best is not None:
        return best[1]
    children = [text(child) for child in items(node.get("children"))]
    return next(
        (
            f"{folder}/{child}".strip("/")
            for child in children
            if f"{folder}/{child}".strip("/") not in fetched
        ),
        None,
    )


def _pairs(words: str) -> Counter[str]:
    bare = [character for character in words.lower() if character.isalnum()]
    return Counter(map("".join, pairwise(bare)))


def _from_leaf(node: JsonObject) -> str:
    body = text(node.get("content")).split("\n---\n")[-1].strip()
    line = next((line for line in body.splitlines() if line.strip()), "")
    return f"{line[:120]} [{text(node.get('doc_id'))}]"


def _not_found(prompt: Prompt) -> str:
    """The wording that the system prompt asks for, the sentence in its quotes."""
    match = re.search(r"「([^」]*(?:ません|ない)[^」]*)」|\"([^\"]*not[^\"]*)\"", prompt.system)
    return next((group for group in match.groups() if group), "") if match else "Not found."


def _is_japanese(prompt: Prompt) -> bool:
    return re.search(r"[ぁ-んァ-ン]", prompt.system) is not None
