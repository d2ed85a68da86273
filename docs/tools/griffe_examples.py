"""Docstrings as they are read: griffe knows `Examples:` alone, and sees no docstring that is made.

The estimators' docstrings are put together from one table when their module is imported.
"""

import inspect
import re
from typing import Any

from griffe import Extension, Object, dynamic_import


class Examples(Extension):
    """Reads `Example:` as the section `Examples:`, and takes docstrings that are made at import."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for each object that has been loaded."""
        if obj.docstring is None:
            return
        value = obj.docstring.value
        if obj.is_class and any("described" in str(each.value) for each in obj.decorators):
            value = inspect.getdoc(dynamic_import(obj.path)) or value
        obj.docstring.value = re.sub(r"^Example:$", "Examples:", value, flags=re.MULTILINE)
