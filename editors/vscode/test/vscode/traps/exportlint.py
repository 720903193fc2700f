"""Stands in the way of exportlint itself."""

raise SystemExit("the workspace was run")
