/* Every kind of message between ranks 2k and 2k+1, with wildcards, ignored statuses and reused handles.
   Prints nothing; the tests look at the trace. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int other = rank ^ 1;
    double a[1000], b[4][1000];
    memset(a, 0, sizeof a);
    char attached[200000];
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Status status;
    if (rank % 2 == 0) {
        MPI_Send(a, 100, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
        MPI_Bsend(a, 10, MPI_DOUBLE, other, 2, MPI_COMM_WORLD);
        MPI_Ssend(a, 1000, MPI_DOUBLE, other, 3, MPI_COMM_WORLD);
        MPI_Request r[4];
        for (int i = 0; i < 4; i++) MPI_Isend(a, i, MPI_DOUBLE, other, 10 + i, MPI_COMM_WORLD, &r[i]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        MPI_Issend(a, 5, MPI_DOUBLE, other, 20, MPI_COMM_WORLD, &r[0]);
        MPI_Ibsend(a, 6, MPI_DOUBLE, other, 21, MPI_COMM_WORLD, &r[1]);
        int done = 0;
        while (done < 2) {
            int index;
            MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
            if (index != MPI_UNDEFINED) done++;
        }
        /* Matched probes on the other side. */
        MPI_Send(a, 7, MPI_DOUBLE, other, 30, MPI_COMM_WORLD);
        MPI_Send(a, 8, MPI_DOUBLE, other, 31, MPI_COMM_WORLD);
        MPI_Send(a, 9, MPI_DOUBLE, other, 32, MPI_COMM_WORLD);
        /* Persistent. */
        MPI_Request p;
        MPI_Send_init(a, 11, MPI_DOUBLE, other, 40, MPI_COMM_WORLD, &p);
        for (int i = 0; i < 3; i++) {
            MPI_Start(&p);
            MPI_Wait(&p, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&p);
    } else {
        MPI_Recv(b[0], 1000, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b[0], 1000, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG != 2 || status.MPI_SOURCE != other) return 1;
        MPI_Recv(b[0], 1000, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request r[4];
        for (int i = 0; i < 4; i++)
            MPI_Irecv(b[i], 1000, MPI_DOUBLE, MPI_ANY_SOURCE, 10 + i, MPI_COMM_WORLD, &r[i]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        MPI_Irecv(b[0], 1000, MPI_DOUBLE, other, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(b[1], 1000, MPI_DOUBLE, other, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
        int left = 2;
        while (left > 0) {
            int count, which[2];
            MPI_Testsome(2, r, &count, which, MPI_STATUSES_IGNORE);
            if (count > 0) left -= count;
        }
        MPI_Probe(MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &status);
        int count;
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        if (count != 7) return 1;
        MPI_Recv(b[0], count, MPI_DOUBLE, status.MPI_SOURCE, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Message message;
        MPI_Mprobe(MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(b[0], 1000, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        int there = 0;
        while (!there) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(b[0], 1000, MPI_DOUBLE, &message, &r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Request p;
        MPI_Recv_init(b[0], 11, MPI_DOUBLE, other, 40, MPI_COMM_WORLD, &p);
        for (int i = 0; i < 3; i++) {
            MPI_Startall(1, &p);
            MPI_Waitall(1, &p, MPI_STATUSES_IGNORE);
        }
        MPI_Request_free(&p);
    }
    /* Both directions at once, and MPI_PROC_NULL. */
    MPI_Sendrecv(a, 3, MPI_DOUBLE, other, 50, b[0], 1000, MPI_DOUBLE, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(a, 4, MPI_DOUBLE, other, 51, other, 51, MPI_COMM_WORLD, &status);
    MPI_Sendrecv(a, 3, MPI_DOUBLE, MPI_PROC_NULL, 50, b[0], 1000, MPI_DOUBLE, MPI_PROC_NULL, 50, MPI_COMM_WORLD, &status);
    if (status.MPI_SOURCE != MPI_PROC_NULL) return 1;
    MPI_Send(a, 3, MPI_DOUBLE, MPI_PROC_NULL, 50, MPI_COMM_WORLD);
    /* A cancelled receive never took place. */
    MPI_Request c;
    MPI_Irecv(b[0], 10, MPI_DOUBLE, other, 99, MPI_COMM_WORLD, &c);
    MPI_Cancel(&c);
    MPI_Wait(&c, &status);
    int cancelled;
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled) return 1;
    void *detached;
    int length;
    MPI_Buffer_detach(&detached, &length);
    MPI_Finalize();
    return 0;
}
