# %% [markdown]
# # All-to-alls side by side
#
# Which algorithm of an all-to-all is the fastest, on which fabric, and does it matter where the ranks are?

# %%
import hayase

# %% [markdown]
# One run: 54 nodes on a fat-tree, each sends 20 KB to every other, ranks scattered over the nodes.

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
# It takes two and a half times its bound. The bandwidth of all messages over time says why: 54 nodes could send
# 54 GB/s, and messages hold each other up so that it is 22 to 30 all the time; at the end ranks are done one after
# another.

# %%
run.plot();

# %%
run.plot("links");

# %% [markdown]
# Messages are arrays that nobody copied. How much longer than alone was a message under way?

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
# Algorithms, placements and fabrics side by side, with 8 seeds each where there is anything random.

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
