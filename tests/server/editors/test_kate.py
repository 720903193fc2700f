"""Kate with `editors/kate`: it starts the server, opens the file in it, and is told what is found."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import NET
from tests.documents import PROJECT
from tests.patience import PATIENCE
from tests.server.editors.programs import do_without

pytestmark = pytest.mark.editors

RECORD = """\
#!{python}
import subprocess, sys, threading

command = [sys.executable, "-m", "exportlint", *sys.argv[1:]]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def copy(source, target, name):
    with open(name, "ab") as record:
        while data := source.read1(65536):
            record.write(data)
            record.flush()
            target.write(data)
            target.flush()
    target.close()

threading.Thread(target=copy, args=(sys.stdin.buffer, server.stdin, r"{directory}/sent"), daemon=True).start()
copy(server.stdout, sys.stdout.buffer, r"{directory}/answered")
"""


def messages(record: Path) -> list[dict[str, Any]]:
    """The messages that have arrived as a whole."""
    data, found = record.read_bytes() if record.exists() else b"", []
    while (end := data.find(b"\r\n\r\n")) >= 0:
        fields = dict(line.lower().split(b": ") for line in data[:end].split(b"\r\n"))
        size = int(fields[b"content-length"])
        body, data = data[end + 4 : end + 4 + size], data[end + 4 + size :]
        if len(body) == size:
            found.append(json.loads(body))
    return found


def of(method: str, record: Path) -> list[Any]:
    return [message["params"] for message in messages(record) if message.get("method") == method]


def test_kate(tmp_path: Path) -> None:
    for program in ("kate", "xvfb-run", "dbus-run-session"):
        if shutil.which(program) is None:
            do_without(f"no {program}")
    command = tmp_path / "bin" / "exportlint"
    command.parent.mkdir()
    command.write_text(RECORD.format(python=sys.executable, directory=tmp_path), encoding="utf-8")
    command.chmod(0o755)
    settings = tmp_path / "config" / "kate" / "lspclient" / "settings.json"
    settings.parent.mkdir(parents=True)
    shutil.copy(PROJECT / "editors" / "kate" / "settings.json", settings)
    # Kate asks before it starts a command for the first time, and takes plugins from its session.
    allowed = f"[lspclient]\nAllowedServerCommandLines={command} server\n"
    (tmp_path / "config" / "katerc").write_text(allowed, encoding="utf-8")
    session = tmp_path / "data" / "kate" / "anonymous.katesession"
    session.parent.mkdir(parents=True)
    session.write_text("[Kate Plugins]\nlspclientplugin=true\n", encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (project / "exportlint.toml").touch()
    file = project / "net.py"
    file.write_text(NET, encoding="utf-8")
    (tmp_path / "run").mkdir(mode=0o700)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT),
        **{f"XDG_{name.upper()}_HOME": str(tmp_path / name) for name in ("config", "data", "cache")},
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }
    started = ["dbus-run-session", "--", "xvfb-run", "-a", "kate", "--block", str(file)]
    with (tmp_path / "kate.log").open("wb") as log:
        kate = subprocess.Popen(started, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (told := of("textDocument/publishDiagnostics", tmp_path / "answered")):
            assert time.monotonic() < deadline, (tmp_path / "kate.log").read_text(errors="replace")
            time.sleep(0.2)
        (opened,) = of("textDocument/didOpen", tmp_path / "sent")
        assert (opened["textDocument"]["uri"], opened["textDocument"]["text"]) == (file.as_uri(), NET)
        assert [(item["code"], item["range"]["start"]) for item in told[0]["diagnostics"]] == [
            ("EXP101", {"line": 6, "character": 11})
        ]
        (asked,) = (m["params"] for m in messages(tmp_path / "sent") if m.get("method") == "initialize")
        assert asked["initializationOptions"] == {"settings": {}}
        assert asked["rootUri"] == project.as_uri()
    finally:
        os.killpg(kate.pid, signal.SIGTERM)
        kate.wait(PATIENCE)
