"""Rules in preview, deprecated rules, and codes that rules had before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import exportlint.rules
from exportlint import registry
from exportlint.config import Configuration
from exportlint.registry import find_rule
from exportlint.server.problems import notice_of
from tests.cli.runner import Run, write

RULE = """\
from exportlint.analysis.facts import TypeTest
from exportlint.registry import rule
from exportlint.rules.tensor_type_test import tensor_type_test


@rule("{code}", "{name}", TypeTest, {status})
def check(fact, context):
    yield from tensor_type_test(fact, context)
"""

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x + 1 if type(x) is torch.Tensor else x
"""

STATUS = {
    ("EXP690", "newer-type-test"): "preview=True",
    ("EXP691", "older-type-test"): 'deprecated="EXP602 (tensor-type-test) reports the same"',
    ("EXP692", "other-type-test"): 'former="EXP699 former-type-test"',
}


@pytest.fixture(autouse=True)
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three rules more, which report what EXP602 does: in preview, deprecated, and renamed."""
    folder = tmp_path / "more" / "rules"
    for (code, name), status in STATUS.items():
        write(folder, {f"{name.replace('-', '_')}.py": RULE.format(code=code, name=name, status=status)})
    monkeypatch.setattr(exportlint.rules, "__path__", [*exportlint.rules.__path__, str(folder)])
    before = dict(registry._registered)
    _forget()
    yield
    registry._registered.clear()
    registry._registered.update(before)
    _forget()


def _forget() -> None:
    for known in (registry.all_rules, registry._by_text, registry.expand, registry.preview_codes, registry.prefixes):
        known.cache_clear()
    registry._by_fact.clear()


@pytest.fixture
def net(root: Path) -> Path:
    """The directory with a module whose `type(x) is torch.Tensor` these rules report."""
    write(root, {"net.py": NET})
    return root


CHOSEN = {
    (): {"EXP602", "EXP691", "EXP692"},
    ("--preview",): {"EXP602", "EXP690", "EXP691", "EXP692"},
    ("--select", "EXP69"): {"EXP691", "EXP692"},
    ("--preview", "--select", "EXP69"): {"EXP690", "EXP691", "EXP692"},
    ("--preview", "--ignore", "newer-type-test"): {"EXP602", "EXP691", "EXP692"},
    ("--config", "preview = true", "--select", "EXP690"): {"EXP690"},
    ("--config", "preview = true", "--no-preview", "--select", "EXP6"): {"EXP602", "EXP691", "EXP692"},
    ("--select", "EXP699"): {"EXP692"},
    ("--select", "former-type-test"): {"EXP692"},
    ("--ignore", "EXP699"): {"EXP602", "EXP691"},
}


@pytest.mark.parametrize("flags", CHOSEN)
@pytest.mark.usefixtures("net")
def test_only_the_setting_turns_previews_on_and_former_codes_stay(run: Run, flags: tuple[str, ...]) -> None:
    result = run("net.py", "--no-cache", "--output-format", "json", *flags)
    assert {code for _, _, code in result.places} == CHOSEN[flags]


NOTICES = {
    ("--select", "EXP6"): "",
    ("--select", "EXP690"): "warning: `select`: `EXP690` has no effect, because the rule is in preview: "
    "set `preview = true`\n",
    ("--preview", "--select", "EXP690"): "",
    ("--extend-select", "older-type-test"): "warning: `extend-select`: `older-type-test` is deprecated: "
    "EXP602 (tensor-type-test) reports the same\n",
    ("--ignore", "EXP691"): "",
    ("--ignore", "EXP699"): "warning: `ignore`: `EXP699` is now `EXP692`\n",
    ("--select", "former-type-test"): "warning: `select`: `former-type-test` is now `other-type-test`\n",
}


@pytest.mark.parametrize("flags", NOTICES)
@pytest.mark.usefixtures("net")
def test_names_of_rules_that_are_to_be_changed_are_said_once(run: Run, flags: tuple[str, ...]) -> None:
    result = run("net.py", "--no-cache", "--torch-version", "2.13", *flags)
    assert result.err == NOTICES[flags]


@pytest.mark.parametrize("named", ["EXP692", "EXP699", "former-type-test"])
def test_comments_with_former_names_suppress(run: Run, net: Path, named: str) -> None:
    write(net, {"net.py": NET.replace("else x\n", f"else x  # exportlint: ignore[{named}]\n")})
    result = run("net.py", "--no-cache", "--output-format", "json", "--select", "EXP692,EXP0")
    assert result.findings == []


def test_what_is_read_of_a_rule_is_what_it_registers() -> None:
    for code, _ in STATUS:
        told = find_rule(code)
        assert told is not None
        assert told.check is not None
        assert registry._registered[code] == told


def test_pages_tell_the_status(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    page = registry.page(found) if (found := find_rule("EXP602")) is not None else ""
    for place in ("exportlint.cli.rule.page", "exportlint.report.rule_page.page", "exportlint.explain.page"):
        monkeypatch.setattr(place, lambda _: page)
    assert "\n\nPreview: only the setting `preview` turns it on.\n" in run("rule", "EXP690").out
    assert "\n\nDeprecated: EXP602 (tensor-type-test) reports the same.\n" in run("rule", "EXP691").out
    assert "eprecated: " not in run("rule", "EXP602").out
    for code, status in {"EXP690": "preview", "EXP691": "deprecated", "EXP602": "stable"}.items():
        assert json.loads(run("rule", code, "--output-format", "json").out)["status"] == status


def test_an_editor_is_told_in_the_configuration_file(net: Path) -> None:
    write(net, {"exportlint.toml": 'mode = "strict"\nextend-select = ["EXP691"]\n'})
    settings = Configuration(net).for_file(net / "net.py")
    notice = notice_of(settings)
    assert notice is not None
    assert (notice.file, notice.line) == (net / "exportlint.toml", 2)
    assert notice.message == "`extend-select`: `EXP691` is deprecated: EXP602 (tensor-type-test) reports the same"
