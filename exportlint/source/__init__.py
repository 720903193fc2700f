"""From paths and bytes to text, rows and columns: what the rest of exportlint knows of files."""

from exportlint.source.bounded import read_bounded
from exportlint.source.cells import Cells
from exportlint.source.comments import Comment, comments
from exportlint.source.discovery import (
    DEFAULT_EXCLUDE,
    DEFAULT_INCLUDE,
    Discovery,
    DiscoveryOptions,
    discover,
    is_excluded,
)
from exportlint.source.encodings import ClientPosition, PositionEncoding, from_client, position_to_client, to_client
from exportlint.source.errors import SourceError, SyntaxProblem
from exportlint.source.file import Place, SourceFile, from_bytes, from_text, is_notebook, read, replaced
from exportlint.source.garbage import collector, gc_between_files, gc_paused
from exportlint.source.layout import Layout, holds_projects, is_import_root, layout, project_of, project_root
from exportlint.source.lines import LineIndex
from exportlint.source.notebook import Notebook, as_json, from_cells
from exportlint.source.parsing import parse
from exportlint.source.patterns import PathPatterns

__all__ = [
    "DEFAULT_EXCLUDE",
    "DEFAULT_INCLUDE",
    "Cells",
    "ClientPosition",
    "Comment",
    "Discovery",
    "DiscoveryOptions",
    "Layout",
    "LineIndex",
    "Notebook",
    "PathPatterns",
    "Place",
    "PositionEncoding",
    "SourceError",
    "SourceFile",
    "SyntaxProblem",
    "as_json",
    "collector",
    "comments",
    "discover",
    "from_bytes",
    "from_cells",
    "from_client",
    "from_text",
    "gc_between_files",
    "gc_paused",
    "holds_projects",
    "is_excluded",
    "is_import_root",
    "is_notebook",
    "layout",
    "parse",
    "position_to_client",
    "project_of",
    "project_root",
    "read",
    "read_bounded",
    "replaced",
    "to_client",
]
