"""Every promise has a test, and every test that names a promise names a real one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).resolve().parents[1]


def test_every_promise_has_a_test() -> None:
    """House style, rule 34."""
    missing = REQUIREMENTS.keys() - {requirement for _, requirement in _named()}
    assert not missing, f"no test names {sorted(missing)}"


def test_every_promise_that_a_test_names_exists() -> None:
    """House style, rule 34."""
    unknown = [f"{file.name}: {name}" for file, name in _named() if name not in REQUIREMENTS]
    assert not unknown


def _named() -> Iterator[tuple[Path, str]]:
    """Yield every id in a decorator `@pytest.mark.requirement("C-01", ...)` of a test function."""
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for decorator in node.decorator_list:
                    yield from ((file, name) for name in _ids(decorator))


def _ids(decorator: ast.expr) -> Iterator[str]:
    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.requirement":
        for argument in decorator.args:
            yield str(ast.literal_eval(argument))
