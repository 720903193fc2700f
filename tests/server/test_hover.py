"""Pages of rules where the user points at."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from exportlint.registry import Rule, all_rules
from exportlint.server.pages import summary
from tests.cli.runner import NET
from tests.server.asking import hover
from tests.server.capabilities import ENCODINGS, capable, minimal
from tests.server.client import Editor, editing

URL = "https://github.com/exportlint/exportlint/blob/main/rules/EXP101-tensor-branch.md"
TITLE = f"[tensor-branch (EXP101)]({URL})"
WHY = "torch.export runs the code once, without concrete values"


@pytest.fixture
def editor(shared: Editor) -> Editor:
    return shared


def text_of(shown: types.Hover | None) -> str:
    assert shown is not None
    assert isinstance(shown.contents, types.MarkupContent)
    return shown.contents.value


async def test_a_finding_shows_what_is_wrong_why_and_how_to_mend_it(editor: Editor) -> None:
    uri = editor.open("net.py", NET)
    place = editor.range_of(uri, "x.sum() > 0")
    for position in (place.start, editor.range_of(uri, "sum").start, place.end):
        shown = await hover(editor, uri, position)
        assert shown is not None
        assert shown.range == place
        text = text_of(shown)
        said, why, fix = text.split("\n\n")
        assert said == f"{TITLE}: {(await editor.diagnostics(uri))[0].message.splitlines()[0]}"
        assert why.startswith(WHY)
        assert why.endswith("so it fails.")
        assert fix == "Fix: Choose with `torch.where`"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_page_says_in_two_paragraphs_what_it_is_about(rule: Rule) -> None:
    about = summary(rule)
    for paragraph in (about.what, about.why):
        assert 15 < len(paragraph) < 1000
        assert paragraph[-1] in ".)`"
        assert "\n" not in paragraph
        assert "```" not in paragraph


async def test_the_call_of_what_breaks_export_says_so(editor: Editor) -> None:
    editor.create("ops.py", "def chosen(x):\n    if x.sum() > 0:\n        return x\n    return -x\n")
    model = "import ops\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    uri = editor.open("net.py", f"{model}        return ops.chosen(x)\n")
    text = text_of(await hover(editor, uri, editor.range_of(uri, "ops.chosen").start))
    assert text.startswith(f"{TITLE}: `ops.chosen` breaks export: ")
    assert WHY in text


async def test_nothing_is_shown_where_exportlint_is_switched_off(editor: Editor) -> None:
    uri = editor.open("net.py", NET.replace("> 0:", "> 0:  # exportlint: ignore[EXP101]"))
    await editor.configure({"enable": False})
    for piece in ("x.sum()", "EXP101"):
        assert await hover(editor, uri, editor.range_of(uri, piece).start) is None


async def test_nothing_is_shown_where_nothing_is(editor: Editor) -> None:
    uri = editor.open("net.py", NET + "# EXP101 is not named here # noqa\n")
    for piece in ("class", "EXP101", "noqa"):
        assert await hover(editor, uri, editor.range_of(uri, piece).start) is None
    assert await hover(editor, uri, types.Position(10**6, 10**6)) is None
    assert await hover(editor, "file:///nowhere.py", types.Position(0, 0)) is None


@pytest.mark.parametrize(
    ("comment", "named"),
    [
        ("# exportlint: ignore[EXP101]", "EXP101"),
        ("# exportlint: ignore[tensor-branch] because", "tensor-branch"),
        ("# exportlint: ignore[EXP202, tensor-branch ]", "tensor-branch"),
        ("# why # exportlint: ignore[EXP101]", "EXP101"),
        ("# noqa: EXP101", "EXP101"),
        ("# noqa: E501,EXP101", "EXP101"),
        ("# noqa: exp101", "exp101"),
    ],
)
async def test_a_comment_shows_the_page_of_the_rule_that_it_names(editor: Editor, comment: str, named: str) -> None:
    uri = editor.open("net.py", NET.replace("> 0:", f"> 0:  {comment}"))
    place = editor.range_of(uri, named)
    for position in (place.start, place.end):
        shown = await hover(editor, uri, position)
        assert shown is not None
        assert shown.range == place
        assert text_of(shown).startswith(TITLE)
    assert await hover(editor, uri, editor.range_of(uri, f"  {comment}").end) is None or comment.endswith(named)


@pytest.mark.parametrize("verb", ["file-ignore", "disable"])
async def test_a_comment_of_its_own_line_does_so_too(editor: Editor, verb: str) -> None:
    uri = editor.open("net.py", f"# exportlint: {verb}[EXP101]\n{NET}")
    assert text_of(await hover(editor, uri, editor.range_of(uri, "EXP101").start)).startswith(TITLE)


async def test_a_family_is_listed(editor: Editor) -> None:
    uri = editor.open("net.py", f"# exportlint: file-ignore[EXP1]\n{NET}")
    text = text_of(await hover(editor, uri, editor.range_of(uri, "EXP1").start))
    assert text.startswith("`EXP1`:\n\n- [EXP101](https://")
    assert "EXP102" in text
    assert "EXP201" not in text


async def test_a_string_is_no_comment(editor: Editor) -> None:
    uri = editor.open("net.py", 'text = "# exportlint: ignore[EXP101]"\n')
    assert await hover(editor, uri, editor.range_of(uri, "EXP101").start) is None


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_places_are_in_the_units_of_the_client(tmp_path: Path, encoding: str) -> None:
    async with editing(tmp_path, capable(encoding)) as editor:
        text = NET.replace("if x.sum() > 0:", "if '😀é' and x.sum() > 0: # 😀 noqa, # noqa: EXP202")
        uri = editor.open("net.py", text.replace("\n", "\r\n"))
        place = editor.range_of(uri, "EXP202")
        shown = await hover(editor, uri, place.start)
        assert shown is not None
        assert shown.range == place
        place = editor.range_of(uri, "x.sum()")
        shown = await hover(editor, uri, place.start)
        assert text_of(shown).startswith(TITLE)


async def test_a_client_without_markdown_gets_plain_text(tmp_path: Path) -> None:
    async with editing(tmp_path, minimal()) as editor:
        uri = editor.open("net.py", NET)
        shown = await hover(editor, uri, editor.range_of(uri, "x.sum() > 0").start)
        assert shown is not None
        assert isinstance(shown.contents, types.MarkupContent)
        assert shown.contents.kind is types.MarkupKind.PlainText
        assert shown.contents.value.startswith(f"tensor-branch (EXP101), {URL}: ")
