"""Source code as libcst's nodes: built from templates, found by position, moved as blocks, and written as edits."""
