"""What running code on abstract values does: calls, their summaries, and what they leave behind."""
