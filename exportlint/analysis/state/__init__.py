"""State of Python that outlives a call: who writes it, who reads it, and whether one call's writes reach the next."""
