! Heat on an N x N plate, relaxed by Jacobi's rule; two dimensions of ranks, `use mpi`.
!
!     stencil [N [STEPS]]        N x N inner points (default 240), STEPS (default 100)
!
! Each step exchanges the four rims of a rank's part (MPI_Irecv, MPI_Isend, MPI_Waitall) and, every tenth step, asks all
! ranks how far the plate still is from rest (MPI_Allreduce). The start is one wave, which every step multiplies by the
! same number, so that the result is known.
program stencil
   use mpi
   implicit none
   integer, parameter :: real64 = kind(1.0d0)
   real(real64), parameter :: pi = 3.14159265358979323846_real64
   integer :: rank, ranks, ierror, n, steps, step, grid, dims(2), place(2), west, east, north, south
   integer :: low(2), high(2), nx, ny, i, j
   real(real64) :: started, begun, took, change, mine, h, factor, error
   real(real64), allocatable :: u(:, :), v(:, :), to_north(:), to_south(:), from_north(:), from_south(:)

   call MPI_Init(ierror)
   started = MPI_Wtime()
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
   n = argument(1, 240)
   steps = argument(2, 100)

   dims = 0
   call MPI_Dims_create(ranks, 2, dims, ierror)
   call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., grid, ierror)
   call MPI_Comm_rank(grid, rank, ierror)
   call MPI_Cart_coords(grid, rank, 2, place, ierror)
   call MPI_Cart_shift(grid, 0, 1, west, east, ierror)
   call MPI_Cart_shift(grid, 1, 1, north, south, ierror)
   if (any(dims > n)) then
      if (rank == 0) write (*, '(a)') 'stencil: every rank needs a point; take a larger N'
      call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
   end if

   low = (n*place)/dims + 1
   high = (n*(place + 1))/dims
   nx = high(1) - low(1) + 1
   ny = high(2) - low(2) + 1
   allocate (u(0:ny + 1, 0:nx + 1), v(0:ny + 1, 0:nx + 1))
   allocate (to_north(nx), to_south(nx), from_north(nx), from_south(nx))
   h = pi/(n + 1)
   u = 0
   v = 0
   do j = 1, nx
      do i = 1, ny
         u(i, j) = sin((low(1) + j - 1)*h)*sin((low(2) + i - 1)*h)
      end do
   end do

   call MPI_Barrier(grid, ierror)
   begun = MPI_Wtime()
   change = 0
   do step = 1, steps
      call exchange
      do j = 1, nx
         do i = 1, ny
            v(i, j) = 0.25_real64*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
         end do
      end do
      if (mod(step, 10) == 0) then
         mine = maxval(abs(v(1:ny, 1:nx) - u(1:ny, 1:nx)))
         call MPI_Allreduce(mine, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid, ierror)
      end if
      u(1:ny, 1:nx) = v(1:ny, 1:nx)
   end do
   took = MPI_Wtime() - begun

   factor = cos(h)**steps
   mine = 0
   do j = 1, nx
      do i = 1, ny
         mine = max(mine, abs(u(i, j) - factor*sin((low(1) + j - 1)*h)*sin((low(2) + i - 1)*h)))
      end do
   end do
   call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid, ierror)
   if (rank == 0) then
      write (*, '(a, i0, a, i0, a, i0, a, es8.2, 6a)') 'stencil n=', n, ' steps=', steps, ' ranks=', ranks, &
         ' residual=', error, ' time=', seconds(took), &
         ' total=', seconds(MPI_Wtime() - started), trim(merge(' ok    ', ' FAILED', error < 1e-12_real64))
   end if
   call MPI_Comm_free(grid, ierror)
   call MPI_Finalize(ierror)
   if (.not. error < 1e-12_real64) stop 1

contains

   ! The rims: columns lie together in memory, rows are packed.
   subroutine exchange
      integer :: requests(8)

      call MPI_Irecv(u(1, 0), ny, MPI_DOUBLE_PRECISION, west, 1, grid, requests(1), ierror)
      call MPI_Irecv(u(1, nx + 1), ny, MPI_DOUBLE_PRECISION, east, 2, grid, requests(2), ierror)
      call MPI_Irecv(from_north, nx, MPI_DOUBLE_PRECISION, north, 3, grid, requests(3), ierror)
      call MPI_Irecv(from_south, nx, MPI_DOUBLE_PRECISION, south, 4, grid, requests(4), ierror)
      to_north = u(1, 1:nx)
      to_south = u(ny, 1:nx)
      call MPI_Isend(u(1, nx), ny, MPI_DOUBLE_PRECISION, east, 1, grid, requests(5), ierror)
      call MPI_Isend(u(1, 1), ny, MPI_DOUBLE_PRECISION, west, 2, grid, requests(6), ierror)
      call MPI_Isend(to_south, nx, MPI_DOUBLE_PRECISION, south, 3, grid, requests(7), ierror)
      call MPI_Isend(to_north, nx, MPI_DOUBLE_PRECISION, north, 4, grid, requests(8), ierror)
      call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierror)
      if (north /= MPI_PROC_NULL) u(0, 1:nx) = from_north
      if (south /= MPI_PROC_NULL) u(ny + 1, 1:nx) = from_south
   end subroutine

   ! To the microsecond, with the zero before the point.
   function seconds(time) result(text)
      real(real64), intent(in) :: time
      character(len=:), allocatable :: text
      character(len=20) :: wide

      write (wide, '(f20.6)') time
      text = trim(adjustl(wide))
   end function

   integer function argument(number, default)
      integer, intent(in) :: number, default
      character(len=32) :: text

      argument = default
      if (command_argument_count() >= number) then
         call get_command_argument(number, text)
         read (text, *) argument
      end if
   end function
end program
