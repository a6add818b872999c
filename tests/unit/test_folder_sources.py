"""Folders walked: names, order, what is passed over and said, and files that cannot be read."""

from __future__ import annotations

import os
import socket
import threading
import unicodedata
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.sources.folder import FolderSources
from corpus2skill.adapters.sources.names import shown_name
from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.source_names import UniqueNames
from corpus2skill.errors import InvalidInput, SourceRefused

NOBODY = 65534


def written(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return folder


def found(entries: Iterable[str | SourceReport]) -> tuple[list[str], list[tuple[str, str]]]:
    """Names, and what was passed over."""
    names, reports = [], []
    for entry in entries:
        if isinstance(entry, str):
            names.append(entry)
        else:
            reports.append((entry.source, entry.verdict))
    return names, reports


def refusal(sources: FolderSources, name: str) -> str:
    with pytest.raises(SourceRefused) as refused:
        sources.read(name)
    return refused.value.verdict


def test_a_single_folder_gives_relative_names_in_the_order_of_their_characters(tmp_path: Path) -> None:
    """ports/sources.py: sorted by name, whatever the locale; a path below the folder, `/` between parts."""
    written(tmp_path, "b.txt", "a/z.md", "a/い.md", "a/あ.md", "B.txt", "10.txt", "9.txt")
    assert found(FolderSources([tmp_path]).find()) == (
        ["10.txt", "9.txt", "B.txt", "a/z.md", "a/あ.md", "a/い.md", "b.txt"],
        [],
    )


def test_several_paths_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    """ports/sources.py: `<folder name>/<relative>` and bare file names, made unique if two collide."""
    written(tmp_path, "docs/a.txt", "other/docs/a.txt", "faq.txt", "terms/b.txt")
    paths = [tmp_path / "terms", tmp_path / "faq.txt", tmp_path / "docs", tmp_path / "other" / "docs"]
    assert found(FolderSources(paths).find())[0] == [
        "terms/b.txt",
        "faq.txt",
        f"{tmp_path.name}/docs/a.txt",
        "other/docs/a.txt",
    ]


def test_a_file_is_named_by_its_bare_name_and_taken_though_hidden(tmp_path: Path) -> None:
    """What is asked for by name is not passed over."""
    written(tmp_path, ".hidden.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / ".hidden.txt")
    assert found(FolderSources([tmp_path / ".hidden.txt", tmp_path / "link.txt"]).find())[0] == [
        ".hidden.txt",
        "link.txt",
    ]


def test_names_are_nfc_and_nfd_files_still_open(tmp_path: Path) -> None:
    """The issue, bad input: names in NFD."""
    name = unicodedata.normalize("NFD", "ガイド.txt")
    written(tmp_path, name)
    sources = FolderSources([tmp_path])
    assert found(sources.find())[0] == ["ガイド.txt"]
    assert sources.read("ガイド.txt").data.decode() == name


def test_two_spellings_of_one_name_are_two_sources(tmp_path: Path) -> None:
    """No document is lost."""
    written(tmp_path, *(unicodedata.normalize(form, "が.txt") for form in ("NFC", "NFD")))
    sources = FolderSources([tmp_path])
    assert found(sources.find())[0] == ["が.txt", "が (2).txt"]
    assert len({sources.read(name).sha256 for name in ("が.txt", "が (2).txt")}) == 2


def test_which_of_two_spellings_comes_first_does_not_depend_on_the_disk(tmp_path: Path) -> None:
    """Design: same input gives byte-identical files, in whatever order a folder lists its entries."""
    names = [unicodedata.normalize(form, "ガイド.txt") for form in ("NFC", "NFD")]
    texts: set[str] = set()
    for number, order in enumerate((names, names[::-1])):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in order:
            (folder / name).write_text(name, encoding="utf-8")
        texts.add(FolderSources([folder]).read("ガイド.txt").data.decode())
    assert texts == {names[1]}


def test_names_that_windows_refuses_are_fine(tmp_path: Path) -> None:
    """The issue, bad input: names that Windows refuses."""
    names = ["CON", "a.", "b:c?.txt", "d\\e.txt"]
    assert found(FolderSources([written(tmp_path, *names)]).find())[0] == sorted(names)


def test_names_that_are_no_utf8_can_be_shown_and_read(tmp_path: Path) -> None:
    """ports/sources.py: undecodable names must not crash anything."""
    for raw in ("規約.txt".encode("cp932"), b"\x80\xff.txt", b"a\nb.txt"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)).write_bytes(raw)
    sources = FolderSources([tmp_path])
    names, _ = found(sources.find())
    assert sorted(names) == ["\\x80\\xff.txt", "a␊b.txt", "規約.txt"]
    assert {sources.read(name).data for name in names} == {
        "規約.txt".encode("cp932"),
        b"\x80\xff.txt",
        b"a\nb.txt",
    }


def test_hidden_links_and_special_files_are_passed_over_and_said(tmp_path: Path) -> None:
    """The issue, the six stages: hidden files and links out of the folder skipped and said."""
    root = written(tmp_path / "root", "a.txt", ".b.txt", ".git/config", "~$c.docx", "Thumbs.db", "sub/d.txt")
    written(tmp_path, "outside/e.txt")
    (root / "in.txt").symlink_to("a.txt")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "broken.txt").symlink_to("nowhere")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "sock"))
        names, reports = found(FolderSources([root]).find())
    assert names == ["a.txt", "sub/d.txt"]
    assert reports == [
        (".b.txt", "hidden"),
        (".git", "hidden"),
        ("Thumbs.db", "hidden"),
        ("broken.txt", "link"),
        ("in.txt", "link"),
        ("loop", "link"),
        ("out", "link"),
        ("pipe", "special"),
        ("sock", "special"),
        ("~$c.docx", "hidden"),
    ]


