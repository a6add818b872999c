"""Run a question pack: compile its corpus if need be, ask its questions, score the answers."""

from __future__ import annotations

import secrets
import shutil
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from corpus2skill.application.ask import Asking, AskOptions
from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_engine import open_engine
from corpus2skill.application.compile_options import CompileOptions, compile_models
from corpus2skill.application.paid_compile import Confirm, nobody
from corpus2skill.application.scores import PackAnswer, PackQuestion, Scores, score
from corpus2skill.application.wiring import OFFLINE, Workspace, evaluation_tenant, flat_ranking
from corpus2skill.domain.ids import slugify
from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import Spending, total
from corpus2skill.domain.run import RunEvent, RunRecord
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.version import Engines
from corpus2skill.errors import (
    CorpusNotFound,
    InvalidInput,
    InvalidQuestion,
    UnusableSettings,
    WorkspaceUnusable,
)
from corpus2skill.navigator.question import check_question
from corpus2skill.ports.events import CompileListener


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """Which pack, and how much of it."""

    pack: Path
    questions: Path | None = None
    """None: the pack's only `questions*.jsonl`."""
    limit: int | None = None
    model: str | None = None
    """For compiling and for answering; None: the settings."""
    base_url: str | None = None
    max_cost: float | None = None
    """US dollars, for the compile and the questions together."""
    is_confirmed: bool = False
    """Paying for the compile needs no further yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of the pack, what came of it, and what would have been read without a tree."""

    question: PackQuestion
    answer: PackAnswer
    visits: tuple[Visit, ...]
    flat_docs: tuple[str, ...]
    """Sources of the leaves that fit best by words alone, best first; as many as a run has fetches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The answers in the order of the questions, and their scores."""

    corpus: str
    version: int
    pack: str
    model: str
    leaves: int
    asked: tuple[Asked, ...]
    scores: Scores
    spending: tuple[Spending, ...] = ()
    """What the compile, where there was one, and the questions came to."""
    is_capped: bool = False
    """The spending cap was reached before the last question."""


async def evaluate(
    workspace: Workspace,
    options: EvaluateOptions,
    compiling: CompileListener,
    progress: Callable[[int, int], None],
    confirm: Confirm = nobody,
) -> Evaluation:
    """Ask every question of the pack in a conversation of its own; `progress(done, total)` is told of each.

    Where the spending cap is reached, the questions so far are scored.

    Raises:
        InvalidInput: the pack has no corpus or no questions; nothing was begun.
        ConfirmationNeeded: the pack's corpus has to be compiled, it costs, and nobody said yes to it.
        SpendingCapReached: the compile alone would go over the cap.
        UnusableSettings: there is a cap, and what the model costs is unknown.
    """
    questions = read_questions(options, workspace.settings.question_characters)
    settings = workspace.settings
    model = options.model or settings.navigation_model or settings.model
    corpus, version, compiled = await _compiled(workspace, options, compiling, confirm)
    spent = total(part.dollars for part in compiled) or 0.0
    flat = flat_ranking(workspace, corpus, version)
    asked: list[Asked] = []
    answers: dict[str, Spending] = {}
    progress(0, len(questions))
    async with Asking.of_version(workspace, corpus, version, model, options.base_url) as asking:
        for question in questions:
            if options.max_cost is not None and spent >= options.max_cost and model != OFFLINE:
                break
            options_of = AskOptions(question=question.question, tenant=evaluation_tenant(workspace.tenant))
            record = await asking.ask(options_of, _unheard)
            asked.append(_asked(question, record, flat(question.question)))
            spent += _known_cost(record, options.max_cost)
            _note_spending(answers, record)
            progress(len(asked), len(questions))
    return Evaluation(
        pack=options.pack.resolve().name,
        corpus=corpus,
        version=version,
        model=model,
        leaves=workspace.versions.manifest(corpus, version).chunks,
        asked=tuple(asked),
        scores=score(questions[: len(asked)], [one.answer for one in asked]),
        spending=(*compiled, *answers.values()),
        is_capped=len(asked) < len(questions),
    )


