"""Every fault that the source can raise has its sentence, and is raised with all that the sentence needs."""

from __future__ import annotations

import ast
import inspect
import json
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from corpus2skill import errors
from corpus2skill.domain.corpus import Refusal, Verdict
from corpus2skill.domain.job import STAGES
from corpus2skill.domain.run import OUTCOMES
from corpus2skill.messages import LANGUAGES, error_message, message

SOURCE = Path(__file__).parent.parent.parent / "src" / "corpus2skill"
CLASSES = {
    name: found for name, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, Exception)
}
FROM_VARIABLES = {
    "error": {
        "disk_full",
        "read_only",
        "no_rights",
        "workspace_io",
        "batch_under_way",
        "run_cap_reached",
        "session_cap_reached",
        "day_cap_reached",
        "database_gone",
        "database_refused",
        "host_unusable",
        "port_in_use",
        "port_refused",
        "job_broken",
        "tests_cap_reached",
        "worker_gone",
    },
    "refused": {"encrypted", "corrupt"},
    "notice": {"pages_without_text", "pages_garbled"},
    "fault": set[str](),
}
"""Codes that reach their class through a variable, where the source names no literal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A place in the source that makes a fault: the key of its sentence and the values it brings."""

    key: str
    values: frozenset[str] | None
    """None where they come from a mapping."""
    where: str


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_in_the_source_has_a_sentence(language: str) -> None:
    """house-style.md, rule 43: every error has its text, in both languages."""
    named = {raised.key: raised.where for raised in _raised()}
    named |= {f"{kind}.{code}": "a variable" for kind, codes in FROM_VARIABLES.items() for code in codes}
    assert {key: where for key, where in named.items() if key not in _table(language)} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fault_is_raised_with_the_values_its_sentence_needs(language: str) -> None:
    """A sentence with a gap would hide the fault itself."""
    lacking = [
        f"{raised.where}: {raised.key} lacks {sorted(missing)}"
        for raised in _raised()
        if raised.values is not None
        and (missing := _needed(_table(language).get(raised.key, "")) - raised.values)
    ]
    assert lacking == []


def test_every_error_sentence_is_used() -> None:
    """A sentence that nothing raises is a promise that nobody keeps."""
    named = {raised.key for raised in _raised()}
    named |= {
        f"error.{found.code}" for found in CLASSES.values() if issubclass(found, errors.Corpus2SkillError)
    }
    named |= {f"error.{code}" for code in FROM_VARIABLES["error"]}
    named |= {
        "error.foreign_host",
        "error.internal",
        "error.invalid_request",
    }  # problems that no class raises
    assert {key for key in _table("en") if key.startswith("error.")} - named == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_closed_set_has_its_words(language: str) -> None:
    """Verdicts, stages and outcomes are shown by their names."""
    verdicts = {verdict for part in get_args(Verdict) for verdict in (get_args(part) or (part,))}
    wanted = {f"verdict.{verdict}" for verdict in verdicts}
    wanted |= {f"refused.{verdict}" for verdict in get_args(Refusal)}
    wanted |= {f"stage.{stage}" for stage in STAGES} | {f"outcome.{outcome}" for outcome in OUTCOMES}
    assert wanted - _table(language).keys() == set()


def test_every_key_that_the_command_line_says_exists_and_none_is_left_over() -> None:
    """A missing key would turn an answer into a fault."""
    text = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "entrypoints").rglob("*.py"))
    said = {
        node.value
        for node in ast.walk(ast.parse(text.replace("from __future__ import annotations", "")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cli.")
    }
    origins = {f"cli.origin.{origin}" for origin in ("default", "file", "environment")}
    assert {name for name in said if name != "cli.origin."} | origins == {
        key for key in _table("en") if key.startswith("cli.")
    }


def test_an_error_says_in_the_reader_s_language_what_came() -> None:
    """house-style.md, rule 21."""
    error = errors.CorpusNotFound(corpus="規約", known="terms")
    assert "規約" in error_message("ja", error)
    assert "規約" in error_message("en", error)
    with pytest.raises(KeyError):
        message("ja", "error.nothing_like_it")


@cache
def _raised() -> tuple[Raised, ...]:
    return tuple(_found())


def _found() -> Iterator[Raised]:
    for file in sorted(SOURCE.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                where = f"{file.relative_to(SOURCE)}:{call.lineno}"
                for key in _keys(call.func.id, call):
                    yield Raised(key=key, values=_values(call), where=where)


def _keys(name: str, call: ast.Call) -> Iterator[str]:
    if name in {"Fault", "Notice"}:
        code = next((keyword.value for keyword in call.keywords if keyword.arg == "code"), None)
        yield from (f"{name.lower()}.{text}" for text in _texts(code))
    elif name == "SourceRefused":
        details = list(_texts(call.args[1])) if len(call.args) > 1 else [""]
        for verdict in _texts(call.args[0]):
            yield from (f"refused.{verdict}" + (f".{detail}" if detail else "") for detail in details)
    elif name in {"NodeNotFound", "ThingNotFound"}:  # told by what they lack, not by a code
        yield f"error.{CLASSES[name].code}"
    elif name in CLASSES:
        codes = _texts(call.args[0]) if call.args else iter([CLASSES[name].code])
        yield from (f"error.{code}" for code in codes)


def _texts(expression: ast.expr | None) -> Iterator[str]:
    """The literal texts that `expression` may be."""
    match expression:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp():
            yield from _texts(expression.body)
            yield from _texts(expression.orelse)
        case _:
            return


def _values(call: ast.Call) -> frozenset[str] | None:
    assert isinstance(call.func, ast.Name)
    match call.func.id:
        case "Fault":
            return frozenset({"file", "detail"})
        case "NodeNotFound":
            return frozenset({"path", "at", "children"})
        case "ThingNotFound":
            return frozenset({"kind", "name"})
        case "Notice":
            return _pairs(call)
        case _ if any(keyword.arg is None for keyword in call.keywords):
            return None
        case _:
            return frozenset(keyword.arg for keyword in call.keywords if keyword.arg)


def _pairs(call: ast.Call) -> frozenset[str] | None:
    """The names in `values=(("name", value), ...)`."""
    values = next((keyword.value for keyword in call.keywords if keyword.arg == "values"), ast.Tuple(elts=[]))
    if not isinstance(values, ast.Tuple):
        return None
    return frozenset(
        str(pair.elts[0].value)
        for pair in values.elts
        if isinstance(pair, ast.Tuple) and isinstance(pair.elts[0], ast.Constant)
    )


def _needed(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def _table(language: str) -> dict[str, str]:
    return json.loads((SOURCE / "messages" / f"{language}.json").read_text(encoding="utf-8"))
