"""The rules, one module each; `exportlint.registry` finds them."""
