! As nests.c, in Fortran.
subroutine sweep(a, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: a(n, n)
  interface
    integer function work(i) bind(c)
      use iso_c_binding
      integer(c_int), value :: i
    end function
  end interface
  integer :: i, j, m
  do j = 1, n ! loop sweep_j
    do i = 1, j ! loop sweep_i in sweep_j
      m = work(i) ! calls in sweep_i
      a(i, j) = m
    end do
    m = work(j) ! calls in sweep_j
    select case (m)
    case (1)
      m = work(11) ! calls in sweep_j
    case (2)
      m = work(12) ! calls in sweep_j
    case (3)
      cycle
    case (4)
      exit
    case (5)
      m = work(15) ! calls in sweep_j
    case (6)
      m = work(16) ! calls in sweep_j
    case (7)
      m = work(17) ! calls in sweep_j
    end select
    m = work(-j) ! calls in sweep_j
  end do
  do while (work(n) > 0) ! loop sweep_while; calls in sweep_while
    m = work(1) ! calls in sweep_while
  end do
end subroutine
