! The passes of a Fortran procedure are iterations: iteration_points_fortran PASSES calls a procedure of a module, one outside, and an internal one.
module model
  implicit none
contains
  subroutine Advance(x)
    use mpi
    double precision, intent(inout) :: x
    double precision :: all
    integer :: error
    call MPI_Allreduce(x, all, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    x = 0.5d0 * all + 1
  end subroutine
end module

subroutine outside(x)
  implicit none
  double precision, intent(inout) :: x
  x = x + 0.25d0
end subroutine

program iteration_points
  use mpi
  use model
  implicit none
  integer :: error, i, passes, rank
  character(16) :: text
  double precision :: x
  external :: outside
  call get_command_argument(1, text)
  read (text, *) passes
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  x = 0
  do i = 1, passes
    call Advance(x)
    call outside(x)
    call inside()
    call inside()
  end do
  if (rank == 0) print '(f20.12)', x
  call MPI_Finalize(error)
contains
  subroutine inside()
    x = x * 1.0625d0
  end subroutine
end program
