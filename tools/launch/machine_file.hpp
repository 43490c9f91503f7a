// Where `libprofile run` leaves what hwloc says of this machine, for the runtime to copy (format/machine.hpp).
// Contract: one thread, before the program starts; asks hwloc in a process of its own, once until the machine starts anew, and waits for it for at most
// two seconds. If that is not enough, it is not asked again for an hour. Whatever goes wrong, the program runs without it. Not asked if this process has
// children already: those that a shell began before exec.
#pragma once

#include <string>

namespace libprofile::tools {

/// A file of this user in the folder for temporary files; empty: there is none, or another process of this machine's part of the job has it.
std::string machine_file();

} // namespace libprofile::tools
