// Functions that are compiled for XRay are not followed on AArch64 yet.
#include "libprofile/regions/sleds.hpp"

namespace libprofile {

constinit Sleds sleds;

bool Sleds::are_in_program() noexcept { return false; }
void Sleds::look_now() noexcept {}
void Sleds::look_for_new() noexcept {}

} // namespace libprofile
