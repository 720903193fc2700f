"""What torch says where export fails, and which rules that is about."""

from exportlint.messages.recognition import Recognition, closest, is_quoted, mentions, recognize

__all__ = ["Recognition", "closest", "is_quoted", "mentions", "recognize"]
