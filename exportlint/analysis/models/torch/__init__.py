"""What calling torch does, by the records of its operators and the table."""
