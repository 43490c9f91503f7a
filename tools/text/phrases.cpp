#include "tools/text/phrases.hpp"

#include "tools/text/layout.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

std::string plural(std::uint64_t n, const char* one) { return fmt::format("{} {}{}", count(static_cast<double>(n)), one, n == 1 ? "" : "s"); }

namespace {

template <class Number> std::string ranges_of(std::span<const Number> numbers, std::size_t shown) {
    std::string out;
    std::size_t groups = 0;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        if (groups++ == shown) return out + ", ...";
        if (!out.empty()) out += ", ";
        out += end - i > 1 ? fmt::format("{}-{}", numbers[i], numbers[end - 1]) : fmt::format("{}", numbers[i]);
        i = end;
    }
    return out;
}

template <class Number> std::string words_of_ranks(std::span<const Number> ranks, std::size_t shown) {
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges_of(ranks, shown));
}

} // namespace

std::string number_ranges(std::span<const std::uint64_t> numbers, std::size_t shown) { return ranges_of(numbers, shown); }
std::string number_ranges(std::span<const std::uint32_t> numbers, std::size_t shown) { return ranges_of(numbers, shown); }
std::string rank_words(std::span<const std::uint64_t> ranks, std::size_t shown) { return words_of_ranks(ranks, shown); }
std::string rank_words(std::span<const std::uint32_t> ranks, std::size_t shown) { return words_of_ranks(ranks, shown); }

std::string without_anonymous(std::string text) {
    constexpr std::string_view anonymous = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = text.find(anonymous, at)) != std::string::npos;) text.erase(at, anonymous.size());
    return text;
}

std::string within(std::string label) {
    const auto is = [&](std::size_t at, char first, char last) { return at < label.size() && label[at] >= first && label[at] <= last; };
    if (is(0, 'A', 'Z') && is(1, 'a', 'z')) label[0] = static_cast<char>(label[0] - 'A' + 'a');
    return label;
}

} // namespace libprofile::tools
