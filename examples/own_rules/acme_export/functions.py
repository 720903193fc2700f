"""What the compiled functions of acme_ops do."""

FUNCTIONS = {
    "acme_ops.gate": {"returns": "like"},
    "acme_ops.count_nonzero": {"returns": "int", "reads-data": True},
    "acme_ops.synchronize": {"returns": "none"},
}
