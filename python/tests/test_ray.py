# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Workers on a real Ray cluster of three nodes, all on this machine."""

import os
import subprocess
import sys
import threading

import pytest

import bayloom

pytest.importorskip("ray")
from bayloom.ray_pool import RayPool  # noqa: E402

SCENARIO = """
parameters:
  x: {type: integer, range: [1, 1000]}
minimize: seconds
evaluator: {shell: "sleep 0.1; echo {x}"}
optimizer: random
"""


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [made.add_node(num_cpus=1, resources={"bayloom": 1}) for _ in range(3)]
    made.workers = nodes
    yield made
    made.shutdown()


def pool_of(cluster, **options):
    return RayPool(cluster.address, command="bayloom worker --threads 1", **options)


def test_a_worker_on_each_node_and_a_node_that_is_killed(cluster, bayloom_program):
    pool = pool_of(cluster)
    assert len(pool.commands()) == 3
    assert len(pool_of(cluster, workers=2).commands()) == 2
    with open("count.yaml", "w") as file:
        file.write(SCENARIO)
    told = []

    def kill_one(trial):
        told.append(trial)
        if len(told) == 30:
            node = cluster.workers.pop()
            threading.Thread(target=cluster.remove_node, args=(node, False)).start()

    found = bayloom.search("count.yaml", trials=120, seed=1, pool=pool, callbacks=[kill_one])
    trials = found.trials
    assert [trial["number"] for trial in trials] == list(range(120))
    assert len({trial["params"]["x"] for trial in trials}) == 120
    assert all(trial["value"] == trial["params"]["x"] for trial in trials)


def test_the_program_finds_the_cluster(cluster, bayloom_program):
    with open("count.yaml", "w") as file:
        file.write(SCENARIO)
    done = subprocess.run(
        [bayloom_program, "search", "count.yaml", "--trials", "6", "--ray", cluster.address],
        capture_output=True, text=True, env={**os.environ, "BAYLOOM_PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr
    assert "workers ready" in done.stderr


def test_a_cluster_without_such_machines(cluster):
    with pytest.raises(bayloom.InputError, match="ray start"):
        pool_of(cluster, resource="bayloom:other").commands()


def test_the_program_tunes_on_the_cluster(cluster, bayloom_program):
    def tune(*more):
        return subprocess.run(
            [bayloom_program, "tune", "--op", "matmul:32,32,32", "--trials", "6", "--seed", "1",
             "--db", "ray.db", "--json", "--ray", cluster.address, *more],
            capture_output=True, text=True, env={**os.environ, "BAYLOOM_PYTHON": sys.executable})

    done = tune("--ray-command", "bayloom worker --threads 1")
    assert done.returncode == 0, done.stderr
    assert "workers ready" in done.stderr or "worker ready" in done.stderr
    trials = bayloom.open("ray.db").trial_records()
    assert [trial["number"] for trial in trials] == list(range(6))
    assert any(trial["value"] and trial["value"] > 0 for trial in trials)
    # What belongs to the workers is refused here.
    refused = tune("--threads", "1")
    assert refused.returncode == 2 and "--threads" in refused.stderr


def test_reasons_of_actors_that_could_not_be_started():
    from bayloom.ray_pool import _reason
    begun = Exception("The actor died because of an error raised in its creation task, ray::...\n"
                      "  File \"ray_pool.py\", line 1\n"
                      "bayloom.program.CommandFailed: the program 'bayloom' is not in this package")
    assert _reason(begun) == "it could not be started: the program 'bayloom' is not in this package"
    lost = Exception("The actor died unexpectedly.\n\tactor_id: 7\n")
    assert _reason(lost) == "its machine was lost: The actor died unexpectedly."
