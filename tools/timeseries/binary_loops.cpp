#include "tools/timeseries/binary_loops.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/reader/same_module.hpp"

#include <algorithm>
#include <unordered_set>

namespace libprofile::tools {

namespace {

/// By module: the offsets whose loops may be asked for, in order.
std::vector<std::vector<std::uint64_t>> wanted_offsets(const Profile& profile) {
    std::vector<std::vector<std::uint64_t>> offsets(profile.modules.size());
    for (const Site& site : profile.sites) offsets[site.module].push_back(site.offset);
    for (const Location& location : profile.locations) {
        if (!location.loop_search) continue;
        for (const FoundLoop& loop : location.loop_search->loops)
            for (std::size_t m = 0; m < profile.modules.size() && !loop.is(LoopIsPython); ++m)
                if (is_same_module(profile.modules[m], loop.module)) offsets[m].push_back(loop.offset);
    }
    for (std::vector<std::uint64_t>& of_module : offsets) {
        std::sort(of_module.begin(), of_module.end());
        of_module.erase(std::unique(of_module.begin(), of_module.end()), of_module.end());
    }
    return offsets;
}

bool are_kept(const ModuleLoops& loops, const std::vector<std::uint64_t>& offsets) {
    std::unordered_set<std::uint64_t> kept;
    for (const FunctionLoops& function : loops.functions)
        for (const FunctionLoops::Place& place : function.places)
            if (place.is_own) kept.insert(place.offset);
    return std::all_of(offsets.begin(), offsets.end(), [&](std::uint64_t offset) { return kept.contains(offset); });
}

} // namespace

std::vector<ReadLoops> read_missing_loops(const Profile& profile) {
    const std::vector<std::vector<std::uint64_t>> offsets = wanted_offsets(profile);
    std::vector<ReadLoops> read(profile.modules.size());
    in_parallel(profile.modules.size(), [&](std::size_t m) {
        const bool is_kept = offsets[m].empty() || (!profile.loops.empty() && are_kept(profile.loops[m], offsets[m]));
        if (is_kept)
            read[m].state = ModuleState::Readable;
        else
            read[m] = read_loops(profile.modules[m], offsets[m]);
    });
    return read;
}

BinaryLoops::BinaryLoops(const Profile& profile) : read_(read_missing_loops(profile)), modules_(profile.modules.size()) {
    for (std::size_t m = 0; m < modules_.size(); ++m) {
        ModuleIndex& index = modules_[m];
        index.state = read_[m].state;
        const ModuleLoops* loops = !read_[m].loops.empty() ? &read_[m].loops : !profile.loops.empty() ? &profile.loops[m] : nullptr;
        if (loops == nullptr) continue;
        for (const FunctionLoops& function : loops->functions) {
            for (const FunctionLoops::Place& place : function.places)
                if (place.is_own) index.places.try_emplace(place.offset, Place{&function, place.block});
            for (const FunctionLoops::Loop& loop : function.loops)
                index.sources.try_emplace(loop.header, Source{loop.file == FunctionLoops::none ? "" : loops->files[loop.file], loop.line});
        }
    }
}

BinaryLoops::Place BinaryLoops::find(CodePlace at) const {
    if (at.module >= modules_.size()) return {};
    const ModuleIndex& module = modules_[at.module];
    const auto place = module.places.find(at.offset);
    if (place != module.places.end()) return place->second;
    module.lacked.store(true, std::memory_order_relaxed);
    return {};
}

std::vector<std::uint64_t> BinaryLoops::loops_around(CodePlace at) const {
    std::vector<std::uint64_t> around;
    const Place place = find(at);
    if (place.function == nullptr || !place.function->is_understood) return around;
    const FunctionLoops& function = *place.function;
    for (std::uint32_t loop = function.loop_of[place.block]; loop != FunctionLoops::none; loop = function.loops[loop].parent)
        around.push_back(function.loops[loop].header);
    std::reverse(around.begin(), around.end());
    return around;
}

Reach BinaryLoops::reaches(std::uint64_t loop, CodePlace from, CodePlace to) const {
    const Place first = from.module == to.module ? find(from) : Place();
    if (first.function == nullptr || !first.function->is_understood) return Reach::Unknown;
    const FunctionLoops& function = *first.function;
    if (function.block_of(to.offset) == FunctionLoops::none) return Reach::Unknown;
    std::uint32_t around = FunctionLoops::none;
    if (loop != 0) {
        around = function.loop_of[first.block];
        while (around != FunctionLoops::none && function.loops[around].header != loop) around = function.loops[around].parent;
        if (around == FunctionLoops::none) return Reach::Unknown;
    }
    return function.reaches_forward(around, from.offset, to.offset) ? Reach::Yes : Reach::No;
}

bool BinaryLoops::is_known(CodePlace at) const {
    const Place place = find(at);
    return place.function != nullptr && place.function->is_understood;
}

BinaryLoops::Source BinaryLoops::source(CodePlace header) const {
    if (header.module >= modules_.size()) return {};
    const auto& sources = modules_[header.module].sources;
    const auto source = sources.find(header.offset);
    return source == sources.end() ? Source() : source->second;
}

std::vector<BinaryLoops::Absent> BinaryLoops::absent() const {
    std::vector<Absent> absent;
    for (std::uint32_t m = 0; m < modules_.size(); ++m)
        if (modules_[m].lacked && modules_[m].state != ModuleState::Readable) absent.push_back({m, modules_[m].state});
    return absent;
}

} // namespace libprofile::tools
