#include "libprofile/base/config.hpp"

#include "format/duration.hpp"
#include "format/sampling_rate.hpp"
#include "libprofile/base/nearest_name.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>
#include <unistd.h>

namespace libprofile {

namespace {

bool parse_integer(const char* text, bool size, std::int64_t& value) {
    std::int64_t result = 0;
    const char* p = text;
    for (; *p >= '0' && *p <= '9'; ++p) {
        if (result > (INT64_MAX - 9) / 10) return false;
        result = result * 10 + (*p - '0');
    }
    if (p == text) return false;
    if (size && *p != 0) {
        unsigned shift = 0;
        switch (*p | 0x20) {
        case 'k': shift = 10; break;
        case 'm': shift = 20; break;
        case 'g': shift = 30; break;
        case 't': shift = 40; break;
        default: return false;
        }
        ++p;
        if (result > (INT64_MAX >> shift)) return false;
        result <<= shift;
        if ((*p | 0x20) == 'b') ++p;
    }
    value = result;
    return *p == 0;
}

/// "5%", "0.25%"; the result is in millionths.
bool parse_share(const char* text, std::int64_t& value) {
    if (std::strcmp(text, "auto") == 0) return value = -1, true;
    std::int64_t result = 0;
    int decimals = -1; // -1 before the decimal point
    const char* p = text;
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && decimals < 0); ++p) {
        if (*p == '.') {
            decimals = 0;
        } else if (decimals < 4) {
            result = result * 10 + (*p - '0');
            decimals += decimals >= 0 ? 1 : 0;
        }
        if (result > 100000000) return false;
    }
    if (p == text || *p != '%' || p[1] != 0) return false;
    for (int i = decimals < 0 ? 0 : decimals; i < 4; ++i) result *= 10;
    value = result;
    return true;
}

bool parse_flag(const char* text, std::int64_t& value) {
    for (const char* yes : {"1", "yes", "on", "true"})
        if (strcasecmp(text, yes) == 0) return value = 1, true;
    for (const char* no : {"0", "no", "off", "false"})
        if (strcasecmp(text, no) == 0) return value = 0, true;
    return false;
}

/// Returns the index of `text` in "a|b|c", or -1.
int choice_index(const char* choices, const char* text) {
    const std::size_t length = std::strlen(text);
    int index = 0;
    for (const char* p = choices; *p != 0; ++index) {
        const std::size_t size = std::strcspn(p, "|");
        if (size == length && std::strncmp(p, text, size) == 0) return index;
        p += size + (p[size] == '|' ? 1 : 0);
    }
    return -1;
}

/// Returns the setting that makes the option `given` useless, or nullptr.
const char* makes_pointless(const Config& config, Option given) {
    const bool is_reference = config.choice<MethodChoice>() == MethodChoice::Reference;
    const bool keeps_all = config.number(Option::Clusters) == 0;
    switch (given) {
    case Option::Error: return keeps_all ? "LIBPROFILE_CLUSTERS=off" : is_reference ? "LIBPROFILE_METHOD=reference" : nullptr;
    case Option::Warmup: return keeps_all && config.number(given) != 0 ? "LIBPROFILE_CLUSTERS=off" : nullptr;
    case Option::Trace:
        return keeps_samples(config.choice<TraceChoice>()) && !keeps_events(config.choice<TraceChoice>()) && config.number(Option::Sample) == 0
                   ? "LIBPROFILE_SAMPLE=0"
                   : nullptr;
    case Option::SampleClock:
        return config.choice<SampleClockChoice>() != SampleClockChoice::Auto && config.number(Option::Sample) == 0 ? "LIBPROFILE_SAMPLE=0" : nullptr;
    default: return nullptr;
    }
}

} // namespace

bool is_launchers_process() noexcept {
    const char* launched = std::getenv("LIBPROFILE_RUN_PID");
    return launched != nullptr && std::atol(launched) == static_cast<long>(getpid());
}

/// Appends one remark. All remarks share one line, because the job prints only one.
void Config::complain(const char* format, const char* a, const char* b, const char* c) noexcept {
    const std::size_t used = std::strlen(complaint_);
    if (used + 8 >= sizeof complaint_) return;
    const char* separator = used == 0 ? "" : "; ";
    const int n = std::snprintf(complaint_ + used, sizeof complaint_ - used, "%s", separator);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    std::snprintf(complaint_ + used + n, sizeof complaint_ - used - static_cast<std::size_t>(n), format, a, b, c);
#pragma GCC diagnostic pop
}

