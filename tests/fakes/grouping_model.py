"""What an orderly language model answers to the grouper's calls, and how to make its answers worse."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from corpus2skill.domain.message import Text
from corpus2skill.domain.model_call import TextCall

_WANTED = re.compile(r"(\d+)(?:〜| to )?(\d+)?(?:個の|個に| groups| chapters)")


def question(call: TextCall) -> str:
    """The words of a call's first message."""
    return "".join(part.text for part in call.messages[0].parts if isinstance(part, Text))


def listed(call: TextCall, fence: str = "items") -> list[list[str]]:
    """The fields of each line between `<fence>` and `</fence>`."""
    match = re.search(rf"^<{fence}>\n(.*?)\n</{fence}>", question(call), re.DOTALL | re.MULTILINE)
    return [line.split(" | ") for line in match[1].splitlines()] if match else []


def orderly(call: TextCall, homes: Mapping[str, str] | None = None) -> str:
    """Groups neighbours, as many as are wanted, places and keeps titles.

    `homes` is item title to group title; an item that is not in it goes to the first group.
    """
    if call.purpose == "group":
        return grouped(listed(call), wanted(call))
    if call.purpose == "place":
        groups = {fields[1]: fields[0] for fields in listed(call, "groups")}
        first = next(iter(groups.values()))
        places = [
            {"id": fields[0], "group": groups.get((homes or {}).get(fields[1], ""), first)}
            for fields in listed(call)
        ]
        return json.dumps({"places": places})
    title = re.search('(?:いまの題は「|present title is ")(.*?)(?:」です|"\\.)', question(call))
    members = " / ".join(fields[0] for fields in listed(call, "members"))
    return json.dumps(
        {"title": title[1] if title else listed(call, "members")[0][0], "summary": f"中身: {members}"[:160]},
        ensure_ascii=False,
    )


def wanted(call: TextCall) -> int:
    """The most groups that a grouping call asks for."""
    matches = [match for match in _WANTED.finditer(question(call)) if match[2] or match[0].endswith("に")]
    match = matches[-1] if matches else _WANTED.search(question(call))
    assert match
    return int(match[2] or match[1])


def grouped(lines: Sequence[Sequence[str]], count: int) -> str:
    """A reply that parts `lines` into runs of nearly equal length."""
    count = min(count, len(lines))
    bounds = [number * len(lines) // count for number in range(count + 1)]
    groups = [
        {
            "slug": f"part-{number + 1}",
            "title": f"{lines[start][1][:30]}ほか{stop - start}件",
            "summary": f"{lines[start][1][:30]}から{lines[stop - 1][1][:30]}まで。",
            "memberIds": [fields[0] for fields in lines[start:stop]],
        }
        for number, (start, stop) in enumerate(pairwise(bounds))
    ]
    return json.dumps({"groups": groups}, ensure_ascii=False)


class Unruly:
    """Drops, doubles and invents `share` of the ids, and answers `rubbish` of the calls with nonsense."""

    def __init__(self, seed: int, *, share: float = 0.05, rubbish: float = 0.0) -> None:
        self.chance = random.Random(seed)
        self.share = share
        self.rubbish = rubbish

    def __call__(self, call: TextCall) -> str:
        if self.chance.random() < self.rubbish:
            return self.chance.choice(NONSENSE)
        reply = json.loads(orderly(call))
        for group in reply.get("groups", []):
            group["memberIds"] = [name for given in group["memberIds"] for name in self._spoiled(given)]
        if "places" in reply:
            reply["places"] = [
                {"id": name, "group": self._spoiled(place["group"])[:1] and place["group"]}
                for place in reply["places"]
                for name in self._spoiled(place["id"])
            ]
        return json.dumps(reply, ensure_ascii=False)

    def _spoiled(self, name: str) -> list[str]:
        chance = self.chance.random()
        if chance < self.share:
            return []
        if chance < 2 * self.share:
            return [name, name]
        return [name, f"chunk_{self.chance.randint(10**6, 10**7)}"] if chance < 3 * self.share else [name]


NONSENSE = (
    "",
    "申し訳ありませんが、お手伝いできません。",
    "{}",
    '{"groups": []}',
    '{"groups": "なし"}',
    '{"groups": [{"title": "題だけ"}]}',
    '{"groups": [{"slug": "x", "title": "題", "summary": "要約", "memberIds": ["chunk_0"]}]}',
    '{"places": [{"id": 7}]}',
    '{"title": "", "summary": ""}',
    '{"groups": [{"slug": "x", "title": "切れた',
    "[" * 5000,
)
