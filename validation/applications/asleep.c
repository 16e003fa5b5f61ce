/* Ten times 50 ms asleep, each before a barrier: time that no processor sees. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) {
        usleep(50000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    puts("slept");
    MPI_Finalize();
    return 0;
}
