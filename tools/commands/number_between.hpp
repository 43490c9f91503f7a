// A check of an option's number. CLI::Range lets "nan" pass.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <string>

namespace libprofile::tools {

inline CLI::Validator number_between(double least, double most) {
    const auto check = [=](std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return is_number ? std::string() : fmt::format("Value {} not in range [{:g} - {:g}]", text, least, most);
    };
    return CLI::Validator(check, fmt::format("FLOAT in [{:g} - {:g}]", least, most));
}

} // namespace libprofile::tools
