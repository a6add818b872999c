"""`get` and `tree`: read a version's tree."""

from __future__ import annotations

from typing import Annotated

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import open_desk
from corpus2skill.entrypoints.cli.options import AtOption, CorpusOption, JsonOption, WorkspaceOption


def get_command(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A node path or a doc id.")],
    corpus: CorpusOption = None,
    at: AtOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Fetch one node, as the navigator's tool does.

    \b
    corpus2skill get SKILL.md
    corpus2skill get cancellation/SKILL.md --at 3
    corpus2skill get doc_chunk_7 --json
    """
    from corpus2skill.application.read_tree import get_node

    desk = open_desk(workspace, is_json=json)
    node = get_node(desk.workspace, path, corpus=corpus, version=at)
    if json:
        desk.out.document(
            {
                "path": node.path,
                "content": node.content,
                "node_type": node.node_type,
                "children": node.children,
                "doc_id": node.doc_id,
            }
        )
    else:
        desk.out.raw(node.content)
    return exit_codes.OK


def tree_command(
    corpus: CorpusOption = None,
    at: AtOption = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", metavar="N", min=0, help="Levels below the root.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Show the tree as an outline with its paths.

    \b
    corpus2skill tree --depth 1
    corpus2skill tree --corpus terms --at 2 --json
    """
    from corpus2skill.application.choose import chosen_version
    from corpus2skill.application.read_tree import outline

    desk = open_desk(workspace, is_json=json)
    name, number = chosen_version(desk.workspace, corpus, at)
    lines = outline(desk.workspace, corpus=name, version=number, depth=depth)
    if json:
        desk.out.document({"corpus": name, "version": number, "nodes": lines})
        return exit_codes.OK
    for line in lines:
        desk.out.answer(f"{'  ' * line.depth}{line.title}  {line.path}")
    return exit_codes.OK
