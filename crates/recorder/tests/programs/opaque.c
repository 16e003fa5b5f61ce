/* A window and a file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, x[4] = {0}, y = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win window;
    MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&y, 1, MPI_INT, rank ^ 1, 2, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (x[2] != 1) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_free(&window);
    char name[4096];
    snprintf(name, sizeof name, "%s/file", getenv("HAYASE_CAPTURE_DIR"));
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * sizeof y, &y, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
