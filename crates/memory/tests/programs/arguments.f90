! Memory that MPI functions read and write besides messages, each between two exchanges.
program arguments
    use mpi
    implicit none
    integer, save :: e, n(1), number = 0, status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), requests(2)
    double precision, save :: x(10), y(20), b(10, 20)
    integer, save :: last = 9

    call MPI_Init(e)
    call showk("s", status); call showk("t", statuses); call showk("q", requests); call showk("n", n)
    call show("x", x); call show("y", y); call show("b", b)
    call begin()
    call next()
    call MPI_Irecv(y, 10, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, requests(1), e) ! interval 1
    call next()
    call MPI_Isend(x, 10, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, requests(2), e) ! 2
    call next()
    call MPI_Waitall(2, requests, statuses, e) ! 3
    call next()
    call MPI_Get_count(statuses(:, 1), MPI_DOUBLE_PRECISION, n(1), e) ! 4
    call next()
    call MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE, e) ! 5
    call next()
    call MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_SELF, status, e) ! 6
    call next()
    call MPI_Reduce_local(x(3), y, 4, MPI_DOUBLE_PRECISION, MPI_SUM, e) ! 7
    call next()
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e) ! 8
    call next()
    call MPI_Send(b(1:last:2, 3:5), 15, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, MPI_COMM_SELF, e) ! 9
    call next()
    call end()
    call MPI_Finalize(e)
contains
    subroutine next()
        call mark(number)
        number = number + 1
    end subroutine
end program
