#include "libprofile/counters/choosing.hpp"

#include "format/counters.hpp"
#include "libprofile/base/nearest_name.hpp"
#include "libprofile/counters/energy_files.hpp"
#include "libprofile/counters/papi_library.hpp"
#include "libprofile/counters/software_events.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <strings.h>

namespace libprofile {

constinit CounterChooser counter_chooser;

namespace {

/// Returns the name of our counter that is probably meant, or nullptr.
const char* nearest_own(const char* name) {
    const char* meant = nullptr;
    NearestName nearest(name);
    const auto look = [&](const char* known) {
        if (nearest.look_at(known)) meant = known;
    };
    for (const OsCounterRow& row : os_counter_table) look(row.name);
    for (const SoftwareEventRow& row : software_event_table) look(row.name);
    return meant;
}

/// Fills in one of libprofile's own counters. Returns false if the name is none of these.
bool take_own(ChosenCounter& counter) {
    for (std::size_t i = 0; i < os_counter_count; ++i) {
        const OsCounterRow& row = os_counter_table[i];
        if (strcasecmp(row.name, counter.name) != 0) continue;
        counter = {row.name, row.unit, row.description, CounterSource::Os, static_cast<std::uint8_t>(i)};
        return true;
    }
    for (std::size_t i = 0; i < software_event_count; ++i) {
        const SoftwareEventRow& row = software_event_table[i];
        if (strcasecmp(row.name, counter.name) != 0) continue;
        counter = {row.name, row.unit, row.description, CounterSource::Software, static_cast<std::uint8_t>(i)};
        return true;
    }
    return false;
}

} // namespace

void CounterChooser::complain(const char* format, ...) noexcept {
    std::size_t used = std::strlen(complaint_);
    if (used + 8 >= sizeof complaint_) return;
    if (used != 0) used += static_cast<std::size_t>(std::snprintf(complaint_ + used, sizeof complaint_ - used, "; "));
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(complaint_ + used, sizeof complaint_ - used, format, arguments);
    va_end(arguments);
}

void CounterChooser::try_software(ChosenCounter& counter) noexcept {
    const int error = try_software_event(software_event_table[counter.row]);
    if (error == 0) return;
    counter.refused = true;
    char why[256];
    describe_refusal(error, why, sizeof why);
    complain("LIBPROFILE_METRICS: %s cannot be counted: %s", counter.name, why);
}

/// Refused counters keep their index if PAPI knows the name, so indexes are equal on machines that permit different counters.
bool CounterChooser::take_papi(ChosenCounter& counter) noexcept {
    char why[256] = {};
    if (!papi_library.load(why, sizeof why)) {
        const char* meant = nearest_own(counter.name);
        complain("LIBPROFILE_METRICS: %.64s is not a counter of libprofile%s%s%s, and PAPI, which may know it, cannot be used: %s", counter.name,
                 meant != nullptr ? " (did you mean " : "", meant != nullptr ? meant : "", meant != nullptr ? "?)" : "", why);
        return false;
    }
    counter.papi_code = papi_library.code_of(counter.name);
    if (counter.papi_code == 0) {
        char near[64] = {};
        const char* own = nearest_own(counter.name);
        if (own == nullptr) papi_library.nearest_preset(counter.name, near, sizeof near);
        const char* meant = own != nullptr ? own : near;
        complain("LIBPROFILE_METRICS: there is no counter %.64s%s%s%s; `libprofile metrics` lists all counters", counter.name,
                 *meant != 0 ? ", did you mean " : "", meant, *meant != 0 ? "?" : "");
        return false;
    }
    counter.source = CounterSource::Papi;
    counter.description = "PAPI's counter of this name; see papi_avail or papi_native_avail";
    if (papi_library.can_count(counter.papi_code, why, sizeof why)) return true;
    counter.refused = true;
    complain("LIBPROFILE_METRICS: %s cannot be counted here: %s", counter.name, why);
    return true;
}

void CounterChooser::take(const char* name, Arena& arena) noexcept {
    ChosenCounter counter;
    counter.name = name;
    if (!take_own(counter)) {
        counter.name = arena.copy_text(name);
        if (counter.name == nullptr || !take_papi(counter)) return;
    } else if (counter.source == CounterSource::Software) {
        try_software(counter);
    } else if (static_cast<OsCounter>(counter.row) == OsCounter::Energy && !energy_files.find()) {
        counter.refused = true;
        complain("LIBPROFILE_METRICS: energy cannot be read here: %s", energy_files.reason());
    }
    for (std::uint32_t i = 0; i < counter_choice.count(); ++i)
        if (std::strcmp(counter_choice[i].name, counter.name) == 0) return; // named twice
    if (!counter_choice.add(counter)) complain("LIBPROFILE_METRICS: more than %u counters; %s is left out", static_cast<unsigned>(most_counters), counter.name);
}

void CounterChooser::choose(const char* list, Arena& arena) noexcept {
    if (list == nullptr) return;
    for (const char* p = list; *p != 0;) {
        p += std::strspn(p, ", \t");
        const std::size_t size = std::strcspn(p, ", \t");
        char name[128] = {};
        std::memcpy(name, p, size < sizeof name ? size : sizeof name - 1);
        p += size;
        if (*name != 0) take(name, arena);
    }
}

} // namespace libprofile
