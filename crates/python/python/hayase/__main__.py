"""The program `hayase` in the wheel: the command line, from the same shared object as the library.

`hayase …` (a script that pip writes) and `python -m hayase …` are what the program built by cargo is: the same verbs,
exit codes, files and messages. The process is the program's: Python's own handling of signals is put aside.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> int:
    """Runs the command line of this process; its exit code."""
    _open_standard_streams()
    # Until a verb takes Ctrl-C itself, it ends the process, as it does any program; where whoever started this has it
    # ignored, it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Python ignores it, for itself and all that it starts.
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    from hayase._hayase import main as program

    return program(sys.argv[1:], _again())


def _again() -> list[str]:
    """The words that start this program again, from any folder."""
    script = os.path.abspath(sys.argv[0])
    if not script.endswith(".py") and os.path.isfile(script) and os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-m", "hayase"]


def _open_standard_streams() -> None:
    """Opens what is closed of them: else the next file would be taken for it."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(main())
