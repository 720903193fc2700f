"""What the operators of torch do: one record for an operator, below them the table that torch itself gives."""
