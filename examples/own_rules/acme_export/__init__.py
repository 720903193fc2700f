"""What exportlint should know of acme_ops."""
