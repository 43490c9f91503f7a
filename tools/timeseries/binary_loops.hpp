// The loops of the programs and libraries of a profile: those that were kept with names, and of the others those in files on disk.
// Contract: the constructor reads what is not kept, on several threads; then everything is thread-safe and costs a look-up. Throws std::bad_alloc only.
// Knows sites of the profile, and call sites of loops that were found.
//
// Decision: what is kept is preferred, so that a profile says the same with its programs and without them.
#pragma once

#include "tools/code/module_loops.hpp"
#include "tools/timeseries/loop_source.hpp"

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

namespace libprofile::tools {

/// Reads the loops of modules of which not all sites are kept, if their files are here.
/// @return by module; those without loops say why they were not read
std::vector<ReadLoops> read_missing_loops(const Profile& profile);

class BinaryLoops final : public LoopSource {
  public:
    /// The profile must outlive it.
    explicit BinaryLoops(const Profile& profile);

    std::vector<std::uint64_t> loops_around(CodePlace at) const override;
    Reach reaches(std::uint64_t loop, CodePlace from, CodePlace to) const override;

    /// Whether the loops of the function there are known: it may have none.
    bool is_known(CodePlace at) const;
    /// Where the loop with that header is in the source.
    struct Source {
        std::string file;
        std::uint64_t line = 0; // 0 if that is not known
    };
    Source source(CodePlace header) const;

    /// Modules that were asked for something that is not kept, and are not here or are another build.
    struct Absent {
        std::uint32_t module = 0;
        ModuleState state = ModuleState::Missing;
    };
    std::vector<Absent> absent() const;

  private:
    struct Place {
        const FunctionLoops* function = nullptr; // nullptr: it was not looked at
        std::uint32_t block = 0;
    };
    struct ModuleIndex {
        const ModuleLoops* loops = nullptr;
        std::unordered_map<std::uint64_t, Place> places;   // by offset
        std::unordered_map<std::uint64_t, Source> sources; // by the offset of a header
        ModuleState state = ModuleState::Readable;
        mutable std::atomic<bool> lacked = false; // it was asked for what is not there
    };

    Place find(CodePlace at) const;

    std::vector<ReadLoops> read_;
    std::vector<ModuleIndex> modules_;
};

} // namespace libprofile::tools
