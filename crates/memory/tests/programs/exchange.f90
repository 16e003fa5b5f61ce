! Loops between exchanges, as a Fortran compiler writes them.
module arrays
  integer, parameter :: n = 1000
  real(8) :: a(n), b(n), c(n)
  integer :: column(n)
end module

program exchange
  use arrays
  implicit none
  external :: show, showk, begin, mark, end
  integer :: i, number
  number = 0
  do i = 1, n
     column(i) = mod((i - 1) * 617, n) + 1
  end do
  call show('a', a)
  call show('b', b)
  call show('c', c)
  call showk('k', column)
  call begin()
  do i = 1, n
     a(i) = 2 * b(n + 1 - i)
  end do
  call mark(number)
  number = 1
  do i = 1, n
     c(i) = c(i) + a(column(i))
  end do
  call mark(number)
  number = 2
  a = b
  call mark(number)
  call end()
end program
