// What a profile does not hold and what a reader of its numbers should know, a sentence each.
// The text report, JSON and the page take these sentences from here.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. Sentences may hold text of the profile: it
// has been made printable, but not escaped for HTML.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace libprofile::tools {

enum class LossGroup : std::uint8_t {
    Missing, // data of ranks, or parts of files, are not there: sums are too small
    Loss,    // something was left out or folded together, and counted
    Remark,  // how the numbers came about
};

struct Loss {
    LossGroup group = LossGroup::Loss;
    const char* kind = ""; // stable key: that of the counter in JSON's "losses" where there is one; "note" may occur several times
    std::uint64_t count = 0;
    std::string sentence; // begins in lower case where it can, ends without a full stop
};

/// "missing", "loss", "remark": stable keys.
const char* group_name(LossGroup group);

/// In the order of their weight: missing data first, remarks last. Empty if there are none.
/// @param chosen the ranks that were read; empty: all. Others are not missed
std::vector<Loss> losses(const Profile& profile, const std::set<std::uint32_t>& chosen = {});

} // namespace libprofile::tools
