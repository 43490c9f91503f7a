#include "libprofile/counters/energy_files.hpp"

#include "libprofile/base/small_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace libprofile {

constinit EnergyFiles energy_files;

namespace {

bool read_number(const char* path, std::uint64_t& value) {
    char text[32];
    if (read_small_file(path, text, sizeof text) <= 0) return false;
    value = std::strtoull(text, nullptr, 10);
    return true;
}

} // namespace

bool EnergyFiles::find(const char* folder) noexcept {
    count_ = 0;
    sum_ = 0;
    for (std::size_t i = 0; i < most; ++i) {
        Package& package = packages_[count_];
        char range[112];
        std::snprintf(package.path, sizeof package.path, "%s/intel-rapl:%u/energy_uj", folder, static_cast<unsigned>(i));
        std::snprintf(range, sizeof range, "%s/intel-rapl:%u/max_energy_range_uj", folder, static_cast<unsigned>(i));
        if (!read_number(package.path, package.last)) {
            if (errno == EACCES || errno == EPERM)
                reason_ = "only the administrator may read /sys/class/powercap/intel-rapl:*/energy_uj; `chmod a+r` on them permits it";
            continue;
        }
        read_number(range, package.range);
        ++count_;
    }
    return count_ != 0;
}

std::uint64_t EnergyFiles::read() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        Package& package = packages_[i];
        std::uint64_t now = 0;
        if (!read_number(package.path, now)) continue;
        sum_ += now >= package.last ? now - package.last : now + (package.range > package.last ? package.range - package.last : 0);
        package.last = now;
    }
    return sum_;
}

} // namespace libprofile
