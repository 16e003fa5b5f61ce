# %% [markdown]
# # A sweep, on all cores, on Dask and on Slurm
#
# A plan has a grid; each of its points is run once and kept. A shard is the part of one worker, so any engine that
# calls functions or starts processes can run a sweep.

# %%
import shutil
import subprocess
import tempfile
from pathlib import Path

import hayase

work = Path(tempfile.mkdtemp(prefix="hayase-"))
plan = {
    "topology": "torus-4x4",
    "workload": "all-to-all-pairwise",
    "placement": "random",
    "grid": {
        "topology.torus.bandwidth": ["1 GB/s", "2 GB/s"],
        "size": "1 KB..64 KB:x4",
        "seed": "1..=10",
    },
}

# %% [markdown]
# ## In this process

# %%
table = hayase.sweep(plan, work / "here")
print(len(table), "points")
table.head()

# %%
hayase.plot(table);

# %%
hayase.plot(table, "heat");

# %% [markdown]
# With labelled axes, by xarray:

# %%
cube = hayase.to_xarray(table)
cube["makespan"].mean("seed").to_pandas()

# %% [markdown]
# A second call costs almost nothing, because finished points are not run again.

# %%
again = hayase.sweep(plan, work / "here")
assert again["makespan"].equals(table["makespan"])

# %% [markdown]
# ## On Dask
# Many more shards than workers balance their run times. Workers are processes of their own; a cluster of
# `dask_jobqueue.SLURMCluster` is used in the same way.


# %%
def shard(plan: dict, out: str, number: int, of: int) -> int:
    """Runs the points of one shard; returns their number."""
    import hayase

    return hayase.sweep(plan, out, shard=(number, of), threads=1).attrs["report"]["run"]


from dask.distributed import Client, LocalCluster

if __name__ == "__main__":
    local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with local as cluster, Client(cluster) as client:
        parts = client.map(
            lambda i: shard(plan, str(work / "dask"), i, 8), range(8), pure=False
        )
        done = client.gather(parts)
    print("points of each shard:", done)
    assert sum(done) == len(table)

from_dask = hayase.sweep(plan, work / "dask")
assert from_dask["makespan"].equals(table["makespan"])

# %% [markdown]
# ## On Slurm
# dask-jobqueue starts its workers as jobs. Without Slurm this part is skipped.


# %%
def slurm_answers() -> bool:
    if shutil.which("sinfo") is None:
        return False
    try:
        said = subprocess.run(
            ["sinfo", "-h", "-o", "%t"], capture_output=True, text=True, timeout=20
        )
    except subprocess.TimeoutExpired:
        return False
    return said.returncode == 0 and bool(said.stdout.strip())


if slurm_answers():
    from dask_jobqueue import SLURMCluster

    cluster = SLURMCluster(
        cores=1,
        processes=1,
        memory="1GB",
        walltime="00:10:00",
        log_directory=str(work),
        local_directory=str(work),
        scheduler_options={"dashboard_address": None},
        # Slurm knows the memory of its nodes, if it counts memory.
        job_directives_skip=["--mem"],
    )
    with cluster, Client(cluster) as client:
        cluster.scale(jobs=2)
        parts = client.map(
            lambda i: shard(plan, str(work / "slurm"), i, 8), range(8), pure=False
        )
        done = client.gather(parts)
    print("on Slurm, points of each shard:", done)
    assert hayase.sweep(plan, work / "slurm")["makespan"].equals(table["makespan"])
else:
    print("No Slurm answers here (`sinfo`): passed over. On a cluster this cell runs as it is.")

# %% [markdown]
# Without Python on the nodes, an array of jobs runs the program. `hayase sweep plan.toml -o out --submit slurm` writes
# it:
#
# ```
# sbatch --array=0-63 --wrap 'hayase sweep plan.toml -o out --shard $SLURM_ARRAY_TASK_ID/64 -j $SLURM_CPUS_PER_TASK'
# ```

# %%
shutil.rmtree(work)
