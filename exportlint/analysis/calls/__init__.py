"""What calls give, by what is called."""