def run_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the lines of RUN.jsonl."""
    for one in evaluation.asked:
        yield msgspec.json.encode(one.answer).decode("utf-8")


def read_questions(options: EvaluateOptions, most_characters: int) -> list[PackQuestion]:
    """Raises: InvalidInput: no pack, no file of questions, or a line that is none or cannot be asked."""
    _require_folder(options.pack)
    file = options.questions or _questions_file(options.pack)
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")  # other line ends may stand in a question
    except FileNotFoundError as error:
        raise InvalidInput("missing_path", path=str(file)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("questions_unreadable", file=str(file), reason=str(error)) from error
    questions = [
        _question(file, number, line, most_characters)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    return questions[: options.limit]


def _question(file: Path, number: int, line: str, most_characters: int) -> PackQuestion:
    try:
        question = msgspec.json.decode(line, type=PackQuestion)
        check_question(question.question, most_characters)
        return question
    except (msgspec.MsgspecError, InvalidQuestion) as error:
        raise InvalidInput("question_line", file=str(file), line=number, reason=str(error)) from error


def _require_folder(pack: Path) -> None:
    """Raises: InvalidInput, saying what a pack is. What may not even be looked at is left to reading."""
    try:
        mode = pack.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InvalidInput("pack_missing", pack=str(pack)) from error
    except OSError:
        return
    if not stat.S_ISDIR(mode):
        raise InvalidInput("pack_not_folder", pack=str(pack))


def _questions_file(pack: Path) -> Path:
    try:
        found = sorted(pack.glob("questions*.jsonl"))
    except OSError as error:
        raise InvalidInput("questions_unreadable", file=str(pack), reason=str(error)) from error
    if len(found) != 1:
        raise InvalidInput("pack_questions", pack=str(pack), found=len(found))
    return found[0]


async def _compiled(
    workspace: Workspace, options: EvaluateOptions, compiling: CompileListener, confirm: Confirm
) -> tuple[str, int, tuple[Spending, ...]]:
    """The pack's corpus and its version, compiled where none was by the engine in use, and what that came to."""
    model = options.model or workspace.settings.model
    corpus = slugify(f"eval-{options.pack.resolve().name}", "eval-pack")
    folder = _corpus_folder(workspace, options.pack, corpus)
    active = workspace.versions.active(corpus) if corpus in workspace.versions.corpora() else None
    if active is not None:
        wanted = await _engines(workspace, corpus, model)
        if workspace.versions.manifest(corpus, active).engines == wanted:
            return corpus, active, ()
    compile_options = CompileOptions(
        corpus=corpus,
        paths=[folder],
        model=model,
        base_url=options.base_url,
        max_cost=options.max_cost,
        regroup=True,
        is_confirmed=options.is_confirmed,
    )
    report = await compile_documents(workspace, compile_options, compiling, confirm)
    return corpus, report.manifest.version, report.spending


def _known_cost(record: RunRecord, max_cost: float | None) -> float:
    """What a question came to. Under a cap it has to be known."""
    if record.usd is None and max_cost is not None and record.usage != Usage():
        raise UnusableSettings("limit_without_price", model=record.model)
    return record.usd or 0.0


def _note_spending(answers: dict[str, Spending], record: RunRecord) -> None:
    """Add a question to what its model came to; the offline engine comes to nothing."""
    if record.model.startswith(OFFLINE):
        return
    line = answers.get(record.model) or Spending(purpose="navigate", model=record.model)
    answers[record.model] = replace(
        line,
        calls=line.calls + record.rounds,
        retries=line.retries + record.retries,
        usage=line.usage + record.usage,
        dollars=total((line.dollars, record.usd)),
    )


async def _engines(workspace: Workspace, corpus: str, model: str) -> Engines:
    """The identities that a version compiled with `model` bears."""
    models = compile_models(workspace.settings, CompileOptions(model=model))
    async with open_engine(workspace, corpus, models, is_dry=True) as engine:
        return Engines(summarizer=engine.summarizer().identity, grouper=engine.grouper().identity)


def _corpus_folder(workspace: Workspace, pack: Path, corpus: str) -> Path:
    """The pack's `corpus/`, unpacked into the workspace where it is an archive."""
    if (pack / "corpus").is_dir():
        return pack / "corpus"
    archive = pack / "corpus.tar.gz"
    if not archive.is_file():
        raise CorpusNotFound("pack_corpus", pack=str(pack))
    unpacked = workspace.path / "packs" / corpus
    if not (unpacked / "corpus").is_dir():
        workspace.versions.prepare()
        _unpack(archive, unpacked)
    if not (unpacked / "corpus").is_dir():
        raise CorpusNotFound("pack_corpus", pack=str(pack))
    return unpacked / "corpus"


def _unpack(archive: Path, place: Path) -> None:
    """Unpack beside `place` and move it there whole: what a kill leaves is never taken for the corpus.

    Raises:
        InvalidInput: the archive is damaged, or would write elsewhere.
        WorkspaceUnusable: the disk refused.
    """
    beside = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    try:
        beside.mkdir(parents=True)
        with tarfile.open(archive) as tar:
            tar.extractall(beside, filter="data")
        shutil.rmtree(place, ignore_errors=True)
        beside.rename(place)
    except (tarfile.TarError, EOFError, ValueError, zlib.error) as error:
        raise InvalidInput("pack_archive", archive=str(archive), reason=str(error)) from error
    except OSError as error:
        if error.errno is None:  # not the system's: gzip found the archive damaged
            raise InvalidInput("pack_archive", archive=str(archive), reason=str(error)) from error
        raise WorkspaceUnusable("workspace_io", path=str(place), reason=error.strerror) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _asked(question: PackQuestion, record: RunRecord, flat_docs: tuple[str, ...]) -> Asked:
    return Asked(
        question=question, answer=_answer(question, record), visits=record.visits, flat_docs=flat_docs
    )


def _answer(question: PackQuestion, record: RunRecord) -> PackAnswer:
    visits = [visit for visit in record.visits if not visit.is_prefetched]
    return PackAnswer(
        id=question.id,
        leaf_docs=tuple(source.source for source in record.evidence),
        cited=tuple(source.source for source in record.citations),
        answer=record.answer,
        not_found=record.outcome == "not_found",
        outcome=record.outcome,
        fetches=record.fetches,
        input_tokens=record.usage.input_tokens,
        output_tokens=record.usage.output_tokens,
        ms=record.total_ms,
        usd=record.usd,
        visits=len(visits),
        visits_with_reason=sum(visit.has_reason for visit in visits),
        quotations=len(record.quotations),
        quotations_held=len(record.quotations) - len(record.unheld_quotations),
    )


def _unheard(_event: RunEvent) -> None:
    """An evaluation looks at records, not at events."""