bool Config::parse(Option option, const char* value, Arena& arena) noexcept {
    const auto index = static_cast<std::size_t>(option);
    const OptionRow& row = option_table[index];
    std::int64_t number = 0;
    switch (row.type) {
    case OptionType::Integer:
    case OptionType::Size:
        if (!parse_integer(value, row.type == OptionType::Size, number)) return false;
        if (number < row.minimum || number > row.maximum) return false;
        break;
    case OptionType::Count:
        if (std::strcmp(value, "off") == 0) break;
        if (!parse_integer(value, false, number) || number < row.minimum || number > row.maximum) return false;
        break;
    case OptionType::Share:
        if (!parse_share(value, number)) return false;
        if (number >= 0 && (number < row.minimum || number > row.maximum)) return false;
        break;
    case OptionType::Flag:
        if (!parse_flag(value, number)) return false;
        break;
    case OptionType::Choice:
        number = choice_index(row.choices, value);
        if (number < 0 && (std::strncmp(row.choices, "0|1|", 4) != 0 || !parse_flag(value, number))) return false; // "off" for 0, as of a flag
        break;
    case OptionType::ChoiceOrText:
        number = choice_index(row.choices, value);
        if (number >= 0) break;
        number = 1;
        for (const char* p = row.choices; *p != 0; ++p) number += *p == '|' ? 1 : 0;
        break;
    case OptionType::Text: break;
    case OptionType::Rate:
        if (!parse_sampling_period(value, number) || !is_sampling_period(number, row.minimum, row.maximum)) return false;
        break;
    case OptionType::Duration:
        if (!parse_duration(value, number)) return false;
        if (number != 0 && (number < row.minimum || number > row.maximum)) return false;
        break;
    }
    numbers_[index] = number;
    texts_[index] = arena.copy_text(value);
    return true;
}

void Config::check_names(char* const* environment) noexcept {
    const std::size_t prefix = std::strlen(option_prefix);
    for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, option_prefix, prefix) != 0) continue;
        char name[64] = {};
        const std::size_t length = std::strcspn(*entry + prefix, "=");
        std::memcpy(name, *entry + prefix, length < sizeof name ? length : sizeof name - 1);
        bool known = false;
        const char* meant = nullptr;
        NearestName nearest(name);
        for (const OptionRow& row : option_table) {
            known = known || std::strcmp(row.name, name) == 0;
            if (nearest.look_at(row.name)) meant = row.name;
        }
        for (const char* foreign : foreign_names) known = known || std::strcmp(foreign, name) == 0;
        if (known) continue;
        if (meant != nullptr)
            complain("unknown variable LIBPROFILE_%s ignored, did you mean LIBPROFILE_%s%s?", name, meant, "");
        else
            complain("unknown variable LIBPROFILE_%s ignored, see `libprofile run --help`%s%s", name, "", "");
    }
}

void Config::load(Arena& arena) noexcept {
    bool given[option_count] = {}; // set to a valid value
    for (std::size_t i = 0; i < option_count; ++i) {
        const OptionRow& row = option_table[i];
        const auto option = static_cast<Option>(i);
        parse(option, row.default_value, arena);
        char name[64];
        std::snprintf(name, sizeof name, "%s%s", option_prefix, row.name);
        const char* value = std::getenv(name);
        if (value == nullptr || (*value == 0 && row.type != OptionType::Text)) continue;
        given[i] = parse(option, value, arena);
        if (given[i]) continue;
        char expected[160];
        if (row.type == OptionType::Choice)
            std::snprintf(expected, sizeof expected, "%s", row.choices);
        else if (row.type == OptionType::Flag)
            std::snprintf(expected, sizeof expected, "0 or 1");
        else if (row.type == OptionType::Share)
            std::snprintf(expected, sizeof expected, "a percentage such as 5%% or 0.1%%, or auto");
        else if (row.type == OptionType::Rate)
            std::snprintf(expected, sizeof expected, "auto, a rate (100Hz, 2kHz), a period (1ms, 500us) or 0; at most %lld Hz",
                          static_cast<long long>(samples_per_second(row.minimum)));
        else if (row.type == OptionType::Duration)
            std::snprintf(expected, sizeof expected, "a time (10s, 500ms, 2min) or 0, from %lldms to %llds", static_cast<long long>(row.minimum / 1000000),
                          static_cast<long long>(row.maximum / 1000000000));
        else
            std::snprintf(expected, sizeof expected, "a number from %lld to %lld%s", static_cast<long long>(row.minimum), static_cast<long long>(row.maximum),
                          row.type == OptionType::Size    ? " (K, M and G may follow)"
                          : row.type == OptionType::Count ? " or off"
                                                          : "");
        char shown[160];
        std::snprintf(shown, sizeof shown, "%s=%.64s", name, value);
        complain("%s is not valid, expected %s; using %s", shown, expected, row.default_value);
    }
    check_names(environ);
    const char* const machine_file = std::getenv("LIBPROFILE_MACHINE_FILE");
    machine_file_ = machine_file == nullptr || *machine_file == 0 ? nullptr : arena.copy_text(machine_file);
    for (std::size_t i = 0; i < option_count; ++i) {
        const char* other = given[i] ? makes_pointless(*this, static_cast<Option>(i)) : nullptr;
        if (other != nullptr) complain("LIBPROFILE_%s=%.64s has no effect with %s", option_table[i].name, texts_[i], other);
    }
}

std::size_t Config::describe(char* buffer, std::size_t capacity) const noexcept {
    std::size_t used = 0;
    for (std::size_t i = 0; i < option_count; ++i) {
        const int n = std::snprintf(buffer + used, capacity - used, "%s%s=%s\n", option_prefix, option_table[i].name, texts_[i] == nullptr ? "" : texts_[i]);
        if (n < 0 || used + static_cast<std::size_t>(n) >= capacity) break;
        used += static_cast<std::size_t>(n);
    }
    return used;
}

} // namespace libprofile
