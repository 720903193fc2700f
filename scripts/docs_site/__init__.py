"""How the documentation site is made of the Markdown of the repository."""
