! Ends with a segmentation fault inside MPI_Reduce_local, below several procedures. The run-time library prints a backtrace.
subroutine reduce(n)
  include 'mpif.h'
  integer n, error, values(1000), nowhere(1000)
  pointer (place, nowhere)
  place = 16
  call MPI_Reduce_local(nowhere, values, n, MPI_INTEGER, MPI_SUM, error)
  values(1) = error
end subroutine

subroutine step(n)
  integer n
  call reduce(n)
  n = n + 1
end subroutine

program crashes_in_mpi
  include 'mpif.h'
  integer error, n
  call MPI_Init(error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  n = 1000
  call step(n)
  call MPI_Finalize(error)
end program
