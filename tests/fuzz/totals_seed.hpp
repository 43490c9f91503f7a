// Totals of a profile that nobody has, for the fuzzers: the key that they are opened with, and a file of it.
// Contract: for tests; allocates.
#pragma once

#include "tools/frames/totals_file.hpp"

#include <unistd.h>
#include <vector>

namespace libprofile::test {

inline tools::TotalsKey totals_seed_key() { return {{{"profile.lprof", 1000, 17}}, {"time", "visits"}, 300, 3}; }

inline std::vector<unsigned char> totals_seed() {
    const auto writer = tools::TotalsWriter::open({});
    if (!writer) return {};
    tools::PathColumn dense, sparse;
    for (std::uint32_t path = 1; path < 300; ++path) {
        dense.path.push_back(path);
        dense.value.push_back(std::uint64_t{path} * path * 1000);
        if (path % 7 != 0) continue;
        sparse.path.push_back(path);
        sparse.value.push_back(0 - std::uint64_t{path});
    }
    std::vector<unsigned char> room;
    writer->add(0, 0, 0, dense, room);
    writer->add(0, 1, 1, sparse, room);
    writer->add(1, 0, 0, sparse, room);
    writer->finish(totals_seed_key(), {{0, dense}, {1, sparse}});
    std::vector<unsigned char> bytes(static_cast<std::size_t>(::lseek(writer->descriptor(), 0, SEEK_END)));
    if (::pread(writer->descriptor(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
    return bytes;
}

} // namespace libprofile::test
