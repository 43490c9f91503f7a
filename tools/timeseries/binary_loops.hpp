// The loops of the programs and libraries of a profile, from their files on disk.
// Contract: loops_around() and reaches() are thread-safe, and always give the same answer. The others are for one thread at a time. A function is
// read when it is first asked for; what is kept is bounded (most_kept). Never runs code of a file. Throws std::bad_alloc only.
//
// Decisions:
// - Sites of callers are addresses inside the call instruction (format/profile_file.hpp), so they lie in its block.
// - A file that is another build than the one that ran is not used: its addresses mean something else.
// - Loops that the compiler made of one loop of the source are one, where debug information tells (loop_lines.hpp).
// - A function that the compiler has cut is read from its main part, wherever one asks. So its loops have the same headers everywhere.
#pragma once

#include "tools/code/loop_nest.hpp"
#include "tools/names/symbols.hpp"
#include "tools/timeseries/loop_source.hpp"

#include <memory>
#include <string>
#include <vector>

namespace libprofile::tools {

class BinaryLoops final : public LoopSource {
  public:
    static constexpr std::size_t most_kept = 1 << 20; // basic blocks of a module; then it begins anew

    /// The profile must outlive it.
    explicit BinaryLoops(const Profile& profile, std::size_t kept = most_kept);
    ~BinaryLoops() override;

    std::vector<std::uint64_t> loops_around(CodePlace at) const override;
    Reach reaches(std::uint64_t loop, CodePlace from, CodePlace to) const override;

    /// Whether the loops of the function there are known: it may have none.
    bool is_known(CodePlace at) const;
    /// Where the loop with that header is in the source. The line is 0 if that is not known.
    SiteName source(CodePlace header) const;

    /// Modules that were asked for and are not there, or are another build.
    struct Absent {
        std::uint32_t module = 0;
        ModuleState state = ModuleState::Missing;
    };
    std::vector<Absent> absent() const;

  private:
    struct File;
    std::shared_ptr<const LoopNest> nest(CodePlace at) const;

    const Profile* profile_;
    std::size_t kept_;
    std::vector<std::unique_ptr<File>> files_; // by module
};

} // namespace libprofile::tools
