"""A home in one file, and back: under load, in the middle of a job, killed, and changed by somebody."""

from __future__ import annotations

import gzip
import io
import signal
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import pytest
from sqlalchemy import make_url

from corpus2skill.adapters.clock import SystemClock
from corpus2skill.application.backups import Backup, back_up, restore
from corpus2skill.application.server_wiring import Server, open_server
from corpus2skill.application.show_records import verify_records
from corpus2skill.domain.webhook import secret_bound_to
from corpus2skill.errors import Conflict, Corpus2SkillError, InvalidInput, WorkspaceUnusable
from corpus2skill.settings import ServerSettings
from tests.e2e.job_shop import CORPUS as JOB_CORPUS
from tests.e2e.job_shop import JobShop, opened_shop
from tests.e2e.paid import rules
from tests.e2e.worker_process import begun_worker
from tests.fakes.providers import Script
from tests.fakes.providers.script import Asked
from tests.http.answering import Client, compile_corpus, serving
from tests.http.test_webhooks import Shop

COMMAND = (sys.executable, "-m", "corpus2skill.entrypoints.cli.main")


def saved(home: Path, target: Path, *, with_master_key: bool = False, files_only: bool = False) -> Backup:
    return back_up(
        home,
        target,
        SystemClock(),
        with_master_key=with_master_key,
        files_only=files_only,
        database_url=None,
    )


@pytest.fixture
def server(tmp_path: Path) -> Server:
    found = open_server(tmp_path / "元 home", ServerSettings())
    compile_corpus(found, tmp_path / "documents")
    return found


@pytest.fixture
def archive(server: Server, tmp_path: Path) -> Path:
    saved(server.home, tmp_path / "backup.tar.gz")
    return tmp_path / "backup.tar.gz"


def answered(client: Client) -> object:
    """Ask, wait for the end, and return what was answered and on what ground."""
    run = client.begin()
    client.events(f"/v1/runs/{run}/events")
    _, shown, _ = client.ask("GET", f"/v1/runs/{run}")
    return shown["answer"], [visit["path"] for visit in shown["trail"]], shown["citations"]


@pytest.mark.requirement("S-137")
def test_a_backup_under_load_is_whole_and_answers_the_same_elsewhere(server: Server, tmp_path: Path) -> None:
    """Task: a running server is allowed; restored on another folder the answers are equal."""
    done = threading.Event()
    before = list[object]()
    with serving(server) as client:

        def ask_on() -> None:
            while not done.is_set():
                before.append(answered(client))

        askers = [threading.Thread(target=ask_on) for _ in range(3)]
        for asker in askers:
            asker.start()
        made = [saved(server.home, tmp_path / f"backup-{number}.tar") for number in range(3)]
        done.set()
        for asker in askers:
            asker.join()
    assert made[-1].files > 20
    for number in range(3):
        home = tmp_path / f"new-{number}"
        restored = restore(tmp_path / f"backup-{number}.tar", home)
        assert (restored.corpora, restored.faults) == (1, ())
        assert verify_records(open_server(home, ServerSettings()).workspace("local")).faults == ()
    with serving(open_server(tmp_path / "new-2", ServerSettings())) as client:
        assert answered(client) == before[0]


