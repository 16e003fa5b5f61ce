#!/usr/bin/env python3
"""Turns the event trace of an MPI program into a pattern file (CSV `src,dst,bytes,delay,after`).

    tools/npb_to_pattern.py cg.W.16.tsv.zst | tools/by_columns.py | zstd --ultra -22 --long=27 > patterns/npb-cg-W-16.csv.zst

The trace is text, one event a line, ranks one after another (`#rank R`), compressed with zstd or not:
`op  cpu_gap_ns  peer  tag  bytes  comm  reqs  site`; `cpu_gap_ns` is the time the rank computed between the end of
its previous MPI call and the start of this one, as measured: an empty gap measures `#gap_overhead_ns`.

What is kept
* every point-to-point message (Send, Isend): sender, receiver, size, and the order of each sender's messages;
* what a sender had received before it (Recv, or the Wait of an Irecv, since its previous message): `after`;
* computation: `delay`, in whole nanoseconds, see below.
What is lost
* collective operations and barriers (their computation gaps stay), the computation after a rank's last message;
* overlap: with the injection `queue` a rank has one message under way at a time, while the program's short messages
  are buffered and may be under way together.

The delay of a message. A pattern starts the clock of `delay` when the sender's previous message has been delivered
and everything in `after` has arrived. The program computes at several places in between (before, between and after
the receives), and part of that may pass while it would wait anyhow. So the program is first replayed on a network
that takes no time, which gives each message a time t at which it is sent, and then

    delay = t - max(t of the sender's previous message, t of the messages in `after`)       (t of nothing: 0)

On a network that takes no time the pattern then sends every message at the very time the program would have, which
is checked at the end. On a real network it is an approximation: where a message in `after` comes later than in the
replay, computation that stood before its receive is still counted behind it.
"""

import subprocess
import sys
from collections import defaultdict, deque


def lines(path):
    """The lines of the trace."""
    if path.endswith(".zst"):
        text = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    else:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    return text.splitlines()


def events_by_rank(trace):
    """Title, and for each rank its events (op, gap in ns without the clock's own cost, peer, tag, bytes, reqs)."""
    title, overhead, ranks, current = "", 0, {}, None
    for line in trace:
        if line.startswith("#"):
            key, _, value = line[1:].partition(" ")
            if key == "title":
                title = value
            elif key == "gap_overhead_ns":
                overhead = int(value)
            elif key == "rank":
                current = ranks.setdefault(int(value), [])
            continue
        op, gap, peer, tag, size, _comm, reqs, _site = line.split("\t")
        gap = max(0, int(gap) - overhead)
        current.append((op, gap, int(peer.lstrip("*")), int(tag.lstrip("*")), int(size), reqs))
    return title, [ranks[rank] for rank in sorted(ranks)]


