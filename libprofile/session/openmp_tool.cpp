#include "libprofile/session/openmp_tool.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/module_name.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace libprofile {

const char* openmp_tool_complaint() noexcept {
    const char* allowed = std::getenv("OMP_TOOL");
    const char* others = std::getenv("OMP_TOOL_LIBRARIES");
    const bool is_disabled = allowed != nullptr && *allowed != 0 && std::strcmp(allowed, "enabled") != 0;
    const bool is_taken = others != nullptr && *others != 0;
    if (!is_disabled && !is_taken) return nullptr;
    const int saved = errno;
    load_map.refresh();
    errno = saved;
    for (std::uint32_t module = 0; module < load_map.size(); ++module) {
        if (!starts_with(file_name(load_map[module].path), "libomp.so", "libomp-", "libiomp5.so")) continue;
        if (is_disabled) return "OMP_TOOL keeps LLVM's OpenMP runtime from reporting its regions, so there are none in the profile; leave it unset";
        return "OMP_TOOL_LIBRARIES makes LLVM's OpenMP runtime report its regions to another tool, so there are none in the profile; "
               "leave it unset";
    }
    return nullptr;
}

} // namespace libprofile
