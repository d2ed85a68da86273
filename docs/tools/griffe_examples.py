"""Docstrings with one example say `Example:`, which griffe knows in the plural alone."""

import re
from typing import Any

from griffe import Extension, Object


class Examples(Extension):
    """Reads `Example:` as the section `Examples:`, so that its lines are shown as code."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for each object that has been loaded."""
        if obj.docstring is not None:
            value = obj.docstring.value
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", value, flags=re.MULTILINE)
