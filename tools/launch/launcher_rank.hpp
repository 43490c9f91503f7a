// What launchers tell a process of its place in the job, in the environment.
// Contract: thread-safe as long as nobody changes the environment; allocates nothing.
#pragma once

namespace libprofile::tools {

/// Of many processes that do the same: one of the job, which speaks for all. True where the launcher says nothing.
bool is_first_of_job();
/// The same of each machine.
bool is_first_of_machine();

} // namespace libprofile::tools
