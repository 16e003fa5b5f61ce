"""The applications: what they need, how they are built and called, and what they have to answer."""

import dataclasses
import glob
import pathlib
import random
import re
import shutil
import typing

LIBRARIES = "/usr/lib/*-linux-gnu"
PETSC = "/usr/share/petsc/3.*/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c"


def only(pattern):
    """The one file that a pattern stands for; the last of several."""
    return sorted(glob.glob(pattern))[-1]


@dataclasses.dataclass
class Case:
    name: str
    packages: list
    # Commands and files (patterns) that are there where the packages are.
    needs: list
    # Words in braces: {ranks}, {here} (this folder), and what `prepare` returns.
    command: str
    quick: str
    # What is found in the output is the answer: the same whether the program is recorded or not.
    answer: str
    mpi: str = "openmpi"
    ranks: tuple = (1, 2)
    build: list = dataclasses.field(default_factory=list)
    # Writes input files into a folder: prepare(folder, ranks, quick).
    prepare: typing.Callable = None
    # A file of the program's in which the answer is, instead of its output.
    output: str = None


def scalapack(folder, ranks, quick):
    """The test's own input, on all grids of one and two processes; with one size of blocks, or for longer runs with larger matrices."""
    lines = pathlib.Path("/usr/share/scalapack/LU.dat").read_text().splitlines()
    lines[13:16] = ["3                         number of process grids", "1 2 1                     values of P", "1 1 2                     values of Q"]
    if quick:
        lines[7] = "1                         number of NB's"
    else:
        lines[5] = "100 150 200 300           values of M"
        lines[6] = "100 150 200 300           values of N"
        lines[8] = "8 16 32                   values of NB"
    (folder / "LU.dat").write_text("\n".join(lines) + "\n")


def scotch(folder, ranks, quick):
    """A square grid, as Scotch writes graphs: vertices and arcs, then for each vertex its neighbours."""
    side = 60 if quick else 400
    lines = ["0", f"{side * side} {4 * side * (side - 1)}", "0 000"]
    for i in range(side):
        for j in range(side):
            beside = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
            inside = [a * side + b for a, b in beside if 0 <= a < side and 0 <= b < side]
            lines.append(" ".join(map(str, [len(inside), *inside])))
    (folder / "grid.grf").write_text("\n".join(lines) + "\n")


def espresso(folder, ranks, quick):
    """Silicon; for longer runs, with more plane waves and more points in the Brillouin zone."""
    text = (pathlib.Path(__file__).resolve().parent / "si.in").read_text()
    if not quick:
        text = text.replace("ecutwfc=12.0", "ecutwfc=30.0").replace("2 2 2 1 1 1", "4 4 4 1 1 1")
    (folder / "si.in").write_text(text)


def challenge(folder, ranks, quick):
    """The package's example, on a grid of 1 x ranks processes."""
    lines = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text().splitlines()
    lines[5] = f"{100 if quick else 1000} Ns"
    lines[10], lines[11] = "1 Ps", f"{ranks} Qs"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    # What it adds to would hold the answers of runs before.
    (folder / "hpccoutf.txt").unlink(missing_ok=True)


def nwchem(folder, ranks, quick):
    """Energies of water, correlated, with integrals in scratch files; for longer runs, of two molecules."""
    atoms = [("O", 0, 0, 0), ("H", 0, 0.757, 0.587), ("H", 0, -0.757, 0.587)]
    atoms = [(name, x + 3 * i, y, z) for i in range(1 if quick else 2) for name, x, y, z in atoms]
    lines = ["start water", f"scratch_dir {folder}", f"permanent_dir {folder}", "geometry units angstrom"]
    lines += [" ".join(map(str, atom)) for atom in atoms]
    lines += ["end", "basis", "* library 6-31g*", "end", "scf", "semidirect memsize 0 filesize 100000000", "end", "task mp2 energy"]
    (folder / "water.nw").write_text("\n".join(lines) + "\n")


def ray(folder, ranks, quick):
    """Reads of 100 bases from both strands of a sequence drawn at random."""
    draw = random.Random(5)
    length, reads = (1500, 100) if quick else (10000, 600)
    bases = "".join(draw.choice("ACGT") for _ in range(length))
    other = bases.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    starts = [(draw.choice([bases, other]), draw.randrange(length - 100)) for _ in range(reads)]
    (folder / "reads.fasta").write_text("".join(f">{i}\n{strand[at:at + 100]}\n" for i, (strand, at) in enumerate(starts)))
    # It does not write over what is there.
    shutil.rmtree(folder / "out", ignore_errors=True)


# Fortran says at its end which exceptions were raised; a recorder must raise none, and clear none.
FLAGS = r"Note: The following floating-point exceptions.*"

