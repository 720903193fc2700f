"""Projects whose findings every format for CI services has to be able to say."""

from __future__ import annotations

from tests.cli.notebooks import markdown, notebook
from tests.cli.runner import CLEAN, NET

UNICODE = """\
from torch import nn


class Netz(nn.Module):
    def forward(self, größe, x):
        "𐐀"; return x + x.data if größe.sum() > 0 else x  # [x](https://example.org) 100% ; ] ::error::
"""

PROJECTS: dict[str, dict[str, str]] = {
    "one finding": {"net.py": NET},
    "several files": {"pkg/net.py": NET, "pkg/sub dir/a,b%20;].py": NET.replace("x.sum()", "x.mean()")},
    "Unicode": {"größe 𐐀.py": UNICODE},
    "a notebook": {"net.ipynb": notebook("import torch\nfrom torch import nn", markdown("# Title"), NET)},
    "a syntax error": {"broken.py": "def f(:\n", "net.py": NET},
    "CRLF": {"net.py": NET.replace("\n", "\r\n")},
    "infos": {"net.py": NET.replace("if x.sum() > 0:", "print(x)\n        if self.training:")},
    "no findings": {"clean.py": CLEAN},
}
