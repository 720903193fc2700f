"""What a class calls counts as its own: in the lens above it, and at the call."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.server.asking import actions, lenses
from tests.server.client import Editor
from tests.server.raw import Process

OPS = """\
def scale(x):
    return x.max()


def normalize(x):
    if x.abs().max() > 1:
        x = x / scale(x)
    return x


def choose(flag, x):
    if flag:
        return x
    return -x


def logged(x):
    print("x")
    return x
"""

HEAD = "import ops\nimport torch\nfrom torch import nn\n\n\n"
SEGNET = HEAD + "class SegNet(nn.Module):\n    def forward(self, x):\n        return {}\n"

OUTSIDE = {
    "a function of another file": (
        "ops.normalize(x)",
        "export: 1 error",
        [("ops.normalize", "`ops.normalize` breaks export: ", ["if x.abs().max() > 1:"])],
    ),
    "called twice": (
        "ops.normalize(x) + ops.normalize(-x)",
        "export: 1 error",
        [("ops.normalize", "`ops.normalize` breaks export: ", ["if x.abs().max() > 1:"])] * 2,
    ),
    "by way of another": (
        "(lambda t: ops.normalize(t))(x)",
        "export: 1 error",
        [("ops.normalize", "`ops.normalize` breaks export: ", ["if x.abs().max() > 1:"])],
    ),
    "only what these arguments do": ("ops.choose(True, x)", None, []),
    "what these arguments do": (
        "ops.choose(x.any(), x)",
        "export: 1 error",
        [("ops.choose", "`ops.choose` breaks export: ", ["if flag:"])],
    ),
    "an info counts, and breaks nothing": ("ops.logged(x)", "export: 1 info", []),
}


@pytest.fixture
def editor(shared: Editor) -> Editor:
    shared.write("ops.py", OPS)
    return shared


async def lens_titles(editor: Editor, uri: str) -> dict[str, str]:
    """What the lenses say, by the name of the class."""
    found = await lenses(editor, uri)
    return {
        editor.piece(uri, lens.range).removeprefix("class ").partition("(")[0]: lens.command.title
        for lens in found
        if lens.command is not None
    }


async def at_calls(editor: Editor, uri: str) -> list[tuple[str, str, list[str]]]:
    """Of each diagnostic about a call: the code, the message up to what is found there, the lines it leads to."""
    found = []
    for shown in await editor.diagnostics(uri):
        message = shown.message.partition(": ")[0]
        if not message.endswith((" breaks export", " has an export warning")):
            continue
        lines = [line(editor, related.location) for related in shown.related_information or ()]
        found.append((editor.piece(uri, shown.range), f"{message}: ", lines))
    return found


def line(editor: Editor, place: types.Location) -> str:
    """The line of a place, which may be in a file that is not open."""
    text = editor.texts.get(place.uri)
    if text is None:
        text = (editor.root / place.uri.rpartition("/")[2]).read_text(encoding="utf-8")
    return text.splitlines()[place.range.start.line].strip()


@pytest.mark.parametrize(("body", "title", "calls"), OUTSIDE.values(), ids=list(OUTSIDE))
@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
async def test_what_a_class_calls_in_another_file(
    editor: Editor, body: str, title: str | None, calls: list[tuple[str, str, list[str]]], *, is_open: bool
) -> None:
    if is_open:
        editor.open("ops.py", OPS)
    uri = editor.open("net.py", SEGNET.format(body))
    assert await lens_titles(editor, uri) == ({} if title is None else {"SegNet": title})
    assert await at_calls(editor, uri) == calls


PARTS = f"""\
{HEAD}class Part(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


class Derived(Part):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Part(), Derived()])
        self.body = nn.Sequential(Part())

    def step(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def forward(self, x):
        return ops.normalize(self.step(self.body(x)))


class Unrelated(nn.Module):
    def forward(self, x):
        return x
"""


async def test_submodules_and_what_is_inherited(editor: Editor) -> None:
    uri = editor.open("net.py", PARTS)
    assert await lens_titles(editor, uri) == {
        "Part": "export: 1 error",
        "Derived": "export: 1 error",
        "Net": "export: 2 errors",
    }
    inside = ["if x.sum() > 0:"]
    assert await at_calls(editor, uri) == [
        ("part", "`Part.forward` breaks export: ", inside),
        ("ops.normalize", "`ops.normalize` breaks export: ", ["if x.abs().max() > 1:"]),
        ("self.body", "`Part.forward` breaks export: ", inside),
    ]
    lens = next(one for one in await lenses(editor, uri) if editor.piece(uri, one.range).startswith("class Net"))
    assert lens.command is not None
    assert lens.command.arguments is not None
    files = [place["uri"].rpartition("/")[2] for place in lens.command.arguments[2] or ()]
    assert files == ["net.py", "ops.py"]


async def test_what_is_suppressed_or_mended_there_is_not_told_here(editor: Editor) -> None:
    uri = editor.open("net.py", SEGNET.format("ops.normalize(x)"))
    assert len(await at_calls(editor, uri)) == 1
    ignored = OPS.replace("> 1:", "> 1:  # exportlint: ignore[EXP101]")
    editor.create("ops.py", ignored)
    await editor.until(lambda: not editor.client.published[uri].diagnostics)
    ops = editor.open("ops.py", OPS)
    await editor.until(lambda: len(editor.client.published[uri].diagnostics) == 1)
    editor.set_text(ops, OPS.replace("x.abs().max() > 1", "x.dim() > 1"))
    await editor.until(lambda: not editor.client.published[uri].diagnostics)
    assert await lens_titles(editor, uri) == {}


async def test_the_fix_stays_where_the_finding_is(editor: Editor) -> None:
    ops = editor.open("ops.py", OPS)
    uri = editor.open("net.py", SEGNET.format("ops.normalize(x)"))
    assert len(await at_calls(editor, uri)) == 1
    assert await actions(editor, uri, "ops.normalize") == []
    await editor.until(lambda: ops in editor.client.published and bool(editor.client.published[ops].diagnostics))
    titles = [action.title for action in await actions(editor, ops, "x.abs().max() > 1")]
    assert "Ignore EXP101 on this line" in titles


def test_a_long_trail_is_shown_as_a_whole_by_an_action(server: Process, root: Path) -> None:
    steps = "".join(f"        v{n} = {'x' if n == 0 else f'v{n - 1}'} + {n}\n" for n in range(12))
    head = f"{HEAD}class Net(nn.Module):\n    def forward(self, x):\n"
    uri = (root / "net.py").as_uri()
    server.start(root, {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}})
    server.open(uri, f"{head}{steps}        if v11.any():\n            return x\n")
    (shown,) = server.published(uri, 1)
    assert len(shown["relatedInformation"]) == 7
    params = {"textDocument": {"uri": uri}, "range": shown["range"], "context": {"diagnostics": [shown]}}
    found = server.answer(server.ask("textDocument/codeAction", params))["result"]
    (command,) = [one["command"] for one in found if one["title"] == "Show all 13 steps to EXP101"]
    given, _, places = command["arguments"]
    assert (command["command"], given) == ("exportlint.showFindings", uri)
    rows = [place["range"]["start"]["line"] for place in places]
    assert rows == [*range(6, 19), 19]
