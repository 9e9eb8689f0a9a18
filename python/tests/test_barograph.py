"""Tests of the installed package: the program it holds is run on files that it makes itself."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import barograph

CASE = "dieoff_sal1l2_hgt"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    command = Path(sysconfig.get_path("scripts")) / "barograph"
    subprocess.run([command, "synth", "vsdb", "--since", "2019-01-01", "--stattypes", "anom", "--out", folder / "data"],
                   check=True, capture_output=True)
    engine = f"sqlite:{folder / 'archive.db'}"
    account = barograph.load(folder / "data", engine=engine)
    assert account["read"] == account["stored"] > 0
    return engine


def test_ask_returns_the_rows_of_the_command(archive):
    table = barograph.ask(CASE, engine=archive)
    csv = subprocess.run([Path(sysconfig.get_path("scripts")) / "barograph", "ask", archive, CASE, "--format", "csv"],
                         check=True, capture_output=True, text=True).stdout.splitlines()
    assert sorted(table.column_names) == sorted(csv[0].split(","))
    assert table.num_rows == len(csv) - 1 > 0


def test_arguments_change_the_question(archive):
    whole = barograph.ask(CASE, engine=archive)
    some = barograph.ask(CASE, engine=archive, where={"vx_mask": ["G2/NHX"], "model": "GFS"}, lead=[0, 24])
    assert 0 < some.num_rows < whole.num_rows
    assert set(some.column("fcst_lead").to_pylist()) == {0, 24 * 3600}
    values = barograph.ask(CASE, engine=archive, stat=["ANOM_CORR"], lead="0-24/6")
    assert 0 < values.num_rows < whole.num_rows
    assert barograph.ask(CASE, engine=archive, where="vx_mask=G2/NHX").num_rows * 2 == whole.num_rows


def test_show_and_cases(archive):
    assert barograph.show(archive)[0]["records"] > 0
    assert CASE in [case["name"] for case in barograph.cases(archive)]


def test_errors_name_the_cure(archive, tmp_path):
    with pytest.raises(barograph.UsageError, match="ANOM_CORR") as error:
        barograph.ask(CASE, engine=archive, stat="ANOM_COR")
    assert error.value.status == 2
    with pytest.raises(barograph.IncompleteError):
        barograph.ask(CASE, engine=archive, where={"vx_mask": "NOWHERE"})
    with pytest.raises(barograph.Error, match="check the path"):
        barograph.show(tmp_path / "nothere")
    damaged = tmp_path / "damaged.vsdb"
    damaged.write_text("V01 GFS 24\n")
    with pytest.raises(barograph.IncompleteError) as error:
        barograph.load(damaged, engine=f"sqlite:{tmp_path / 'x.db'}")
    assert error.value.result["quarantined"] == 1


@pytest.mark.parametrize("content, mode, cure", [
    (b"#!/bin/sh\n", 0o644, "chmod"),
    (None, 0, "force-reinstall"),
    (b"#!/nowhere/loader\n", 0o755, "glibc 2.34"),
    (b"\x7fELF nothing", 0o755, "processor"),
    (b"#!/bin/sh\necho 'version `GLIBC_2.34 not found' >&2; exit 1\n", 0o755, "RHEL 9"),
    (b"#!/bin/sh\nkill -ILL $$\n", 0o755, "signal 4"),
])
def test_program_that_cannot_start(monkeypatch, tmp_path, content, mode, cure):
    program = tmp_path / "barograph"
    if content is not None:
        program.write_bytes(content)
        os.chmod(program, mode)
    monkeypatch.setattr(barograph, "_program", program)
    with pytest.raises(barograph.ProgramError, match=cure):
        barograph.show("x")


def test_command_reports_a_program_that_cannot_start(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(barograph, "_program", tmp_path / "nothing")
    monkeypatch.setattr(sys, "argv", ["barograph"])
    with pytest.raises(SystemExit) as status:
        barograph.main()
    assert status.value.code == 5
    assert "force-reinstall" in capsys.readouterr().err
