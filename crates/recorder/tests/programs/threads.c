/* Programs of several threads, by the first word; those of two ranks need two.
     multiple    four threads, one of which initialised MPI, send 100 messages each to MPI_PROC_NULL, at the same time
     serialized  the same, one after another
     pingpong    two threads, each with its peer on a tag of its own: ROUNDS (200) messages there and back, WORK (0) additions
                 between
     requests    one thread starts receives and sends, another waits for them; a third receives from any source
     many        50 threads, one after another; then four at once
     openmp      a region of four threads in each of ten rounds, with a collective operation between
     outlives    a thread that has called still exists when MPI is finalised
     abort, kill, exit   a thread ends the program while the first is in MPI */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, rounds = 200, work = 0;
static const char *how;

static void *send_only(void *tag) {
    for (int i = 0; i < 100; i++) MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, *(int *)tag, MPI_COMM_WORLD);
    return 0;
}

static void *pingpong(void *tag) {
    volatile double sum = 0;
    int t = *(int *)tag, data[256] = {0};
    for (int i = 0; i < rounds; i++) {
        for (int j = 0; j < work; j++) sum += j;
        if (rank == 0) {
            MPI_Send(data, 256, MPI_INT, 1, t, MPI_COMM_WORLD);
            MPI_Recv(data, 256, MPI_INT, 1, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, 256, MPI_INT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, 256, MPI_INT, 0, t, MPI_COMM_WORLD);
        }
    }
    return 0;
}

static MPI_Request requests[2];
static int ints[2];

static void *waits(void *unused) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return 0;
}

static void *receives(void *unused) {
    int data;
    MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}

static void *ends(void *unused) {
    usleep(200000);
    if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 5);
    if (!strcmp(how, "exit")) exit(6);
    MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 77, MPI_COMM_WORLD);
    kill(getpid(), SIGTERM);
    pause();
    return 0;
}

static void *outlives(void *called) {
    MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 88, MPI_COMM_WORLD);
    *(volatile int *)called = 1;
    pause();
    return 0;
}

static void together(int count, void *(*function)(void *)) {
    pthread_t threads[8];
    int tags[8];
    for (int i = 1; i < count; i++) tags[i] = i, pthread_create(&threads[i], 0, function, &tags[i]);
    tags[0] = 0, function(&tags[0]);
    for (int i = 1; i < count; i++) pthread_join(threads[i], 0);
}

static void alone(void *(*function)(void *), int tag) {
    pthread_t thread;
    pthread_create(&thread, 0, function, &tag);
    pthread_join(thread, 0);
}

int main(int argc, char **argv) {
    int provided;
    how = argc > 1 ? argv[1] : "multiple";
    if (argc > 2) rounds = atoi(argv[2]);
    if (argc > 3) work = atoi(argv[3]);
    int serialized = !strcmp(how, "serialized");
    MPI_Init_thread(&argc, &argv, serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!serialized && provided != MPI_THREAD_MULTIPLE) return MPI_Finalize();
    if (rank == 0) printf("%s\n", how), fflush(stdout);
    if (serialized) {
        for (int i = 0; i < 3; i++) alone(send_only, i);
        send_only(&(int){3});
    } else if (!strcmp(how, "multiple")) {
        together(4, send_only);
    } else if (!strcmp(how, "pingpong")) {
        double begin = MPI_Wtime();
        together(2, pingpong);
        if (rank == 0) printf("%.9f s\n", MPI_Wtime() - begin);
    } else if (!strcmp(how, "requests")) {
        pthread_t thread;
        pthread_create(&thread, 0, receives, 0);
        for (int i = 0; i < 20; i++) {
            MPI_Irecv(&ints[0], 1, MPI_INT, MPI_ANY_SOURCE, i < 10 ? 3 : 4, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(&ints[1], 1, MPI_INT, 1 - rank, i < 10 ? 3 : 4, MPI_COMM_WORLD, &requests[1]);
            alone(waits, 0);
        }
        MPI_Send(&rank, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD);
        pthread_join(thread, 0);
    } else if (!strcmp(how, "many")) {
        for (int i = 0; i < 50; i++) alone(send_only, i);
        together(5, send_only);
    } else if (!strcmp(how, "openmp")) {
        for (int i = 0; i < 10; i++) {
#pragma omp parallel for num_threads(4)
            for (int t = 0; t < 4; t++) {
                int data = t;
                MPI_Sendrecv_replace(&data, 1, MPI_INT, 1 - rank, t, 1 - rank, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    } else if (!strcmp(how, "outlives")) {
        pthread_t thread;
        int called = 0;
        pthread_create(&thread, 0, outlives, &called);
        while (!*(volatile int *)&called) usleep(1000);
    } else {
        pthread_t thread;
        if (rank == 0) pthread_create(&thread, 0, ends, 0);
        MPI_Recv(&provided, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
