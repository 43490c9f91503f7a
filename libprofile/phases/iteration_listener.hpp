// Is told about every iteration that is closed: the journal implements it, so the phases need not know of files.
// Contract: called by the thread that closes the iteration, with its in-tool flag set; closing() and closed(), or missed(), for
// each iteration, and put_back() or missed() if the values of one have been taken back.
#pragma once

#include "format/journal.hpp"
#include "libprofile/clustering/iteration_profile.hpp"
#include "libprofile/clustering/signature.hpp"

#include <cstdint>

namespace libprofile {

struct Phase;

struct IterationListener {
    /// Before the iteration's profile is given away, at `now`. `profile`: empty when there was no memory for it.
    void (*closing)(const Phase& phase, const IterationProfile& profile, const StructureSignatures& signatures, std::uint64_t wall_ns,
                    std::uint64_t now) noexcept = nullptr;
    /// When it is known what became of it.
    void (*closed)(IterationFate fate) noexcept = nullptr;
    /// Later: there was no memory to cluster the last iteration of `phase`, whose fate was Own or Mixed, so its values will be in
    /// the next one as well.
    void (*put_back)(const Phase& phase) noexcept = nullptr;
    /// For want of memory: an iteration was closed without closing() and closed(), or the values of an earlier one than the last of its phase are
    /// taken back.
    void (*missed)() noexcept = nullptr;
};

} // namespace libprofile
