"""A process that has the fork server run `python WORD...` in its place: `client.py SOCKET WORD...`.

It hands over its streams, directory and environment, waits, and ends with the same exit status. If it is killed, so is
what was forked. It imports little, for it is started instead of what takes long.
"""

from __future__ import annotations

import json
import os
import socket
import sys


def run(path: str, words: list[str]) -> int:
    """Have it forked. Returns its exit status."""
    asked = {"words": words, "directory": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109
    request = json.dumps(asked).encode("utf-8")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(request)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # so that a stream ends as soon as the forked process closes it
            os.dup2(nothing, stream)
        return connection.recv(1)[0]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
