// Silences warnings that the MPI's transport layer would print because of us.
// Contract: main thread, inside MPI_Finalize's wrapper, only after an operation of all ranks has failed.
#pragma once

namespace libprofile {

/// A rank that gave up waiting for others leaves a nonblocking collective behind, and MPI cannot withdraw it. UCX (below MPICH on Debian) then warns on
/// the job's stdout that a request was not returned or a message not fetched. This raises UCX's log threshold from warnings to errors for the rest of
/// the process. It does nothing without UCX.
void silence_transport_warnings() noexcept;

} // namespace libprofile
