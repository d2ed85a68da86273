"""What griffe does not know of our habits.

It reads `Examples:` alone. It sees no docstring that is made at import, such as the estimators',
which come from one table. It takes what a package imports as private, also `x as x`.
"""

import ast
import inspect
import re
from typing import Any

from griffe import Alias, Extension, Object, dynamic_import


class Examples(Extension):
    """Reads `Example:` as the section `Examples:`, and takes docstrings that are made at import."""

    def on_alias_instance(self, *, node: ast.AST | Any, alias: Alias, **_: Any) -> None:
        """Called for each import: `from a import x as x` makes x public."""
        names = getattr(node, "names", ())
        alias.public = any(one.name == one.asname == alias.name for one in names) or None

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for each object that has been loaded."""
        if obj.docstring is None:
            return
        value = obj.docstring.value
        if obj.is_class and any("described" in str(each.value) for each in obj.decorators):
            value = inspect.getdoc(dynamic_import(obj.path)) or value
        obj.docstring.value = re.sub(r"^Example:$", "Examples:", value, flags=re.MULTILINE)
