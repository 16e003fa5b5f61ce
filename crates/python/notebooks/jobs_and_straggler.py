# %% [markdown]
# # Two jobs, and a straggler
#
# Jobs that share a fabric delay each other. A slow rank delays the other ranks.

# %%
import hayase

# %% [markdown]
# ## Two jobs on one fat-tree
# A transposition and a training that reduces its gradients three times, each on half of the nodes, scattered.

# %%
transpose = {"all-to-all": {"algorithm": "random-order", "size": "20 KB"}}
training = {"allreduce": {"algorithm": "ring", "size": "640 KB"}}
jobs = [
    {"name": "transpose", "ranks": 27, "placement": "random", "workload": transpose},
    {"name": "training", "ranks": 27, "placement": "random", "repeat": 3, "workload": training},
]
shared = hayase.interference("fat-tree-54", jobs)
shared

# %%
shared.plot();

# %%
shared.plot("interference");

# %% [markdown]
# With leaf switches of their own, both jobs are as fast as alone:

# %%
apart = hayase.run("fat-tree-54", jobs=[{**job, "placement": "by-leaf"} for job in jobs])
for name, result in {"random": shared, "by leaf": apart}.items():
    print(name, {job["name"]: round(job["slowdown"], 3) for job in result["jobs"]})
assert max(job["slowdown"] for job in apart["jobs"]) < min(
    job["slowdown"] for job in shared["jobs"]
)

# %% [markdown]
# ## A straggler
# Rank 3 of a conjugate-gradient benchmark computes at half its speed. The report has the cost and the delayed ranks.

# %%
slow = hayase.run("torus-4x4", "npb-cg-W-16", straggler="3=50%")
slow

# %%
slow.plot("noise");

# %%
slow.plot("breakdown");

# %%
noise = slow["noise"]
print(
    f"{noise['cost_s'] * 1e3:.2f} ms more, {noise['slowdown']:.3f} times the makespan without"
)
assert noise["slowdown"] > 1
