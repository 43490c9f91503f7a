// What two builds of a program have in common in the name of a function.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
#pragma once

#include <string_view>

namespace libprofile::tools {

/// The name without what a compiler appends to the copies of a function that it makes: ".constprop.0", ".isra.0", ".part.3", ".cold",
/// ".lto_priv.1", "._omp_fn.0" stays (it is a function of its own); the same as " [clone .part.0]".
inline std::string_view matching_name(std::string_view name) {
    if (const auto clone = name.find(" [clone "); clone != std::string_view::npos && clone > 0) {
        if (name.find("_omp_fn", clone) == std::string_view::npos) name = name.substr(0, clone);
    }
    for (bool is_shorter = true; is_shorter;) {
        is_shorter = false;
        for (const std::string_view suffix : {".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm"}) {
            const auto at = name.rfind(suffix);
            if (at == std::string_view::npos || at == 0) continue;
            const std::string_view rest = name.substr(at + suffix.size());
            if (!rest.empty() && (rest.front() != '.' || rest.find_first_not_of("0123456789", 1) != std::string_view::npos)) continue;
            name = name.substr(0, at);
            is_shorter = true;
        }
    }
    return name;
}

} // namespace libprofile::tools
