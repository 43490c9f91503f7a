#include "libprofile/callpath/code_frame.hpp"

#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/callpath/dynamic_symbols.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/unwind_table.hpp"

#include <atomic>

namespace libprofile {

namespace {

/// A function that was decoded. `end` is set last.
struct Known {
    std::atomic<std::uintptr_t> end{0};
    std::uintptr_t start = 0;
    std::uintptr_t body = 0; // after the prologue
    std::uint32_t epoch = 0;
    CodeFrame frame;
};
constexpr unsigned most_known = 64;
Known known[most_known];
std::atomic<unsigned> known_count{0};

bool is_known(std::uintptr_t address, std::uint32_t epoch, CodeFrame& frame) {
    const unsigned count = known_count.load(std::memory_order_acquire);
    for (unsigned i = 0; i < count && i < most_known; ++i) {
        const Known& function = known[i];
        const std::uintptr_t end = function.end.load(std::memory_order_acquire);
        if (address >= end || address < function.start || function.epoch != epoch) continue;
        std::uintptr_t here = 0;
        frame = address >= function.body ? function.frame : read_prologue(function.start, address, here);
        return true;
    }
    return false;
}

} // namespace

bool find_code_frame(std::uintptr_t address, CodeFrame& frame) noexcept {
    const std::uint32_t epoch = load_map.epoch();
    if (is_known(address, epoch, frame)) return true;
    const std::uint32_t number = load_map.find(address);
    if (number == LoadMap::none || load_map[number].headers == nullptr) return false;
    if (is_in_stub(address)) return frame = at_entry, true;
    const Module& module = load_map[number];
    DynamicFunction function;
    if (!find_dynamic_function(module.bias, module.headers, module.header_count, address, function)) return false;
    std::uintptr_t body = 0;
    std::uintptr_t here = 0;
    const CodeFrame whole = read_prologue(function.start, function.end, body);
    frame = address >= body ? whole : read_prologue(function.start, address, here);
    if (!is_settled(epoch)) return true;
    const unsigned index = known_count.load(std::memory_order_relaxed) < most_known ? known_count.fetch_add(1, std::memory_order_acq_rel) : most_known;
    if (index < most_known) {
        known[index].start = function.start;
        known[index].body = body;
        known[index].epoch = epoch;
        known[index].frame = whole;
        known[index].end.store(function.end, std::memory_order_release);
    }
    return true;
}

bool follows_call(std::uintptr_t address) noexcept {
    UnwindSection segment; // memory in front of it may not be readable
    LoadedObject module;
    if (!find_loaded_object(address, module) || !find_segment(module, address, segment) || address - segment.start < longest_call) return false;
    return ends_with_call(address, module);
}

} // namespace libprofile
