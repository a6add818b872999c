"""Where keys come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus2skill.adapters.llm.keys import SERVICE, Keys, system_keyring
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import UnusableSettings
from corpus2skill.messages import error_message


def no_keyring(_service: str, _user: str) -> None:
    return None


def a_keyring(service: str, user: str) -> str | None:
    return f"{service}-{user}-secret" if user == "anthropic" else None


def test_the_environment_wins_over_the_file_and_the_file_over_the_keyring(tmp_path: Path) -> None:
    """Issue 4: keys from the environment, a key file or the system keyring."""
    file = tmp_path / "keys"
    file.write_text("OPENAI_API_KEY=from-file\n", encoding="utf-8")
    keys = Keys({"OPENAI_API_KEY": "from-environment"}, file, a_keyring)
    assert keys.key("openai") == ProviderKey(secret="from-environment", source="OPENAI_API_KEY")
    assert Keys({}, file, a_keyring).key("openai") == ProviderKey(secret="from-file", source=str(file))
    assert Keys({}, file, a_keyring).key("anthropic") == ProviderKey(
        secret=f"{SERVICE}-anthropic-secret", source="keyring"
    )
    assert Keys({"ANTHROPIC_API_KEY": " "}, None, no_keyring).key("anthropic") is None
    assert Keys({}, None, no_keyring).key("nobody") is None


@pytest.mark.parametrize(
    "text",
    [
        "ANTHROPIC_API_KEY=sk-1\n",
        "# 鍵\n\nexport ANTHROPIC_API_KEY='sk-1'\nOTHER=x\n",
        'ANTHROPIC_API_KEY = "sk-1"\n',
        'anthropic = "sk-1"\n[section]\nx = 1\n',
        "\ufeffanthropic_api_key = sk-1\r\n",
    ],
)
def test_a_key_file_is_lines_or_toml(tmp_path: Path, text: str) -> None:
    """Issue 4: a key file."""
    file = tmp_path / "keys"
    file.write_text(text, encoding="utf-8")
    assert Keys({}, file, no_keyring).key("anthropic") == ProviderKey(secret="sk-1", source=str(file))


@pytest.mark.parametrize("content", [b"just words\n", b"\xff\xfe\x00", None])
def test_a_key_file_that_cannot_be_used_says_what_was_wanted(tmp_path: Path, content: bytes | None) -> None:
    """house-style.md, rule 21. What stands in the file is not repeated: it may be a key."""
    file = tmp_path / "keys"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UnusableSettings) as caught:
        Keys({}, file, no_keyring).key("anthropic")
    assert caught.value.code == "key_file_unusable"
    for language in ("ja", "en"):
        assert "ANTHROPIC_API_KEY=" in error_message(language, caught.value)
    assert "just words" not in error_message("en", caught.value)


@pytest.mark.parametrize("secret", ["sk-１２３", "sk a", "sk\n1"])
def test_a_key_that_no_header_takes_is_refused_without_showing_it(secret: str) -> None:
    """A full-width or broken key would be shown by the HTTP library's own error."""
    with pytest.raises(UnusableSettings) as caught:
        Keys({"OPENAI_API_KEY": secret}, None, no_keyring).key("openai")
    assert caught.value.code == "key_malformed"
    assert secret not in repr(caught.value)


def test_a_machine_without_a_keyring_has_no_key_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4: the keyring never blocks without a backend."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    assert system_keyring(SERVICE, "anthropic") is None
