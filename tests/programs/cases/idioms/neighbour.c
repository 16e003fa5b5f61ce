/* Halos by a neighbourhood collective. The interior may be computed meanwhile, the border not; the operation is no
 * collective by hand. */
#include "idioms.h"

//= may @exchange after @inside
//= not @exchange after @tail
//= not @exchange before @tail
//= none A004 @exchange
static double edge[2][N], halo[2][N], inside[4 * N];

int main(int argc, char **argv) {
    start(&argc, &argv);
    MPI_Comm ring;
    int dims[1] = {np}, periods[1] = {1};
    MPI_Cart_create(W, 1, dims, periods, 0, &ring);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < N; i++) {
            edge[0][i] = inside[i] + k;
            edge[1][i] = inside[i + N] - k;
        }
        MPI_Neighbor_alltoall(edge, N, MPI_DOUBLE, halo, N, MPI_DOUBLE, ring); // @exchange
        work(8); // @inside
        for (int i = 0; i < N; i++) inside[i] = 0.5 * (halo[0][i] + halo[1][i]);
        work(2); // @tail
    }
    MPI_Comm_free(&ring);
    return stop(inside[5]);
}
