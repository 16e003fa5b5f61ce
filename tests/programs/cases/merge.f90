! Messages that could be one or a collective operation, collective operations that could be one; and near misses: some
! of merge.c in Fortran. Names and answers are as there, behind `!=`.
!
!     merge                      4 ranks
module cases
  use mpi_f08
  implicit none
  integer, parameter :: n = 10
  double precision :: a(100), b(100), into(100), out(100), total(100)
  type(MPI_Status) :: status
  integer :: rank, ranks

contains

  ! Nothing goes from one case to another: what was received is used, and all meet.
  subroutine next()
    integer :: i
    do i = 1, 100
      a(i) = rank + i
      b(i) = rank - i
      total(i) = total(i) + into(i) + out(i)
      into(i) = 0
      out(i) = 0
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  != A002 @near.first, @near.second, received at @near.into, @near.then: 240 B, copies 0 B on 0, 0 B on 1
  != A002 @far.first, @far.second, received at @far.into, @far.then: 160 B, copies 160 B on 0, 160 B on 1
  subroutine messages()
    if (rank == 0) then
      call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD) ! @near.first
      call MPI_Send(a(n + 1), 2*n, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD) ! @near.second
    else if (rank == 1) then
      call MPI_Recv(into, n, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, status) ! @near.into
      call MPI_Recv(into(n + 1), 2*n, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, status) ! @near.then
    end if
    call next()
    if (rank == 0) then
      call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD) ! @far.first
      call MPI_Send(b, n, MPI_DOUBLE_PRECISION, 1, 4, MPI_COMM_WORLD) ! @far.second
    else if (rank == 1) then
      call MPI_Recv(into, n, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, status) ! @far.into
      call MPI_Recv(out, n, MPI_DOUBLE_PRECISION, 0, 4, MPI_COMM_WORLD, status) ! @far.then
    end if
    call next()
    ! A near miss: the second is computed after the first has gone.
    if (rank == 0) then
      call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD)
      b(n) = a(n)
      call MPI_Send(b, n, MPI_DOUBLE_PRECISION, 1, 6, MPI_COMM_WORLD)
    else if (rank == 1) then
      call MPI_Recv(into, n, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, status)
      call MPI_Recv(out, n, MPI_DOUBLE_PRECISION, 0, 6, MPI_COMM_WORLD, status)
    end if
    call next()
  end subroutine

  ! Two broadcasts of one root, which copies both into one buffer, as the others copy out of one; and of two roots, which
  ! stay two.
  != A003 Bcast @casts.first, @casts.second: 240 B, copies 240 B on 0, 240 B on 1, 240 B on 2, 240 B on 3
  subroutine collectives()
    call MPI_Bcast(into, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD) ! @casts.first
    call MPI_Bcast(out, 2*n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD) ! @casts.second
    call next()
    call MPI_Bcast(into, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    call MPI_Bcast(out, n, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD)
    call next()
  end subroutine

  != A004 Bcast @bcast, other end @bcast.to: 80 B among 0-3, root 2
  != A004 Gather @gather, other end @gather.from: 80 B among 0-3, root 0
  subroutine by_hand()
    integer :: peer
    if (rank == 2) then
      do peer = 0, ranks - 1
        if (peer /= 2) call MPI_Send(a, n, MPI_DOUBLE_PRECISION, peer, 12, MPI_COMM_WORLD) ! @bcast
      end do
    else
      call MPI_Recv(into, n, MPI_DOUBLE_PRECISION, 2, 12, MPI_COMM_WORLD, status) ! @bcast.to
    end if
    call next()
    if (rank == 0) then
      do peer = 1, ranks - 1
        call MPI_Recv(into(peer*n + 1), n, MPI_DOUBLE_PRECISION, peer, 14, MPI_COMM_WORLD, status) ! @gather
      end do
    else
      call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 0, 14, MPI_COMM_WORLD) ! @gather.from
    end if
    call next()
    ! A near miss: rank 1 is left out.
    if (rank == 0) then
      do peer = 2, ranks - 1
        call MPI_Send(a, n, MPI_DOUBLE_PRECISION, peer, 18, MPI_COMM_WORLD)
      end do
    else if (rank > 1) then
      call MPI_Recv(into, n, MPI_DOUBLE_PRECISION, 0, 18, MPI_COMM_WORLD, status)
    end if
    call next()
  end subroutine
end module

program merge_cases
  use cases
  implicit none
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call next()
  call messages()
  call collectives()
  call by_hand()
  if (rank == 0) print '(a, 1x, g0)', 'merge:', total(1)
  call MPI_Finalize()
end program
