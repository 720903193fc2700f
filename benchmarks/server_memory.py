"""How much memory the language server takes with many big files open and many edits.

    python benchmarks/server_memory.py DIRECTORY... [--files N] [--edits N] [--quick]

Starts the real server in the first directory, opens the N files with the most lines of all directories, each with its
text on the disk, waits for the diagnostics of each, and types into one after the other: lines at the start of methods,
each of which is taken back. Prints the resident memory (MB) after the start, while files are opened and while they are
edited, and the peak. The disk stays as it is. For Linux only.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from sample import count_lines

from tests.server.raw import PUSHING, Process, process

TYPED = ("x = 1", "# text", "if self.training:\n            pass", "value = torch.ones(2).item()")
SHARES = 8
"""So many figures are printed of each part."""


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=50, metavar="N", help="files that are open [50]")
    parser.add_argument("--edits", type=int, default=2_000, metavar="N", help="edits of them together [2000]")
    parser.add_argument("--quick", action="store_true", help="5 files, 100 edits")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.files, arguments.edits = 5, 100
    found = [path for directory in arguments.directory for path in directory.rglob("*.py") if path.is_file()]
    files = sorted(found, key=lambda path: (-count_lines([path]), path))[: arguments.files]
    with (
        tempfile.TemporaryDirectory() as root,
        process(Path(root), EXPORTLINT_CACHE_DIR=str(Path(root, "cache"))) as server,
    ):
        measure(server, arguments.directory[0].resolve(), files, arguments.edits)


def measure(server: Process, root: Path, files: list[Path], edits: int) -> None:
    """Open files and edit them, one after the other."""
    server.start(root, PUSHING)
    pid = server.process.pid
    print(f"{len(files)} files, {count_lines(files)} lines, {edits} edits")
    tell("started", 0, pid)
    texts, versions = {}, {}
    for count, file in enumerate(files, start=1):
        uri = file.resolve().as_uri()
        texts[uri], versions[uri] = file.read_bytes().decode().replace("\r\n", "\n"), 1
        server.open(uri, texts[uri])
        server.published(uri, 1)
        if count % max(1, len(files) // SHARES) == 0:
            tell("opened", count, pid)
    chance = random.Random(0)
    turns = [uri for uri in texts for _ in range(max(1, edits // 2 // len(texts)))]
    for count, uri in enumerate(turns, start=1):
        rows = texts[uri].split("\n")
        methods = [row for row, line in enumerate(rows) if re.match(r"    def \w+\(self[^#]*:$", line)]
        row = (chance.choice(methods) if methods else 0) + 1
        new = f"        {chance.choice(TYPED)}\n" if methods else "# text\n"
        for old, inserted in (("", new), (new, "")):
            versions[uri] += 1
            end = {"line": row + old.count("\n"), "character": 0}
            change = {"range": {"start": {"line": row, "character": 0}, "end": end}, "text": inserted}
            server.change(uri, versions[uri], change)
            server.published(uri, versions[uri])
        if count % max(1, len(turns) // SHARES) == 0:
            tell("edited", 2 * count, pid)
    print(f"peak {_of(pid, 'VmHWM'):8.1f} MB")
    assert server.stop() == 0


def tell(what: str, count: int, pid: int) -> None:
    """Print what the server takes now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    print(f"{what:<8} {count:>6} {pages * resource.getpagesize() / 2**20:8.1f} MB", flush=True)


def _of(pid: int, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


if __name__ == "__main__":
    main()
