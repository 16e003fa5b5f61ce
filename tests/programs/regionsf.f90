! Options are broadcast one by one; then a loop exchanges with both neighbours and adds up. "solve" is the loop, and in it is "exchange".
program regionsf
  use mpi
  use hayase
  implicit none
  integer :: rank, ranks, up, down, i, error, status(MPI_STATUS_SIZE)
  integer, parameter :: iterations = 20, steps = 100000
  double precision :: options(8), left, right, x, total, start, finish

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  options = 0
  do i = 1, 8
    call MPI_Bcast(options(i), 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  end do
  up = mod(rank + 1, ranks)
  down = mod(rank + ranks - 1, ranks)
  x = 1
  start = MPI_Wtime()
  call hayase_region_begin("solve")
  do i = 1, iterations
    x = work(x, steps)
    call hayase_region_begin("exchange")
    call MPI_Sendrecv(x, 1, MPI_DOUBLE_PRECISION, up, 1, left, 1, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, status, error)
    call MPI_Sendrecv(x, 1, MPI_DOUBLE_PRECISION, down, 2, right, 1, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, status, error)
    call hayase_region_end("exchange")
    x = work((x + left + right) / 3, steps / 2)
    call MPI_Allreduce(x, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  call hayase_region_end("solve")
  finish = MPI_Wtime()
  if (rank == 0) print '(a, i0, a, es16.9, a, f9.6, a)', "regionsf ranks=", ranks, " sum=", total, " time=", finish - start, " ok"
  call MPI_Finalize(error)

contains

  double precision function work(from, times)
    double precision, intent(in) :: from
    integer, intent(in) :: times
    integer :: k
    work = from
    do k = 1, times
      work = work * 0.999999d0 + 1d-7
    end do
  end function
end program
