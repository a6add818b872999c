"""What a job has spent, whatever became of the worker that was to say it."""

from __future__ import annotations

from dataclasses import replace

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.server_job import JobMoney, ServerJob

_EVER = ("0000-00-00", "9999-99-99")


def paid_for_corpus(server: Server, tenant: str, corpus: str) -> JobMoney:
    """What all paid calls of a corpus ever came to, as the result store has it.

    Raises:
        WorkspaceUnusable, Damaged: it cannot be read.
    """
    workspace = server.workspace(tenant)
    if not workspace.has_results():
        return JobMoney()
    results = workspace.results()
    try:
        lines = [line for line in results.usage(*_EVER) if line.corpus == corpus]
    finally:
        results.close()
    return JobMoney(
        calls=sum(line.calls for line in lines),
        input_tokens=sum(line.input_tokens for line in lines),
        output_tokens=sum(line.output_tokens for line in lines),
        dollars=None if any(line.unpriced for line in lines) else sum(line.dollars for line in lines),
    )


def with_all_money(job: ServerJob, paid: JobMoney) -> ServerJob:
    """The job with what its attempts paid for and had no time to say: a killed worker's last calls.

    `paid` is what the corpus has come to by now; `job.paid_before`, when its first attempt began.
    """
    before, said = job.paid_before, job.progress.money
    if before is None or paid.calls - before.calls <= said.calls:
        return job
    dollars = said.dollars
    if paid.dollars is None or before.dollars is None:
        dollars = None if paid.dollars is None and before.dollars is not None else dollars
    elif dollars is not None:
        dollars = max(dollars, paid.dollars - before.dollars)
    money = replace(
        said,
        calls=paid.calls - before.calls,
        input_tokens=max(said.input_tokens, paid.input_tokens - before.input_tokens),
        output_tokens=max(said.output_tokens, paid.output_tokens - before.output_tokens),
        dollars=dollars,
    )
    return replace(job, progress=replace(job.progress, money=money))
