// What HPCToolkit calls things, in all versions of its databases.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace libprofile::tools {

/// "CPUTIME (usec) (E)": without what is in parentheses; whether it is inclusive, and the factor to ns.
struct HpctoolkitMetric {
    std::string name;
    bool is_inclusive;
    double factor = 1;
    bool is_time = false;

    HpctoolkitMetric(std::string_view text, std::string_view type) : is_inclusive(type == "inclusive") {
        is_inclusive |= text.find("(I)") != std::string_view::npos || text.find("(inc)") != std::string_view::npos;
        for (const auto& [word, ns] : {std::pair("(sec)", 1e9), std::pair("(usec)", 1e3), std::pair("(msec)", 1e6), std::pair("(nsec)", 1.0)})
            if (text.find(word) != std::string_view::npos) {
                factor = ns;
                is_time = true;
            }
        name = text.substr(0, text.find(" ("));
        if (is_time && (name == "CPUTIME" || name == "REALTIME" || name == "WALLCLOCK")) name = "time";
    }
};

/// Names that stand for an unknown file or module are empty.
inline std::string_view known_to_hpctoolkit(std::string_view name) { return name.substr(0, 8) == "<unknown" ? std::string_view() : name; }

} // namespace libprofile::tools
