! Known numbers of MPI calls through `use mpi`; tests/process/every_language.py expects them.
program calls
  use mpi
  implicit none
  integer :: ierror, rank, ranks, partner, i, total
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE), out(10), in(10)
  logical :: flag
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  partner = ieor(rank, 1)
  do i = 1, 5
    out(1) = rank + i
    call MPI_Irecv(in, 10, MPI_INTEGER, partner, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 3, MPI_INTEGER, partner, 1, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    if (in(1) /= partner + i) call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
  end do
  do i = 1, 4
    call MPI_Sendrecv(out, 2, MPI_INTEGER, partner, 2, in, 10, MPI_INTEGER, partner, 2, MPI_COMM_WORLD, status, ierror)
  end do
  if (rank == 0) then
    call MPI_Send(out, 7, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, ierror)
  else if (rank == 1) then
    call MPI_Recv(in, 10, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end if
  do i = 1, 3
    total = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (total /= ranks * (ranks + 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 4, ierror)
  end do
  call MPI_Bcast(in, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  do i = 1, 6
    call MPI_Pcontrol(1000)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call MPI_Pcontrol(-1000)
  call MPI_Initialized(flag, ierror)
  call MPI_Pcontrol(1)
  if (rank == 0) print '(a, i0)', 'total ', total
  call MPI_Finalize(ierror)
end program
