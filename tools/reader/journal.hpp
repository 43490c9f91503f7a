// Reads the journal of a live file (format/journal.hpp) and applies it to the snapshot before it.
// Contract: thread-safe (one journal at a time). The bytes may be anything: what is not whole ends the journal; what does not fit
// to what is before it, nor to the definitions behind it, is left out with all that follows and named. Allocates in proportion to the
// bytes, with a bound; throws std::bad_alloc only.
#pragma once

#include "tools/reader/kept_iterations.hpp"
#include "tools/reader/raw_records.hpp"

#include <optional>
#include <string>

namespace libprofile::tools {

/// Goes through the whole records of a journal.
class JournalScanner {
  public:
    explicit JournalScanner(Bytes journal) : journal_(journal) {}
    /// The payload of the next record; nothing: that was the last one.
    std::optional<Bytes> next();
    /// Bytes of the records so far.
    std::size_t used() const { return at_; }

  private:
    Bytes journal_;
    std::size_t at_ = 0;
    std::uint64_t sequence_ = 0;
};

/// Applies the journal of a rank. Its times stay exact: what neither has is booked as not recorded in the phase "".
/// @return the defect of the journal as a clause; empty if it is good
std::optional<std::string> apply_journal(Bytes journal, const KeptSettings& settings, RawRank& rank);

} // namespace libprofile::tools
