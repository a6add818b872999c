"""Bytes of uploads and their texts on the disk, and the sources that a compile reads of them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from corpus2skill.adapters.sources.folder import FolderSources
from corpus2skill.adapters.sources.uploads import UploadedSources
from corpus2skill.adapters.store.texts import CachedExtractor, FolderTexts
from corpus2skill.adapters.store.uploads import FolderUploads, require_room
from corpus2skill.domain.corpus import ExtractedText, Heading, SourceFile
from corpus2skill.domain.upload import Upload
from corpus2skill.errors import SourceRefused, WorkspaceUnusable

DATA = "解約の条件。".encode()


def files_below(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return sorted(str(path.relative_to(folder)) for path in found)


def taken_in(files: FolderUploads, data: bytes = DATA) -> str:
    incoming = files.begin()
    incoming.write(data)
    sha256 = incoming.close()
    files.make_durable([incoming])
    with files.changing():
        files.take_in([incoming])
    return sha256


@pytest.mark.requirement("S-20")
def test_bytes_are_kept_once_under_their_digest(tmp_path: Path) -> None:
    """Content-addressed: whoever hands in the same again adds nothing."""
    files = FolderUploads(tmp_path)
    sha256 = taken_in(files)
    assert taken_in(files) == sha256 == hashlib.sha256(DATA).hexdigest()
    assert files_below(tmp_path) == [f"uploads/{sha256[:2]}/{sha256}"]
    assert files.read(sha256) == DATA
    files.remove(sha256)
    assert files.read(sha256) is None


def test_bytes_that_are_not_what_they_were_are_as_none(tmp_path: Path) -> None:
    """A disk that changed a bit must not become a document."""
    files = FolderUploads(tmp_path)
    sha256 = taken_in(files)
    files.path(sha256).write_bytes(DATA + b"!")
    assert files.read(sha256) is None


@pytest.mark.requirement("S-25")
def test_what_was_begun_and_discarded_leaves_nothing(tmp_path: Path) -> None:
    """A cut connection; a dead process's rest goes when it is old enough."""
    files = FolderUploads(tmp_path)
    incoming = files.begin()
    incoming.write(DATA)
    incoming.discard()
    incoming.discard()
    assert files_below(tmp_path) == []
    left = tmp_path / "uploads" / "incoming" / "left"
    left.write_bytes(DATA)
    files.tidy()
    assert left.exists()
    os.utime(left, (0, 0))
    files.tidy()
    assert not left.exists()


@pytest.mark.requirement("S-24")
def test_a_disk_that_is_nearly_full_takes_no_upload(tmp_path: Path) -> None:
    """The databases need some room to go on."""
    require_room(tmp_path, 1)
    with pytest.raises(WorkspaceUnusable) as full:
        require_room(tmp_path, 2**62)
    assert full.value.code == "disk_full"


TEXT = ExtractedText(
    text="第1条\n\n解約。\udcff", headings=(Heading(start=0, end=3, level=1, title="第1条"),)
)


class CountingExtractor:
    """Gives one text for all but `bad` files, and counts."""

    identity = "counting-1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def extract(self, file: SourceFile) -> ExtractedText:
        self.asked.append(file.source)
        if file.source.startswith("bad"):
            raise SourceRefused("hostile", "crash", reason="SIGSEGV")
        return TEXT

    def members(self, file: SourceFile) -> object:
        raise NotImplementedError


def source(name: str) -> SourceFile:
    return SourceFile(source=name, data=DATA, sha256=hashlib.sha256(DATA).hexdigest())


@pytest.mark.anyio
@pytest.mark.requirement("S-30")
async def test_a_text_is_read_once_and_so_is_a_refusal(tmp_path: Path) -> None:
    """What the upload was judged by is what the compile takes."""
    reading = CountingExtractor()
    extractor = CachedExtractor(reading, FolderTexts(tmp_path, "limits"), is_keeping=True)  # type: ignore[arg-type]
    for _ in range(2):
        assert await extractor.extract(source("規約.txt")) == TEXT
        with pytest.raises(SourceRefused) as refused:
            await extractor.extract(source("bad.csv"))
        assert (refused.value.code, refused.value.values) == ("refused.hostile.crash", {"reason": "SIGSEGV"})
    assert reading.asked == ["規約.txt", "bad.csv"]
    assert extractor.identity == "counting-1"
    await extractor.extract(source("別名.txt"))
    await extractor.extract(source("別の種類.md"))
    assert reading.asked == ["規約.txt", "bad.csv", "別の種類.md"]


@pytest.mark.anyio
async def test_a_text_that_was_cut_or_read_under_other_limits_is_read_again(tmp_path: Path) -> None:
    """Nothing waits for the disk, so that a power cut may leave half of it."""
    reading = CountingExtractor()
    texts = FolderTexts(tmp_path, "limits")
    file = source("規約.txt")
    await CachedExtractor(reading, texts, is_keeping=True).extract(file)  # type: ignore[arg-type]
    assert FolderTexts(tmp_path, "others").find(file, "counting-1") is None
    assert texts.find(file, "counting-2") is None
    [name] = files_below(tmp_path)
    kept = tmp_path / name
    kept.write_bytes(kept.read_bytes()[:-9])
    assert texts.find(file, "counting-1") is None
    texts.forget(file.sha256)
    assert files_below(tmp_path) == []


@pytest.mark.anyio
async def test_a_compile_leaves_no_text_of_what_is_no_upload(tmp_path: Path) -> None:
    """Texts of folders are the versions' matter: one that is removed there must be gone."""
    extractor = CachedExtractor(CountingExtractor(), FolderTexts(tmp_path, ""), is_keeping=False)  # type: ignore[arg-type]
    await extractor.extract(source("規約.txt"))
    assert files_below(tmp_path) == []


def uploaded(name: str, sha256: str | None) -> Upload:
    return Upload(
        document="document_1",
        tenant="local",
        corpus="terms",
        name=name,
        revision=1,
        bytes=2_000,
        sha256=sha256,
        state="accepted",
        created_at="",
        received_at="",
        received_by="",
        changed_at="",
    )


@pytest.mark.requirement("S-30")
def test_uploads_and_remembered_folders_are_read_together_and_an_upload_wins(tmp_path: Path) -> None:
    """One corpus, whichever door its documents came by."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("a.txt", "規約.txt"):
        (folder / name).write_text("フォルダー", encoding="utf-8")
    files = FolderUploads(tmp_path / "workspace")
    sha256 = taken_in(files)
    names = ("規約.txt", "b/第2章.txt", "b.txt", "大.txt", "消えた.txt")
    digests: dict[str, str | None] = dict.fromkeys(names, sha256) | {"大.txt": None, "消えた.txt": "0" * 64}
    uploads = {name: uploaded(name, digests[name]) for name in names}
    reader = UploadedSources(lambda: uploads, files.read, FolderSources([folder]), max_bytes=1_000)
    assert list(reader.find()) == ["b/第2章.txt", "b.txt", "大.txt", "消えた.txt", "規約.txt", "a.txt"]
    assert reader.read("規約.txt").data == DATA
    assert reader.read("a.txt").data == "フォルダー".encode()
    with pytest.raises(SourceRefused) as large:
        reader.read("大.txt")
    assert large.value.values == {"size": 2_000, "limit": 1_000}
    with pytest.raises(SourceRefused) as gone:
        reader.read("消えた.txt")
    assert gone.value.verdict == "vanished"
    assert reader.covers("規約.txt")
