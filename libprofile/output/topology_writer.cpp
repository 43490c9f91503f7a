#include "libprofile/output/topology_writer.hpp"

#include "format/topology.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/topology/machine.hpp"

#include <cstdio>
#include <unistd.h>

namespace libprofile {

namespace {

/// The processors that a thread of the rank may use or was seen on.
struct ProcessorSet {
    std::uint64_t bits[Machine::most_processors / 64] = {};
    void add(std::uint32_t number) {
        if (number < Machine::most_processors) bits[number / 64] |= std::uint64_t{1} << number % 64;
    }
    /// Calls visit(number) in ascending order.
    template <class Visit> void for_each(Visit visit) const {
        for (std::uint32_t word = 0; word < Machine::most_processors / 64; ++word)
            for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) visit(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(left)));
    }
};

/// Writes a list such as "0-3,8".
void list_allowed(const ThreadAffinity& affinity, char* text, std::size_t size) {
    std::size_t used = 0;
    std::uint32_t first = 0, next = 0; // the range being read
    const auto put = [&] {
        if (first == next || used + 24 > size) return;
        const char* comma = used == 0 ? "" : ",";
        const int n = next - first == 1 ? std::snprintf(text + used, size - used, "%s%u", comma, first)
                                        : std::snprintf(text + used, size - used, "%s%u-%u", comma, first, next - 1);
        used += static_cast<std::size_t>(n);
    };
    text[0] = 0;
    affinity.for_each_allowed([&](std::uint32_t number) {
        if (number != next || first == next) {
            put();
            first = number;
        }
        next = number + 1;
    });
    put();
}

} // namespace

bool write_topology(BlockBuffer& buffer, RunningThread running) noexcept {
    static ProcessorSet used; // static: only one thread writes, and it may have little stack
    used = {};
    static char names[most_counters * 132];
    std::size_t length = 0;
    names[0] = 0;
    for (std::uint32_t i = 0; i < counter_choice.count(); ++i)
        length += static_cast<std::size_t>(std::snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : ",", counter_choice[i].name));
    for_each_location(running, [](Thread& thread, std::uint64_t) { machine.read(thread.arena); }); // uses the first location's arena
    TopologyRecord record;
    for_each_location(running, [&](Thread& thread, std::uint64_t) {
        if (&thread == running.thread) thread.affinity.remember_allowed(gettid(), thread.arena);
        ++record.threads;
        thread.affinity.for_each_allowed([&](std::uint32_t number) { used.add(number); });
        if (thread.affinity.last() >= 0) used.add(static_cast<std::uint32_t>(thread.affinity.last()));
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
    return write_block(buffer, {BlockType::Topology, rank}, [&](Encoder& encoder) {
        describe(encoder, record);
        used.for_each([&](std::uint32_t number) {
            const Machine::Processor known = machine[number];
            ProcessorRecord processor{number, known.core, known.package, known.numa_node};
            describe(encoder, processor);
        });
        for_each_location(running, [&](Thread& thread, std::uint64_t) {
            static char allowed[4096];
            list_allowed(thread.affinity, allowed, sizeof allowed);
            ThreadAffinityRecord out{
                thread.index,          allowed, static_cast<std::uint64_t>(thread.affinity.last() + 1), thread.affinity.looks(), thread.affinity.moves(),
                thread.counters.mask()};
            describe(encoder, out);
        });
    });
}

} // namespace libprofile
