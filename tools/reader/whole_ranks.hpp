// Which ranks of a decoded file are whole: a job that was killed leaves some in an unfinished common file, others in live files.
// Contract: not thread-safe; linear in the size of the file; throws std::bad_alloc only.
#pragma once

#include "tools/reader/decode.hpp"

#include <map>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// Asks one file about its ranks; remembers what many of them share. The file must stay.
class WholeRanks {
  public:
    explicit WholeRanks(const RawFile& file) : file_(&file) {}

    /// The tables of all locations of a rank are there, in it or in the job's part of its file.
    bool has_tables(const RawRank& rank);
    /// All that the rank wrote at its end is there.
    bool is_whole(const RawRank& rank);

  private:
    bool has_map(const LocationRecord& location);
    bool check_map(std::uint32_t rank, std::uint32_t thread) const;

    const RawFile* file_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> is_good_map_; // bad ones, too: checking is as long as the map
};

/// A job that was killed in MPI_Finalize has ranks that had written all of their data into the unfinished common file, and
/// their live files, which have less: those are taken away.
void prefer_whole_ranks(std::vector<RawFile>& files);

} // namespace libprofile::tools
