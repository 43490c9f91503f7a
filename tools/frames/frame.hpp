// A frame: one call tree, the places it was measured at, and exclusive values of some metrics. What analyses of one run and of
// several work on, whichever tool measured it.
// Contract: plain data; const access is thread-safe; allocates; throws std::bad_alloc, and FrameError where it says so.
//
// A value that is absent is not 0: the place never came to the node. Values are doubles: whole numbers below 2^53 are exact.
#pragma once

#include "tools/frames/shared_array.hpp"
#include "tools/text/text_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// What was asked of a frame is not in it; what() is one sentence for the user.
struct FrameError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A thread of a rank.
struct FramePlace {
    std::uint32_t rank = 0;
    std::uint32_t thread = 0;
    std::string host;
};

/// The nodes, each a place in these arrays. A parent stands before its children; node 0 is the program and its own parent.
struct FrameNodes {
    SharedArray<std::uint32_t> parent;
    SharedArray<std::uint32_t> kind, name, file, module; // numbers in Frame::texts
    SharedArray<std::uint32_t> line;                     // 0 if unknown

    std::size_t size() const { return parent.size(); }
};

/// Numbers in Frame::texts of what a node is called.
struct NodeTexts {
    std::uint32_t kind = 0, name = 0, file = 0, module = 0;
};

/// The values of one metric at one place, by ascending node.
struct FrameRow {
    std::span<const std::uint32_t> node;
    std::span<const double> value;
};

/// Memory for a row that is not in memory.
struct RowBuffer {
    std::vector<std::uint32_t> node;
    std::vector<double> value;
    std::vector<unsigned char> bytes;
    std::vector<std::uint64_t> sums; // by node, 0 between uses
    std::vector<std::uint8_t> there; // by node, 0 between uses
};

/// Values that are too many to be kept: read from where they are whenever they are asked for.
class RowSource {
  public:
    virtual ~RowSource() = default;
    virtual std::size_t places() const = 0;
    /// Thread-safe, with a buffer for each thread; the row is in it until the next call.
    /// @throws FrameError when they cannot be read
    virtual FrameRow row(std::size_t place, RowBuffer& buffer) const = 0;
};

/// Exclusive values of one metric, place by place, by ascending node.
struct FrameColumn {
    std::string metric;
    std::string unit;
    std::vector<std::uint64_t> begin = {0}; // places + 1: where in `node` and `value` those of a place begin
    std::vector<std::uint32_t> node;
    std::vector<double> value;
    std::shared_ptr<const RowSource> source = {}; // if there is one, the values are there, and the arrays above are empty

    std::size_t places() const { return source ? source->places() : begin.size() - 1; }
    /// @throws FrameError
    FrameRow row(std::size_t place, RowBuffer& buffer) const {
        if (source) return source->row(place, buffer);
        const auto first = static_cast<std::size_t>(begin[place]), count = static_cast<std::size_t>(begin[place + 1] - begin[place]);
        return {std::span(node).subspan(first, count), std::span(value).subspan(first, count)};
    }
    /// Brings the values into memory.
    /// @throws FrameError
    void fetch();
};

struct Frame {
    FrameNodes nodes;
    std::vector<FramePlace> places; // sorted by rank, then thread
    std::vector<FrameColumn> columns;
    TextPool texts;
    std::string source;             // what it was read from
    std::string tool = {};          // whose it is, in words: "TAU profiles"; empty: libprofile's own
    std::string scope;              // what was selected of it, in words; empty: everything
    bool estimated = false;         // some value is an estimate
    std::vector<std::string> notes; // what a file of another tool has that is not here, one sentence each

    /// Adds a node, whose parent must be there already. The first one is the program.
    std::uint32_t add_node(std::uint32_t parent, std::string_view kind, std::string_view name, std::string_view file = {}, std::uint32_t line = 0,
                           std::string_view module = {});
    /// The same, of texts that are known by their numbers.
    std::uint32_t add_node(std::uint32_t parent, const NodeTexts& numbers, std::uint32_t line);
    const std::string& name_of(std::uint32_t node) const { return texts[nodes.name[node]]; }
    /// Null: there is no such metric.
    const FrameColumn* find_column(std::string_view metric) const;
    /// @throws FrameError when there is no such metric
    const FrameColumn& column(std::string_view metric) const;
    /// Whether everything in it fits together: for what was made from a file.
    /// @throws FrameError otherwise
    void check() const;
};

} // namespace libprofile::tools
