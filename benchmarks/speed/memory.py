"""How much memory this process holds, and held at most.

On Linux the kernel's own account of this process is read. `ru_maxrss` is the fallback only: there
it also remembers the process that started this one.
"""

import contextlib
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident_bytes() -> int:
    """Memory held now, or at most so far where the system does not tell."""
    return _from_status("VmRSS") or _largest_so_far()


def peak_bytes() -> int:
    """Memory held at most, since the start or the last `forget_peak`."""
    return _from_status("VmHWM") or _largest_so_far()


def forget_peak() -> None:
    """Let `peak_bytes` begin again from what is held now, where the system can."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")  # proc(5): reset the peak resident set size


def _from_status(field: str) -> int | None:
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    return None


def _largest_so_far() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
