// Where `libprofile run` leaves what hwloc says of this machine, for the runtime to copy (format/machine.hpp).
// Contract: one thread, before the program starts; asks hwloc in a process of its own, once until the machine starts anew, and waits for it for at most
// two seconds. Whatever goes wrong, the program runs without it.
#pragma once

#include <string>

namespace libprofile::tools {

/// A file of this user in the folder for temporary files; empty: there is none, or another process of this machine's part of the job has it.
std::string machine_file();

} // namespace libprofile::tools
