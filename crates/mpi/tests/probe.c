#define _GNU_SOURCE
/* Prints the constants of an MPI's header, for comparison with the table; then the statuses and requests that MPI writes. */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#define number(name, value) printf("%s %lld\n", name, (long long)(value))
#define handle(name, value) printf("%s %lld\n", name, (long long)(sizeof(value) == 4 ? (unsigned)(size_t)(value) : (size_t)(value)))
#define address(name, value) printf("%s %lld\n", name, (long long)(size_t)(value))

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    /* Addresses of these objects for a library that is loaded before the program. */
    for (int i = 1; i < argc; i++) address(argv[i], dlsym(RTLD_DEFAULT, argv[i]));
    number("status.size", sizeof(MPI_Status));
    number("status.source", offsetof(MPI_Status, MPI_SOURCE));
    number("status.tag", offsetof(MPI_Status, MPI_TAG));
    number("status.error", offsetof(MPI_Status, MPI_ERROR));
    number("handle_size", sizeof(MPI_Request));
    number("any_source", MPI_ANY_SOURCE);
    number("any_tag", MPI_ANY_TAG);
    number("proc_null", MPI_PROC_NULL);
    number("root", MPI_ROOT);
    number("undefined", MPI_UNDEFINED);
    number("err_other", MPI_ERR_OTHER);
    number("cart", MPI_CART);
    number("graph", MPI_GRAPH);
    number("dist_graph", MPI_DIST_GRAPH);
    address("in_place", MPI_IN_PLACE);
    address("bottom", MPI_BOTTOM);
    address("status_ignore", MPI_STATUS_IGNORE);
    address("statuses_ignore", MPI_STATUSES_IGNORE);
    number("thread_multiple", MPI_THREAD_MULTIPLE);

    handle("comm_world", MPI_COMM_WORLD);
    handle("comm_self", MPI_COMM_SELF);
    handle("comm_null", MPI_COMM_NULL);
    handle("group_null", MPI_GROUP_NULL);
    handle("request_null", MPI_REQUEST_NULL);
    handle("message_null", MPI_MESSAGE_NULL);
    handle("message_no_proc", MPI_MESSAGE_NO_PROC);
    handle("info_null", MPI_INFO_NULL);
    handle("op_null", MPI_OP_NULL);
    handle("datatype_null", MPI_DATATYPE_NULL);
    handle("byte", MPI_BYTE);
    handle("packed", MPI_PACKED);
    handle("char", MPI_CHAR);
    handle("int", MPI_INT);
    handle("double", MPI_DOUBLE);
    handle("long_long", MPI_LONG_LONG_INT);
    MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
                    MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
    for (int i = 0; i < 14; i++) {
        char name[8];
        sprintf(name, "op%d", i);
        handle(name, ops[i]);
    }

    /* Three messages of this rank to itself, in an array of requests: bytes, source and tag as MPI writes them. */
    char data[64] = {0}, room[3][64];
    MPI_Request requests[6];
    MPI_Status statuses[6];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(room[i], 64, MPI_BYTE, MPI_ANY_SOURCE, 10 + i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; i++)
        MPI_Isend(data, 5 + i, MPI_BYTE, 0, 10 + i, MPI_COMM_WORLD, &requests[3 + i]);
    printf("requests");
    for (int i = 0; i < 6 * (int)sizeof(MPI_Request); i++) printf(" %02x", ((unsigned char *)requests)[i]);
    printf("\n");
    for (int i = 0; i < 6; i++) handle("request", requests[i]);
    MPI_Waitall(6, requests, statuses);
    printf("statuses");
    for (int i = 0; i < 6 * (int)sizeof(MPI_Status); i++) printf(" %02x", ((unsigned char *)statuses)[i]);
    printf("\n");

    /* A cancelled message. */
    MPI_Irecv(room[0], 64, MPI_BYTE, 0, 99, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    printf("cancelled");
    for (int i = 0; i < (int)sizeof(MPI_Status); i++) printf(" %02x", ((unsigned char *)statuses)[i]);
    printf("\n");
    MPI_Finalize();
    return 0;
}
