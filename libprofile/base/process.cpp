#include "libprofile/base/process.hpp"

namespace libprofile {

constinit ProcessState process_state;
constinit Process process;

} // namespace libprofile
