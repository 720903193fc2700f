"""What makes a rewrite safe: small questions that it asks the engine about the code at hand."""
