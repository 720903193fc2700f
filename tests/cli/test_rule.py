from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import exportlint
from exportlint.registry import all_rules
from exportlint.report.rule_page import readable
from tests.cli.runner import Run
from tests.patience import PATIENCE
from tests.schema import violations


@pytest.mark.parametrize("name", ["EXP001", "syntax-error"])
def test_a_page_by_code_or_name(run: Run, name: str) -> None:
    result = run("rule", name)
    assert result.code == 0
    assert result.out.startswith("# syntax-error (EXP001)\n\n## What it does\n")


def test_a_page_in_a_terminal_has_only_what_people_read(run: Run) -> None:
    shown = run("rule", "EXP101").out
    assert "```python\n" in shown
    assert "<!--" not in shown
    assert "```py bad" not in shown


def test_json(run: Run) -> None:
    shown = json.loads(run("rule", "EXP002", "--output-format", "json").out)
    assert shown["code"] == "EXP002"
    assert shown["name"] == "unused-suppression"
    assert shown["family"]["name"] == "linter"
    assert shown["explanation"].startswith("# unused-suppression (EXP002)\n")
    assert shown["url"].endswith("/EXP002-unused-suppression.md")


def test_all(run: Run) -> None:
    shown = json.loads(run("rule", "--all", "--output-format", "json").out)
    assert [rule["code"] for rule in shown] == [rule.code for rule in all_rules()]
    schema = json.loads((Path(exportlint.__file__).parent / "rules.schema.json").read_text(encoding="utf-8"))
    assert list(violations(shown, schema, schema)) == []
    del shown[0]["quotes"]
    shown[1]["examples"][0].update(kind="worse", more=1, row=0, rewrites=True)
    assert list(violations(shown, schema, schema)) == [
        "$[0]: there is no 'quotes'",
        "$[1].examples[0].kind: 'worse' is none of ['bad', 'fixed', 'ok', None]",
        "$[1].examples[0].row: 0 is less than 1",
        "$[1].examples[0].rewrites: True is no integer or null",
        "$[1].examples[0]: 'more' is not described",
    ]
    text = run("rule", "--all").out
    for rule in all_rules():
        title, _, rest = readable(rule).strip().partition("\n")
        assert f"{title}\n" in text
        assert rest in text


def test_json_holds_what_explains_and_fixes_a_finding(run: Run) -> None:
    shown = json.loads(run("rule", "EXP602", "--output-format", "json").out)
    assert shown["summary"].startswith("Reports comparisons of the type of a tensor: `type(x) is torch.Tensor`")
    assert shown["quotes"][0].startswith("eager:    tensor([[4., 4., 4.],")
    assert shown["severities"][0] == {
        "pattern": "type of a tensor compared",
        "mode": "non-strict",
        "by_version": dict.fromkeys(("2.4", "2.6", "2.9", "2.13", "2.15"), "warning"),
    }
    bad, fixed = (next(e for e in shown["examples"] if e["kind"] == kind) for kind in ("bad", "fixed"))
    (finding,) = bad["findings"]
    assert (finding["code"], finding["severity"], finding["modes"]) == ("EXP602", "warning", ["non-strict"])
    assert "type(x) is torch.Tensor" in bad["source"].splitlines()[finding["row"] - 1]
    assert "```py bad is\n" + bad["source"] in shown["explanation"]
    assert shown["explanation"].splitlines()[bad["row"] - 1] == "```py bad is"
    assert (fixed["kind"], fixed["rewrites"], fixed["note"]) == (
        "fixed",
        bad["row"],
        "`isinstance` accepts subclasses as well:",
    )
    assert fixed["inputs"] == bad["inputs"] == ["(torch.ones(2, 3),)", "(2 * torch.ones(2, 3),)"]
    assert shown["references"][2]["note"] == "`type_reflection_method`"


def test_fixes_of_a_rule(run: Run) -> None:
    assert run("rule", "EXP002").out.startswith("# unused-suppression (EXP002)\n\nFixes: safe, unsafe.\n\n## What")
    shown = json.loads(run("rule", "EXP002", "--output-format", "json").out)
    assert shown["fix"]["applicabilities"] == ["safe", "unsafe"]
    assert shown["fix"]["safety"].startswith("Safe: only comments change")
    assert [example["fix"] for example in shown["examples"]] == [None] * 4 + ["safe"] * 3 + ["unsafe"]
    assert json.loads(run("rule", "EXP001", "--output-format", "json").out)["fix"] is None


def test_the_text_needs_no_parser_of_pages(tmp_path: Path) -> None:
    script = "import sys; from exportlint.cli import main; main(['rule', 'EXP101']); print(*sys.modules)"
    command = [sys.executable, "-c", script]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    loaded = out.splitlines()[-1].split()
    assert "exportlint.cli.rule" in loaded
    assert not {"json", "exportlint.explain", "exportlint.pages"} & set(loaded)


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("rule", "EXP999"), "there is no rule `EXP999`"),
        (("rule", "101"), "there is no rule `101`, did you mean `EXP101`"),
        (("rule", "sytnax-error"), "there is no rule `sytnax-error`, did you mean `syntax-error`?"),
        (("rule",), "name one rule, or give --all"),
        (("rule", "EXP001", "--all"), "name one rule, or give --all"),
        (("config", "torch_version"), "there is no setting `torch_version`, did you mean `torch-version`?"),
    ],
)
def test_wrong_use(run: Run, argv: tuple[str, ...], error: str) -> None:
    result = run(*argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {error}")


def test_config_lists_and_explains_settings(run: Run) -> None:
    keys = run("config").out.splitlines()
    assert {"mode", "torch-version", "select", "per-file-ignores"} <= set(keys)
    explained = json.loads(run("config", "--output-format", "json").out)
    assert list(explained) == keys
    for key in keys:
        out = run("config", key).out
        assert out.startswith(f"{key}\n\n")
        assert explained[key]["type"] in out
        assert explained[key]["example"] in out
        assert [line.strip() for line in out.splitlines() if line.strip() in keys][1:] == [
            name for name in keys if name.startswith(f"{key}.")
        ]


def test_a_fix_that_the_page_only_describes_is_named(run: Run) -> None:
    assert "Fixes: safe, unsafe.\n" in run("rule", "EXP602").out
    assert "Fixes: display-only.\n" in run("rule", "EXP804").out


def test_version(run: Run) -> None:
    from exportlint import __version__

    assert run("version").out == run("--version").out == f"exportlint {__version__}\n"


@pytest.mark.parametrize("argv", [("--help",), ("check", "--help"), ("rule", "-h"), ("config", "-h")])
def test_help(run: Run, argv: tuple[str, ...]) -> None:
    result = run(*argv)
    assert result.code == 0
    assert "exit codes:" in result.out


@pytest.mark.parametrize("command", ["rule", "init", "config", "server", "clean", "version"])
def test_help_does_not_name_flags_of_another_command(run: Run, command: str) -> None:
    out = run(command, "--help").out
    assert "130  interrupted by Ctrl-C" in out
    assert "--fail-on" not in out
    assert "--diff" not in out
