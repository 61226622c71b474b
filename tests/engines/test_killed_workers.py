"""A worker killed in the middle of counting changes nothing: the table is that of the undisturbed run."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest

from paucity import score_table
from tests.engines.test_same_table import assert_same_bits

N_PARTS, N_EACH = 8, 30_000


def part(number, marks=None):
    """A partition of scores and labels; where marks are kept it takes its time and leaves a mark."""
    if marks is not None:
        Path(marks, f"{number}-{time.monotonic_ns()}").touch()
        time.sleep(0.3)
    rng = np.random.default_rng(number)
    labels = np.where(rng.random(N_EACH) < 0.01, rng.random(N_EACH) < 0.1, -1)
    return pd.DataFrame({"score": rng.standard_t(2, size=N_EACH), "label": labels.astype(np.int64)})


@pytest.fixture
def undisturbed():
    return score_table(pd.concat([part(number) for number in range(N_PARTS)]), thresholds=2.0)


class Killer(threading.Thread):
    """Waits for the third mark, then kills one of the processes."""

    def __init__(self, marks, victims):
        super().__init__(daemon=True)
        self.marks, self.victims = marks, victims
        self.killed = None
        self.over = threading.Event()

    def run(self):
        while len(list(self.marks.iterdir())) < 3 and not self.over.is_set():
            time.sleep(0.01)
        victims = [process for process in self.victims() if process.is_running()]
        if victims and not self.over.is_set():
            self.killed = victims[0]
            os.kill(self.killed.pid, signal.SIGKILL)


def table_while_killing(frame, marks, victims):
    """The table, the process that was killed, and how many partitions were read."""
    killer = Killer(marks, victims)
    killer.start()
    table = score_table(frame, thresholds=2.0)
    killer.over.set()
    killer.join(timeout=10)
    return table, killer.killed, len(list(marks.iterdir()))


def children(word):
    """Processes below this one whose command line holds the word."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any(word in argument for argument in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_a_killed_dask_worker_changes_nothing(tmp_path, undisturbed):
    from distributed import Client, LocalCluster

    marks = tmp_path / "marks"
    marks.mkdir()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        meta = part(0).iloc[:0]
        frame = dd.from_map(part, range(N_PARTS), marks=str(marks), meta=meta)
        pids = list(client.run(os.getpid).values())
        table, killed, n_read = table_while_killing(frame, marks, lambda: [psutil.Process(pid) for pid in pids])
        assert killed is not None
        assert killed.pid in pids
        assert killed.pid not in client.run(os.getpid).values()
        assert n_read > N_PARTS
    assert_same_bits(table, undisturbed)


def test_a_killed_spark_executor_changes_nothing(java, tmp_path, undisturbed):
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors do not know the tests
    marks = tmp_path / "marks"
    marks.mkdir()
    running = SparkSession.getActiveSession()
    if running is not None:
        running.stop()
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "1g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.local.dir", str(tmp_path / "spark"))
        .getOrCreate()
    )
    try:
        where = str(marks)

        def rows(batches):
            for batch in batches:
                for number in batch["id"]:
                    yield part(int(number), where)

        frame = session.range(0, N_PARTS, numPartitions=N_PARTS).mapInPandas(rows, "score double, label long")
        table, killed, n_read = table_while_killing(frame, marks, lambda: children("CoarseGrainedExecutorBackend"))
        assert killed is not None
        assert not killed.is_running() or killed.status() == psutil.STATUS_ZOMBIE
        assert n_read > N_PARTS
    finally:
        session.stop()
    assert_same_bits(table, undisturbed)
