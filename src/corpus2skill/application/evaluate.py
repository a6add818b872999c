"""Run a question pack: compile its corpus if need be, ask its questions, score the answers."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from corpus2skill.application.ask import Asking, AskOptions
from corpus2skill.application.compile_documents import CompileOptions, compile_documents
from corpus2skill.application.scores import PackAnswer, PackQuestion, Scores, score
from corpus2skill.application.wiring import EVALUATION_TENANT, Workspace, compiler_ports
from corpus2skill.domain.ids import slugify
from corpus2skill.domain.run import RunEvent, RunRecord
from corpus2skill.domain.version import Engines
from corpus2skill.errors import CorpusNotFound, InvalidInput
from corpus2skill.ports.events import CompileListener


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """Which pack, and how much of it."""

    pack: Path
    questions: Path | None = None
    """None: the pack's only `questions*.jsonl`."""
    limit: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The answers in the order of the questions, and their scores."""

    corpus: str
    version: int
    answers: tuple[PackAnswer, ...]
    scores: Scores


async def evaluate(
    workspace: Workspace,
    options: EvaluateOptions,
    compiling: CompileListener,
    asked: Callable[[int, int], None],
) -> Evaluation:
    """Ask every question of the pack in a conversation of its own; `asked(done, total)` is told of each.

    Raises:
        InvalidInput: the pack has no corpus or no questions; nothing was begun.
    """
    questions = read_questions(options)
    corpus, version = await _compiled(workspace, options, compiling)
    answers: list[PackAnswer] = []
    asked(0, len(questions))
    async with Asking.of_version(workspace, corpus, version, options.model) as asking:
        for question in questions:
            options_of = AskOptions(question=question.question, tenant=EVALUATION_TENANT)
            answers.append(_answer(question, await asking.ask(options_of, _unheard)))
            asked(len(answers), len(questions))
    return Evaluation(
        corpus=corpus, version=version, answers=tuple(answers), scores=score(questions, answers)
    )


def run_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the lines of RUN.jsonl."""
    for answer in evaluation.answers:
        yield msgspec.json.encode(answer).decode("utf-8")


def read_questions(options: EvaluateOptions) -> list[PackQuestion]:
    """Raises: InvalidInput: no file of questions, or a line that is none."""
    file = options.questions or _questions_file(options.pack)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("questions_unreadable", file=str(file), reason=str(error)) from error
    questions = [_question(file, number, line) for number, line in enumerate(lines, start=1)]
    return questions[: options.limit]


def _question(file: Path, number: int, line: str) -> PackQuestion:
    try:
        return msgspec.json.decode(line, type=PackQuestion)
    except msgspec.MsgspecError as error:
        raise InvalidInput("question_line", file=str(file), line=number, reason=str(error)) from error


def _questions_file(pack: Path) -> Path:
    found = sorted(pack.glob("questions*.jsonl"))
    if len(found) != 1:
        raise InvalidInput("pack_questions", pack=str(pack), found=len(found))
    return found[0]


async def _compiled(
    workspace: Workspace, options: EvaluateOptions, compiling: CompileListener
) -> tuple[str, int]:
    """The pack's corpus and its version, compiled where none was by the engine in use."""
    corpus = slugify(f"eval-{options.pack.resolve().name}", "eval-pack")
    folder = _corpus_folder(workspace, options.pack, corpus)
    model = options.model or workspace.settings.model
    active = workspace.versions.active(corpus) if corpus in workspace.versions.corpora() else None
    if active is not None:
        ports = compiler_ports(workspace, [folder], model)
        wanted = Engines(summarizer=ports.summarizer.identity, grouper=ports.grouper.identity)
        if workspace.versions.manifest(corpus, active).engines == wanted:
            return corpus, active
    report = await compile_documents(
        workspace,
        CompileOptions(corpus=corpus, paths=[folder], model=model, regroup=True, is_confirmed=True),
        compiling,
    )
    return corpus, report.manifest.version


def _corpus_folder(workspace: Workspace, pack: Path, corpus: str) -> Path:
    """The pack's `corpus/`, unpacked into the workspace where it is an archive."""
    if (pack / "corpus").is_dir():
        return pack / "corpus"
    archive = pack / "corpus.tar.gz"
    if not archive.is_file():
        raise CorpusNotFound("pack_corpus", pack=str(pack))
    unpacked = workspace.path / "packs" / corpus
    if not (unpacked / "corpus").is_dir():
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
    return unpacked / "corpus"


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
    )


def _unheard(_event: RunEvent) -> None:
    """An evaluation looks at records, not at events."""
