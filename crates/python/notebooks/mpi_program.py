# %% [markdown]
# # An MPI program, recorded and predicted
#
# A solver (conjugate gradients, `examples/guide/solver.c`) is run once under the recorder, and then played on other
# machines and networks. Without MPI, a shipped recording takes its place.

# %%
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import hayase

here = Path(os.environ.get("HAYASE_NOTEBOOKS", "."))
above = [here.resolve(), *here.resolve().parents]
root = next(folder for folder in above if (folder / "examples/guide/solver.c").exists())
work = Path(tempfile.mkdtemp(prefix="hayase-"))
program = shutil.which("hayase")
command = [program] if program else [sys.executable, "-m", "hayase"]

# %% [markdown]
# ## Record

# %%
recording = root / "traces/lu.S.16.tsv.zst"
missing = [tool for tool in ("mpicc", "mpirun") if shutil.which(tool) is None]
if missing:
    print(f"There is no {' and no '.join(missing)} here:")
    print("the recording that is shipped, NAS LU on 16 ranks, is used instead.")
else:
    # Open MPI needs these settings in a container that runs as root and has few cores.
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    solver = work / "solver"
    subprocess.run(
        ["mpicc", "-O2", "-g", root / "examples/guide/solver.c", "-o", solver], check=True
    )
    recorded = subprocess.run(
        [*command, "record", "-o", work / "run", "--", "mpirun", "-np", "4", solver],
        env=environment,
        capture_output=True,
        text=True,
        cwd=work,
    )
    print(recorded.stdout, recorded.stderr[-2000:])
    recorded.check_returncode()
    recording = work / "run"

# %% [markdown]
# ## Play it on a machine
# Ranks compute as in the recorded run; machine and fabric determine the costs of messages.

# %%
played = hayase.replay(
    recording, machine="infiniband-hdr", topology="fat-tree-54", activities=True, path=True
)
played

# %%
played.plot();

# %%
played.plot("timeline");

# %% [markdown]
# ## On several machines
# The same recording on another machine.

# %%
machines = ("infiniband-hdr", "myrinet")
times = {machine: hayase.replay(recording, machine=machine).makespan for machine in machines}
for machine, time in times.items():
    print(f"{machine:16} {time * 1e3:8.3f} ms")
assert times["myrinet"] > times["infiniband-hdr"]

# %% [markdown]
# ## Sensitivity
# Each parameter of the machine is halved and doubled; then advice on the program.

# %%
hayase.plot(hayase.whatif(recording, machine="myrinet"));

# %%
hayase.advise(recording, machine="myrinet")

# %%
shutil.rmtree(work)
