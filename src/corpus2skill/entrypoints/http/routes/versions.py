"""`/v1/corpora/{corpus}/versions` and `/active`: versions, and which of them answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from corpus2skill.application.server import versions
from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server.versions import ActiveVersion, SwitchRequest, VersionView
from corpus2skill.domain.money import total
from corpus2skill.domain.version import Manifest
from corpus2skill.entrypoints.http.caller import Reader, TheServer, Writer
from corpus2skill.entrypoints.http.etags import IfMatch, etag, seen_number
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page
from corpus2skill.entrypoints.http.version_path import VersionNumber
from corpus2skill.ports.store import Seen

router = APIRouter(prefix="/corpora/{corpus}", tags=["versions"], route_class=IdempotentRoute)

Reason = Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]


class SpendingBody(BaseModel):
    """What calls for one purpose came to."""

    purpose: str
    model: str
    calls: int
    reused: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """Null: the price is unknown."""


class TestScoreBody(BaseModel):
    """What the newest test run that has ended on the version came to."""

    test_run_id: str
    passed: int
    questions: int
    score: float | None
    ended_at: str | None


class VersionBody(BaseModel):
    version: int
    is_active: bool
    is_previous: bool
    """A rollback goes to it."""
    is_readable: bool
    """False where its files are damaged: what follows is null then."""
    created_at: str | None
    author: str | None
    """Id of whoever started the compile, where a server carried it out."""
    author_name: str | None
    """Null where that was no person, or one who is here no longer."""
    job_id: str | None
    predecessor: int | None
    bytes: int
    sources: int | None
    chunks: int | None
    nodes: int | None
    depth: int | None
    stand_ins: int | None
    refused: int | None
    dollars: float | None
    """What the compile came to; null where nothing was paid, or a price is unknown."""
    tests: TestScoreBody | None


class ManifestBody(BaseModel):
    """What the version says of itself."""

    title: str
    language: str
    product: str
    chunk_limit: int
    chunk_minimum: int
    max_children: int
    max_leaves: int
    fetch_limit: int
    summarizer: str
    grouper: str
    files_sha256: str
    spending: list[SpendingBody]


class WholeVersionBody(VersionBody):
    manifest: ManifestBody | None


class ActiveBody(BaseModel):
    version: int | None
    """Null where none was ever active."""
    previous: int | None
    """Where a rollback goes."""


class SwitchBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    override_reason: Reason | None = None
    """Switch although the test questions did not go well. Needs the scope `admin`; stands in the log."""


class ActivateBody(SwitchBody):
    version: Annotated[int, Field(ge=1, le=999_999_999)]


class RemovedBody(BaseModel):
    version: int
    bytes: int
    """Given back."""


class PrunedBody(BaseModel):
    dry_run: bool
    data: list[RemovedBody]


@router.get("/versions")
def list_versions(
    corpus: Id, principal: Reader, server: TheServer, limit: Limit = 50, cursor: Cursor = None
) -> Page[VersionBody]:
    """Versions of the corpus, newest first."""
    before = None if cursor is None else _cursor(cursor)
    views = versions.list_versions(server, principal.tenant, corpus, before=before, limit=limit + 1)
    return page(views, limit, _body, lambda view: str(view.version))


@router.get("/versions/{version}")
def show_version(
    corpus: Id, version: VersionNumber, principal: Reader, server: TheServer
) -> WholeVersionBody:
    """One version with what it says of itself."""
    view = versions.show_version(server, principal.tenant, corpus, version)
    manifest = None if view.manifest is None else _manifest(view.manifest)
    return WholeVersionBody(**_body(view).model_dump(), manifest=manifest)


@router.delete("/versions/{version}")
def remove_version(
    corpus: Id,
    version: VersionNumber,
    principal: Writer,
    server: TheServer,
    force: Annotated[
        bool, Query(description="Also where kept records were made on it. Needs the scope `admin`.")
    ] = False,
) -> RemovedBody:
    """Remove a version that is not the active one.

    What kept records made on it cite can no longer be opened then: without `force` it is refused (409).
    """
    if force:
        principal.require("admin")
    size = versions.remove_version(server, principal, corpus, version, is_forced=force)
    return RemovedBody(version=version, bytes=size)


@router.post("/versions/prune")
def prune_versions(
    corpus: Id,
    principal: Writer,
    server: TheServer,
    dry_run: Annotated[bool, Query(description="Only say what would be removed.")] = True,
) -> PrunedBody:
    """Remove old versions that no kept record was made on and that a rollback does not go to."""
    if dry_run:
        found = versions.prunable(server, principal.tenant, corpus)
    else:
        found = versions.prune(server, principal, corpus)
    lines = [RemovedBody(version=line.version, bytes=line.bytes) for line in found]
    return PrunedBody(dry_run=dry_run, data=lines)


@router.get("/active")
def show_active(corpus: Id, principal: Reader, server: TheServer, response: Response) -> ActiveBody:
    """Which version answers now. Its `ETag` goes into `If-Match` of a switch."""
    return _active(versions.active_version(server, principal.tenant, corpus), response)


@router.put("/active")
def activate_version(
    corpus: Id,
    wanted: ActivateBody,
    principal: Writer,
    server: TheServer,
    response: Response,
    if_match: IfMatch = None,
) -> ActiveBody:
    """Switch to a version, which is checked first. Questions that have begun finish on theirs.

    `If-Match` is the `ETag` of `GET /active`, `"0"` where none is active; 412 where somebody was faster.
    """
    require_corpus(server, principal.tenant, corpus)
    request = SwitchRequest(seen=_seen(if_match), override=wanted.override_reason)
    found = versions.activate(server, principal, corpus, wanted.version, request)
    return _active(found, response)


@router.post("/rollback")
def roll_back(
    corpus: Id,
    principal: Writer,
    server: TheServer,
    response: Response,
    wanted: SwitchBody | None = None,
    if_match: IfMatch = None,
) -> ActiveBody:
    """Switch to the version that was active before. `If-Match` as for `PUT /active`."""
    require_corpus(server, principal.tenant, corpus)
    override = None if wanted is None else wanted.override_reason
    request = SwitchRequest(seen=_seen(if_match), override=override)
    return _active(versions.roll_back(server, principal, corpus, request), response)


def _seen(if_match: str | None) -> Seen:
    seen = seen_number(if_match)
    return None if seen == 0 else seen


def _active(found: ActiveVersion, response: Response) -> ActiveBody:
    response.headers["ETag"] = etag(found.active or 0)
    return ActiveBody(version=found.active, previous=found.previous)


def _cursor(cursor: str) -> int:
    return int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) < 10 else 0


def _body(view: VersionView) -> VersionBody:
    manifest, exam = view.manifest, view.exam
    tests = None
    if exam is not None:
        tests = TestScoreBody(
            test_run_id=exam.exam,
            passed=exam.passed,
            questions=exam.questions,
            score=exam.score,
            ended_at=exam.ended_at,
        )
    return VersionBody(
        version=view.version,
        is_active=view.is_active,
        is_previous=view.is_previous,
        is_readable=manifest is not None,
        created_at=manifest.created_at if manifest else None,
        author=view.job.created_by if view.job else None,
        author_name=view.author_name,
        job_id=view.job.job if view.job else None,
        predecessor=manifest.predecessor if manifest else None,
        bytes=view.bytes,
        sources=manifest.sources if manifest else None,
        chunks=manifest.chunks if manifest else None,
        nodes=manifest.nodes if manifest else None,
        depth=manifest.depth if manifest else None,
        stand_ins=manifest.stand_ins if manifest else None,
        refused=manifest.refused if manifest else None,
        dollars=_dollars(manifest) if manifest else None,
        tests=tests,
    )


def _dollars(manifest: Manifest) -> float | None:
    return total(line.dollars for line in manifest.spending) if manifest.spending else None


def _manifest(manifest: Manifest) -> ManifestBody:
    return ManifestBody(
        title=manifest.title,
        language=manifest.language,
        product=manifest.product,
        chunk_limit=manifest.sizes.limit,
        chunk_minimum=manifest.sizes.minimum,
        max_children=manifest.limits.max_children,
        max_leaves=manifest.limits.max_leaves,
        fetch_limit=manifest.limits.fetch_limit,
        summarizer=manifest.engines.summarizer,
        grouper=manifest.engines.grouper,
        files_sha256=manifest.files_sha256,
        spending=[
            SpendingBody(
                purpose=line.purpose,
                model=line.model,
                calls=line.calls,
                reused=line.reused,
                input_tokens=line.usage.input_tokens,
                output_tokens=line.usage.output_tokens,
                dollars=line.dollars,
            )
            for line in manifest.spending
        ],
    )
