"""Lines that mypy must reject: the marked ones and no others. This file is not executed."""

import networkx as nx

import hayase

hayase.run("torus-4x4", "ring", sharing="maxmin")  # wrong
hayase.run("torus-4x4", "ring", routing="shortest")  # wrong
hayase.run("torus-4x4", "ring", transport="packets")  # wrong
hayase.run("torus-4x4", "ring", node="LogGPS")  # wrong
hayase.run("torus-4x4", "ring", placment="random")  # wrong
hayase.run("torus-4x4", "ring", seed="one")  # wrong
hayase.run("torus-4x4", "ring", messages="yes")  # wrong
hayase.run("torus-4x4", "ring", progress="bar")  # wrong
hayase.Scenario("torus-4x4", "ring", sharing="fair")  # wrong
hayase.Pattern.from_matrix([[0, 1], [1, 0]], order="columns")  # wrong
hayase.Topology.from_networkx(nx.star_graph(3), bandwith=1e9)  # wrong
hayase.run("torus-4x4", "ring").makespan.seconds  # wrong
hayase.run("torus-4x4", "ring").plot(ax=3)  # wrong
hayase.compare("torus-4x4", "ring", sharing=["max-min", "maxmin"])  # wrong
hayase.compare("torus-4x4", "ring", routing="shortest")  # wrong
hayase.compare("torus-4x4", "ring", transport={"packet": {}})  # wrong
hayase.compare("torus-4x4", "ring", placment=["random"])  # wrong
hayase.compare("torus-4x4", "ring", seeds=[1, 2])  # wrong
hayase.compare(7, "ring")  # wrong
hayase.compare("torus-4x4", "ring", rank="place")  # wrong
hayase.run("torus-4x4", "ring", optimum=0.02)  # wrong
hayase.schedule("all-gathr", "torus-4x4")  # wrong
hayase.schedule("all-gather", "torus-4x4", method="tree")  # wrong
hayase.schedule("all-gather", "torus-4x4", injection="all")  # wrong
