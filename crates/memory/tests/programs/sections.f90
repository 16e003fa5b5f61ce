! Arrays that begin and end, and copies of sections for calls, each between two exchanges.
program sections
    implicit none
    double precision, allocatable :: a(:), b(:, :)
    integer :: number = 0, last = 9

    call begin()
    call next()
    allocate(a(1000)) ! interval 1
    a = 1
    call show("a", a)
    call next()
    deallocate(a) ! 2
    call next()
    allocate(b(10, 20)) ! 3
    b = 2
    call show("b", b)
    call next()
    call given(b(1:last:2, 3:5)) ! 4, 5
    call next()
contains
    subroutine next()
        call mark(number)
        number = number + 1
        if (number == 6) call end()
    end subroutine
    subroutine given(x)
        double precision :: x(*)
        call show("c", x)
        call next()
        x(15) = 3
    end subroutine
end program