def replay(ranks):
    """Runs the program on a network that takes no time.

    Returns the messages by rank, each [dst, bytes, time sent, [(src, index) received since the previous one]].
    Messages match by (src, dst, tag), first sent first received.
    """
    sent = [[] for _ in ranks]
    mailbox = defaultdict(deque)  # (src, dst, tag) -> indices of messages sent and not yet matched
    clock = [0] * len(ranks)
    at = [0] * len(ranks)
    # A receive has its place among those of its (src, tag) from when it is posted, whenever it is waited for.
    posted = [{} for _ in ranks]
    order = [defaultdict(int) for _ in ranks]
    arrived = defaultdict(list)  # (src, dst, tag) -> index and time of each message, in the order of sending
    fresh = [[] for _ in ranks]
    pending = deque(range(len(ranks)))
    charged = [False] * len(ranks)  # whether the gap before the current event is already on the clock
    waiting = {}

    def receive(rank, key, place):
        """The message, if it has been sent."""
        if place >= len(arrived[key]):
            return False
        index, time = arrived[key][place]
        clock[rank] = max(clock[rank], time)
        fresh[rank].append((key[0], index))
        return True

    while pending:
        rank = pending.popleft()
        events = ranks[rank]
        while at[rank] < len(events):
            op, gap, peer, tag, size, reqs = events[at[rank]]
            if not charged[rank]:
                clock[rank] += gap
                charged[rank] = True
            if op in ("Send", "Isend"):
                if peer >= 0:
                    key = (rank, peer, tag)
                    arrived[key].append((len(sent[rank]), clock[rank]))
                    sent[rank].append([peer, size, clock[rank], fresh[rank]])
                    fresh[rank] = []
                    blocked = waiting.pop(key, None)
                    if blocked is not None:
                        pending.append(blocked)
            elif op in ("Recv", "Irecv"):
                if peer >= 0:
                    key = (peer, rank, tag)
                    if op == "Irecv":
                        posted[rank][int(reqs)] = (key, order[rank][key])
                        order[rank][key] += 1
                    else:
                        if not receive(rank, key, order[rank][key]):
                            waiting[key] = rank
                            break
                        order[rank][key] += 1
            elif op.startswith(("Wait", "Test")) and reqs != "-":
                left = [int(request) for request in reqs.split(",") if int(request) in posted[rank]]
                missing = None
                for request in left:
                    key, place = posted[rank][request]
                    if not receive(rank, key, place):
                        missing = key
                        break
                    del posted[rank][request]
                if missing is not None:
                    waiting[missing] = rank
                    break
            at[rank] += 1
            charged[rank] = False
    stuck = [rank for rank, events in enumerate(ranks) if at[rank] < len(events)]
    if stuck:
        sys.exit(f"the trace deadlocks: ranks {stuck}")
    return sent, clock


def delays(sent):
    """The delay of each message [ns], by rank."""
    result = []
    for messages in sent:
        previous, of_rank = 0, []
        for _dst, _size, time, after in messages:
            allowed = max([previous] + [sent[src][index][2] for src, index in after])
            of_rank.append(time - allowed)
            previous = time
        result.append(of_rank)
    return result


def check(sent, delay):
    """Sends the pattern on a network that takes no time: every message goes when the program sent it."""
    times = [[] for _ in sent]
    progress = True
    while progress:
        progress = False
        for rank, messages in enumerate(sent):
            while len(times[rank]) < len(messages):
                index = len(times[rank])
                after = messages[index][3]
                if any(i >= len(times[src]) for src, i in after):
                    break
                allowed = max([times[rank][-1] if index else 0] + [times[src][i] for src, i in after])
                times[rank].append(allowed + delay[rank][index])
                progress = True
    assert times == [[message[2] for message in messages] for messages in sent], "the pattern is not the program"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    title, ranks = events_by_rank(lines(sys.argv[1]))
    sent, clock = replay(ranks)
    delay = delays(sent)
    check(sent, delay)
    out = sys.stdout
    out.write(f"# {title}: point-to-point messages; made by tools/npb_to_pattern.py\n")
    out.write("src,dst,bytes,delay,after\n")
    for rank, messages in enumerate(sent):
        # By rank: its last message that this one has named. What follows is written `src:+n`, which compresses well.
        named = defaultdict(lambda: -1)

        def name(src, index):
            word = f"{src}:+{index - named[src]}" if index > named[src] else f"{src}:{index}"
            named[src] = index
            return word

        for (dst, size, _time, after), wait in zip(messages, delay[rank]):
            waits = f"{wait}ns" if wait else ""
            out.write(f"{rank},{dst},{size},{waits},{' '.join(name(src, index) for src, index in after)}\n")
    messages = sum(map(len, sent))
    size = sum(message[1] for of_rank in sent for message in of_rank)
    received = sum(len(message[3]) for of_rank in sent for message in of_rank)
    gaps = sum(event[1] for events in ranks for event in events)
    print(
        f"{title}\n{messages} messages, {size} bytes, {received} waited for; {len(ranks)} ranks\n"
        f"computation in all {gaps / 1e9:.6f} s, in delays {sum(map(sum, delay)) / 1e9:.6f} s; "
        f"makespan on a network that takes no time {max(clock) / 1e9:.6f} s, "
        f"last message sent at {max(of_rank[-1][2] for of_rank in sent) / 1e9:.6f} s",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
