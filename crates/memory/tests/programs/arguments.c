/* Memory that MPI functions read and write besides messages, each between two exchanges. */
#include <mpi.h>
#include <sys/time.h>

void begin_(void);
void at_(int *, void *);
void mark_(int *);
void end_(void);
void show_(const char *, void *);

static int number, flag, count, position, index_[3], counts[1] = {10}, places[1];
static double x[10], y[10];
static char box[200];
static struct timeval time_;
static MPI_Status status, statuses[3];
static MPI_Request requests[3];
static MPI_Datatype column;

static void next(void) { mark_(&number), number++; }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    show_("s", &status), show_("t", statuses), show_("q", requests), show_("i", index_), show_("c", &count), show_("f", &flag);
    show_("p", &position), show_("b", box), show_("x", x), show_("y", y), show_("n", counts), show_("d", places), show_("z", &time_);
    MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &column), MPI_Type_commit(&column);
    begin_();
    next();
    MPI_Sendrecv(x, 10, MPI_DOUBLE, 0, 0, y, 10, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &status); /* interval 1 */
    next();
    MPI_Get_count(&status, MPI_DOUBLE, &count); /* 2 */
    next();
    for (int i = 0; i < 3; i++) MPI_Irecv(&y[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, &requests[i]); /* 3 */
    next();
    for (int i = 0; i < 3; i++) MPI_Send(&x[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF); /* 4 */
    MPI_Waitsome(3, requests, &count, index_, statuses);
    next();
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE); /* 5 */
    next();
    MPI_Pack(x, 1, column, box, 200, &position, MPI_COMM_SELF); /* 6 */
    next();
    MPI_Allgatherv(x, 10, MPI_DOUBLE, y, counts, places, MPI_DOUBLE, MPI_COMM_SELF); /* 7 */
    next();
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* 8 */
    next();
    void *memory; /* 9 */
    MPI_Alloc_mem(5000, MPI_INFO_NULL, &memory);
    show_("m", memory);
    next();
    MPI_Free_mem(memory); /* 10 */
    next();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* 11 */
    next();
here:
    at_(&number, &&here), number++; /* 12 */
    gettimeofday(&time_, 0); /* 13 */
    next();
#ifndef OPEN_MPI /* which makes no windows in a process that mpirun has not started */
    MPI_Win windows[2]; /* 14 */
    for (int i = 0; i < 2; i++) MPI_Win_create(x, sizeof x, 8, MPI_INFO_NULL, MPI_COMM_SELF, &windows[i]);
    next();
    MPI_Win_free(&windows[0]); /* 15 */
    next();
    MPI_Win_free(&windows[1]); /* 16 */
    next();
#endif
    end_();
    MPI_Finalize();
    return 0;
}