def test_the_workspace_is_no_source(tmp_path: Path) -> None:
    """ports/sources.py: a workspace inside the compiled folder must be excluded."""
    written(tmp_path, "a.txt", "ws/corpora/x/SKILL.md")
    sources = FolderSources([tmp_path], exclude=tmp_path / "ws")
    assert found(sources.find()) == (["a.txt"], [])


def test_a_missing_path_is_refused_before_anything_else(tmp_path: Path) -> None:
    """The issue, bad input."""
    with pytest.raises(InvalidInput) as refused:
        FolderSources([tmp_path, tmp_path / "無い"])
    assert (refused.value.code, refused.value.values) == ("missing_path", {"path": str(tmp_path / "無い")})


def test_a_file_that_vanishes_between_listing_and_reading_is_said(tmp_path: Path) -> None:
    """The issue, bad input: a file that vanishes in the middle."""
    sources = FolderSources([written(tmp_path, "a.txt")])
    assert list(sources.find()) == ["a.txt"]
    (tmp_path / "a.txt").unlink()
    assert refusal(sources, "a.txt") == "vanished"
    assert refusal(sources, "never.txt") == "vanished"


def test_a_pipe_in_a_files_place_does_not_hold_us_up(tmp_path: Path) -> None:
    sources = FolderSources([written(tmp_path, "a.txt")])
    list(sources.find())
    (tmp_path / "a.txt").unlink()
    os.mkfifo(tmp_path / "a.txt")
    assert refusal(sources, "a.txt") == "unreadable"


def test_a_file_over_the_limit_is_refused_without_reading_it(tmp_path: Path) -> None:
    """design.md, limits: 100 MB a file, settable."""
    (tmp_path / "small.txt").write_bytes(b"12345")
    with (tmp_path / "sparse.bin").open("wb") as file:
        file.truncate(1 << 40)
    sources = FolderSources([tmp_path], max_bytes=5)
    assert sources.read("small.txt").data == b"12345"
    with pytest.raises(SourceRefused) as refused:
        sources.read("sparse.bin")
    assert (refused.value.verdict, refused.value.values) == ("too_large", {"size": 1 << 40, "limit": 5})


