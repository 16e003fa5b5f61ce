! Every second number is sent from a copy that the compiler makes and frees: the send ends with the call.
!= not @send after @work
!= not @send before @work
!= not @recv after @rest
program section
  use mpi
  implicit none
  integer, parameter :: n = 1000
  double precision :: a(2 * n), b(n), g(4000), s
  integer :: me, e, k, i, j
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  s = 0
  g = 1
  a = 0
  b = 0
  do k = 1, 20
    if (me == 0) then
      do i = 1, 2 * n
        a(i) = k + s
      end do
      call MPI_Send(a(1:2*n:2), n, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, e) ! @send
      a(3) = -1
      do j = 1, 8; do i = 1, size(g); g(i) = g(i) * 0.999 + j; end do; end do ! @work
    else
      do j = 1, 8; do i = 1, size(g); g(i) = g(i) * 0.999 + j; end do; end do
      call MPI_Recv(b, n, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e) ! @recv
      s = s + b(5)
      do j = 1, 8; do i = 1, size(g); g(i) = g(i) * 0.999 + j; end do; end do ! @rest
    end if
  end do
  call MPI_Finalize(e)
  if (s + g(7) == 0.12345) print *, s
end program
