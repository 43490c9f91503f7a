// Makes a frame of what a file says, in any order.
// Contract: not thread-safe; allocates; throws FrameError and std::bad_alloc.
#pragma once

#include "tools/frames/frame.hpp"
#include "tools/import/memory_limit.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace libprofile::tools {

/// What a node is, besides its parent.
struct NodeNames {
    std::string_view name = {}, kind = "function", file = {}, module = {};
    std::uint32_t line = 0;
};

class FrameBuilder {
  public:
    /// The program, node 0, is there at once.
    /// @param memory from which all that is added is taken
    FrameBuilder(std::string_view program, MemoryLimit memory) : memory_(memory) { frame_.add_node(0, "program", program); }

    /// For what the reader itself keeps of the file.
    MemoryLimit& memory() { return memory_; }

    /// A new node, even if there is one like it.
    std::uint32_t add(std::uint32_t parent, const NodeNames& names);
    /// The node with these names below `parent`; made if there is none.
    std::uint32_t child(std::uint32_t parent, const NodeNames& names);
    std::size_t nodes() const { return frame_.nodes.size(); }

    /// The number of a place or metric; made if it is new.
    std::uint32_t place(std::uint32_t rank, std::uint32_t thread, std::string_view host = {});
    std::uint32_t metric(std::string_view name, std::string_view unit);
    /// The values of this metric are inclusive: exclusive ones are what is left without the children's. Those of the
    /// program stay as they are: files have there what is outside of all functions.
    void make_exclusive(std::uint32_t metric) { metrics_[metric].is_inclusive = true; }

    /// Values of one cell add up. NaN is none. Times are rounded to whole ns: files have them as decimal fractions of seconds.
    void value(std::uint32_t metric, std::uint32_t place, std::uint32_t node, double value);
    void note(std::string text) { frame_.notes.push_back(std::move(text)); }

    /// Without a place that was named all is of rank 0.
    Frame finish() &&;

  private:
    struct Value {
        std::uint32_t place, node;
        double value;
    };
    struct Metric {
        std::string name, unit;
        bool is_inclusive = false;
        std::vector<Value> values = {};
    };
    using Key = std::array<std::uint32_t, 6>; // parent, kind, name, file, module, line
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t hash = 0;
            for (const std::uint32_t part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
            return hash ^ (hash >> 32);
        }
    };

    std::uint32_t text_number(std::string_view text);
    NodeTexts numbers_of(const NodeNames& names);
    std::uint32_t add(std::uint32_t parent, const NodeTexts& texts, std::uint32_t line);
    FrameColumn column(Metric& metric, const std::vector<std::uint32_t>& position) const;

    MemoryLimit memory_;
    Frame frame_;
    std::unordered_map<Key, std::uint32_t, Hash> children_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> places_; // by rank and thread
    std::vector<FramePlace> place_list_;
    std::vector<Metric> metrics_;
};

} // namespace libprofile::tools
