! Collective calls of the Fortran bindings. The binding copies arrays of counts and datatypes, and asks for the size of the communicator to
! do so.
#include "binding.inc"
program fortran_collectives
  USE_BINDING
  use call_log
  implicit none
  INCLUDE_BINDING
  integer :: rank, ranks, ierror, i, root, total, sum
  integer, asynchronous :: out(400), in(400)
  integer :: counts(0:31), places(0:31), bytes(0:31)
  T_DATATYPE :: types(0:31)
  T_REQUEST :: request

  CALL(MPI_Init)(ierror)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, rank, ierror)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, ranks, ierror)
  out = [(1000 * rank + i, i = 1, size(out))]
  in = 0
  total = 0
  do i = 0, ranks - 1
    counts(i) = i + 1
    places(i) = total
    total = total + i + 1
  end do
  do root = 0, ranks - 1
    call rooted()
  end do
  call reductions()
  call exchanges()
  call neighbours()
  CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
  call barrier_passed()
  CALL(MPI_Ibarrier)(MPI_COMM_WORLD, request, ierror)
  call barrier_passed()
  CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
  CALL(MPI_Finalize)(ierror)
  call finish('fortran_collectives', rank)

contains

  ! After a nonblocking call.
  subroutine complete()
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    call observe(in(1:100))
  end subroutine

  ! This process sends to the root, or the root to it.
  subroutine up(own, all)
    integer, intent(in) :: own, all
    if (rank == root) call collective(AS_DESTINATION, own, all)
    if (rank /= root) call collective(AS_SOURCE, own, 0)
  end subroutine
  subroutine down(all, own)
    integer, intent(in) :: all, own
    if (rank == root) call collective(AS_SOURCE, all, own)
    if (rank /= root) call collective(AS_DESTINATION, 0, own)
  end subroutine

  subroutine rooted()
    CALL(MPI_Bcast)(in, 7, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call down(28, merge(0, 28, rank == root))
    CALL(MPI_Ibcast)(in, 7, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierror)
    call down(28, merge(0, 28, rank == root))
    call complete()
    CALL(MPI_Reduce)(out, in, 7, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierror)
    call up(28, 28)
    CALL(MPI_Ireduce)(out, in, 7, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, request, ierror)
    call up(28, 28)
    call complete()
    if (rank == root) then
      CALL(MPI_Reduce)(MPI_IN_PLACE, in, 5, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, ierror)
    else
      CALL(MPI_Reduce)(in, in, 5, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, ierror)
    end if
    call up(20, 20)
    CALL(MPI_Gather)(out, 7, MPI_INTEGER, in, 7, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call up(28, 28 * ranks)
    CALL(MPI_Igather)(out, 7, MPI_INTEGER, in, 7, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierror)
    call up(28, 28 * ranks)
    call complete()
    CALL(MPI_Gatherv)(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call up(4 * (rank + 1), 4 * total)
    CALL(MPI_Igatherv)(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierror)
    call up(4 * (rank + 1), 4 * total)
    call complete()
    if (rank == root) then
      CALL(MPI_Gatherv)(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      call up(0, 4 * total)
    else
      CALL(MPI_Gatherv)(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      call up(4 * (rank + 1), 0)
    end if
    CALL(MPI_Scatter)(out, 7, MPI_INTEGER, in, 7, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call down(28 * ranks, 28)
    CALL(MPI_Iscatter)(out, 7, MPI_INTEGER, in, 7, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierror)
    call down(28 * ranks, 28)
    call complete()
    CALL(MPI_Scatterv)(out, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call down(4 * total, 4 * (rank + 1))
    CALL(MPI_Iscatterv)(out, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierror)
    call down(4 * total, 4 * (rank + 1))
    call complete()
  end subroutine

  subroutine reductions()
    CALL(MPI_Allreduce)(out, in, 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 28, 28)
    CALL(MPI_Allreduce)(MPI_IN_PLACE, in, 7, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 28, 28)
    CALL(MPI_Iallreduce)(out, in, 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 28, 28)
    call complete()
    CALL(MPI_Scan)(out, in, 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 28, 28)
    CALL(MPI_Iscan)(out, in, 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 28, 28)
    call complete()
    CALL(MPI_Exscan)(out, in, 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 28, merge(0, 28, rank == 0))
    CALL(MPI_Iexscan)(out, in, 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 28, merge(0, 28, rank == 0))
    call complete()
    CALL(MPI_Reduce_scatter)(out, in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 4 * total, 4 * (rank + 1))
    CALL(MPI_Ireduce_scatter)(out, in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 4 * total, 4 * (rank + 1))
    call complete()
    CALL(MPI_Reduce_scatter_block)(out, in, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 20 * ranks, 20)
    CALL(MPI_Ireduce_scatter_block)(out, in, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 20 * ranks, 20)
    call complete()
    CALL(MPI_Reduce_local)(out, in, 5, MPI_INTEGER, MPI_SUM, ierror)
  end subroutine

  subroutine exchanges()
    CALL(MPI_Allgather)(out, 7, MPI_INTEGER, in, 7, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 28, 28 * ranks)
    CALL(MPI_Allgather)(MPI_IN_PLACE, 0, MPI_INTEGER, in, 7, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 28, 28 * ranks)
    CALL(MPI_Iallgather)(out, 7, MPI_INTEGER, in, 7, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 28, 28 * ranks)
    call complete()
    CALL(MPI_Allgatherv)(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 4 * (rank + 1), 4 * total)
    CALL(MPI_Allgatherv)(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 4 * (rank + 1), 4 * total)
    CALL(MPI_Iallgatherv)(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 4 * (rank + 1), 4 * total)
    call complete()
    CALL(MPI_Alltoall)(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, 12 * ranks, 12 * ranks)
    CALL(MPI_Ialltoall)(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, 12 * ranks, 12 * ranks)
    call complete()
    sum = 0
    do i = 0, ranks - 1
      counts(i) = i + rank
      places(i) = 16 * i
      bytes(i) = 64 * i
      types(i) = MPI_INTEGER
      sum = sum + 4 * (i + rank)
    end do
    CALL(MPI_Alltoallv)(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, sum, sum)
    CALL(MPI_Alltoallv)(MPI_IN_PLACE, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, sum, sum)
    CALL(MPI_Ialltoallv)(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, sum, sum)
    call complete()
    CALL(MPI_Alltoallw)(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, ierror)
    call collective(EXCHANGE, sum, sum)
    CALL(MPI_Ialltoallw)(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, request, ierror)
    call collective(EXCHANGE, sum, sum)
    call complete()
  end subroutine

  ! Four times itself. Not a Cartesian grid: MPICH's mpi_f08 fails in Neighbor_alltoallw on it, Open MPI's layers on any.
  subroutine neighbours()
    T_COMM :: grid
    integer(MPI_ADDRESS_KIND) :: far(0:3)
    integer :: around(4)
    around = rank
    CALL(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 4, around, MPI_UNWEIGHTED, 4, around, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., grid, ierror)
    counts(0:3) = 3
    places(0:3) = [0, 8, 16, 24]
    far = [0, 32, 64, 96]
    types(0:3) = MPI_INTEGER
    CALL(MPI_Neighbor_allgather)(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, grid, ierror)
    call collective(EXCHANGE, 12, 48)
    CALL(MPI_Ineighbor_allgather)(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, grid, request, ierror)
    call collective(EXCHANGE, 12, 48)
    call complete()
    CALL(MPI_Neighbor_allgatherv)(out, 3, MPI_INTEGER, in, counts, places, MPI_INTEGER, grid, ierror)
    call collective(EXCHANGE, 12, 48)
    CALL(MPI_Ineighbor_allgatherv)(out, 3, MPI_INTEGER, in, counts, places, MPI_INTEGER, grid, request, ierror)
    call collective(EXCHANGE, 12, 48)
    call complete()
    CALL(MPI_Neighbor_alltoall)(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, grid, ierror)
    call collective(EXCHANGE, 48, 48)
    CALL(MPI_Ineighbor_alltoall)(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, grid, request, ierror)
    call collective(EXCHANGE, 48, 48)
    call complete()
    CALL(MPI_Neighbor_alltoallv)(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, grid, ierror)
    call collective(EXCHANGE, 48, 48)
    CALL(MPI_Ineighbor_alltoallv)(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, grid, request, ierror)
    call collective(EXCHANGE, 48, 48)
    call complete()
#ifdef MPICH
    CALL(MPI_Neighbor_alltoallw)(out, counts, far, types, in, counts, far, types, grid, ierror)
    call collective(EXCHANGE, 48, 48)
    CALL(MPI_Ineighbor_alltoallw)(out, counts, far, types, in, counts, far, types, grid, request, ierror)
    call collective(EXCHANGE, 48, 48)
    call complete()
#endif
    CALL(MPI_Comm_free)(grid, ierror)
  end subroutine
end program
