#include "libprofile/output/place_writer.hpp"

#include "format/place.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/topology/machine.hpp"

#include <cstdio>
#include <unistd.h>

namespace libprofile {

namespace {

/// Processors that a thread of the rank may use or was seen on.
struct ProcessorSet {
    std::uint64_t bits[Machine::most_processors / 64] = {};
    void add(std::uint32_t number) {
        if (number < Machine::most_processors) bits[number / 64] |= std::uint64_t{1} << number % 64;
    }
    /// Calls visit(number) in their order.
    template <class Visit> void for_each(Visit visit) const {
        for (std::uint32_t word = 0; word < Machine::most_processors / 64; ++word)
            for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) visit(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(left)));
    }
};

/// "0-3,8".
void list_allowed(const ThreadPlace& place, char* text, std::size_t size) {
    std::size_t used = 0;
    std::uint32_t first = 0, next = 0; // the range that is being read
    const auto put = [&] {
        if (first == next || used + 24 > size) return;
        const char* comma = used == 0 ? "" : ",";
        const int n = next - first == 1 ? std::snprintf(text + used, size - used, "%s%u", comma, first)
                                        : std::snprintf(text + used, size - used, "%s%u-%u", comma, first, next - 1);
        used += static_cast<std::size_t>(n);
    };
    text[0] = 0;
    place.for_each_allowed([&](std::uint32_t number) {
        if (number != next || first == next) {
            put();
            first = number;
        }
        next = number + 1;
    });
    put();
}

} // namespace

bool write_place(BlockBuffer& buffer, RunningThread running) noexcept {
    static ProcessorSet used; // one thread writes, and it may have little stack
    used = {};
    static char names[most_counters * 132];
    std::size_t length = 0;
    names[0] = 0;
    for (std::uint32_t i = 0; i < counter_choice.count(); ++i)
        length += static_cast<std::size_t>(std::snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : ",", counter_choice[i].name));
    for_each_location(running, [](Thread& thread, std::uint64_t) { machine.read(thread.arena); }); // at the first
    PlaceRecord record;
    for_each_location(running, [&](Thread& thread, std::uint64_t) {
        if (&thread == running.thread) thread.place.remember_allowed(gettid(), thread.arena);
        ++record.threads;
        thread.place.for_each_allowed([&](std::uint32_t number) { used.add(number); });
        if (thread.place.last() >= 0) used.add(static_cast<std::uint32_t>(thread.place.last()));
    });
    used.for_each([&](std::uint32_t) { ++record.processors; });
    record.machine = machine.boot_id();
    record.model = machine.model();
    record.memory = machine.memory();
    record.machine_processors = machine.processors();
    record.machine_cores = machine.cores();
    record.machine_packages = machine.packages();
    record.machine_numa_nodes = machine.numa_nodes();
    record.counters = names;
    const auto rank = static_cast<std::uint32_t>(process.job().rank);
    return write_block(buffer, {BlockType::Place, rank}, [&](Encoder& encoder) {
        describe(encoder, record);
        used.for_each([&](std::uint32_t number) {
            const Machine::Processor known = machine[number];
            ProcessorRecord processor{number, known.core, known.package, known.numa_node};
            describe(encoder, processor);
        });
        for_each_location(running, [&](Thread& thread, std::uint64_t) {
            static char allowed[4096];
            list_allowed(thread.place, allowed, sizeof allowed);
            PlacedThreadRecord out{
                thread.index, allowed, static_cast<std::uint64_t>(thread.place.last() + 1), thread.place.looks(), thread.place.moves(), thread.counters.mask()};
            describe(encoder, out);
        });
    });
}

} // namespace libprofile
