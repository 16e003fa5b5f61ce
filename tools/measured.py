#!/usr/bin/env python3
"""Writes the folder measured/ from tables of measured collectives, one CSV a machine.

Usage: measured.py FOLDER OUT

Cells that begin alike on all rows become a comment `# column: text` at the top, and an empty cell stands for the cell
above it (`# empty cells: as above`), so that rows hold little but numbers. Placements
(FOLDER/placement/NAME.csv) have a line for each run of ranks on one switch, with the list of the last column.
"""
import csv, itertools, os, re, sys

FILES = {"fugaku": ["fugaku"], "leonardo": ["leonardo"], "lumi": ["lumi"],
         "marenostrum5": ["marenostrum5", "marenostrum5_nccl"]}
COLUMNS = ("system,operation,algorithm,library,nodes,shape,ranks,size_B,time_s,statistic,p10_s,p90_s,repetitions,"
           "placement,note,source").split(",")

def common(values):
    """Returns the words with which all values begin, if what follows is shorter than they are."""
    words = [value.split(" ") for value in values]
    same = [column[0] for column in itertools.takewhile(lambda column: len(set(column)) == 1, zip(*words))]
    return " ".join(same)

def rows(folder, names, out):
    table = [row for name in names for row in csv.DictReader(open(os.path.join(folder, name + ".csv")))]
    heads, kept = [], []
    for column in COLUMNS:
        values = [row[column] for row in table]
        if not any(values):
            continue
        number = column in ("nodes", "ranks", "size_B", "time_s", "p10_s", "p90_s", "repetitions")
        head = "" if number or column in ("operation", "algorithm", "shape") else common(values)
        if head:
            heads.append(f"# {column}: {head}")
        if head and all(value == head for value in values):
            continue
        for row in table:
            row[column] = row[column][len(head):].strip()
        kept.append(column)
    if "ranks" in kept and "shape" in kept and all(row["ranks"] == row["nodes"] for row in table):
        kept.remove("ranks")
    heads.append("# empty cells: as above")
    with open(out, "w") as file:
        file.write("\n".join(heads) + "\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(kept)
        before = {}
        for row in table:
            # An empty cell of its own would repeat the cell above.
            cells = {column: row[column] or "-" for column in kept}
            writer.writerow(["" if before.get(column) == cells[column] else cells[column] for column in kept])
            before = cells

def placement(source, out):
    table = list(csv.reader(open(source)))
    names, lines = table[0], sorted(table[1:], key=lambda line: int(line[0]))
    assert [int(line[0]) for line in lines] == list(range(len(lines)))
    with open(out, "w") as file:
        file.write(",".join(names[1:]) + "\n")
        for switch, ranks in itertools.groupby(lines, key=lambda line: line[1:-1]):
            file.write(",".join(switch + [runs([int(rank[-1]) for rank in ranks])]) + "\n")

def runs(numbers):
    """Returns numbers as a list in which runs upwards are `first-last`."""
    groups = []
    for number in numbers:
        if groups and number == groups[-1][1] + 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in groups)

def main(folder, out):
    os.makedirs(os.path.join(out, "placement"), exist_ok=True)
    for name, parts in FILES.items():
        rows(folder, parts, os.path.join(out, name + ".csv"))
    for name in sorted(os.listdir(os.path.join(folder, "placement"))):
        placement(os.path.join(folder, "placement", name), os.path.join(out, "placement", name))

main(*sys.argv[1:])
