#include "libprofile/phases/phase_log.hpp"

namespace libprofile {

constinit PhaseLog main_phases;

} // namespace libprofile
