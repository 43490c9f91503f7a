#include "format/counters.hpp"
#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/counters/thread_counters.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace libprofile {

namespace {

constexpr std::uint64_t pages = 64;

/// Takes so many page faults, at least.
void touch() {
    void* memory = mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
    for (std::uint64_t p = 0; p < pages; ++p) static_cast<volatile char*>(memory)[p * 4096] = 1;
    munmap(memory, pages * 4096);
}

/// A process has one choice for all of its life. Ends it: 0 if what is set apart twice is not the program's once.
[[noreturn]] void set_apart_twice() {
    counter_choice.add({"page_faults", "count", "", CounterSource::Os, static_cast<std::uint8_t>(OsCounter::PageFaults)});
    ThreadCounters counters;
    counters.open(gettid(), false, false);
    std::uint64_t increments[most_counters];
    touch();
    counters.read(increments, true);
    const std::uint64_t before = counters.of_program(0);
    {
        const CountsApart apart(counters);
        touch();
    }
    touch();
    if (!counters.read_apart(increments, true) || increments[0] < 2 * pages) _exit(1);
    if (counters.of_program(0) != before) _exit(2);
    touch();
    counters.read(increments, true);
    _exit(increments[0] >= pages && counters.of_program(0) == before + increments[0] ? 0 : 3);
}

} // namespace

TEST(ThreadCountersTest, WhatIsSetApartTwiceIsNotTheProgramsOnce) { EXPECT_EXIT(set_apart_twice(), testing::ExitedWithCode(0), ""); }

} // namespace libprofile
