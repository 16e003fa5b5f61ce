/* Sums in place. The second of the first pair takes what the first one brought; those of the second pair do not need
 * each other. */
#include "idioms.h"

//= one @free1 @free2
//= two @need1 @need2
static double x[4], y[4], p[4], q[4];

int main(int argc, char **argv) {
    start(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        x[i] = me;
        p[i] = me;
        q[i] = me;
    }
    for (int k = 0; k < 40; k++) {
        MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_DOUBLE, MPI_SUM, W); // @need1
        for (int i = 0; i < 4; i++) y[i] = x[i] * 0.25 + k;
        MPI_Allreduce(MPI_IN_PLACE, y, 4, MPI_DOUBLE, MPI_SUM, W); // @need2
        for (int i = 0; i < 4; i++) x[i] = y[i] * 0.1;
        work(2);
        for (int i = 0; i < 4; i++) {
            p[i] = k + i;
            q[i] = k - i;
        }
        MPI_Allreduce(MPI_IN_PLACE, p, 4, MPI_DOUBLE, MPI_SUM, W); // @free1
        MPI_Allreduce(MPI_IN_PLACE, q, 4, MPI_DOUBLE, MPI_SUM, W); // @free2
        for (int i = 0; i < 4; i++) x[i] += p[i] * q[i] * 1e-6;
        work(2);
    }
    return stop(x[0]);
}
