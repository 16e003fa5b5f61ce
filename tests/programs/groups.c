/* A walk through the rest of MPI: groups, wildcards, probes, persistent requests, partial completion, derived types,
 * collectives with counts and collectives that do not block. Each piece checks what it received.
 *
 *     groups [N [ROUNDS]]        vectors of N numbers (default 100), ROUNDS times (default 10)
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, n;
static double *out, *in; /* room for n numbers a rank */

#define WORLD MPI_COMM_WORLD

/* Number k of what `from` sends to `to` in a round. */
static double value(int from, int to, int round, int k) { return 1000.0 * from + 100.0 * to + 10.0 * round + k; }

static void fill(double *buffer, int to, int round, int count) {
    for (int k = 0; k < count; k++) buffer[k] = value(rank, to, round, k);
}

static int differ(const double *buffer, int from, int to, int round, int count) {
    int wrong = 0;
    for (int k = 0; k < count; k++) wrong += buffer[k] != value(from, to, round, k);
    return wrong;
}

/* Even and odd ranks apart, in reverse order; a duplicate; the lower half by its group. */
static int groups(int round) {
    MPI_Comm half, same, lower;
    MPI_Group all, some;
    int wrong = 0, place, size, sum, expected = 0, range[1][3] = {{0, (ranks - 1) / 2, 1}};
    MPI_Comm_split(WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_Comm_size(half, &size);
    wrong += place != size - 1 - rank / 2;
    MPI_Comm_dup(half, &same);
    int mine = rank + round;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, same);
    for (int other = rank % 2; other < ranks; other += 2) expected += other + round;
    wrong += sum != expected;
    if (size > 1) { /* rank numbers here are those of the group */
        int got = -1, right = (place + 1) % size, left = (place + size - 1) % size;
        MPI_Sendrecv(&rank, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, same, MPI_STATUS_IGNORE);
        wrong += got != 2 * (size - 1 - left) + rank % 2;
    }
    MPI_Comm_free(&same);
    MPI_Comm_free(&half);

    MPI_Comm_group(WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Comm_create(WORLD, some, &lower);
    if (lower != MPI_COMM_NULL) {
        int root = rank == 0 ? 7 + round : 0;
        MPI_Bcast(&root, 1, MPI_INT, 0, lower);
        wrong += root != 7 + round;
        MPI_Comm_free(&lower);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return wrong;
}

/* Rank 0 learns from a probe who sends and how much; the others look with MPI_Iprobe for what it answers. All of it in a
 * communicator of its own: MPI_ANY_TAG would take what faster ranks send already in the next piece. */
static int wildcards(int round) {
    int wrong = 0, count, there = 0;
    MPI_Status status;
    MPI_Comm own;
    MPI_Comm_dup(WORLD, &own);
    if (rank == 0) {
        for (int done = 1; done < ranks; done++) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, own, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &count);
            int from = status.MPI_SOURCE, expected = (from * 7 + round) % (n + 1);
            MPI_Recv(in, n, MPI_DOUBLE, from, status.MPI_TAG, own, MPI_STATUS_IGNORE);
            wrong += count != expected || status.MPI_TAG != 10 + from;
            wrong += differ(in, from, 0, round, count);
            MPI_Send(in, count, MPI_DOUBLE, from, 11, own);
        }
    } else {
        int mine = (rank * 7 + round) % (n + 1);
        fill(out, 0, round, mine);
        MPI_Send(out, mine, MPI_DOUBLE, 0, 10 + rank, own);
        while (!there) MPI_Iprobe(0, 11, own, &there, &status);
        MPI_Recv(in, n, MPI_DOUBLE, MPI_ANY_SOURCE, 11, own, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        wrong += count != mine || differ(in, rank, 0, round, count);
    }
    MPI_Comm_free(&own);
    return wrong;
}

/* A ring whose requests are made once and started several times. */
static int persistent(int round) {
    int wrong = 0, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    MPI_Recv_init(in, n, MPI_DOUBLE, left, 20, WORLD, &requests[0]);
    MPI_Send_init(out, n, MPI_DOUBLE, right, 20, WORLD, &requests[1]);
    for (int time = 0; time < 3; time++) {
        fill(out, right, round + time, n);
        if (time == 1) {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        } else
            MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += differ(in, left, rank, round + time, n);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return wrong;
}

/* Everybody to everybody; completions are taken as they come, in a different way each round. */
static int partial(int round) {
    int wrong = 0, left = ranks, index, some, flag, *which = malloc(ranks * sizeof *which);
    MPI_Request *receives = malloc(ranks * sizeof *receives), *sends = malloc(ranks * sizeof *sends);
    for (int other = 0; other < ranks; other++)
        MPI_Irecv(in + (size_t)other * n, n, MPI_DOUBLE, other, 30, WORLD, &receives[other]);
    for (int other = 0; other < ranks; other++) {
        fill(out + (size_t)other * n, other, round, n);
        MPI_Isend(out + (size_t)other * n, n, MPI_DOUBLE, other, 30, WORLD, &sends[other]);
    }
    while (left > 0) {
        switch (round % 4) {
        case 0: MPI_Waitany(ranks, receives, &index, MPI_STATUS_IGNORE), which[0] = index, some = 1; break;
        case 1: MPI_Waitsome(ranks, receives, &some, which, MPI_STATUSES_IGNORE); break;
        case 2: MPI_Testsome(ranks, receives, &some, which, MPI_STATUSES_IGNORE); break;
        default: MPI_Testany(ranks, receives, &index, &flag, MPI_STATUS_IGNORE), which[0] = index, some = flag;
        }
        for (int k = 0; k < some; k++) wrong += differ(in + (size_t)which[k] * n, which[k], rank, round, n);
        left -= some;
    }
    do MPI_Testall(ranks, sends, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    free(which), free(receives), free(sends);
    return wrong;
}

/* The first column of a small matrix goes once around; nothing goes to MPI_PROC_NULL. */
static int columns(int round) {
    int wrong = 0, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    double matrix[4][3], column[4] = {0}, kept = rank;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) matrix[i][j] = value(rank, j, round, i);
    MPI_Datatype type;
    MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    MPI_Isend(&matrix[0][0], 1, type, right, 40, WORLD, &request);
    MPI_Recv(column, 4, MPI_DOUBLE, left, 40, WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += differ(column, left, 0, round, 4);
    MPI_Type_free(&type);
    MPI_Send(&kept, 1, MPI_DOUBLE, MPI_PROC_NULL, 41, WORLD);
    MPI_Sendrecv_replace(&kept, 1, MPI_DOUBLE, left, 42, right, 42, WORLD, MPI_STATUS_IGNORE);
    return wrong + (kept != right);
}

/* Rank r has r % 3 + 1 numbers: gathered, spread again, exchanged by all. */
static int counts(int round) {
    int wrong = 0, mine = rank % 3 + 1, total = 0, *many = malloc(ranks * sizeof *many), *starts = malloc(ranks * sizeof *starts);
    for (int other = 0; other < ranks; other++) starts[other] = total, total += many[other] = other % 3 + 1;
    int root = round % ranks;
    double *all = malloc(total * sizeof *all), back[3] = {0}, *given = malloc(3 * (size_t)ranks * sizeof *given);
    fill(out, 0, round, 3);
    MPI_Gatherv(out, mine, MPI_DOUBLE, all, many, starts, MPI_DOUBLE, root, WORLD);
    MPI_Scatterv(all, many, starts, MPI_DOUBLE, back, mine, MPI_DOUBLE, root, WORLD);
    wrong += differ(back, rank, 0, round, mine);
    MPI_Allgatherv(out, mine, MPI_DOUBLE, all, many, starts, MPI_DOUBLE, WORLD);
    for (int other = 0; other < ranks; other++) wrong += differ(all + starts[other], other, 0, round, many[other]);

    /* To rank r go r % 3 + 1 numbers; from everybody come as many as this rank has. */
    int *come = malloc(ranks * sizeof *come), *places = malloc(ranks * sizeof *places);
    for (int other = 0; other < ranks; other++) {
        come[other] = mine, places[other] = mine * other;
        for (int k = 0; k < many[other]; k++) all[starts[other] + k] = value(rank, other, round, k);
    }
    MPI_Alltoallv(all, many, starts, MPI_DOUBLE, given, come, places, MPI_DOUBLE, WORLD);
    for (int other = 0; other < ranks; other++) wrong += differ(given + places[other], other, rank, round, mine);

    /* Sums of everybody's pieces, a piece a rank; sums of the ranks before. */
    for (int k = 0; k < total; k++) all[k] = rank + k;
    MPI_Reduce_scatter(all, back, many, MPI_DOUBLE, MPI_SUM, WORLD);
    for (int k = 0; k < mine; k++) wrong += back[k] != ranks * (ranks - 1) / 2 + (double)ranks * (starts[rank] + k);
    int before = 0, upto;
    MPI_Scan(&rank, &upto, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Exscan(&rank, &before, 1, MPI_INT, MPI_SUM, WORLD);
    wrong += upto != rank * (rank + 1) / 2 || (rank > 0 && before != rank * (rank - 1) / 2);
    free(many), free(starts), free(all), free(given), free(come), free(places);
    return wrong;
}

/* A broadcast, a sum and a barrier under way together. */
static int unblocked(int round) {
    int wrong = 0, done = 0, root = (round + 1) % ranks, sum = 0;
    MPI_Request requests[2], barrier;
    fill(out, 0, round, n);
    double *shared = rank == root ? out : in;
    MPI_Ibcast(shared, n, MPI_DOUBLE, root, WORLD, &requests[0]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wrong += differ(shared, root, 0, round, n) || sum != ranks * (ranks - 1) / 2;
    MPI_Ibarrier(WORLD, &barrier);
    while (!done) MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    return wrong;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 100;
    int rounds = argc > 2 ? atoi(argv[2]) : 10;
    size_t room = (size_t)(n > 3 ? n : 3) * ranks;
    out = malloc(room * sizeof *out), in = malloc(room * sizeof *in);

    MPI_Barrier(WORLD);
    double begun = MPI_Wtime();
    int mine = 0, wrong = 0;
    for (int round = 0; round < rounds; round++)
        mine += groups(round) + wildcards(round) + persistent(round) + partial(round) + columns(round) + counts(round) +
                unblocked(round);
    double took = MPI_Wtime() - begun;
    MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 0)
        printf("groups n=%d rounds=%d ranks=%d mistakes=%d time=%.6f total=%.6f %s\n", n, rounds, ranks, wrong, took,
               MPI_Wtime() - started, wrong == 0 ? "ok" : "FAILED");
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
