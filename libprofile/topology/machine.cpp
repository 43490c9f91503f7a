#include "libprofile/topology/machine.hpp"

#include "libprofile/base/small_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace libprofile {

constinit Machine machine;

namespace {

bool read_file(const char* path, char* text, std::size_t size) { return read_small_file(path, text, size) >= 0; }

/// Calls visit(number) for each number of a list such as "0-3,8".
template <class Visit> void for_each_in(const char* list, Visit visit) {
    for (const char* p = list; *p >= '0' && *p <= '9';) {
        char* next = nullptr;
        unsigned long first = std::strtoul(p, &next, 10);
        unsigned long last = first;
        if (*next == '-') last = std::strtoul(next + 1, &next, 10);
        if (last >= Machine::most_processors) last = Machine::most_processors - 1;
        for (; first <= last; ++first) visit(static_cast<std::uint32_t>(first));
        p = *next == ',' ? next + 1 : "";
    }
}

std::uint16_t read_first_number(const char* path) {
    char text[64];
    if (!read_file(path, text, sizeof text) || *text < '0' || *text > '9') return 0;
    const unsigned long value = std::strtoul(text, nullptr, 10);
    return value < 0xffff ? static_cast<std::uint16_t>(value + 1) : std::uint16_t{0};
}

/// Reads the value of "key : value" at the beginning of a file like /proc/cpuinfo.
void read_value(const char* path, const char* key, char* value, std::size_t size) {
    char text[2048];
    if (!read_file(path, text, sizeof text)) return;
    const char* at = std::strstr(text, key);
    if (at == nullptr) return;
    at += std::strlen(key);
    at += std::strspn(at, " \t:");
    const std::size_t length = std::strcspn(at, "\n");
    std::snprintf(value, size, "%.*s", static_cast<int>(length), at);
}

} // namespace

void Machine::read(Arena& arena) noexcept {
    if (is_known_) return;
    is_known_ = true;
    if (read_file("/proc/sys/kernel/random/boot_id", boot_id_, sizeof boot_id_)) boot_id_[std::strcspn(boot_id_, "\n")] = 0;
    read_value("/proc/cpuinfo", "model name", model_, sizeof model_);
    char value[64] = {};
    read_value("/proc/meminfo", "MemTotal", value, sizeof value);
    memory_ = std::strtoull(value, nullptr, 10) * 1024;
    char list[4096];
    if (!read_file("/sys/devices/system/cpu/online", list, sizeof list)) return;
    std::uint32_t highest = 0;
    for_each_in(list, [&](std::uint32_t number) { highest = number; });
    list_ = arena.array<Processor>(highest + 1);
    if (list_ == nullptr) return;
    size_ = highest + 1;
    for_each_in(list, [&](std::uint32_t number) {
        Processor& processor = list_[number];
        char path[96];
        processor.is_online = true;
        std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", number);
        processor.core = read_first_number(path);
        std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", number);
        processor.package = read_first_number(path);
        ++online_;
        if (processor.core == number + 1) ++cores_;
        bool is_new = processor.package != 0;
        for (std::uint32_t before = 0; before < number && is_new; ++before) is_new = list_[before].package != processor.package;
        if (is_new) ++packages_;
    });
    char nodes[256];
    if (!read_file("/sys/devices/system/node/online", nodes, sizeof nodes)) return;
    for_each_in(nodes, [&](std::uint32_t node) {
        ++numa_nodes_;
        char path[96];
        std::snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", node);
        if (!read_file(path, list, sizeof list)) return;
        for_each_in(list, [&](std::uint32_t number) {
            if (number < size_) list_[number].numa_node = static_cast<std::uint16_t>(node + 1);
        });
    });
}

} // namespace libprofile
