"""Pictures that commands draw."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_picture(figure: "Figure", file: BinaryIO, name: Path) -> None:
    """Writes it in the format that the name ends in."""
    # Whole, as there is no going back in a pipe.
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=150, format=name.suffix.lower().removeprefix("."))
    file.write(drawn.getbuffer())
