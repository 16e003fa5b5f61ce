# %% [markdown]
# # All-to-alls side by side
#
# This notebook compares algorithms of an all-to-all on two fabrics, with ranks in order and at random places.

# %%
import hayase

# %% [markdown]
# One run: 54 nodes on a fat-tree, each sends 20 KB to every other node, with ranks scattered over the nodes.

# %%
run = hayase.run(
    "fat-tree-54",
    "all-to-all-simple-spread",
    placement="random",
    seed=1,
    messages=True,
    links=True,
)
run

# %% [markdown]
# It takes two and a half times its bound. The bandwidth of all messages over time shows the reason. 54 nodes could send
# 54 GB/s, but messages delay each other, so that the bandwidth is 22 to 30 GB/s. At the end ranks finish one after
# another.

# %%
run.plot();

# %%
run.plot("links");

# %% [markdown]
# Messages are arrays without a copy. The slowdown of a message is its time under way over its time alone.

# %%
import numpy as np

under_way = run.messages["end"] - run.messages["start"]
alone = run.messages["bytes"] / 1e9
slowdown = under_way / alone
print(
    "slowdown of messages, 5 %, median, 95 %:",
    np.round(np.percentile(slowdown, [5, 50, 95]), 2),
)
assert slowdown.min() > 0.999

# %% [markdown]
# Algorithms, placements and fabrics side by side, with 8 seeds for each random configuration.

# %%
table = hayase.compare(
    ["fat-tree-54", "torus-4x4"],
    ["all-to-all-simple-spread", "all-to-all-mpich", "all-to-all-bruck"],
    placement=["regular", "random"],
    seeds=8,
)
table[["topology", "pattern", "placement", "makespan", "sd", "ratio_to_bound", "place"]]

# %%
hayase.plot(table);

# %% [markdown]
# On the fat-tree a regular placement reaches the bound exactly: 53 messages of 20 us.

# %%
regular = hayase.run("fat-tree-54", "all-to-all-simple-spread")
assert regular.makespan == regular["bounds"]["injection_s"]
regular.makespan
