/* Messages that could be one or a collective operation, collective operations that could be one; and near misses.
 *
 *     merge                      4 ranks
 *
 * Names and answers are as in overlap.c. An answer says what becomes one, where the other ends are, how many bytes it is
 * then, and how many each rank copies for it; of a collective operation made by hand, which one it is, among whom.
 */
#include <mpi.h>
#include <stdio.h>

enum { RANKS = 4, N = 10 };

static int rank;
static double a[100], b[100], c[100], in[100], out[100], sum[100];
static MPI_Status status;

static void fill(double *x, double value) {
    for (int i = 0; i < 100; i++) x[i] = value + i;
}

/* Nothing goes from one case to another: what was received is used, and all meet. */
static void next(void) {
    fill(a, rank), fill(b, rank), fill(c, rank);
    for (int i = 0; i < 100; i++) sum[i] = sum[i] + in[i] + out[i];
    fill(in, 0), fill(out, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Buffers that follow each other at both ends: one message, and nothing to copy (figure 1). */
//= A002 @near.first, @near.second, received at @near.into, @near.then: 240 B, copies 0 B on 0, 0 B on 1
static void adjacent_messages(void) {
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); // @near.first
        MPI_Send(a + N, 2 * N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); // @near.second
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &status); // @near.into
        MPI_Recv(in + N, 2 * N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &status); // @near.then
    }
    next();
}

/* Buffers apart, at the sender only: it copies (figure 2). */
//= A002 @far.first, @far.second, received at @far.into, @far.then: 160 B, copies 160 B on 0, 0 B on 1
static void messages_from_two_buffers(void) {
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); // @far.first
        MPI_Send(b, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); // @far.second
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &status); // @far.into
        MPI_Recv(in + N, N, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &status); // @far.then
    }
    next();
}

/* Near misses: the second is computed after the first has gone; one buffer for both, used in between; two destinations;
 * received in the other order. */
static void messages_apart(void) {
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
        b[0] = a[0] + 1;
        MPI_Send(b, N, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &status);
        MPI_Recv(in + N, N, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &status);
    }
    next();
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        MPI_Send(b, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status);
        for (int i = 0; i < N; i++) out[i] = in[i];
        MPI_Recv(in, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, &status);
    }
    next();
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
        MPI_Send(b, N, MPI_DOUBLE, 2, 9, MPI_COMM_WORLD);
    } else if (rank == 1 || rank == 2) {
        MPI_Recv(in, N, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &status);
    }
    next();
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, 1, 10, MPI_COMM_WORLD);
        MPI_Send(b, N, MPI_DOUBLE, 1, 11, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(in + N, N, MPI_DOUBLE, 0, 11, MPI_COMM_WORLD, &status);
        MPI_Recv(in, N, MPI_DOUBLE, 0, 10, MPI_COMM_WORLD, &status);
    }
    next();
}

