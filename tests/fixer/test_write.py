"""What was fixed is written as a whole, and only over what was fixed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from exportlint import atomic
from exportlint.findings import Applicability
from exportlint.fixer import Fixed, fix, write, write_all
from exportlint.source import SourceError
from tests.fixer.words import tasks

pytestmark = pytest.mark.usefixtures("words")


@pytest.fixture
def fixed(tmp_path: Path) -> Fixed:
    (one,) = fix(tasks(tmp_path, {"a.py": "bad"}), lambda _: Applicability.SAFE).fixed
    return one


def test_permissions_stay(fixed: Fixed) -> None:
    fixed.task.path.chmod(0o750)
    write(fixed)
    assert fixed.task.path.read_bytes() == b"good"
    assert stat.S_IMODE(fixed.task.path.stat().st_mode) == 0o750
    assert list(fixed.task.path.parent.iterdir()) == [fixed.task.path]


def test_a_link_stays(fixed: Fixed) -> None:
    path = fixed.task.path
    target = path.with_name("b")
    path.rename(target)
    path.symlink_to(target)
    write(fixed)
    assert path.is_symlink()
    assert target.read_bytes() == b"good"


def test_what_was_changed_meanwhile_is_not_overwritten(fixed: Fixed) -> None:
    fixed.task.path.write_bytes(b"bad, and more")
    with pytest.raises(SourceError, match=r"a\.py: changed on disk while it was being fixed"):
        write(fixed)
    assert fixed.task.path.read_bytes() == b"bad, and more"


def test_what_was_deleted_meanwhile_is_not_made_again(fixed: Fixed) -> None:
    fixed.task.path.unlink()
    with pytest.raises(SourceError, match=r"a\.py: cannot be read: No such file"):
        write(fixed)
    assert list(fixed.task.path.parent.iterdir()) == []


def test_files_that_belong_together_are_all_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = fix(tasks(tmp_path, {"a.py": "bad", "b.py": "bad"}), lambda _: Applicability.SAFE).fixed
    paths = [one.task.path for one in both]
    paths[1].write_text("changed")
    with pytest.raises(SourceError, match="changed on disk while it was being fixed"):
        write_all(both)
    assert [path.read_text() for path in paths] == ["bad", "changed"]
    paths[1].write_text("bad")
    replace = atomic.replace

    def fails_for_the_second(path: Path, data: bytes) -> None:
        if path == paths[1]:
            raise SourceError(str(path), "cannot be written: no space")
        replace(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "replace", fails_for_the_second)
        with pytest.raises(SourceError, match="no space"):
            write_all(both)
    assert [path.read_text() for path in paths] == ["bad", "bad"]
    write_all(both)
    assert [path.read_text() for path in paths] == ["good", "good"]
