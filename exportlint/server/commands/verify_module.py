"""`exportlint.verifyModule`: has torch.export verify the models of a document, or one of them."""

from __future__ import annotations

from exportlint.server.documents import Document
from exportlint.server.server import Server

NAME = "exportlint.verifyModule"


def run(server: Server, uri: object = None, name: object = None, options: object = None, *others: object) -> None:
    """Begin to verify a class by its name, or all that the document offers; progress and diagnostics tell the rest.

    `options` may have `python`, the interpreter that the editor runs the project's code with.
    """
    document = server.session.document(uri) if isinstance(uri, str) else None
    if document is None:
        server.say(f"`{uri}` is not open")
        return
    whole = server.session.whole(document.uri)
    if not isinstance(whole, Document) or not document.is_python:
        server.say("only models in Python files can be verified, because verifying imports the file")
        return
    folder = server.session.folder(document)
    if not folder.preferences.verify:
        server.say("verifying is off here: `exportlint.verify.enable` is false, or the folder is not trusted")
        return
    if document.path is None or not document.path.is_file():
        server.say("save the file first: the version on disk is verified")
        return
    from exportlint.server.verification.work import Wanted

    chosen = options.get("python") if isinstance(options, dict) else None
    wanted = Wanted(
        document.path,
        name if isinstance(name, str) else None,
        folder.root,
        folder.configuration(),
        folder.preferences.python,
        chosen if isinstance(chosen, str) else None,
    )
    server.verifier.start(document, wanted)
