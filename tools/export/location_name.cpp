#include "tools/export/location_name.hpp"

#include <charconv>
#include <fmt/format.h>

namespace libprofile::tools {

std::string location_name(std::uint32_t rank, std::uint32_t thread) {
    return thread == 0 ? fmt::format("rank {}", rank) : fmt::format("rank {} thread {}", rank, thread);
}

std::optional<NamedLocation> location_named(std::string_view text) {
    /// Cuts off a word and the number after it.
    const auto take = [&](std::string_view word, std::uint32_t& number) {
        if (text.substr(0, word.size()) != word) return false;
        const auto [end, error] = std::from_chars(text.data() + word.size(), text.data() + text.size(), number);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return error == std::errc();
    };
    NamedLocation found;
    if (!take("rank ", found.rank) || (!text.empty() && !take(" thread ", found.thread)) || !text.empty()) return {};
    return found;
}

} // namespace libprofile::tools
