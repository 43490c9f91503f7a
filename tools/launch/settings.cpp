#include "tools/launch/settings.hpp"

#include "format/duration.hpp"
#include "format/sampling_rate.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <strings.h>

namespace libprofile::tools {

namespace {

/// Digits, for sizes with one of the suffixes K M G T (powers of 1024), each optionally followed by B.
std::optional<std::int64_t> parse_number(const std::string& text, bool size) {
    std::int64_t value = 0;
    std::size_t at = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        if (value > (INT64_MAX - 9) / 10) return {};
        value = value * 10 + (text[at] - '0');
    }
    if (at == 0) return {};
    if (size && at < text.size()) {
        constexpr const char* suffixes = "kmgt";
        const char* suffix = std::strchr(suffixes, std::tolower(static_cast<unsigned char>(text[at])));
        if (suffix == nullptr) return {};
        const auto shift = static_cast<unsigned>(10 * (suffix - suffixes + 1));
        if (value > (INT64_MAX >> shift)) return {};
        value <<= shift;
        ++at;
        if (at < text.size() && (text[at] == 'B' || text[at] == 'b')) ++at;
    }
    return at == text.size() ? std::optional(value) : std::nullopt;
}

bool is_one_of(std::initializer_list<const char*> words, const std::string& text) {
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return strcasecmp(w, text.c_str()) == 0; });
}

bool is_choice(const std::string& choices, const std::string& value) {
    return !value.empty() && value.find('|') == std::string::npos && ("|" + choices + "|").find("|" + value + "|") != std::string::npos;
}

std::string size_text(std::int64_t bytes) {
    int unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, " KMGT"[unit]);
}

std::string escaped(std::string text) {
    for (std::size_t at = 0; (at = text.find_first_of("|<>", at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
    return text;
}

} // namespace

std::string flag_of(const OptionRow& row) {
    std::string flag = "--";
    for (const char* p = row.name; *p != 0; ++p) flag += *p == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(*p)));
    return flag;
}

const char* type_word(OptionType type) {
    switch (type) {
    case OptionType::Integer: return "integer";
    case OptionType::Size: return "size";
    case OptionType::Count: return "integer";
    case OptionType::Share: return "percentage";
    case OptionType::Flag: return "flag";
    case OptionType::Choice: return "choice";
    case OptionType::Text: return "text";
    case OptionType::Rate: return "rate";
    case OptionType::Duration: return "time";
    case OptionType::ChoiceOrText: return "choice";
    }
    return "";
}

std::string range_of(const OptionRow& row) {
    switch (row.type) {
    case OptionType::Integer: return fmt::format("{}..{}", row.minimum, row.maximum);
    case OptionType::Size: return fmt::format("{}..{}", size_text(row.minimum), size_text(row.maximum));
    case OptionType::Count: return fmt::format("{}..{}|off", row.minimum, row.maximum);
    case OptionType::Share: return fmt::format("{}%..{}%|auto", row.minimum / 10000, row.maximum / 10000);
    case OptionType::Flag: return "0|1";
    case OptionType::Choice: return row.choices;
    case OptionType::ChoiceOrText: return std::string(row.choices) + "|POINT";
    case OptionType::Text: return row.choices;
    case OptionType::Rate: return fmt::format("auto|0|RATE|PERIOD, at most {}kHz", samples_per_second(row.minimum) / 1000);
    case OptionType::Duration: return fmt::format("0|{}ms..{}s", row.minimum / 1000000, row.maximum / 1000000000);
    }
    return "";
}

