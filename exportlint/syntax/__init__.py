"""What the text of files tells: definitions, roles of classes, imports. Nothing is evaluated."""
