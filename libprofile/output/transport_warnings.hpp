// Warnings that the MPI's transport layer would print because of us.
// Contract: main thread, inside MPI_Finalize's wrapper, only when an operation of all ranks has failed.
#pragma once

namespace libprofile {

/// A rank that gave up waiting for others leaves a nonblocking collective behind, and MPI has no way to withdraw it. UCX
/// (below MPICH on Debian) then warns on the job's stdout that a request was not returned, or a message not fetched. Raises UCX's log threshold from
/// warnings to errors for what remains of the process; does nothing without UCX.
void silence_transport_warnings() noexcept;

} // namespace libprofile
