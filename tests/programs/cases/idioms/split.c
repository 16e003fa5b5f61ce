/* Two sums over a row could be one. A sum over a column has other members: it is never one with them. */
#include "idioms.h"

//= one @row1 @row2
//= two @row1 @col
//= two @row2 @col
int main(int argc, char **argv) {
    start(&argc, &argv);
    MPI_Comm row, column;
    MPI_Comm_split(W, me / 2, me, &row);
    MPI_Comm_split(W, me % 2, me, &column);
    double s = 0;
    static double x[3], y[3];
    for (int k = 0; k < 40; k++) {
        for (int i = 0; i < 3; i++) x[i] = me + k + i;
        MPI_Allreduce(&x[0], &y[0], 1, MPI_DOUBLE, MPI_SUM, row); // @row1
        MPI_Allreduce(&x[1], &y[1], 1, MPI_DOUBLE, MPI_SUM, row); // @row2
        MPI_Allreduce(&x[2], &y[2], 1, MPI_DOUBLE, MPI_SUM, column); // @col
        s += y[0] + y[1] * y[2];
        work(2);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    return stop(s);
}
