"""Having torch.export verify models of documents, when the user asks for it, and what the client shows of that."""
