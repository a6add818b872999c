"""The Typer app: every command under its name, and one way out for every fault."""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Callable, Sequence
from functools import cache

import typer
from typer.main import get_command

from corpus2skill.entrypoints.cli import (
    ask,
    backing_up,
    chat,
    compiling,
    config,
    doctor,
    evaluate,
    exit_codes,
    extract,
    keys,
    people,
    queue,
    records,
    removing,
    serving,
    tenants,
    tokens,
    tree,
    versions,
)
from corpus2skill.entrypoints.cli.desk import process_output
from corpus2skill.entrypoints.cli.faults import error_sentence
from corpus2skill.entrypoints.cli.output import Output, OutputLost
from corpus2skill.entrypoints.cli.usage import usage_sentence
from corpus2skill.errors import Corpus2SkillError, NodeNotFound, SourceRefused

PROGRAM = "corpus2skill"

app = typer.Typer(
    name=PROGRAM,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Compile documents once into a tree of plain files; answer questions by walking down it.",
    epilog="""\b
Begin with:
  corpus2skill compile ./documents
  corpus2skill ask "How do I cancel the annual plan?"
""",
)

_COMMANDS: tuple[tuple[str, Callable[..., int]], ...] = (
    ("compile", compiling.compile_command),
    ("remove", removing.remove_command),
    ("ask", ask.ask_command),
    ("chat", chat.chat_command),
    ("serve", serving.serve_command),
    ("sign-in-link", people.sign_in_link_command),
    ("get", tree.get_command),
    ("tree", tree.tree_command),
    ("corpora", versions.corpora_command),
    ("versions", versions.versions_command),
    ("activate", versions.activate_command),
    ("rollback", versions.rollback_command),
    ("diff", versions.diff_command),
    ("check", versions.check_command),
    ("prune", versions.prune_command),
    ("extract", extract.extract_command),
    ("eval", evaluate.eval_command),
    ("doctor", doctor.doctor_command),
    ("backup", backing_up.backup_command),
    ("restore", backing_up.restore_command),
)
for _name, _command in _COMMANDS:
    app.command(_name)(_command)
app.add_typer(records.app, name="records")
app.add_typer(config.app, name="config")
app.add_typer(tenants.app, name="tenants")
app.add_typer(people.app, name="people")
app.add_typer(tokens.app, name="tokens")
app.add_typer(queue.app, name="queue")
app.add_typer(keys.app, name="keys")


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", "-V", help="Show the version and exit."),
) -> None:
    """Compile documents once into a tree of plain files; answer questions by walking down it."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing but a fault of ours leaves a traceback."""
    out = process_output(is_json=_asks_for_json(arguments))
    try:
        code = _built()(list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except typer.TyperException as error:
        return _misused(out, error)
    except Corpus2SkillError as error:
        return report_error(out, error)
    except OutputLost as lost:
        return output_lost(out, lost.__cause__)
    except OSError as error:
        return output_lost(out, error) if _is_of_a_stream(error) else _unexpected(out)
    except SystemExit:  # Typer's way of saying that the reader of its help text went away
        return exit_codes.READER_GONE
    except Exception:  # noqa: BLE001 - the last door: a fault of ours is shown with its traceback and advice
        return _unexpected(out)
    if code == exit_codes.INTERRUPTED:
        out.note(out.say("cli.interrupted"))
    return code if isinstance(code, int) else exit_codes.OK


@cache
def _built() -> Callable[..., object]:
    """The app as Typer builds it, once a process."""
    return get_command(app)


def report_error(out: Output, error: Corpus2SkillError) -> int:
    """Say what happened, for a person and, if asked, for a program; return the exit code."""
    sentence = error_sentence(out, error)
    if out.is_json:
        out.document({"error": {"code": error.code, "message": sentence, "values": _values(error)}})
    out.note(out.say("cli.error", message=sentence))
    return exit_codes.of_error(error)


def output_lost(out: Output, cause: BaseException | None) -> int:
    """Leave without a traceback; what the interpreter still flushes at its end goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.out.fileno())
    if isinstance(cause, BrokenPipeError):
        return exit_codes.READER_GONE
    out.note(out.say("cli.error", message=out.say("error.workspace_io", path="stdout", reason=cause)))
    return exit_codes.WORKSPACE


def _values(error: Corpus2SkillError) -> dict[str, object]:
    match error:
        case NodeNotFound():
            return {"path": error.path, "at": error.at, "children": error.children}
        case SourceRefused():
            return {"verdict": error.verdict, **error.values}
        case _:
            return {name: _plain(value) for name, value in error.values.items()}


def _plain(value: object) -> object:
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _misused(out: Output, error: typer.TyperException) -> int:
    sentence = usage_sentence(out, error.format_message())
    if out.is_json:
        out.document({"error": {"code": "usage", "message": sentence, "values": {}}})
    is_help = sentence.startswith("Usage: ")  # of a group of commands, where none of them was named
    out.note(sentence if is_help else out.say("cli.usage", message=sentence))
    return exit_codes.USAGE


def _unexpected(out: Output) -> int:
    detail = traceback.format_exc()
    if out.is_json:
        last = detail.strip().rpartition("\n")[2]
        out.document({"error": {"code": "unexpected", "message": last, "values": {}}})
    out.note(detail)
    out.note(out.say("cli.unexpected"))
    return exit_codes.UNEXPECTED


def _is_of_a_stream(error: OSError) -> bool:
    """True where Typer could not write a help text. The store's refusals are named, and never come as they are."""
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF)


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """True where `--json` stands before any `--`: known even if the rest cannot be parsed."""
    before = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    return "--json" in before
