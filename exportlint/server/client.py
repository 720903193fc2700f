"""What the client at the other end can do, once it has said so."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from exportlint.source import PositionEncoding


@dataclass(frozen=True, slots=True)
class Client:
    """The abilities of a client that make a difference.

    `pulls`: asks for diagnostics, and again when told so; they are not pushed to it. `pulls_all`: asks for those of all
    files, because the user wants them. `related_documents`: takes diagnostics of other documents with those that it
    asked for. `refreshes_lenses`: asks for them again when told so. `configuration`: can be asked for settings.
    `document_changes`: takes edits that name the version of the document. `creates_files`: and those that create one.
    `shows_documents`: opens one when told so.
    `resolves_edits`: asks for the edit of a code action when it is chosen. `watches`: tells of files that change.
    """

    name: str = ""
    encoding: PositionEncoding = PositionEncoding.UTF16
    pulls: bool = False
    pulls_all: bool = False
    related_documents: bool = False
    refreshes_lenses: bool = False
    related_information: bool = False
    tags: bool = False
    code_description: bool = False
    configuration: bool = False
    document_changes: bool = False
    creates_files: bool = False
    shows_documents: bool = False
    applies_edits: bool = False
    resolves_edits: bool = False
    prefers_fixes: bool = False
    code_action_data: bool = False
    markdown: bool = False
    watches: bool = False
    watches_configuration: bool = False
    progress: bool = False

    @staticmethod
    def of(capabilities: types.ClientCapabilities, encoding: str, name: str = "") -> Client:
        """The abilities that a client announces; what it does not mention it cannot do."""
        text = capabilities.text_document or types.TextDocumentClientCapabilities()
        workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
        window = capabilities.window or types.WindowClientCapabilities()
        published = text.publish_diagnostics
        actions = text.code_action
        resolve = actions.resolve_support if actions else None
        return Client(
            name=name,
            encoding=PositionEncoding(encoding),
            # Who could not be told to ask again would go on showing what settings and other files no longer say.
            pulls=bool(text.diagnostic and workspace.diagnostics and workspace.diagnostics.refresh_support),
            related_documents=bool(text.diagnostic and text.diagnostic.related_document_support),
            refreshes_lenses=bool(workspace.code_lens and workspace.code_lens.refresh_support),
            related_information=_supports(text, "related_information"),
            tags=bool((published and published.tag_support) or (text.diagnostic and text.diagnostic.tag_support)),
            code_description=_supports(text, "code_description_support"),
            configuration=bool(workspace.configuration),
            document_changes=bool(workspace.workspace_edit and workspace.workspace_edit.document_changes),
            creates_files=bool(
                workspace.workspace_edit
                and workspace.workspace_edit.document_changes
                and types.ResourceOperationKind.Create in (workspace.workspace_edit.resource_operations or ())
            ),
            shows_documents=bool(window.show_document and window.show_document.support),
            applies_edits=bool(workspace.apply_edit),
            resolves_edits=bool(resolve and "edit" in resolve.properties),
            prefers_fixes=bool(actions and actions.is_preferred_support),
            code_action_data=bool(actions and actions.data_support),
            markdown=bool(
                text.hover and text.hover.content_format and types.MarkupKind.Markdown in text.hover.content_format
            ),
            watches=bool(
                workspace.did_change_watched_files and workspace.did_change_watched_files.dynamic_registration
            ),
            watches_configuration=bool(
                workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration
            ),
            progress=bool(window.work_done_progress),
        )


def _supports(text: types.TextDocumentClientCapabilities, name: str) -> bool:
    """Whether diagnostics may have something, which clients say of those they pull or of those they are sent."""
    return any(bool(getattr(part, name, None)) for part in (text.publish_diagnostics, text.diagnostic) if part)
