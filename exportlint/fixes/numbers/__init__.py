"""Numbers that Python asks of tensor data, or draws by itself."""
