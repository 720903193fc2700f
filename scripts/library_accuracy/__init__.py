"""How often findings about published libraries are right: models, records as JSON lines, and the page made of them."""
