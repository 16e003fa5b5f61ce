# %% [markdown]
# # A fabric of one's own, from networkx
#
# Any graph can be a fabric: vertices are nodes or switches, edges have a bandwidth [B/s] and a latency [s].

# %%
import networkx as nx
import numpy as np

import hayase

# %% [markdown]
# ## A star
# If vertices have no attribute `kind`, those with one neighbour are nodes.

# %%
star = hayase.Topology.from_networkx(nx.star_graph(8), bandwidth=1e9, latency=1e-6, name="star")
star

# %%
all_to_all = hayase.run(star, "all-to-all-simple-spread", size="20 KB")
print(all_to_all.makespan, "s: seven messages of 20 us, each with two latencies of 1 us")
assert abs(all_to_all.makespan - 7 * (20e-6 + 2e-6)) < 1e-12

# %% [markdown]
# ## Switches in a random regular graph
# 24 switches with five cables each to other switches, and two nodes per switch: a Jellyfish network.


# %%
def with_nodes(switches: nx.Graph, each: int, bandwidth: float) -> nx.Graph:
    """Returns the graph of switches with `each` nodes on each switch."""
    graph = nx.Graph()
    for number, switch in enumerate(sorted(switches)):
        graph.add_node(("s", switch), kind="switch")
        for node in range(each):
            graph.add_node(number * each + node, kind="node")
            graph.add_edge(number * each + node, ("s", switch), bandwidth=bandwidth)
    for one, other in switches.edges:
        graph.add_edge(("s", one), ("s", other), bandwidth=bandwidth)
    return graph


graphs = {
    "random regular": nx.random_regular_graph(5, 24, seed=1),
    "circulant": nx.circulant_graph(24, [1, 2, 3]),
}
fabrics = {
    name: hayase.Topology.from_networkx(with_nodes(graph, 2, 12.5e9), name=name)
    for name, graph in graphs.items()
}
random_regular = fabrics["random regular"]
random_regular.plot();

# %% [markdown]
# The same messages on both, with each message divided over all shortest paths:

# %%
for name, fabric in fabrics.items():
    result = hayase.run(fabric, "all-to-all-simple-spread", routing="spray")
    print(
        f"{name:15} {result.makespan * 1e6:8.2f} us, {result['ratio_to_bound']:.2f} times its bound"
    )

# %% [markdown]
# ## Own messages, own placement
# A traffic matrix: every rank sends much to its neighbours and little to other ranks.

# %%
ranks = random_regular.nodes
distance = np.abs(np.subtract.outer(np.arange(ranks), np.arange(ranks)))
matrix = np.where(distance == 0, 0, 200_000 // np.maximum(distance, 1) ** 2)
pattern = hayase.Pattern.from_matrix(matrix)

placements = {
    "in order": np.arange(ranks),
    "shuffled": np.random.default_rng(7).permutation(ranks),
}
for name, placement in placements.items():
    result = hayase.run(random_regular, pattern, placement=placement)
    print(f"{name:10} {result.makespan * 1e6:8.2f} us")

# %% [markdown]
# ## Fabrics as graphs
# Every shipped fabric can be converted to a graph of networkx.

# %%
dragonfly = hayase.Topology("dragonfly-72")
graph = dragonfly.to_networkx()
print(graph, "diameter", nx.diameter(nx.Graph(graph)))
dragonfly

# %% [markdown]
# All mistakes of a graph are reported at once, with the names of its vertices.

# %%
broken = nx.Graph()
broken.add_edge("a", "switch", bandwidth=1e9)
broken.add_edge("b", "switch")
broken.add_edge("c", "elsewhere", bandwidth=-1.0)
try:
    hayase.Topology.from_networkx(broken)
except hayase.ScenarioError as error:
    print(error)
