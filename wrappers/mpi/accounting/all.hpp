// The helpers that functions.table names, for one mpi.h.
// Contract of all of them: called by wrapper bodies on the calling thread; call resolved PMPI functions only;
// never allocate; look only at arguments that MPI says are significant on the calling rank. docs/metrics.md
// defines the counts. `event` is the MpiEvent of the call, or the Charge that each start of a persistent request adds.
#pragma once

#include "wrappers/mpi/accounting/collectives.hpp"
#include "wrappers/mpi/accounting/exchanges.hpp"
#include "wrappers/mpi/accounting/files.hpp"
#include "wrappers/mpi/accounting/neighbours.hpp"
#include "wrappers/mpi/accounting/one_sided.hpp"
#include "wrappers/mpi/accounting/partners.hpp"
#include "wrappers/mpi/accounting/persistent.hpp"
#include "wrappers/mpi/accounting/point_to_point.hpp"
#include "wrappers/mpi/accounting/requests.hpp"
