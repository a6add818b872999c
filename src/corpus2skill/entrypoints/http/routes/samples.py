"""`/v1/samples`: a corpus to try everything with, without a provider's key."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from corpus2skill.application.server.samples import start_samples
from corpus2skill.domain.language import Language
from corpus2skill.entrypoints.http.caller import TheServer, Writer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.speech import language_of

router = APIRouter(prefix="/samples", tags=["corpora"], route_class=IdempotentRoute)


class SamplesRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    language: Language | None = None
    """Null: as `Accept-Language` says."""


class SamplesBody(BaseModel):
    corpus: str
    job_id: str
    """Of the compile by the offline engine, which costs nothing."""


@router.post("", status_code=202)
def create_samples(
    wanted: SamplesRequest, request: Request, principal: Writer, server: TheServer, response: Response
) -> SamplesBody:
    """Make the corpus `sample-ja` or `sample-en` of the packaged sample documents and compile it."""
    job = start_samples(server, principal, wanted.language or language_of(request))
    response.headers["Location"] = str(request.url_for("show_job", job_id=job.job).path)
    return SamplesBody(corpus=job.corpus, job_id=job.job)
