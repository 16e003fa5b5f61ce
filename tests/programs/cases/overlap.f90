! Messages that could be under way during computation, and some that could not: overlap.c in Fortran, with what is
! different there. Names and answers are as in overlap.c, behind `!=`.
!
!     overlap                    2 ranks: rank 0 goes through the cases, rank 1 is at the other end
module arrays
  use mpi
  implicit none
  integer, parameter :: n = 1000, half = 500
  double precision :: a(n), b(n), work(n), m(40, 4), sent(n), got(n)
  integer :: status(MPI_STATUS_SIZE), error

contains

  ! A send reads its buffer: flow before it, anti-dependence behind it.
  != A001 @send: before @send.fill 501..1000 of 1000, @send.work; after @send.more, @send.change 1..500 of 1000;
  !=     flow @send.fill 1..500 of 1000, anti @send.change 501..1000 of 1000
  subroutine blocking_send()
    integer :: i
    do i = 1, n
      a(i) = 0.5d0*i ! @send.fill
    end do
    do i = 1, n
      work(i) = work(i) + 3 ! @send.work
    end do
    call MPI_Send(a, half, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, error) ! @send
    do i = 1, n
      work(i) = work(i)*2 ! @send.more
    end do
    do i = n, 1, -1
      a(i) = a(i) + 1 ! @send.change
    end do
  end subroutine

  ! A receive writes its buffer: anti-dependence before it, flow behind it.
  != A001 @recv: before @recv.read 501..1000 of 1000, @recv.work; after @recv.more, @recv.use 1..500 of 1000;
  !=     anti @recv.read 1..500 of 1000, flow @recv.use 501..1000 of 1000
  subroutine blocking_receive()
    integer :: i
    do i = 1, n
      work(i) = b(i) + 1 ! @recv.read
    end do
    do i = 1, n
      work(i) = work(i)*2 ! @recv.work
    end do
    call MPI_Recv(b, half, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, status, error) ! @recv
    do i = 1, n
      work(i) = work(i) + 1 ! @recv.more
    end do
    do i = n, 1, -1
      work(i) = work(i) + b(i) ! @recv.use
    end do
  end subroutine

  ! Writes where a message is received: output dependences.
  != A001 @out: before @out.fill 501..1000 of 1000; after @out.change 1..500 of 1000;
  !=     output @out.fill 1..500 of 1000, output @out.change 501..1000 of 1000
  subroutine output_dependence()
    integer :: i
    do i = 1, n
      b(i) = i + 0.25d0 ! @out.fill
    end do
    call MPI_Recv(b, half, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, status, error) ! @out
    do i = n, 1, -1
      b(i) = i + 0.5d0 ! @out.change
    end do
  end subroutine

  ! Requests: posted earlier, waited for later.
  != A001 @isend, waited for @isend.wait: before @isend.work; after @isend.more; flow @isend.fill, anti @isend.change
  subroutine nonblocking_send()
    integer :: i, request
    do i = 1, n
      a(i) = 0.25d0*i ! @isend.fill
    end do
    do i = 1, n
      work(i) = work(i) + 1 ! @isend.work
    end do
    call MPI_Isend(a, n, MPI_DOUBLE_PRECISION, 1, 4, MPI_COMM_WORLD, request, error) ! @isend
    do i = 1, n
      work(i) = work(i) + 2
    end do
    call MPI_Wait(request, status, error) ! @isend.wait
    do i = 1, n
      work(i) = work(i) + 3 ! @isend.more
    end do
    do i = 1, n
      a(i) = 0.125d0*i ! @isend.change
    end do
  end subroutine

  ! Column 1 of a matrix is sent. Column 4 lies beside it in memory; a loop over rows meets column 1 in its first
  ! iteration, so that none of it can run meanwhile.
  != A001 @column: before @column.other; after @column.last; flow @column.fill, anti @column.rows; 3 times
  subroutine columns()
    integer :: i, j, k
    do k = 1, 3
      m(40, 1) = k ! @column.fill
      do i = 1, 40
        m(i, 4) = m(i, 4) + k ! @column.other
      end do
      call MPI_Send(m, 40, MPI_DOUBLE_PRECISION, 1, 7, MPI_COMM_WORLD, error) ! @column
      do i = 1, 40
        m(i, 4) = m(i, 4) - 1 ! @column.last
      end do
      do i = 1, 40
        do j = 1, 4
          m(i, j) = m(i, j) + 1 ! @column.rows
        end do
      end do
    end do
  end subroutine

  ! Assignments of whole arrays are loops, or copies.
  != A001 @whole: before @whole.work; after @whole.use; flow @whole.fill, anti @whole.clear
  subroutine whole_arrays()
    a = work ! @whole.fill
    work = work + 1 ! @whole.work
    call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 1, 9, MPI_COMM_WORLD, error) ! @whole
    work = work + a ! @whole.use
    a = 0 ! @whole.clear
  end subroutine

  ! Near misses: used just before and just after.
  subroutine near_misses()
    integer :: i
    do i = 1, n
      work(i) = work(i) + 1
    end do
    a(half) = 1
    call MPI_Send(a, half, MPI_DOUBLE_PRECISION, 1, 13, MPI_COMM_WORLD, error)
    a(1) = 2
    do i = 1, n
      work(i) = work(i) + 1
    end do
    work(1) = work(1) + b(half)
    call MPI_Recv(b, half, MPI_DOUBLE_PRECISION, 1, 14, MPI_COMM_WORLD, status, error)
    work(1) = work(1) + b(1)
  end subroutine

  ! The other end: its buffers are used just before and just after each call.
  subroutine other_end()
    integer, parameter :: tags(10) = [1, 2, 3, 4, 7, 7, 7, 9, 13, 14]
    integer, parameter :: counts(10) = [half, half, half, n, 40, 40, 40, n, half, half]
    integer :: t
    do t = 1, 10
      sent(1) = 1
      got(1) = 1
      if (any(tags(t) == [2, 3, 14])) then
        sent(1) = 2
        call MPI_Send(sent, counts(t), MPI_DOUBLE_PRECISION, 0, tags(t), MPI_COMM_WORLD, error)
        sent(1) = 3
      else
        got(1) = 2
        call MPI_Recv(got, counts(t), MPI_DOUBLE_PRECISION, 0, tags(t), MPI_COMM_WORLD, status, error)
        got(1) = 3
      end if
    end do
  end subroutine
end module

program overlap
  use arrays
  implicit none
  integer :: rank
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (rank == 0) then
    call blocking_send()
    call blocking_receive()
    call output_dependence()
    call nonblocking_send()
    call columns()
    call whole_arrays()
    call near_misses()
    print '(a, 3(1x, g0))', 'overlap:', a(1), work(1), m(40, 4)
  else if (rank == 1) then
    call other_end()
  end if
  call MPI_Finalize(error)
end program
