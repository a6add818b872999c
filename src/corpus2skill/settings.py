"""Environment and file, read once into one frozen value.

What wins, from strong to weak: an option of the command, `CORPUS2SKILL_<NAME>` in the environment, the
workspace's `settings.toml`, the default.
"""

from __future__ import annotations

import locale
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal, cast

from corpus2skill.domain.stated_price import FORM, prices_text, stated_prices
from corpus2skill.domain.webhook import parsed_network
from corpus2skill.errors import UnusableSettings, WorkspaceUnusable

HOME_VARIABLE = "CORPUS2SKILL_HOME"
LANGUAGE_VARIABLE = "CORPUS2SKILL_LANG"
SETTINGS_FILE = "settings.toml"
DEFAULT_WORKSPACE = ".corpus2skill"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one workspace. Sizes in characters where nothing else is said."""

    corpus: str = "default"
    """The corpus meant where none is named."""
    model: str = "offline"
    """Engine of compiles and questions. A paid one is used only when named here or by an option."""
    summary_model: str | None = None
    """Writes titles and summaries; None, here and in the next two: as `model` says."""
    grouping_model: str | None = None
    navigation_model: str | None = None
    base_url: str | None = None
    """Where an OpenAI-compatible server answers; None: the provider's own address."""
    key_file: str | None = None
    """A file with provider keys, looked into after the environment and before the system's keyring."""
    context_window: int | None = None
    """Tokens that prompt and reply may have together; None: what is known of the model."""
    concurrency: int = 16
    """Calls of one key at a time."""
    requests_per_minute: int | None = None
    """None, here and in the next: as many as the provider lets through."""
    tokens_per_minute: int | None = None
    max_cost: float | None = None
    """US dollars that one compile may spend."""
    prices: str | None = None
    """US dollars for a million tokens of input and output by model, as `domain.stated_price`; a table in the file.

    They win over the price list.
    """
    input_price: float | None = None
    """US dollars for a million tokens of input of the one model in use that has no other price; so the next."""
    output_price: float | None = None
    reply_seconds: float = 300.0
    """How long one reply to a compile's call may take."""
    patience_seconds: float = 300.0
    """How long a compile goes on trying while no call of a key succeeds."""
    chunk_limit: int = 1500
    chunk_minimum: int = 40
    max_children: int = 12
    """Groups in one node."""
    max_leaves: int = 30
    """Leaves in one group."""
    fetch_limit: int = 8
    """Fetches of one run."""
    last_word: str = "stop"
    """At the fetch limit: `stop`, or `answer` for one round without tools."""
    run_seconds: float = 120.0
    round_seconds: float = 60.0
    silence_seconds: float = 30.0
    """How long a stream of a round may be silent before the round is begun again."""
    rounds_at_once: int = 500
    """Rounds of one key at a time; a provider that sends them away makes them fewer."""
    history_tokens: int = 8_000
    """Of earlier turns, counted generously."""
    question_cost: float | None = None
    """US dollars that the answer to one question may cost. None, here and in the next two: no limit."""
    session_cost: float | None = None
    """One conversation."""
    day_cost: float | None = None
    """All questions of a tenant in any 24 hours."""
    month_cost: float | None = None
    """All compiles and questions of a tenant in a month, which begins in UTC."""
    question_characters: int = 10_000
    max_file_bytes: int = 100_000_000
    max_characters: int = 20_000_000
    """Of one source document's text."""
    max_pages: int = 5_000
    """Of one PDF."""


TENANT_NAMES = (
    "model",
    "summary_model",
    "grouping_model",
    "navigation_model",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "prices",
    "input_price",
    "output_price",
    "last_word",
    "question_cost",
    "session_cost",
    "day_cost",
    "month_cost",
    "max_cost",
)
"""What a tenant of a server sets for itself. All else is the operator's."""
_MOST_OF_TENANTS = {"concurrency": 256}
"""The operator's machine bears it."""