@pytest.mark.requirement("S-137")
def test_a_job_that_was_under_way_goes_on_where_it_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Task: jobs that were running become resumable; what was paid is not paid again."""
    monkeypatch.setenv("CORPUS2SKILL_CONCURRENCY", "2")
    with opened_shop(tmp_path, rules(10), monkeypatch) as shop:
        target, count, paid = tmp_path / "backup.tar", 0, list[int]()

        def act(_asked: Asked) -> None:
            nonlocal count
            count += 1
            if count == 7:
                paid.append(len(shop.answered))
                saved(shop.server.home, target)
                worker.signal(signal.SIGKILL)

        shop.provider.script = Script().add(lambda asked: act(asked))
        job = shop.start(JOB_CORPUS)
        worker = begun_worker(shop)
        worker.ended()
        shop.provider.script = Script()
        (tmp_path / "elsewhere").mkdir()
        restore(target, tmp_path / "elsewhere" / "home")
        there = JobShop(
            server=open_server(tmp_path / "elsewhere" / "home", shop.server.server_settings),
            provider=shop.provider,
            documents=shop.documents,
        )
        answered_before = len(shop.answered)
        worker = begun_worker(there)
        try:
            for _ in range(800):
                if there.job(job).ended_at is not None:
                    break
                threading.Event().wait(0.05)
        finally:
            worker.stop()
        assert there.job(job).state == "succeeded", there.job(job)
        assert there.active() == 1
        again = len(shop.answered) - answered_before
        assert again <= 10 + 3 - (paid[0] - 2)


@pytest.mark.requirement("S-138")
def test_a_changed_or_cut_archive_is_refused_before_anything_is_written(
    archive: Path, tmp_path: Path
) -> None:
    """Task: checks hashes first."""
    plain = gzip.decompress(archive.read_bytes())
    bad, home = tmp_path / "bad.tar", tmp_path / "new"
    marked = plain.index("年額プラン".encode())
    changed = bytearray(plain)
    changed[marked] ^= 1
    end = plain.rindex(b"contents.json") + 1_000  # behind it there are only zeros
    cuts = [plain[: end * part // 7] for part in range(1, 8)]
    for data in (bytes(changed), *cuts, b"", b"no archive", archive.read_bytes()[:-500]):
        bad.write_bytes(data)
        with pytest.raises(InvalidInput, match="backup_"):
            restore(bad, home)
        assert not home.exists()
        assert [entry.name for entry in tmp_path.iterdir() if "restoring" in entry.name] == []


@pytest.mark.requirement("S-138")
@pytest.mark.parametrize("name", ["../out", "home/../../out", "/out", "home/a\\b", "home//a", "home/c:d"])
def test_no_name_in_an_archive_leads_out_of_the_home(archive: Path, tmp_path: Path, name: str) -> None:
    """Field reports, 15: path confinement."""
    evil = tmp_path / "evil.tar"
    with tarfile.open(archive) as source, tarfile.open(evil, "w") as target:
        for member in source:
            if member.name == "contents.json":
                extra = tarfile.TarInfo(name)
                extra.size = 4
                target.addfile(extra, io.BytesIO(b"evil"))
            target.addfile(member, source.extractfile(member))
    with pytest.raises(InvalidInput, match="backup_name"):
        restore(evil, tmp_path / "new")
    assert not (tmp_path / "out").exists()


@pytest.mark.requirement("S-138")
def test_a_link_in_an_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    """Field reports, 15: symlinks."""
    evil = tmp_path / "evil.tar"
    with tarfile.open(archive) as source, tarfile.open(evil, "w") as target:
        for member in source:
            target.addfile(member, source.extractfile(member))
            if member.name == "corpus2skill-backup.json":
                link = tarfile.TarInfo("home/state.db")
                link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
                target.addfile(link)
    with pytest.raises(InvalidInput, match="backup_name"):
        restore(evil, tmp_path / "new")


@pytest.mark.requirement("S-138")
def test_neither_a_file_nor_a_home_is_overwritten(server: Server, archive: Path, tmp_path: Path) -> None:
    """Task: refuses a non-empty home."""
    with pytest.raises(Conflict, match="backup_exists"):
        saved(server.home, archive)
    with pytest.raises(Conflict, match="restore_not_empty"):
        restore(archive, server.home)
    (tmp_path / "volume" / "lost+found").mkdir(parents=True)
    restore(archive, tmp_path / "volume")
    assert (tmp_path / "volume" / "corpora" / "terms" / "active").exists()


@pytest.mark.requirement("S-138")
def test_a_killed_backup_or_restore_leaves_nothing_that_looks_whole(
    server: Server, archive: Path, tmp_path: Path
) -> None:
    """Task: killed in the middle."""
    big = server.home / "uploads" / "aa"
    big.mkdir(parents=True)
    for number in range(24):
        (big / f"{number}").write_bytes(bytes([number]) * 3_000_000)
    target = tmp_path / "killed" / "backup.tar.gz"
    target.parent.mkdir()
    _killed_when(["backup", str(target), "-w", str(server.home)], target.parent, ".part")
    assert not target.exists()
    saved(server.home, tmp_path / "big.tar")
    home = tmp_path / "there" / "home"
    home.mkdir(parents=True)
    _killed_when(["restore", str(tmp_path / "big.tar"), "-w", str(home)], home, "restoring")
    assert [entry.name for entry in home.iterdir() if not entry.name.startswith(".restoring-")] == []
    with pytest.raises(Conflict, match="restore_not_empty"):
        restore(archive, home)


@pytest.mark.requirement("S-138")
def test_a_home_that_is_only_half_put_in_place_is_refused(archive: Path, tmp_path: Path) -> None:
    """Task: nothing looks whole; it is said what to do."""
    restore(archive, tmp_path / "new")
    (tmp_path / "new" / "restore.unfinished").write_bytes(b"")
    with pytest.raises(WorkspaceUnusable, match="restore_unfinished"):
        open_server(tmp_path / "new", ServerSettings()).workspace("local").versions.corpora()


@pytest.mark.requirement("S-139")
def test_the_master_key_is_in_a_backup_only_where_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Task: master key not in it; with it the sealed things open."""
    monkeypatch.delenv("CORPUS2SKILL_MASTER_KEY", raising=False)
    shop = Shop(tmp_path / "home")
    made = shop.endpoint("http://127.0.0.1:1/")
    key = (tmp_path / "home" / "master.key").read_bytes().strip()
    without = saved(tmp_path / "home", tmp_path / "without.tar")
    with_it = saved(tmp_path / "home", tmp_path / "with.tar", with_master_key=True)
    assert (without.has_master_key, with_it.has_master_key) == (False, True)
    assert key not in (tmp_path / "without.tar").read_bytes()
    assert (tmp_path / "with.tar").stat().st_mode & 0o077 == 0
    restore(tmp_path / "with.tar", tmp_path / "new")
    assert (tmp_path / "new" / "master.key").stat().st_mode & 0o777 == 0o600
    new = open_server(tmp_path / "new", ServerSettings())
    held = new.webhooks.held("local", made["endpoint_id"])
    assert new.vault.open(held.secret, secret_bound_to("local", made["endpoint_id"])) == made["secret"]
    restore(tmp_path / "without.tar", tmp_path / "keyless")
    with pytest.raises(Corpus2SkillError, match="master_key_wrong"):
        open_server(tmp_path / "keyless", ServerSettings()).vault.check()


@pytest.mark.requirement("S-137")
def test_with_postgresql_the_files_alone_are_saved(server: Server, tmp_path: Path) -> None:
    """Task: `--files-only`; the databases are pg_dump's."""
    url = make_url("postgresql://a@b/c").render_as_string()
    with pytest.raises(InvalidInput, match="backup_database_elsewhere"):
        back_up(
            server.home,
            tmp_path / "a.tar",
            SystemClock(),
            with_master_key=False,
            files_only=False,
            database_url=url,
        )
    made = saved(server.home, tmp_path / "files.tar", files_only=True)
    assert not made.has_databases
    restored = restore(tmp_path / "files.tar", tmp_path / "new")
    assert (restored.has_databases, restored.corpora, restored.faults) == (False, 1, ())
    assert list((tmp_path / "new").glob("*.db")) == []


def _killed_when(arguments: list[str], folder: Path, part: str) -> None:
    """Run a command and kill it as soon as something of this name is in the folder."""
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if any(part in entry.name for entry in folder.iterdir()):
            process.kill()
            break
    assert process.wait(timeout=30) == -signal.SIGKILL
