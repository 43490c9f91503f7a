#include "tools/text/number_list.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace libprofile::tools {

namespace {

template <class Number> std::optional<Number> parse(std::string_view text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

} // namespace

std::optional<std::vector<std::uint32_t>> parse_number_list(std::string_view text) {
    constexpr std::size_t most = 1'000'000;
    std::vector<std::uint32_t> numbers;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const std::size_t dash = part.find('-');
        const auto first = parse<std::uint32_t>(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : parse<std::uint32_t>(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last - *first >= most || numbers.size() >= most) return std::nullopt;
        for (std::uint64_t number = *first; number <= *last; ++number) numbers.push_back(static_cast<std::uint32_t>(number));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_range(std::string_view text, std::uint64_t least) {
    const std::size_t colon = text.find(':');
    const std::string_view begin = text.substr(0, colon);
    const std::string_view end = colon == std::string_view::npos ? begin : text.substr(colon + 1);
    if (begin.empty() && end.empty()) return std::nullopt;
    const auto first = begin.empty() ? least : parse<std::uint64_t>(begin);
    const auto last = end.empty() ? std::numeric_limits<std::uint64_t>::max() : parse<std::uint64_t>(end);
    if (!first || !last || *first < least || *last < *first) return std::nullopt;
    return std::pair(*first, *last);
}

std::vector<std::string> words_of_list(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        if (comma > at) words.emplace_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return words;
}

} // namespace libprofile::tools
