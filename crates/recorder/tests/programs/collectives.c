/* All collective operations, blocking and not, on the world and on its parts; communicators made in every way. */
#include <mpi.h>
#include <stdlib.h>

static void all(MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    double *a = calloc(100 * size, sizeof *a), *b = calloc(100 * size, sizeof *b);
    int *counts = malloc(size * sizeof *counts), *places = malloc(size * sizeof *places);
    MPI_Datatype *types = malloc(size * sizeof *types);
    int *bytes = malloc(size * sizeof *bytes);
    for (int i = 0, at = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = at;
        bytes[i] = at * 8;
        types[i] = MPI_DOUBLE;
        at += i + 1;
    }
    int root = size - 1;
    MPI_Barrier(comm);
    MPI_Bcast(a, 10, MPI_DOUBLE, root, comm);
    MPI_Reduce(a, b, 10, MPI_DOUBLE, MPI_SUM, root, comm);
    MPI_Allreduce(a, b, 11, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, b, 11, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Gather(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, root, comm);
    MPI_Gatherv(a, rank + 1, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, root, comm);
    MPI_Scatter(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, root, comm);
    MPI_Scatterv(a, counts, places, MPI_DOUBLE, b, rank + 1, MPI_DOUBLE, root, comm);
    MPI_Allgather(a, 5, MPI_DOUBLE, b, 5, MPI_DOUBLE, comm);
    MPI_Allgatherv(a, rank + 1, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, comm);
    MPI_Alltoall(a, 6, MPI_DOUBLE, b, 6, MPI_DOUBLE, comm);
    int *same = malloc(size * sizeof *same);
    int *apart = malloc(size * sizeof *apart);
    for (int i = 0; i < size; i++) {
        same[i] = rank + 1;
        apart[i] = i * (rank + 1);
    }
    MPI_Alltoallv(a, same, apart, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, comm);
    int *apart_bytes = malloc(size * sizeof *apart_bytes);
    for (int i = 0; i < size; i++) apart_bytes[i] = apart[i] * 8;
    MPI_Alltoallw(a, same, apart_bytes, types, b, counts, bytes, types, comm);
    MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Reduce_scatter_block(a, b, 7, MPI_DOUBLE, MPI_PROD, comm);
    MPI_Scan(a, b, 8, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Exscan(a, b, 9, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Request r[3];
    MPI_Ibarrier(comm, &r[0]);
    MPI_Ibcast(a, 10, MPI_DOUBLE, 0, comm, &r[1]);
    MPI_Iallreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, comm, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    free(a); free(b); free(counts); free(places); free(types); free(bytes); free(same); free(apart); free(apart_bytes);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all(MPI_COMM_WORLD);
    MPI_Comm half, copy, later, grid, row, shared, group_made, merged, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    all(half);
    MPI_Comm_dup(half, &copy);
    MPI_Request r;
    MPI_Comm_idup(MPI_COMM_WORLD, &later, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    all(later);
    int extents[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 1};
    MPI_Dims_create(size, 2, extents);
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 1, &grid);
    MPI_Cart_sub(grid, remain, &row);
    all(row);
    double a[400] = {0}, b[400] = {0};
    MPI_Neighbor_alltoall(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, grid);
    MPI_Neighbor_allgather(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, grid);
    MPI_Ineighbor_alltoall(a, 5, MPI_DOUBLE, b, 5, MPI_DOUBLE, grid, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Barrier(shared);
    MPI_Group world, even;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int range[1][3] = {{0, size - 1, 2}};
    MPI_Group_range_incl(world, 1, range, &even);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 5, &group_made);
        MPI_Barrier(group_made);
        MPI_Comm_free(&group_made);
    }
    MPI_Comm made;
    MPI_Comm_create(MPI_COMM_WORLD, even, &made);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    /* The two halves; rank 0 of a half is the last of the world in it. */
    int last_even = (size - 1) / 2 * 2, last_odd = (size - 2) / 2 * 2 + 1;
    if (size > 1) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? last_even : last_odd, 9, &inter);
        int in_half;
        MPI_Comm_rank(half, &in_half);
        int remote;
        MPI_Comm_remote_size(inter, &remote);
        if (in_half < remote && in_half < size / 2)
            MPI_Sendrecv(a, 2, MPI_DOUBLE, in_half, 3, b, 2, MPI_DOUBLE, in_half, 3, inter, MPI_STATUS_IGNORE);
        MPI_Barrier(inter);
        MPI_Intercomm_merge(inter, rank % 2, &merged);
        MPI_Barrier(merged);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&inter);
    }
    /* Handles are reused. */
    for (int i = 0; i < 5; i++) {
        MPI_Comm again;
        MPI_Comm_dup(i % 2 ? half : MPI_COMM_WORLD, &again);
        MPI_Barrier(again);
        MPI_Comm_free(&again);
    }
    MPI_Finalize();
    return 0;
}