/* Two sums of which neither needs the other: both vectors are put into one and taken out again, on all ranks. */
//= A003 Allreduce @sums.first, @sums.second: 16 B, copies 32 B on 0, 32 B on 1, 32 B on 2, 32 B on 3
static void two_sums(void) {
    MPI_Allreduce(a, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // @sums.first
    MPI_Allreduce(b, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // @sums.second
    next();
}

/* Near misses: the second sum needs the first; another operator; another root; on one rank the second is not ready. */
static void collectives_apart(void) {
    MPI_Allreduce(a, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    b[0] = in[0] / RANKS;
    MPI_Allreduce(b, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    next();
    MPI_Allreduce(a, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(b, out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    next();
    MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(out, N, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    next();
    MPI_Allreduce(a, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 2) b[0] = in[0];
    MPI_Allreduce(b, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    next();
}

/* Collective operations made by hand. */
//= A004 Bcast @bcast, other end @bcast.to: 80 B among 0-3, root 0
//= A004 Scatter @scatter, other end @scatter.to: 80 B among 0-3, root 1
//= A004 Gather @gather, other end @gather.from: 80 B among 0-3, root 0
//= A004 Reduce @reduce, other end @reduce.from: 80 B among 0-3, root 0; check
static void one_and_all(void) {
    for (int to = 1; rank == 0 && to < RANKS; to++)
        MPI_Send(a, N, MPI_DOUBLE, to, 12, MPI_COMM_WORLD); // @bcast
    if (rank != 0) MPI_Recv(in, N, MPI_DOUBLE, 0, 12, MPI_COMM_WORLD, &status); // @bcast.to
    next();
    for (int to = 0; rank == 1 && to < RANKS; to++)
        if (to != 1) MPI_Send(a + to * N, N, MPI_DOUBLE, to, 13, MPI_COMM_WORLD); // @scatter
    if (rank != 1) MPI_Recv(in, N, MPI_DOUBLE, 1, 13, MPI_COMM_WORLD, &status); // @scatter.to
    next();
    for (int from = 1; rank == 0 && from < RANKS; from++)
        MPI_Recv(in + from * N, N, MPI_DOUBLE, from, 14, MPI_COMM_WORLD, &status); // @gather
    if (rank != 0) MPI_Send(a, N, MPI_DOUBLE, 0, 14, MPI_COMM_WORLD); // @gather.from
    next();
    for (int from = 1; rank == 0 && from < RANKS; from++) {
        MPI_Recv(in, N, MPI_DOUBLE, from, 15, MPI_COMM_WORLD, &status); // @reduce
        for (int i = 0; i < N; i++) out[i] += in[i];
    }
    if (rank != 0) MPI_Send(a, N, MPI_DOUBLE, 0, 15, MPI_COMM_WORLD); // @reduce.from
    next();
}

//= A004 Allgather @allgather, other end @allgather.from: 80 B among 0-3
static void all_get_from_all(void) {
    MPI_Request requests[2 * RANKS];
    int n = 0;
    for (int k = 1; k < RANKS; k++) {
        int peer = (rank + k) % RANKS;
        MPI_Irecv(in + peer * N, N, MPI_DOUBLE, peer, 16, MPI_COMM_WORLD, &requests[n++]); // @allgather.from
        MPI_Isend(a, N, MPI_DOUBLE, peer, 16, MPI_COMM_WORLD, &requests[n++]); // @allgather
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    next();
}

//= A004 Alltoall @alltoall, other end @alltoall.from: 80 B among 0-3; 2 times
static void all_give_to_all(void) {
    MPI_Request requests[RANKS];
    for (int times = 0; times < 2; times++) {
        for (int from = 0, n = 0; from < RANKS; from++)
            if (from != rank) MPI_Irecv(in + from * N, N, MPI_DOUBLE, from, 17, MPI_COMM_WORLD, &requests[n++]); // @alltoall.from
        for (int to = 0; to < RANKS; to++)
            if (to != rank) MPI_Send(a + to * N, N, MPI_DOUBLE, to, 17, MPI_COMM_WORLD); // @alltoall
        MPI_Waitall(RANKS - 1, requests, MPI_STATUSES_IGNORE);
        next();
    }
}

/* Near misses: one rank is left out; one block is larger; what is sent changes on the way; neighbours in a ring. */
static void no_collective(void) {
    for (int to = 1; rank == 0 && to < RANKS; to++)
        if (to != 2) MPI_Send(a, N, MPI_DOUBLE, to, 18, MPI_COMM_WORLD);
    if (rank % 2) MPI_Recv(in, N, MPI_DOUBLE, 0, 18, MPI_COMM_WORLD, &status);
    next();
    for (int to = 1; rank == 0 && to < RANKS; to++)
        MPI_Send(a, N + (to == 3), MPI_DOUBLE, to, 19, MPI_COMM_WORLD);
    if (rank != 0) MPI_Recv(in, N + (rank == 3), MPI_DOUBLE, 0, 19, MPI_COMM_WORLD, &status);
    next();
    for (int to = 1; rank == 0 && to < RANKS; to++) {
        a[0] = to;
        MPI_Send(a, N, MPI_DOUBLE, to, 20, MPI_COMM_WORLD);
    }
    if (rank != 0) MPI_Recv(in, N, MPI_DOUBLE, 0, 20, MPI_COMM_WORLD, &status);
    next();
    for (int side = 1; side < RANKS; side += 2) {
        int to = (rank + side) % RANKS, from = (rank + RANKS - side) % RANKS;
        MPI_Sendrecv(a, N, MPI_DOUBLE, to, 21, in + side * N, N, MPI_DOUBLE, from, 21, MPI_COMM_WORLD, &status);
    }
    next();
}

/* Near misses: a length, and then that many elements. Of one size each time, of another, and from rank to rank. */
static void lengths(void) {
    for (int times = 0; times < 3; times++) {
        int many = rank == 0 ? N : 0;
        MPI_Bcast(&many, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Bcast(a, many, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        next();
    }
    for (int times = 0; times < 3; times++) {
        long most, mine = rank * times;
        MPI_Allreduce(&mine, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(a, in, most / (RANKS - 1) + 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        next();
    }
    if (rank == 0) {
        int many = 2 * N;
        MPI_Send(&many, 1, MPI_INT, 1, 20, MPI_COMM_WORLD);
        MPI_Send(a, many, MPI_DOUBLE, 1, 21, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int many;
        MPI_Recv(&many, 1, MPI_INT, 0, 20, MPI_COMM_WORLD, &status);
        MPI_Recv(in, many, MPI_DOUBLE, 0, 21, MPI_COMM_WORLD, &status);
    }
    next();
}

/* A number that is no length: nobody reads it before the second comes. */
//= A003 Bcast @number.first, @number.second: 84 B, copies 84 B on 0, 84 B on 1, 84 B on 2, 84 B on 3
static void number_and_row(void) {
    static int step;
    MPI_Bcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD); // @number.first
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); // @number.second
    sum[0] += step;
    next();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    next();
    adjacent_messages();
    messages_from_two_buffers();
    messages_apart();
    two_sums();
    collectives_apart();
    one_and_all();
    all_get_from_all();
    all_give_to_all();
    no_collective();
    lengths();
    number_and_row();
    if (rank == 0) printf("merge: %g\n", sum[0]);
    MPI_Finalize();
    return 0;
}
