#include "libprofile/output/transport_warnings.hpp"

#include <dlfcn.h>

namespace libprofile {

void silence_transport_warnings() noexcept {
    // ucs_global_opts begins with the log level in all releases since 1.0 (ucs/config/global_opts.h): 0 fatal, 1 error, 2 warning, ... Any other
    // value means another layout or a level that the user chose, and is left alone.
    constexpr int error = 1;
    constexpr int warning = 2;
    auto* level = static_cast<int*>(dlsym(RTLD_DEFAULT, "ucs_global_opts"));
    if (level != nullptr && *level == warning) *level = error;
}

} // namespace libprofile