CASES = [
    Case("LAMMPS", ["lammps"], ["lmp"], "lmp -in {here}/in.lj -var t 1000", "lmp -in {here}/in.lj -var t 40",
         answer=r"^ +\d+ +[\d.]+ +-[\d.]+ .*$"),
    *(Case(f"ScaLAPACK `xdlu`, {name}", ["scalapack-mpi-test", "scalapack-test-common"],
           [f"{LIBRARIES}/scalapack/{mpi}-tests/xdlu", "/usr/share/scalapack/LU.dat"],
           "{program}", "{program}", answer=rf"^ +\d+ tests .*$|{FLAGS}", mpi=mpi, prepare=scalapack,
           # On two processes it hangs now and then by itself: each decides by sums of its own when an estimate is good enough.
           ranks=(1,))
      for mpi, name in [("openmpi", "Open MPI"), ("mpich", "MPICH")]),
    Case("Quantum ESPRESSO `pw.x`", ["quantum-espresso", "quantum-espresso-data"],
         ["pw.x", "/usr/share/espresso/pseudo/Si.pz-vbc.UPF"], "pw.x -in si.in", "pw.x -in si.in",
         answer=rf"^!.*$|{FLAGS}", prepare=espresso),
    Case("PETSc, KSP `ex2`", ["libpetsc-real-dev", "^libpetsc3[.][0-9]+-dev-examples$", "pkg-config"],
         [PETSC, "/usr/lib/petscdir/petsc3.*/*-real/lib/libpetsc_real.so", "pkg-config"],
         "./ex2 -m 400 -n 400", "./ex2 -m 80 -n 80", answer=r"^Norm of error.*$",
         build=["cp {petsc} .", "sh -c 'mpicc.openmpi -O2 ex2.c -o ex2 $(pkg-config --cflags --libs petsc)'"]),
    Case("FFTW, 2-D transforms", ["libfftw3-mpi-dev", "libfftw3-dev"],
         [f"{LIBRARIES}/libfftw3_mpi.so", "/usr/include/fftw3.h"], "./fw", "./fw",
         answer="^(time)", build=["mpicc.openmpi -O2 {here}/fw.c -o fw -lfftw3_mpi -lfftw3 -lm"]),
    Case("PT-Scotch `dgpart`", ["ptscotch"], ["dgpart"], "dgpart 4 grid.grf out.map -vm", "dgpart 4 grid.grf out.map -vm",
         answer=r"^M\s+Processors.*$", prepare=scotch),
    Case("mpi4py", ["python3-mpi4py", "python3-numpy"], ["/usr/lib/python3/dist-packages/mpi4py/MPI.*.so"],
         # Open MPI 4.1 has no windows of one process.
         "/usr/bin/python3 {here}/mp.py", "/usr/bin/python3 {here}/mp.py", answer=r"^\d+ [\d.]+ .*$", ranks=(2,)),
    Case("Boost.MPI", ["libboost-mpi-dev", "libboost-serialization-dev"], [f"{LIBRARIES}/libboost_mpi.so"],
         "./bm", "./bm", answer=r"^hi\d$",
         build=["mpicxx.openmpi -O2 {here}/bm.cpp -o bm -lboost_mpi -lboost_serialization"]),
    Case("NWChem", ["nwchem"], ["nwchem"], "nwchem water.nw", "nwchem water.nw", answer=r"Total MP2 energy +-\d+\.\d{8}", prepare=nwchem),
    Case("Ray", ["ray"], ["Ray"], "Ray -k 21 -s reads.fasta -o out", "Ray -k 21 -s reads.fasta -o out", answer=r"^ (?:Number|N50): \d+$", prepare=ray),
    Case("asleep", [], [], "./asleep", "./asleep", answer="^(slept)", build=["mpicc.openmpi -O2 {here}/asleep.c -o asleep"]),
    Case("NetPIPE", ["netpipe-openmpi"], ["NPopenmpi"], "NPopenmpi -n 200 -p 0 -u 1048576 -o np.out",
         "NPopenmpi -n 20 -p 0 -u 65536 -o np.out", answer=r"^ *\d+: +\d+ bytes +\d+ times", ranks=(2,)),
    Case("HPC Challenge", ["hpcc"], ["hpcc", "/usr/share/doc/hpcc/examples/_hpccinf.txt"], "hpcc", "hpcc",
         answer=r"^(?:Success|CommWorldProcs|HPL_N)=.*$", prepare=challenge, output="hpccoutf.txt"),
]


def words(case):
    """What stands for words in braces that depends on where packages put things."""
    found = {"here": pathlib.Path(__file__).resolve().parent}
    if "{program}" in case.command:
        found["program"] = only(case.needs[0])
    if any("{petsc}" in line for line in case.build):
        found["petsc"] = only(PETSC)
    return found


def answer(case, text):
    return re.findall(case.answer, text, re.MULTILINE)
