"""Cases that several packet simulators play: messages on small fabrics, with the settings of each simulator.

A case is a fabric, a load, packets of a message, and messages of a node. All simulators get the same lists: the
destinations of each node in order, and the moment at which the node begins.
"""
import json
import random

# A packet, and the time that a link takes for it [B, s].
PACKET, PACKET_S = 1500, 1.5e-6
# Flits of a packet in the simulators that have them.
FLITS = 16
SEEDS = [1, 2]

RATE = "bandwidth=1 GB/s"
# By name: nodes, words of Hayase.
FABRICS = {
    "crossbar-16": (16, ["-t", f"crossbar:nodes=16,{RATE}"]),
    "mesh-8x8": (64, ["-t", f"mesh:dims=[8,8],{RATE}"]),
    "torus-7x7": (49, ["-t", f"torus:dims=[7,7],{RATE}"]),
    "fat-tree-64": (64, ["-t", f"fat-tree:down=[4,4,4],up=[1,4,4],{RATE}"]),
    "dragonfly-72": (72, ["-t", "dragonfly-72", "--set", "topology.dragonfly.bandwidth=1 GB/s"]),
    "fat-tree-128": (128, ["-t", "fat-tree-128"]),
}
# Fabric, load, packets of a message, messages of a node.
CASES = [
    ("crossbar-16", "in order", 14, 15),
    ("crossbar-16", "random", 14, 32),
    ("crossbar-16", "incast", 14, 4),
    ("mesh-8x8", "exclusive or", 14, 63),
    ("mesh-8x8", "transpose", 66, 4),
    ("mesh-8x8", "random", 14, 16),
    ("mesh-8x8", "incast", 14, 2),
    ("torus-7x7", "in order", 14, 48),
    ("torus-7x7", "half-way shift", 66, 4),
    ("torus-7x7", "permutations", 66, 4),
    ("torus-7x7", "random", 14, 16),
    ("fat-tree-64", "in order", 14, 16),
    ("fat-tree-64", "random", 66, 3),
    ("fat-tree-64", "permutations", 66, 4),
    ("dragonfly-72", "random", 14, 16),
    ("dragonfly-72", "permutations", 66, 4),
    ("dragonfly-72", "next group", 14, 4),
]
# Of the fat-tree of 128 nodes in a simulator with transport protocols: load, packets of a message, messages of a node. Ways
# are drawn there, so there are more seeds.
HTSIM_SEEDS = [1, 2, 3, 4, 5, 6]
HTSIM_CASES = [
    ("one permutation", 66, 1),
    ("random", 14, 8),
    ("incast", 14, 1),
    ("in order", 14, 16),
]


def destinations(fabric, load, messages, seed):
    """Returns, by node, where its messages go to; a message to its own node is none."""
    nodes = FABRICS[fabric][0]
    draw = random.Random(f"{fabric} {load} {seed}")

    def permutation():
        while True:
            drawn = draw.sample(range(nodes), nodes)
            if all(src != dst for src, dst in enumerate(drawn)):
                return drawn

    def cube(src, side):
        return (src % side + side // 2) % side + (src // side + side // 2) % side * side

    if load == "one permutation":
        return [[dst] for dst in permutation()]
    if load == "permutations":
        rounds = [permutation() for _ in range(messages // 4)]
        return [[to[src] for to in rounds for _ in range(4)] for src in range(nodes)]
    by_message = {
        "in order": lambda src, k: (src + 1 + k) % nodes,
        "exclusive or": lambda src, k: src ^ (1 + k),
        "incast": lambda src, k: 0,
        "transpose": lambda src, k: src // 8 + src % 8 * 8,
        "half-way shift": lambda src, k: cube(src, 7),
        "random": lambda src, k: (src + 1 + draw.randrange(nodes - 1)) % nodes,
        "next group": lambda src, k: (src // 8 * 8 + 8 + draw.randrange(8)) % nodes,
    }[load]
    return [[by_message(src, k) for k in range(messages)] for src in range(nodes)]


def starts(fabric, seed):
    """Returns, by node, the flit times that it waits at first: less than those of a packet."""
    draw = random.Random(f"{fabric} starts {seed}")
    return [draw.randrange(FLITS) for _ in range(FABRICS[fabric][0])]


def messages_csv(fabric, load, packets, messages, seed, jittered=True):
    """Returns the list as a table that Hayase reads."""
    lists, begin = destinations(fabric, load, messages, seed), starts(fabric, seed)
    lines = ["src,dst,bytes,delay"]
    for src, to in enumerate(lists):
        to = [dst for dst in to if dst != src]
        for index, dst in enumerate(to):
            delay = begin[src] * PACKET_S / FLITS * 1e9 if jittered and index == 0 else 0
            lines.append(f"{src},{dst},{packets * PACKET},{delay:.2f} ns")
    return "\n".join(lines) + "\n"


def played(file, source, play):
    """Plays each case that the file does not have yet, and writes the file anew behind each: a run may be cut off and go on.

    `play` returns the times of a case by setting [packets].
    """
    said = json.loads(file.read_text()) if file.exists() else {"source": source, "cases": []}
    for fabric, load, packets, messages in CASES:
        case = {"fabric": fabric, "load": load, "packets": packets, "messages": messages}
        if any(case.items() <= other.items() for other in said["cases"]):
            continue
        said["cases"].append(case | play(fabric, load, packets, messages))
        lines = ",\n".join("  " + json.dumps(case) for case in said["cases"])
        file.write_text(f'{{\n "source": {json.dumps(said["source"])},\n "cases": [\n{lines}\n ]\n}}\n')
