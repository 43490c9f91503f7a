// The energy counters of the host's processors (RAPL), where the kernel lets us read them.
// Contract: find() runs once, before other threads. One thread calls read(), which is async-signal-safe. Never allocates.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

class EnergyFiles {
  public:
    static constexpr const char* usual_folder = "/sys/class/powercap";
    /// Returns false if there are none or they may not be read; reason() says why.
    bool find(const char* folder = usual_folder) noexcept;
    const char* reason() const { return reason_; }
    /// Microjoules of all packages since find(). Counters that wrap around are handled.
    std::uint64_t read() noexcept;

  private:
    static constexpr std::size_t most = 16; // packages of a host
    struct Package {
        char path[96];
        std::uint64_t range = 0; // the counter wraps around here
        std::uint64_t last = 0;
    };
    Package packages_[most] = {};
    std::size_t count_ = 0;
    std::uint64_t sum_ = 0;
    const char* reason_ = "there is no /sys/class/powercap/intel-rapl:0: the processor has no energy counters, or this is a virtual machine";
};
extern EnergyFiles energy_files;

} // namespace libprofile
