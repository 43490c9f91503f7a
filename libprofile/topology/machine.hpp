// The machine as the kernel shows it in /sys and /proc: processors, cores, packages, NUMA nodes.
// Why not hwloc: most MPI jobs have loaded it already, in a version that the MPI library has chosen. A second one would bring its plugins,
// libxml2 and much malloc into a process that is not ours. The kernel's files have all we need.
// Contract: the thread that writes calls read() once, never in a handler. It reads several files for each processor (5 us each), so it
// runs when the measurement is over or a checkpoint is due. Memory comes from the given arena. 0 if a value cannot be read.
#pragma once

#include "libprofile/base/memory.hpp"

#include <cstdint>

namespace libprofile {

class Machine {
  public:
    static constexpr std::uint32_t most_processors = 8192;
    struct Processor {
        std::uint16_t core = 0;      // lowest number of its processors, + 1
        std::uint16_t package = 0;   // + 1
        std::uint16_t numa_node = 0; // + 1
        bool is_online = false;
    };

    void read(Arena& arena) noexcept;
    bool is_known() const { return is_known_; }
    const char* boot_id() const { return boot_id_; }
    const char* model() const { return model_; }
    std::uint64_t memory() const { return memory_; }
    std::uint32_t processors() const { return online_; }
    std::uint32_t cores() const { return cores_; }
    std::uint32_t packages() const { return packages_; }
    std::uint32_t numa_nodes() const { return numa_nodes_; }
    /// Returns zeroes for an unknown number.
    Processor operator[](std::uint32_t number) const { return number < size_ ? list_[number] : Processor{}; }

  private:
    bool is_known_ = false;
    char boot_id_[40] = {};
    char model_[128] = {};
    std::uint64_t memory_ = 0;
    std::uint32_t size_ = 0;
    Processor* list_ = nullptr;
    std::uint32_t online_ = 0, cores_ = 0, packages_ = 0, numa_nodes_ = 0;
};
extern Machine machine;

} // namespace libprofile
