"""What calls leave behind, make anew each time, or change for their caller."""
