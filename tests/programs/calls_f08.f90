! Known numbers of MPI calls through `use mpi_f08`; tests/process/every_language.py expects them.
program calls
  use mpi_f08
  implicit none
  integer :: rank, ranks, partner, i, total
  integer :: out(10), in(10)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: statuses(2), status
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  partner = ieor(rank, 1)
  do i = 1, 5
    out(1) = rank + i
    call MPI_Irecv(in, 10, MPI_INTEGER, partner, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out, 3, MPI_INTEGER, partner, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    if (in(1) /= partner + i) call MPI_Abort(MPI_COMM_WORLD, 3)
  end do
  do i = 1, 4
    call MPI_Sendrecv(out, 2, MPI_INTEGER, partner, 2, in, 10, MPI_INTEGER, partner, 2, MPI_COMM_WORLD, status)
  end do
  if (rank == 0) then
    call MPI_Send(out, 7, MPI_INTEGER, 1, 3, MPI_COMM_WORLD)
  else if (rank == 1) then
    call MPI_Recv(in, 10, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end if
  do i = 1, 3
    total = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (total /= ranks * (ranks + 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 4)
  end do
  call MPI_Bcast(in, 10, MPI_INTEGER, 0, MPI_COMM_WORLD)
  do i = 1, 6
    call MPI_Pcontrol(1000)
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Pcontrol(-1000)
  call MPI_Initialized(flag)
  call MPI_Pcontrol(1)
  if (rank == 0) print '(a, i0)', 'total ', total
  call MPI_Finalize()
end program