LOOPBACK_ADDRESSES = ("localhost", "::1")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
"""As they stand in `Host`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What `serve` is told, by its options or `CORPUS2SKILL_<NAME>` in the environment."""

    host: str = "127.0.0.1"
    port: int = 8484
    root_path: str = ""
    """The sub-path under which a proxy shows the server, without a slash at its end."""
    database_url: str | None = None
    """`postgresql+psycopg://...`; None: SQLite in the workspace."""
    master_key_file: str | None = None
    """The file with the key that seals customers' keys; CORPUS2SKILL_MASTER_KEY wins over it. None: on the embedded
    default the server makes one in the workspace, otherwise it does not start."""
    allow_private_endpoints: bool | None = None
    """Whether customers' keys may be used at addresses of private networks. None: by the local tenant of the embedded
    default alone."""
    jobs_at_once: int = 2
    """Compiles that the worker carries out at a time."""
    jobs_per_tenant: int = 1
    """Of which so many may belong to one tenant; of one corpus there is one at a time."""
    runs_at_once: int = 50
    """Questions of one tenant that are answered at a time; further ones are told to come again."""
    public_hosts: tuple[str, ...] = ()
    """Names under which the server is asked beside those of this machine."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses whose `X-Forwarded-For` and `-Proto` are believed."""
    log_format: Literal["console", "json"] = "console"
    stop_seconds: float = 20.0
    """How long runs under way may go on once the server is asked to stop."""
    requests_per_minute: int = 1_200
    """Of one token or person."""
    questions_per_minute: int = 60
    """Of one end user, as the token's bearer names them."""
    webhook_schemes: tuple[str, ...] = ("https",)
    """Of the addresses that webhooks may have; `https,http` lets plain ones in."""
    webhook_networks: tuple[str, ...] = ()
    """Networks that webhooks may lead to although they are not the internet's, as 10.1.0.0/16."""

    @property
    def is_on_loopback(self) -> bool:
        """True where nobody but this machine can reach the server."""
        return self.host in LOOPBACK_ADDRESSES or self.host.startswith("127.")

    @property
    def is_embedded(self) -> bool:
        """True for the default without set-up: all in the workspace, and nobody else can reach it."""
        return self.database_url is None and self.is_on_loopback


_TYPES = {field.name: str(field.type).removesuffix(" | None") for field in fields(Settings)}
_SERVER_TYPES = {field.name: str(field.type).removesuffix(" | None") for field in fields(ServerSettings)}
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_SERVER_WANTED = {
    "allow_private_endpoints": "true | false",
    "port": "0 ... 65535",
    "root_path": "/docs",
    "log_format": "console | json",
    "webhook_schemes": "https | https,http",
    "webhook_networks": "10.1.0.0/16, fd00::/8",
}
MOST_PORT = 65_535
NAMES = tuple(_TYPES)
MOST = {"int": 1_000_000_000_000, "float": 1_000_000.0}
"""The highest value of any number: 1 TB, a million seconds. Beyond it nothing is meant, and much breaks."""
MOST_FETCHES = 100
"""The capacity of a tree grows with the power of the fetch limit."""


def workspace_path(option: str | None, environment: Mapping[str, str]) -> Path:
    """Where the workspace is: the option, `CORPUS2SKILL_HOME`, or `.corpus2skill` in the current folder."""
    return expanded(Path(option or environment.get(HOME_VARIABLE) or DEFAULT_WORKSPACE))


def expanded(path: Path) -> Path:
    """Return `path` as an absolute one, `~` resolved where it names a home."""
    try:
        return path.expanduser().absolute()
    except RuntimeError:  # a name that only looks like a user's
        return path.absolute()


def interface_language(environment: Mapping[str, str]) -> str:
    """`ja` or `en` for output and errors: `CORPUS2SKILL_LANG`, else the locale."""
    wanted = environment.get(LANGUAGE_VARIABLE)
    if wanted:
        return "ja" if wanted.lower().startswith("ja") else "en"
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "ja" if environment[name].lower().startswith("ja") else "en"
    return "ja" if (locale.getlocale()[0] or "").lower().startswith("ja") else "en"


