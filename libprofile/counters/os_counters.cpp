#include "libprofile/counters/os_counters.hpp"

#include "libprofile/base/small_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>

namespace libprofile {

std::uint64_t OsCounts::operator[](OsCounter counter) const noexcept {
    switch (counter) {
    case OsCounter::PageFaults: return minor_faults + major_faults;
    case OsCounter::MinorPageFaults: return minor_faults;
    case OsCounter::MajorPageFaults: return major_faults;
    case OsCounter::ContextSwitches: return voluntary_switches + involuntary_switches;
    case OsCounter::VoluntarySwitches: return voluntary_switches;
    case OsCounter::InvoluntarySwitches: return involuntary_switches;
    case OsCounter::PeakResident: return peak_resident;
    default: return 0;
    }
}

namespace {

std::uint64_t positive(long value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

/// Reads a file of /proc/self/task/<thread> and appends a zero byte. Returns false if that fails.
bool read_file_of(pid_t thread, const char* name, char* text, std::size_t size) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", static_cast<int>(thread), name);
    return read_small_file(path, text, size) > 0;
}

bool number_after(const char* text, const char* key, std::uint64_t& value) {
    const char* at = std::strstr(text, key);
    if (at == nullptr) return false;
    value = std::strtoull(at + std::strlen(key), nullptr, 10);
    return true;
}

} // namespace

void read_os_counts(OsCounts& counts) noexcept {
    rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return;
    counts.minor_faults = positive(usage.ru_minflt);
    counts.major_faults = positive(usage.ru_majflt);
    counts.voluntary_switches = positive(usage.ru_nvcsw);
    counts.involuntary_switches = positive(usage.ru_nivcsw);
    counts.peak_resident = positive(usage.ru_maxrss) * 1024;
}

bool read_os_counts_of(pid_t thread, OsCounts& counts) noexcept {
    char text[4096];
    if (!read_file_of(thread, "stat", text, sizeof text)) return false;
    const char* at = std::strrchr(text, ')'); // the name may contain any character
    std::uint64_t fields[12] = {};            // from the third of the file on
    if (at == nullptr) return false;
    char* next = const_cast<char*>(at + 1);
    while (*next == ' ') ++next;
    while (*next != 0 && *next != ' ') ++next; // the state
    for (std::size_t i = 1; i < 12; ++i) fields[i] = std::strtoull(next, &next, 10);
    OsCounts read = counts;
    read.minor_faults = fields[7];
    read.major_faults = fields[9];
    if (!read_file_of(thread, "status", text, sizeof text)) return false;
    // Begins with the newline, because "nonvoluntary" contains "voluntary".
    if (!number_after(text, "\nvoluntary_ctxt_switches:", read.voluntary_switches) ||
        !number_after(text, "\nnonvoluntary_ctxt_switches:", read.involuntary_switches))
        return false;
    counts = read;
    return true;
}

} // namespace libprofile
