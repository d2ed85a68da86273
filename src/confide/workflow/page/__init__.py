"""The page about a model: what it is given, what it judges, and its sections."""
