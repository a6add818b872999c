"""`/v1/corpora`: corpora and what is set for them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from corpus2skill.application.server import corpora
from corpus2skill.application.server.corpora import CorpusView
from corpus2skill.domain.language import Language
from corpus2skill.domain.upload import CorpusSettings, UploadState
from corpus2skill.entrypoints.http.bodies import RequestBody
from corpus2skill.entrypoints.http.caller import Admin, Reader, TheServer, Writer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id
from corpus2skill.entrypoints.http.paging import Cursor, Limit, Page, page

router = APIRouter(prefix="/corpora", tags=["corpora"], route_class=IdempotentRoute)

_LINE = r"^[^\x00-\x1f\x7f]*$"
Title = Annotated[str, Field(min_length=1, max_length=200, pattern=_LINE)]
HandOff = Annotated[str, Field(max_length=500, pattern=r"^(https?://|mailto:)[^\s\x00-\x1f\x7f]+$")]
Sizes = Annotated[int, Field(ge=0, le=1_000_000)]


class CorpusBody(BaseModel):
    corpus: str
    title: str | None
    """Null: its name."""
    language: Language | None
    """Null: what most of its texts are in."""
    chunk_limit: int | None
    """Characters of a chunk at most; null, here and below: the workspace's setting."""
    chunk_minimum: int | None
    tests_required: bool
    """True where a version is switched to only after its test questions went well."""
    tests_percent: int
    """So many of a hundred of them must."""
    hand_off: str | None
    """Where an asker is sent whom no document answers."""
    created_at: str | None
    """Null where the command line made it."""
    active_version: int | None
    is_damaged: bool
    """True where nobody can tell which version is active."""
    versions: int
    documents: dict[UploadState, int]
    """Documents that were handed in, by state."""


class CorpusRequest(RequestBody):
    """Sets what is given."""

    title: Title | None = None
    language: Language | None = None
    chunk_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    chunk_minimum: Sizes | None = None
    tests_required: bool = False
    tests_percent: Annotated[int, Field(ge=1, le=100)] = 100
    hand_off: HandOff | None = None


class NewCorpusRequest(CorpusRequest):
    corpus: Annotated[str, Field(min_length=1, max_length=64)]
    """Its name: a-z, 0-9 and hyphens between them."""


class DeletedCorpusBody(BaseModel):
    corpus: str
    versions: list[int]
    documents: int
    results: int
    """Paid results that were deleted."""
    unopened_records: int
    """Kept records that cite one of its documents: what they cite can no longer be opened."""


@router.get("")
def list_corpora(
    principal: Reader, server: TheServer, limit: Limit = 50, cursor: Cursor = None
) -> Page[CorpusBody]:
    """The tenant's corpora by name, those too that the command line compiled."""
    views = corpora.list_corpora(server, principal.tenant, after=cursor or "", limit=limit + 1)
    return page(views, limit, _body, lambda view: view.corpus)


@router.post("", status_code=201)
def create_corpus(
    wanted: NewCorpusRequest, principal: Writer, server: TheServer, response: Response
) -> CorpusBody:
    """Make an empty corpus."""
    settings = CorpusSettings(**wanted.model_dump(exclude={"corpus"}))
    view = corpora.create_corpus(server, principal, wanted.corpus, settings)
    response.headers["Location"] = f"{server.server_settings.root_path}/v1/corpora/{view.corpus}"
    return _body(view)


@router.get("/{corpus}")
def show_corpus(corpus: Id, principal: Reader, server: TheServer) -> CorpusBody:
    """One corpus: its active version, its settings and how many documents were handed in."""
    return _body(corpora.show_corpus(server, principal.tenant, corpus))


@router.patch("/{corpus}")
def change_corpus(corpus: Id, changes: CorpusRequest, principal: Writer, server: TheServer) -> CorpusBody:
    """Set the fields that are given; the others stay. Null gives a field back to the workspace's settings."""
    given = changes.model_dump(exclude_unset=True)
    return _body(corpora.change_corpus(server, principal, corpus, given))


@router.delete("/{corpus}")
def delete_corpus(
    corpus: Id,
    principal: Admin,
    server: TheServer,
    confirm: Annotated[str, Query(max_length=100, description="The corpus's name, once more.")] = "",
) -> DeletedCorpusBody:
    """Delete a corpus with its versions, documents, texts and paid results.

    Records of conversations stay for audits; the answer says how many cite what can no longer be opened.
    """
    deleted = corpora.delete_corpus(server, principal, corpus, confirm)
    return DeletedCorpusBody(
        corpus=corpus,
        versions=list(deleted.versions),
        documents=deleted.documents,
        results=deleted.results,
        unopened_records=deleted.unopened_records,
    )


def _body(view: CorpusView) -> CorpusBody:
    settings = view.settings
    return CorpusBody(
        corpus=view.corpus,
        title=settings.title,
        language=settings.language,
        chunk_limit=settings.chunk_limit,
        chunk_minimum=settings.chunk_minimum,
        tests_required=settings.tests_required,
        tests_percent=settings.tests_percent,
        hand_off=settings.hand_off,
        created_at=view.created_at,
        active_version=view.active_version,
        is_damaged=view.is_damaged,
        versions=view.versions,
        documents=dict(view.documents),
    )