def _as_nobody(folder: str) -> tuple[list[str], list[tuple[str, str]], str, bool, bool]:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    sources = FolderSources([Path(folder)])
    names, reports = found(sources.find())
    verdict = refusal(sources, "secret.txt")
    return names, reports, verdict, sources.covers("closed/x.txt"), sources.covers("open/x.txt")


def test_what_an_ordinary_user_may_not_read_is_unreadable_and_not_covered(tmp_path: Path) -> None:
    """The issue, bad input: an unreadable file, tested as an ordinary user."""
    written(tmp_path, "a.txt", "secret.txt", "closed/x.txt", "open/y.txt")
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == os.geteuid() and path.is_relative_to("/tmp"):
            path.chmod(path.stat().st_mode | 0o055)
    (tmp_path / "secret.txt").chmod(0)
    (tmp_path / "closed").chmod(0)
    with get_context("fork").Pool(1) as pool:
        outcome = pool.apply(_as_nobody, (str(tmp_path),))
    (tmp_path / "closed").chmod(0o755)
    assert outcome == (
        ["a.txt", "open/y.txt", "secret.txt"],
        [("closed", "unreadable")],
        "unreadable",
        False,
        True,
    )


def test_folders_may_be_nested_deeper_than_calls(tmp_path: Path) -> None:
    """The walk does not recurse."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("a.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    assert found(FolderSources([tmp_path]).find())[0] == ["d/" * 600 + "a.txt"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a.txt", "が.txt", "a (2).txt", "b/a.txt", "a"]), max_size=12))
def test_names_are_never_given_twice(names: list[str]) -> None:
    """ports/sources.py: names are unique."""
    unique = UniqueNames()
    given_names = [unique.take(name) for name in names]
    assert len(set(given_names)) == len(names)


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=30).filter(lambda raw: b"\0" not in raw and b"/" not in raw))
def test_any_name_on_disk_can_be_shown(raw: bytes) -> None:
    """ports/sources.py: undecodable names must not crash anything."""
    shown = shown_name(os.fsdecode(raw))
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert unicodedata.is_normalized("NFC", shown)
    assert not any(character < " " for character in shown)


def test_a_sparse_file_of_five_gigabytes_is_refused_by_its_size_without_reading_it(tmp_path: Path) -> None:
    """Issue 3: a 5 GB sparse file. Reading it would take the memory that a test has not."""
    with (tmp_path / "大.txt").open("wb") as file:
        file.truncate(5 * 10**9)
    with pytest.raises(SourceRefused) as refusal:
        FolderSources([tmp_path]).read("大.txt")
    assert (refusal.value.code, refusal.value.values["size"]) == ("refused.too_large.bytes", 5 * 10**9)


def test_a_name_of_255_bytes_is_a_name(tmp_path: Path) -> None:
    """Issue 3: a name of 255 bytes, the longest that there is."""
    name = "解" * 83 + "ab.txt"
    assert len(name.encode()) == 255
    written(tmp_path, name)
    sources = FolderSources([tmp_path])
    assert list(sources.find()) == [name]
    assert sources.read(name).source == name


def _is_refused_as_changing(folder: Path) -> bool:
    try:
        FolderSources([folder]).read("a.log")
    except SourceRefused as refused:
        return (refused.verdict, refused.detail) == ("unreadable", "changing")
    return False


def test_a_file_that_is_written_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """Issue 3: a file that changes while it is read is never half the old and half the new."""
    path = tmp_path / "a.log"
    path.write_bytes(bytes(40_000_000))
    ended = threading.Event()

    def write_on() -> None:
        with path.open("ab", buffering=0) as file:
            while not ended.is_set():
                file.write(b"x")

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        # The writer need not get its turn within one reading: sooner or later it does.
        assert any(_is_refused_as_changing(tmp_path) for _ in range(200))
    finally:
        ended.set()
        writer.join()
    assert FolderSources([tmp_path]).read("a.log").data.startswith(b"\0")
