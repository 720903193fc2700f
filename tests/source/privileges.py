"""Running as a user whom permissions stop."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Lays down the privileges of root for a while. Paths have to be relative: parents may be closed to others."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def unprivileged_command() -> list[str] | None:
    """What to write before a command so that permissions stop it, None if there is no such thing here.

    The user stays the same: whoever runs the tests can read where Python is installed, others perhaps not.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        return None
    command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    return command if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0 else None
