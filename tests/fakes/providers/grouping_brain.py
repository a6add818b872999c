"""Groups, places and descriptions by rule, in the language of the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.fakes.providers.items import Listed, block, listed
from tests.fakes.providers.prompt import Prompt
from tests.fakes.providers.wire import JsonObject
from tests.fakes.providers.wording import SUMMARY, TITLE, has_japanese, shortened

_LATIN = re.compile(r"[a-z][a-z0-9]*")
_WANTED = re.compile(
    r"を、?(?P<ja>\d+)(?:〜(?P<ja_most>\d+))?個の|into (?P<en>\d+)(?: to (?P<en_most>\d+))? (?:groups|chapters)"
)
_MOST = re.compile(r"(?:グループは|入れるのは)(\d+)[件個]まで|at most (\d+) (?:items|groups) in each")
_PRESENT = re.compile(r"いまの題は「(.*?)」です|The present title is \"(.*?)\"")
_BLOCK = re.compile(r"<(\w+)>\n.*\n</\1>", re.DOTALL)
_QUOTED = re.compile(r"「([^」\n]*)」|\"([^\"\n]*)\"")


def grouped(prompt: Prompt) -> JsonObject:
    """Neighbours in the list become groups, as many as are wanted."""
    things = listed(block(prompt.question, "items"))
    taken = {*_quoted(prompt.question), *(thing.title for thing in things)}
    groups: list[JsonObject] = []
    for position, part in enumerate(_parts(things, _group_count(prompt.question, len(things))), 1):
        title, summary = _words_for(part, taken, is_japanese=has_japanese(prompt.system))
        taken.add(title)
        names = [thing.item_id for thing in part]
        groups.append(
            {"slug": _slug(title, position), "title": title, "summary": summary, "memberIds": names}
        )
    return {"groups": groups}


def placed(prompt: Prompt) -> JsonObject:
    """Everything goes to the group with which it shares most characters."""
    letters = [(group.item_id, set(group.words)) for group in listed(block(prompt.question, "groups"))]
    places: list[JsonObject] = []
    for thing in listed(block(prompt.question, "items")):
        mine = set(thing.words)
        best = max(letters, key=lambda group: len(group[1] & mine), default=(None, mine))
        places.append({"id": thing.item_id, "group": best[0]})
    return {"places": places}


def described(prompt: Prompt, members: Sequence[Listed]) -> tuple[str, str]:
    """Return a group's title, the present one where it is free, and its summary."""
    siblings = listed(block(prompt.question, "siblings"), has_ids=False)
    quoted = _quoted(prompt.question)
    if present := _first(_PRESENT, prompt.question):
        quoted.remove(present)
    taken = {*quoted, *(sibling.title for sibling in siblings)}
    title, summary = _words_for(members, taken, is_japanese=has_japanese(prompt.system))
    return present if present and present not in taken else title, summary


def _words_for(part: Sequence[Listed], taken: set[str], *, is_japanese: bool) -> tuple[str, str]:
    """A title that is not taken and a summary, of those members' titles that are in the language."""
    titles = [thing.title for thing in part if thing.title and has_japanese(thing.title) == is_japanese]
    if not titles:
        titles = ["さまざまな項目" if is_japanese else "Various items"]
    more = "など" if is_japanese else " and more"
    title, number = shortened(titles[0], TITLE - 12) + more, 2
    while title in taken:
        title, number = f"{shortened(titles[0], TITLE - 18)}{more} ({number})", number + 1
    return title, shortened(" ".join(dict.fromkeys(titles)), SUMMARY)


def _group_count(question: str, things: int) -> int:
    wanted = _WANTED.search(question)
    least = int(wanted["ja"] or wanted["en"]) if wanted else 2
    most = int(wanted["ja_most"] or wanted["en_most"] or least) if wanted else 10
    room = int(_first(_MOST, question) or things or 1)
    return max(1, min(things, most, max(least, -(-things // max(1, room)))))


def _parts(things: list[Listed], count: int) -> list[list[Listed]]:
    size = len(things)
    cut = [things[at * size // count : (at + 1) * size // count] for at in range(count)]
    return [part for part in cut if part]


def _slug(title: str, position: int) -> str:
    words = "-".join(_LATIN.findall(title.lower())[:3])[:40].strip("-")
    return f"{words or 'topic'}-{position}"


def _first(pattern: re.Pattern[str], words: str) -> str:
    match = pattern.search(words)
    return next((group for group in match.groups() if group), "") if match else ""


def _quoted(question: str) -> list[str]:
    """What the task itself puts in quotes: titles that are taken, the present one, the form of the lines."""
    return [japanese or english for japanese, english in _QUOTED.findall(_BLOCK.sub("", question))]
