! Calls of every kind, through any of the three Fortran interfaces, on three ranks:
!   -DMPIF_H   include 'mpif.h'
!   -DUSE_MPI  use mpi
!   -DUSE_F08  use mpi_f08
! Its output depends on every byte that it receives.
#ifdef USE_F08
#define SOURCE_OF(status) status%MPI_SOURCE
#define TAG_OF(status) status%MPI_TAG
#else
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#endif
program interfaces
#ifdef USE_F08
  use mpi_f08
#endif
#ifdef USE_MPI
  use mpi
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
#ifdef USE_F08
  type(MPI_Request) :: request, requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Comm) :: half
#else
  integer :: request, requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), half
#endif
  integer :: ierr, rank, ranks, left, right, i, index, counted, total
  integer :: counts(3), places(3)
  logical :: done
  double precision :: a(12), b(12), matrix(6, 6), answer
  integer :: numbers(3), others(3)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  a = [(100d0 * rank + i, i = 1, 12)]
  b = 0
  total = 0

  ! Blocking, to and from a known rank; then from any, with a status.
  if (rank == 0) then
    call MPI_Send(a, 12, MPI_DOUBLE_PRECISION, 1, 7, MPI_COMM_WORLD, ierr)
    do i = 1, 2
      call MPI_Recv(b, 12, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, counted, ierr)
      total = total + SOURCE_OF(status) * 1000 + TAG_OF(status) * counted
    end do
  else
    if (rank == 1) call MPI_Recv(b, 12, MPI_DOUBLE_PRECISION, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Ssend(a, 4 + rank, MPI_DOUBLE_PRECISION, 0, 20 + rank, MPI_COMM_WORLD, ierr)
  end if
  ! No later message shall be taken for one of these.
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Send(a, 12, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr)

  ! Non-blocking, all at once, without statuses and with.
  call MPI_Irecv(b, 12, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(a, 12, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  total = total + int(sum(b))
  call MPI_Irecv(numbers, 3, MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, requests(1), ierr)
  others = [rank, rank + 1, rank + 2]
  call MPI_Isend(others, 2, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
#ifdef USE_F08
  total = total + numbers(2) + statuses(1)%MPI_SOURCE
#else
  total = total + numbers(2) + statuses(MPI_SOURCE, 1)
#endif

  ! One at a time.
  call MPI_Irecv(b, 12, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(a, 12, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitany(2, requests, index, status, ierr)
  call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
  call MPI_Irecv(b, 12, MPI_DOUBLE_PRECISION, left, 6, MPI_COMM_WORLD, request, ierr)
  call MPI_Send(a, 12, MPI_DOUBLE_PRECISION, right, 6, MPI_COMM_WORLD, ierr)
  done = .false.
  do while (.not. done)
    call MPI_Test(request, done, status, ierr)
  end do
  total = total + SOURCE_OF(status)

  ! Both ways; every second row, and with descriptors of arrays a section of a matrix.
  call MPI_Sendrecv(a, 6, MPI_DOUBLE_PRECISION, right, 8, b, 12, MPI_DOUBLE_PRECISION, left, 8, MPI_COMM_WORLD, status, ierr)
  total = total + int(sum(b(1:6)))
  matrix = rank
#ifdef USE_F08
  call MPI_Sendrecv_replace(matrix(2, :), 6, MPI_DOUBLE_PRECISION, right, 9, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
#else
  b(1:6) = matrix(2, :)
  call MPI_Sendrecv_replace(b, 6, MPI_DOUBLE_PRECISION, right, 9, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  matrix(2, :) = b(1:6)
#endif
  total = total + int(sum(matrix))

  ! A message that is probed first.
  if (rank == 0) then
    call MPI_Probe(2, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
    call MPI_Recv(b, 12, MPI_DOUBLE_PRECISION, 2, TAG_OF(status), MPI_COMM_WORLD, status, ierr)
    total = total + int(b(2))
  else if (rank == 2) then
    call MPI_Send(a, 5, MPI_DOUBLE_PRECISION, 0, 33, MPI_COMM_WORLD, ierr)
  end if

  ! Persistent requests, twice.
  call MPI_Send_init(a, 12, MPI_DOUBLE_PRECISION, right, 10, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Recv_init(b, 12, MPI_DOUBLE_PRECISION, left, 10, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 2
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    a(1) = a(1) + 1
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)
  total = total + int(b(1))

  ! All together.
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Bcast(a, 12, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, a, 12, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Reduce(a, b, 12, MPI_DOUBLE_PRECISION, MPI_MAX, 2, MPI_COMM_WORLD, ierr)
  others = rank
  call MPI_Alltoall(others, 1, MPI_INTEGER, numbers, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  total = total + int(sum(a)) + sum(numbers)
  counts = [1, 2, 3]
  places = [0, 1, 3]
  call MPI_Gatherv(a, rank + 1, MPI_DOUBLE_PRECISION, b, counts, places, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Iallreduce(a, b, 12, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  total = total + int(sum(b))

  ! In a part.
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, half, ierr)
  call MPI_Comm_free(half, ierr)

  answer = total
  call MPI_Allreduce(MPI_IN_PLACE, answer, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, f12.1)', 'answer', answer
  call MPI_Finalize(ierr)
end program
