/* Two all-reduces, of which the second needs what the first gives. It is compiled into a library of its own, without the
 * instrumentation or with it: then the compiler puts `x` on the stack before anything that is instrumented. */
#include <mpi.h>

double step(double x) {
    double sum, total;
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // @first
    double z = sum * 0.5 + x; // @between
    MPI_Allreduce(&z, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // @second
    return total * 1e-3;
}
