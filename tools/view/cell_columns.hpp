// Profiles (sums by call path and metric) as columns for a page.
// Contract: one thread; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/encoding.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Where the values of the profile's cells are shown: nodes of the tree of functions, and metrics that occur.
struct CellTables {
    std::vector<std::uint32_t> node_of_path;
    std::vector<std::uint32_t> column_of_metric; // index among the metrics that occur
    std::uint32_t columns = 0;
};

/// A list of profiles: per profile the number of its values, then per value its key (node * columns + column, as difference to
/// the key before) and the value as mantissa * 2^exponent.
class CellColumns {
  public:
    /// @param rounded values keep 12 significant bits: a relative error of 1/8192 at most
    CellColumns(const CellTables& tables, bool rounded) : tables_(tables), rounded_(rounded) {}

    /// Adds cells to the profile that end() closes.
    void add(const std::vector<Cell>& cells);
    void end();

    const NumberColumn& counts() const { return counts_; }
    const NumberColumn& keys() const { return keys_; }
    const NumberColumn& mantissas() const { return mantissas_; }
    const NumberColumn& exponents() const { return exponents_; }

  private:
    const CellTables& tables_;
    bool rounded_;
    std::vector<std::uint64_t> sums_; // by key; all 0 between two profiles
    std::vector<std::uint64_t> touched_;
    NumberColumn counts_, keys_, mantissas_, exponents_;
};

} // namespace libprofile::tools
