"""`exportlint.explain`: what an error of torch.export is, as Markdown; the text is a selection or the clipboard."""

from __future__ import annotations

import io
from pathlib import Path

from exportlint.config import ConfigError, Configuration
from exportlint.server.server import Server
from exportlint.server.threads import in_thread

NAME = "exportlint.explain"

_MOST = 10


async def run(server: Server, text: object = None, *others: object) -> str | None:
    """The explanation; None, and a message to the user, if there is no error in the text."""
    if not isinstance(text, str) or not text.strip():
        server.say("there is no text to explain: select what torch printed, or copy it")
        return None
    from exportlint.diagnosis import NotTextError

    folders = list(server.session.folders.values())
    roots = [folder.root for folder in folders] or [Path.cwd()]
    try:
        configuration = folders[0].configuration() if folders else Configuration(roots[0])
        # The files are read from the disk: the error is of what was saved when it ran.
        answer = await in_thread(lambda _: _explained(text, configuration, roots))
    except (ConfigError, NotTextError) as error:
        server.say(str(error) or "the selection is not text")
        return None
    if answer is None:
        server.say("there is no error in this text")
    return answer


def _explained(text: str, configuration: Configuration, roots: list[Path]) -> str | None:
    from exportlint.diagnosis import Explainer, explained, read_errors, read_lines
    from exportlint.diagnosis.reports import render
    from exportlint.report import Context

    explainer = Explainer(configuration, roots)
    lines = read_lines(io.BytesIO(text.encode("utf-8", "replace")))
    found = list(explained(read_errors(lines), explainer, _MOST))
    return render(found, "markdown", Context(roots[0], explainer.sources)) if found else None
