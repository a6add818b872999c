"""What begins with a slash in a chat: which command it is, in the words of either language."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal, get_args

from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.messages import LANGUAGES, message

CommandName = Literal["trail", "sources", "open", "new", "session", "help", "quit"]
NAMES: tuple[CommandName, ...] = get_args(CommandName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    name: CommandName
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A slash with a word that is no command, or that several begin with."""

    word: str
    candidates: tuple[CommandName, ...]


Entry = Question | Command | Unknown


def parse_entry(text: str) -> Entry:
    """Tell a question from a command.

    Both languages' words are taken, and so is a beginning that only one of them has. The slash, the word and
    what follows may be full-width, as an input method leaves them. Two slashes begin a question with one.
    """
    text = text.strip()
    if not _is_slash(text[:1]):
        return Question(text=text)
    if _is_slash(text[1:2]):
        return Question(text=text[1:])
    word, _, argument = unicodedata.normalize("NFKC", text[1:]).partition(" ")
    found = _named(word.casefold())
    if len(found) == 1:
        return Command(name=found[0], argument=argument.strip())
    return Unknown(word="/" + word, candidates=found)


def command_words(out: Output, name: CommandName) -> str:
    """The command as it is typed; where the reader's word is not the English one, both."""
    own, english = (f"/{message(language, f'chat.word.{name}')}" for language in (out.language, "en"))
    return own if own == english else f"{own} ({english})"


def all_words() -> tuple[str, ...]:
    """Every spelling that is taken, with its slash."""
    return tuple(f"/{word}" for name in NAMES for word in sorted(_words(name)))


def _named(word: str) -> tuple[CommandName, ...]:
    exact: list[CommandName] = [name for name in NAMES if word in _words(name)]
    begun: list[CommandName] = [
        name for name in NAMES if word and any(known.startswith(word) for known in _words(name))
    ]
    return tuple(exact or begun)


def _words(name: CommandName) -> set[str]:
    return {message(language, f"chat.word.{name}") for language in LANGUAGES}


def _is_slash(char: str) -> bool:
    return char in {"/", "／"}
