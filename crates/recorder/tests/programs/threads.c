/* Four threads, of which one initialised MPI, send 100 messages each to nobody: at the same time, or one after the
   other ("serialized"). */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *send_only(void *tag) {
    for (int i = 0; i < 100; i++) MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, *(int *)tag, MPI_COMM_WORLD);
    return 0;
}

int main(int argc, char **argv) {
    int provided, rank, tags[4] = {0, 1, 2, 3};
    int serialized = argc > 1;
    MPI_Init_thread(&argc, &argv, serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (serialized) {
        for (int i = 0; i < 3; i++) {
            pthread_t thread;
            pthread_create(&thread, 0, send_only, &tags[i]);
            pthread_join(thread, 0);
        }
        send_only(&tags[3]);
    } else if (provided == MPI_THREAD_MULTIPLE) {
        if (rank == 0) printf("multiple\n");
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, send_only, &tags[i]);
        send_only(&tags[3]);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    }
    MPI_Finalize();
    return 0;
}
