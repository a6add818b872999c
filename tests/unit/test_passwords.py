"""What a password and a name must be, how passwords are kept, and how often they may be tried."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.adapters.argon2_passwords import Argon2Passwords
from corpus2skill.application.server.tries import (
    PER_ADDRESS,
    PER_NAME,
    PER_NAME_AND_ADDRESS,
    WINDOW_SECONDS,
    Tries,
    Try,
)
from corpus2skill.domain.password import check_password
from corpus2skill.domain.people import name_key, person_name
from corpus2skill.errors import InvalidInput, TooMany

QUICK = Argon2Passwords(memory_kib=8, passes=1)


@pytest.mark.requirement("S-84")
def test_passwords_are_kept_as_argon2id_with_the_parameters_of_owasp() -> None:
    """Issue 6: OWASP's cheat sheet, 19 MiB, 2 passes, 1 lane."""
    assert Argon2Passwords().hashed("correct horse").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.mark.requirement("S-84")
@given(st.text(max_size=40))
@example("電池とホチキス")
@example("が")
@example("\ud800")
@example("")
def test_a_password_is_right_however_the_keyboard_composed_it(password: str) -> None:
    """Japanese input makes the same characters in several ways and widths."""
    kept = QUICK.hashed(password)
    assert QUICK.is_right(password, kept)
    assert QUICK.is_right(unicodedata.normalize("NFD", password), kept)
    assert not QUICK.is_right(password + "x", kept)
    assert not QUICK.is_outdated(kept)


@pytest.mark.requirement("S-85")
def test_nobodys_password_is_never_right() -> None:
    """Promised by the port: False for None, and for what is no hash; not even the one that is compared with."""
    assert not QUICK.is_right("nobody has this password", None)
    assert not QUICK.is_right("x", "")
    assert not QUICK.is_right("x", "$2b$12$notargon")


@pytest.mark.requirement("S-84")
@pytest.mark.parametrize(
    "password",
    [
        "aaaaaaaaaaaa",
        "correct horse",
        "電池電池電池電池電池電池",
        " " * 6 + "x" * 6,
        "田中です、こんにちは。よろしく",
    ],
)
def test_any_twelve_characters_will_do(password: str) -> None:
    """No composition rules (NIST SP 800-63B)."""
    check_password(password, "田中")


@pytest.mark.requirement("S-84")
@pytest.mark.parametrize(
    ("password", "name", "code"),
    [
        ("elevenchars", "x", "password_short"),
        ("か\u3099" * 6, "x", "password_short"),
        ("x" * 1001, "x", "password_long"),
        ("Ｔａｎａｋａ Ｔａｒｏｏ", "tanaka taroo", "password_is_name"),
        ("tanaka tanaka", "Tanaka", "password_is_name"),
    ],
)
def test_a_short_one_an_endless_one_and_the_name_are_refused(password: str, name: str, code: str) -> None:
    """Issue 6. Characters are counted as people see them."""
    with pytest.raises(InvalidInput, match=code):
        check_password(password, name)


@pytest.mark.requirement("S-94")
@given(st.text(max_size=120))
@example("山田　太郎")
@example("Ａlice\u00a0")
def test_a_name_that_is_taken_is_kept_and_found_again(text: str) -> None:
    """Whatever is typed: a usable name, the same when it is given again."""
    try:
        name = person_name(text)
    except InvalidInput:
        return
    assert person_name(name) == name
    assert name_key(name) == name_key(unicodedata.normalize("NFD", name.upper().lower()))
    name.encode("utf-8")
    assert "\0" not in name


def fail(tries: Tries, name: str, address: str, times: int, now: float = 0.0) -> None:
    for _ in range(times):
        tries.begin(Try(name=name, address=address), now)


@pytest.mark.requirement("S-85")
def test_tries_are_counted_by_name_and_address_by_address_and_by_name() -> None:
    """Issue 6: rate limits per name and address."""
    tries = Tries()
    fail(tries, "田中", "a", PER_NAME_AND_ADDRESS)
    with pytest.raises(TooMany, match="too_many_tries"):
        fail(tries, "田中", "a", 1)
    fail(tries, "佐藤", "a", 1)
    fail(tries, "田中", "b", 1)

    tries = Tries()
    for number in range(PER_ADDRESS):
        fail(tries, f"user {number}", "a", 1)
    with pytest.raises(TooMany):
        fail(tries, "somebody", "a", 1)

    tries = Tries()
    for number in range(PER_NAME):
        fail(tries, "Tanaka", f"{number}", 1)
    with pytest.raises(TooMany):
        fail(tries, "ＴＡＮＡＫＡ", "another", 1)


@pytest.mark.requirement("S-85")
def test_the_wait_is_until_the_oldest_failure_is_old_enough() -> None:
    """`Retry-After` is true: a moment before it is refused, then let through."""
    tries = Tries()
    fail(tries, "田中", "a", 1, 0.0)
    fail(tries, "田中", "a", PER_NAME_AND_ADDRESS - 1, 100.0)
    with pytest.raises(TooMany) as refused:
        fail(tries, "田中", "a", 1, 400.0)
    assert refused.value.retry_after == WINDOW_SECONDS - 400.0
    with pytest.raises(TooMany):
        fail(tries, "田中", "a", 1, WINDOW_SECONDS - 1)
    fail(tries, "田中", "a", 1, WINDOW_SECONDS)


@pytest.mark.requirement("S-85")
def test_a_success_is_no_failure() -> None:
    """Many people behind one address sign in all day."""
    tries = Tries()
    for number in range(PER_ADDRESS * 3):
        attempt = Try(name=f"user {number % 7}", address="a")
        tries.begin(attempt, 0.0)
        tries.succeeded(attempt)


@pytest.mark.requirement("S-85")
def test_many_tries_at_once_are_no_way_around() -> None:
    """Each counts as a failure until it is known to be none."""
    tries = Tries()

    def attempt(_: int) -> bool:
        try:
            fail(tries, "田中", "a", 1)
        except TooMany:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(40))) == PER_NAME_AND_ADDRESS