std::string value_problem(const OptionRow& row, const std::string& value) {
    switch (row.type) {
    case OptionType::Integer:
    case OptionType::Size: {
        const bool size = row.type == OptionType::Size;
        const std::optional<std::int64_t> number = parse_number(value, size);
        if (number && *number >= row.minimum && *number <= row.maximum) return "";
        return size ? fmt::format("must be a size from {} to {}, such as 64M", size_text(row.minimum), size_text(row.maximum))
                    : fmt::format("must be a whole number from {} to {}", row.minimum, row.maximum);
    }
    case OptionType::Count: {
        const std::optional<std::int64_t> number = parse_number(value, false);
        if (value == "off" || (number && *number >= row.minimum && *number <= row.maximum)) return "";
        return fmt::format("must be a whole number from {} to {}, or off", row.minimum, row.maximum);
    }
    case OptionType::Share: {
        if (value == "auto") return "";
        double percent = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), percent);
        const bool good = error == std::errc() && std::string_view(end, value.data() + value.size()) == "%" &&
                          percent * 10000 >= static_cast<double>(row.minimum) && percent * 10000 <= static_cast<double>(row.maximum);
        return good ? "" : "must be a percentage from 0% to 100%, such as 5% or 0.1%, or auto";
    }
    case OptionType::Flag: return flag_value(value) || is_one_of({"0", "no", "off", "false"}, value) ? "" : "must be 1 or 0 (yes/no, on/off)";
    case OptionType::Choice: {
        if (is_choice(row.choices, value)) return "";
        std::string list = row.choices;
        for (std::size_t at = 0; (at = list.find('|', at)) != std::string::npos;) list.replace(at, 1, ", ");
        return "must be one of " + list;
    }
    case OptionType::ChoiceOrText:
    case OptionType::Text: return value.empty() ? "must not be empty" : "";
    case OptionType::Rate: {
        std::int64_t period = 0;
        if (parse_sampling_period(value.c_str(), period) && is_sampling_period(period, row.minimum, row.maximum)) return "";
        return fmt::format("must be auto, a rate (100Hz, 2kHz), a period (1ms, 500us) or 0; at most {} Hz", samples_per_second(row.minimum));
    }
    case OptionType::Duration: {
        std::int64_t ns = 0;
        if (parse_duration(value.c_str(), ns) && (ns == 0 || (ns >= row.minimum && ns <= row.maximum))) return "";
        return fmt::format("must be a time from {}ms to {}s, such as 10s, 500ms or 2min, or 0", row.minimum / 1000000, row.maximum / 1000000000);
    }
    }
    return "";
}

bool flag_value(const std::string& value) { return is_one_of({"1", "yes", "on", "true"}, value); }

std::string value_forms() {
    return "Sizes take the suffixes K, M, G and T (powers of 1024). Flags take 1, yes, on, true or 0, no, off, false.\n"
           "A flag alone, as in --quiet, is 1. Rates are 100, 100Hz or 2kHz, periods 1ms, 500us or 0.5ms. Times are 10, 10s,\n"
           "500ms, 2min or 1h.";
}

std::string options_markdown() {
    std::string out = "# Options\n\n"
                      "Every option is an environment variable of the job and a flag of `libprofile run`. This page is "
                      "written by\n`libprofile options --markdown` from format/options.def.\n\n"
                      "| variable | flag | type | default | range | description |\n|---|---|---|---|---|---|\n";
    for (const OptionRow& row : option_table)
        out += fmt::format("| `{}{}` | `{}` | {} | {} | {} | {} |\n", option_prefix, row.name, flag_of(row), type_word(row.type), row.default_value,
                           escaped(range_of(row)), escaped(row.description));
    return out + "\n" + value_forms() + "\n";
}

std::string options_text(int width) {
    std::string out;
    for (const OptionRow& row : option_table) {
        out += fmt::format("{}{}  ({}", option_prefix, row.name, flag_of(row));
        if (const std::string range = range_of(row); !range.empty()) out += " " + range;
        if (*row.default_value != 0) out += fmt::format(", default {}", row.default_value);
        out += ")\n";
        std::string line = "   ", word;
        for (const char* p = row.description;; ++p) {
            if (*p != ' ' && *p != 0) {
                word += *p;
                continue;
            }
            if (line.size() + 1 + word.size() > static_cast<std::size_t>(width)) {
                out += line + "\n";
                line = "   ";
            }
            line += " " + word;
            word.clear();
            if (*p == 0) break;
        }
        out += line + "\n";
    }
    return out;
}

} // namespace libprofile::tools
