"""The language server, which shows findings in an editor while you type."""
