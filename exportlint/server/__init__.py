"""The language server: what an editor shows of the findings while the code is being written."""
