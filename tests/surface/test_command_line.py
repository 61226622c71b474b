"""What people see in a terminal."""

import subprocess
import sys

import pytest

from paucity import score_table
from paucity.simulate import DEMO_LINE, demo_scores


def run(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-c", "from paucity.cli.main import main; main()", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={"COLUMNS": "120", "PATH": "", "HOME": "", "PYTHONUTF8": "1"} | more,
    )


def test_the_demo_shows_what_its_table_holds(tmp_path):
    done = run("demo", "--items", "200000", "--keep", str(tmp_path / "payments.parquet"))
    assert done.returncode == 0
    assert done.stderr == ""
    payments = demo_scores(200_000)
    alerts = payments["score"] >= DEMO_LINE
    hits = (payments["label"][alerts] == 1).sum()
    assert "200,000 items in" in done.stdout
    assert f"At {DEMO_LINE:g}, {hits:,} of {alerts.sum():,} alerts are hits" in done.stdout
    assert "all items at or above 50, and a random sample of those below" in done.stdout
    kept = score_table(tmp_path / "payments.parquet", thresholds=DEMO_LINE)
    assert kept.alerts(DEMO_LINE).positive == hits


@pytest.mark.parametrize("command", [(), ("demo",)])
def test_every_command_has_help(command):
    done = run(*command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout


def test_a_wrong_option_is_a_usage_error():
    done = run("demo", "--items", "many")
    assert done.returncode == 2
    assert "--items" in done.stderr


def test_a_refusal_is_one_message_and_no_traceback(tmp_path):
    done = run("demo", "--items", "2000", "--keep", str(tmp_path / "payments.txt"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "is of no kind that is read here" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_version_is_said():
    assert run("--version").stdout.startswith("paucity 0.")
