"""The program `hayase` in the wheel: the command line, from the same shared object as the library.

`hayase …` (a script that pip writes) and `python -m hayase …` do the same as the program built by cargo: the same
commands, exit codes, files and messages. The process belongs to the program, so Python's handling of signals is reset.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    _open_standard_streams()
    # Ctrl-C ends the process until a command handles it; if the parent process ignores it, it stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Python ignores this signal, for itself and its children.
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    from hayase._hayase import main as program

    return program(sys.argv[1:], _again())


def _again() -> list[str]:
    """Returns the words that start this program again, from any folder."""
    script = os.path.abspath(sys.argv[0])
    if not script.endswith(".py") and os.path.isfile(script) and os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-m", "hayase"]


def _open_standard_streams() -> None:
    """Opens closed standard streams, because the next opened file would take their place."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(main())
