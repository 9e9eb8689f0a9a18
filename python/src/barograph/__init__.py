"""Ask archives of forecast-verification statistics.

The module runs the program ``barograph``, which the package holds, and returns its results. An error of the program is an
exception with the program's message, which names the cure::

    import barograph

    barograph.load("vsdb_data", engine="sqlite:archive.db")
    table = barograph.ask("dieoff_sal1l2_hgt", engine="sqlite:archive.db", lead=[0, 24, 72], stat="ANOM_CORR")
    table.to_pandas()  # needs pandas
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NoReturn, Optional, Sequence, Union

if TYPE_CHECKING:
    import pyarrow

__all__ = ["ask", "cases", "load", "show", "Error", "UsageError", "DifferenceError", "IncompleteError", "UnreachableError",
           "ProgramError"]

PathLike = Union[str, "os.PathLike[str]"]
Texts = Union[str, Iterable[str]]
Leads = Union[str, int, Iterable[int]]

_program = Path(__file__).parent / "bin" / "barograph"


class Error(Exception):
    """An error of the program. ``status`` is its exit status, ``result`` what it printed before the error, if anything."""

    def __init__(self, message: str, status: int = 1, result: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.result = result


class UsageError(Error):
    """The program does not understand an argument or a question (exit status 2)."""


class DifferenceError(Error):
    """A result differs from the reference, or an archive is damaged (exit status 3)."""


class IncompleteError(Error):
    """Lines are quarantined, files are unreadable, or no record matches (exit status 4)."""


class UnreachableError(Error):
    """There is no such server, file, library or permission (exit status 5)."""


class ProgramError(Error):
    """The program cannot start on this machine."""


_errors = {2: UsageError, 3: DifferenceError, 4: IncompleteError, 5: UnreachableError}


def ask(
    question: PathLike,
    *,
    engine: str,
    where: Union[Mapping[str, Texts], Texts, None] = None,
    lead: Optional[Leads] = None,
    stat: Optional[Texts] = None,
    valid: Optional[str] = None,
    design: Optional[str] = None,
    flavour: Optional[str] = None,
    subset: Optional[str] = None,
) -> pyarrow.Table:
    """Ask an archive one question, and return the rows, or the values of statistics.

    ``question`` is the name of a case (see :func:`cases`) or the path of a YAML file or of a METviewer plot_spec. ``engine``
    is the archive, such as ``duckdb:archive.db``. ``where`` changes header fields (``{"vx_mask": ["G2/NHX", "G2/SHX"]}``),
    ``lead`` the leads in hours, ``valid`` the valid times. ``stat`` names statistics to compute. A flavour is the form in
    which the program sends the query.
    """
    import pyarrow
    import pyarrow.parquet

    arguments = ["ask", os.fspath(question), "--engine", engine, "--format", "parquet", "--out", "/dev/stdout"]
    for condition in _conditions(where):
        arguments += ["--where", condition]
    if lead is not None:
        arguments += ["--lead", _joined(lead)]
    if stat is not None:
        arguments += ["--stat", _joined(stat)]
    for name, value in (("valid", valid), ("design", design), ("flavour", flavour), ("subset", subset)):
        if value is not None:
            arguments += ["--" + name, value]
    return pyarrow.parquet.read_table(pyarrow.BufferReader(_run(arguments)))


def show(*sources: PathLike) -> Any:
    """Report what archives or files contain: models, levels, leads, gaps."""
    return _json(["show", *(os.fspath(source) for source in sources)])


def load(
    files: Union[PathLike, Sequence[PathLike]],
    *,
    engine: str,
    design: Optional[str] = None,
    subset: Optional[str] = None,
) -> Any:
    """Load VSDB and MET files, or folders of them, into an archive, and return the account of every line.

    Lines that the program cannot read raise :class:`IncompleteError`. Its ``result`` is the account; all other lines are
    stored.
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    arguments = ["load", *(os.fspath(path) for path in paths), "--engine", engine]
    for name, value in (("design", design), ("subset", subset)):
        if value is not None:
            arguments += ["--" + name, value]
    return _json(arguments)


def cases(*sources: PathLike) -> Any:
    """Derive questions that have rows from an archive or from files, the most informative first."""
    return _json(["cases", *(os.fspath(source) for source in sources)])


def main() -> NoReturn:
    """Replace this process by the program. This is the command ``barograph`` of the package."""
    try:
        os.execv(_program, ["barograph", *sys.argv[1:]])
    except OSError as error:
        print("barograph:", _not_startable(error), file=sys.stderr)
        raise SystemExit(5) from None


def _conditions(where: Union[Mapping[str, Texts], Texts, None]) -> Iterable[str]:
    if where is None:
        return []
    if isinstance(where, str):
        return [where]
    if isinstance(where, Mapping):  # in a condition, a comma separates values
        return [
            name + "=" + ",".join(v.replace(",", "\\,") for v in ([values] if isinstance(values, str) else values))
            for name, values in where.items()
        ]
    return list(where)


def _joined(values: Union[Leads, Texts]) -> str:
    if isinstance(values, (str, int)):
        return str(values)
    return ",".join(str(value) for value in values)


def _json(arguments: Sequence[str]) -> Any:
    return json.loads(_run([*arguments, "--json"]))


def _run(arguments: Sequence[str]) -> bytes:
    try:
        done = subprocess.run([str(_program), *arguments, "--quiet"], stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise ProgramError(_not_startable(error), 5) from error
    if done.returncode == 0:
        return done.stdout
    text = done.stderr.decode(errors="replace").strip()
    if done.returncode in (1, 127) and "GLIBC" in text:  # the dynamic loader wrote it
        raise ProgramError(f"the program needs a newer C library (glibc 2.34 or later: RHEL 9, Debian 12, Ubuntu 22.04): {text}", 5)
    if done.returncode == 127 and "shared libraries" in text:
        raise ProgramError(f"a library of the system is missing; install it with the system's packages: {text}", 5)
    if done.returncode < 0:
        raise ProgramError(f"signal {-done.returncode} ended the program; run it in a shell to see more: {_program}", 5)
    message = text.removeprefix("barograph: ")
    for line in text.splitlines():
        try:
            message = json.loads(line)["message"]
        except (ValueError, KeyError, TypeError):
            continue
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = None
    raise _errors.get(done.returncode, Error)(message, done.returncode, result)


def _not_startable(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return (f"{_program} cannot be executed; run `chmod +x {_program}`, or install the package on a file system that is "
                "not mounted with noexec")
    if isinstance(error, FileNotFoundError) and _program.exists():
        return "the system has no glibc loader; use a distribution with glibc 2.34 or later, such as RHEL 9, Debian 12, Ubuntu 22.04"
    if isinstance(error, FileNotFoundError):
        return f"{_program} is missing; run `pip install --force-reinstall barograph`"
    return f"{_program} cannot start ({error.strerror}); install the package for this machine's processor"