def load_settings(workspace: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of a workspace.

    Raises:
        UnusableSettings: a value of the file or the environment is not what is wanted there.
    """
    stored = read_settings_file(workspace)
    from_environment = {
        name: text for name in NAMES if (text := (environment or os.environ).get(variable(name))) is not None
    }
    return Settings(
        **{name: parse_value(name, value) for name, value in {**stored, **from_environment}.items()}  # type: ignore[arg-type]
    )


def load_server_settings(
    options: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> ServerSettings:
    """Settle what `serve` is told; an option that is None was not given.

    Raises:
        UnusableSettings: a value is not what is wanted there.
    """
    found: dict[str, object] = {
        name: text
        for name in _SERVER_TYPES
        if (text := (os.environ if environment is None else environment).get(variable(name)))
    }
    found |= {name: value for name, value in options.items() if value is not None}
    return ServerSettings(**{name: _server_value(name, value) for name, value in found.items()})  # type: ignore[arg-type]


def server_environment(settings: ServerSettings) -> dict[str, str]:
    """The same settings as variables, for a child process."""
    texts = {name: _spelled(value) for name, value in asdict(settings).items() if value is not None}
    return {variable(name): text for name, text in texts.items() if text}


def _spelled(value: object) -> str:
    return ",".join(map(str, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else str(value)


def _server_value(name: str, value: object) -> object:
    kind = _SERVER_TYPES[name]
    if kind == "tuple[str, ...]":
        return _server_list(name, value)
    if kind == "bool" and isinstance(value, str):
        value = _BOOLEANS.get(value.strip().lower())
    parsed = _parsed(value, kind) if kind in ("int", "float", "str") else value
    if parsed is None or not _is_server_value(name, parsed):
        raise UnusableSettings(
            "setting_value", name=name, value=str(value), wanted=_SERVER_WANTED.get(name, kind)
        )
    return parsed


def _server_list(name: str, value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else cast("tuple[str, ...]", value)
    found = tuple(filter(None, (part.strip() for part in parts)))
    if not all(_is_of_list(name, part) for part in found):
        raise UnusableSettings("setting_value", name=name, value=",".join(found), wanted=_SERVER_WANTED[name])
    return found


def _is_of_list(name: str, part: str) -> bool:
    match name:
        case "webhook_schemes":
            return part in ("https", "http")
        case "webhook_networks":
            try:
                parsed_network(part)
            except ValueError:
                return False
            return True
        case _:
            return True


def _is_server_value(name: str, value: object) -> bool:
    match name:
        case "port":
            return isinstance(value, int) and 0 <= value <= MOST_PORT
        case "root_path":
            return value == "" or (
                isinstance(value, str) and value.startswith("/") and not value.endswith("/")
            )
        case "allow_private_endpoints":
            return isinstance(value, bool)
        case "log_format":
            return value in ("console", "json")
        case _:
            return not isinstance(value, int | float) or value > 0


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"CORPUS2SKILL_{name.upper()}"


def read_settings_file(workspace: Path) -> dict[str, object]:
    """What `settings.toml` says, unchecked but for its names; empty without a file."""
    file = workspace / SETTINGS_FILE
    try:
        stored = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except PermissionError as error:
        raise WorkspaceUnusable("no_rights", path=str(file), reason=error.strerror) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UnusableSettings("settings_unreadable", file=str(file), reason=str(error)) from error
    for name in stored:
        check_name(name)
    return stored


def check_name(name: str) -> None:
    """Raises: UnusableSettings: there is no such setting."""
    if name not in NAMES:
        raise UnusableSettings("unknown_setting", name=name, known=", ".join(NAMES))


def parse_value(name: str, value: object) -> str | int | float:
    """Turn what came from a file, the environment or a command into the setting's type.

    Raises:
        UnusableSettings: it is of another type or out of range.
    """
    parsed = _parsed_prices(value) if name == "prices" else _parsed(value, _TYPES[name])
    if parsed is None or not _is_allowed(name, parsed):
        raise UnusableSettings("setting_value", name=name, value=str(value), wanted=_wanted(name))
    return parsed


def check_tenant_value(name: str, value: object) -> str | int | float:
    """The same for what a tenant sets for itself.

    Raises:
        UnusableSettings: as `parse_value`; or it is the operator's to set, or more than a tenant may have.
    """
    if name not in TENANT_NAMES:
        raise UnusableSettings("unknown_setting", name=name, known=", ".join(TENANT_NAMES))
    parsed = parse_value(name, value)
    most = _MOST_OF_TENANTS.get(name)
    if most is not None and not isinstance(parsed, str) and parsed > most:
        raise UnusableSettings("setting_value", name=name, value=str(value), wanted=f"1 ... {most}")
    return parsed


def laid_over(settings: Settings, values: Mapping[str, str | int | float]) -> Settings:
    """`settings` with a tenant's own in their place; what an older release let them set is passed over."""
    known = {name: value for name, value in values.items() if name in TENANT_NAMES}
    return replace(settings, **known)


def _parsed(value: object, wanted: str) -> str | int | float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        parsed = {"str": str, "int": int, "float": float}[wanted](value)
    except (ValueError, OverflowError):
        return None
    return None if isinstance(value, float) and parsed != value else parsed


def _parsed_prices(value: object) -> str | None:
    """One line, whichever way it was written."""
    try:
        text = prices_text(cast("dict[str, object]", value)) if isinstance(value, dict) else str(value)
        stated_prices(text)
    except ValueError:
        return None
    return text


def _is_allowed(name: str, value: str | int | float) -> bool:
    if name == "last_word":
        return value in {"stop", "answer"}
    if isinstance(value, str):
        return bool(value) and _is_text(value)
    return 0 < value <= _most(name)


def _is_text(value: str) -> bool:
    """False for a lone surrogate, which bytes on a command line become that are no UTF-8: no file holds it."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _most(name: str) -> float:
    return MOST_FETCHES if name == "fetch_limit" else MOST[_TYPES[name]]


def _wanted(name: str) -> str:
    if name == "last_word":
        return "stop | answer"
    if name == "prices":
        return FORM
    if _TYPES[name] == "str":
        return "text"
    return f"1, 2, 3, ... {_most(name)}" if _TYPES[name] == "int" else f"> 0, <= {_most(name):.0f}"
