"""What a compile came to: a verdict for every file, the version, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.job import CompilePlan, CompileReport
from corpus2skill.domain.money import EstimatedSpending
from corpus2skill.entrypoints.cli.difference import difference_lines
from corpus2skill.entrypoints.cli.money import spending_lines
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.entrypoints.cli.verdicts import is_warning, judged_line, notice_sentence, reason


def warnings_of(report: CompileReport) -> int:
    """Sources to look at, and summaries that only stand in."""
    return sum(map(is_warning, report.reports)) + report.manifest.stand_ins


def report_lines(out: Output, report: CompileReport, *, is_verbose: bool) -> Iterator[str]:
    yield from source_lines(out, report.reports, is_verbose=is_verbose)
    yield ""
    yield _version_line(out, report)
    if report.is_new:
        yield out.say(
            "cli.compiled_shape",
            chunks=report.manifest.chunks,
            nodes=report.manifest.nodes,
            depth=report.manifest.depth,
            reused=report.reused_summaries,
        )
        if report.difference.before is not None:
            yield out.say("cli.changes_since", version=report.difference.before)
            yield from difference_lines(out, report.difference, is_full=False)
    yield from spending_lines(out, report.spending, out.answer_room)
    if report.manifest.repairs.total:
        yield out.say("cli.repairs", **_repairs(report))
    if report.manifest.stand_ins:
        yield out.say("cli.stand_ins", count=report.manifest.stand_ins)
    if count := warnings_of(report):
        yield out.say("cli.warnings", count=count)


def source_lines(out: Output, reports: Sequence[SourceReport], *, is_verbose: bool) -> Iterator[str]:
    """Yield a count of the accepted sources, and each other one by name with its reason."""
    accepted = [report for report in reports if report.verdict == "accepted"]
    characters = sum(report.characters for report in accepted)
    yield out.say("cli.accepted", count=len(accepted), characters=characters)
    for report in reports:
        if report.verdict != "accepted":
            yield judged_line(out, report)
        elif is_verbose:
            yield "  " + out.say(
                "cli.accepted_source",
                source=report.source,
                characters=report.characters,
                chunks=report.chunks,
            )
        yield from (f"  {report.source}: {notice_sentence(out, notice)}" for notice in report.notices)


def report_document(out: Output, report: CompileReport) -> dict[str, object]:
    """The same for a program."""
    manifest = report.manifest
    return {
        "corpus": manifest.corpus,
        "version": manifest.version,
        "is_new": report.is_new,
        "is_activated": report.is_activated,
        "warnings": warnings_of(report),
        "reused_summaries": report.reused_summaries,
        "sources": [_source_document(out, source) for source in report.reports],
        "spending": report.spending,
        "difference": report.difference,
        "manifest": {**_fields_of_manifest(out, report)},
    }


def estimate_document(
    out: Output, plan: CompilePlan, spending: Sequence[EstimatedSpending]
) -> dict[str, object]:
    """What a compile would do, in numbers, and cost, for a program."""
    return {
        "sources": [_source_document(out, source) for source in plan.reports],
        "plan": {
            "language": plan.language,
            "chunks": plan.chunks,
            "to_summarize": len(plan.to_summarize),
            "to_group": plan.to_group,
            "is_first_grouping": plan.is_first_grouping,
        },
        "spending": spending,
    }


def _repairs(report: CompileReport) -> dict[str, int]:
    repairs = report.manifest.repairs
    return {
        "unknown": repairs.unknown_ids,
        "doubled": repairs.doubled_ids,
        "missing": repairs.missing_ids,
        "rebalanced": repairs.rebalanced,
        "fallbacks": repairs.fallbacks,
    }


def _version_line(out: Output, report: CompileReport) -> str:
    values = {"corpus": report.manifest.corpus, "version": report.manifest.version}
    if not report.is_new:
        return out.say("cli.unchanged", **values)
    return out.say("cli.compiled" if report.is_activated else "cli.compiled_inactive", **values)


def _source_document(out: Output, report: SourceReport) -> dict[str, object]:
    return {
        "source": report.source,
        "verdict": report.verdict,
        "detail": report.detail,
        "reason": reason(out, report),
        "values": dict(report.values),
        "characters": report.characters,
        "chunks": report.chunks,
        "sha256": report.sha256,
        "notices": [
            {"code": notice.code, "message": notice_sentence(out, notice)} for notice in report.notices
        ],
    }


def _fields_of_manifest(out: Output, report: CompileReport) -> dict[str, object]:
    manifest = report.manifest
    return {
        "title": manifest.title,
        "language": manifest.language,
        "sizes": manifest.sizes,
        "limits": manifest.limits,
        "engines": manifest.engines,
        "sources": manifest.sources,
        "chunks": manifest.chunks,
        "nodes": manifest.nodes,
        "depth": manifest.depth,
        "stand_ins": manifest.stand_ins,
        "refused": manifest.refused,
        "repairs": manifest.repairs,
        "warnings": [
            {"code": notice.code, "message": notice_sentence(out, notice)} for notice in manifest.warnings
        ],
        "spending": manifest.spending,
        "created_at": manifest.created_at,
    }
