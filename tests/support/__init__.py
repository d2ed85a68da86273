"""What several test files share."""

# jaxtyping's import hook finds the type checker as an attribute of this package.
from support import typechecker

__all__ = ["typechecker"]
