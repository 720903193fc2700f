"""The one error of configuration, under the name of the package that raises most of them."""

from exportlint.user_errors import ConfigError

__all__ = ["ConfigError"]
