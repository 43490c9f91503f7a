// The loops of functions as they are kept with names, so that a profile can be read where its programs are not: what the analysis of traces asks of
// machine code, about the sites of one profile and nothing else.
// Contract: plain data; const access is thread-safe; throws std::bad_alloc only.
//
// Source: the control flow graphs of Wei and Mellor-Crummey (ICS 2018), sections 3.1 and 3.2.
// Decisions:
// - Blocks without a site of the profile, and loops without such a block, are left out.
// - Which block may run after which is kept for each loop by itself: between the blocks that lie in it and in no inner loop, and its inner loops, each
//   of which counts as one. From inside a loop, everything in it can be reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A function, or a part of one that cannot be said to belong to another.
struct FunctionLoops {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::uint32_t deepest = 255; // loops in each other

    struct Place {
        std::uint64_t offset = 0; // a site of the profile
        std::uint32_t block = 0;
        bool is_own = true; // else the site belongs to another function, which shares code with this one
    };
    struct Loop {
        std::uint64_t header = 0;    // offset; by it a loop is known
        std::uint32_t parent = none; // comes before
        std::uint32_t file = none;   // of ModuleLoops::files
        std::uint64_t line = 0;      // 0 if unknown
    };
    bool is_understood = false;         // if not, it has places only, and their blocks mean nothing
    std::vector<Place> places;          // by offset; those of a block follow each other
    std::vector<std::uint32_t> loop_of; // by block: the innermost loop, or none
    std::vector<Loop> loops;
    /// By item: blocks, then loops. Items of the same loop to which control can go on without going back to its header, without those that follow
    /// from others.
    std::vector<std::vector<std::uint32_t>> next;

    /// The loop around an item, or none.
    std::uint32_t around(std::uint32_t item) const { return item < loop_of.size() ? loop_of[item] : loops[item - loop_of.size()].parent; }
    /// The block of a place, or none if the offset is no place.
    std::uint32_t block_of(std::uint64_t offset) const;
    /// Of places: as LoopNest::reaches_forward().
    bool reaches_forward(std::uint32_t loop, std::uint64_t from, std::uint64_t to) const;

  private:
    std::uint32_t item_in(std::uint32_t loop, std::uint32_t block) const;
    bool reaches(std::uint32_t from, std::uint32_t to) const;
};

struct ModuleLoops {
    std::vector<std::string> files; // of the source
    std::vector<FunctionLoops> functions;

    bool empty() const { return functions.empty(); }
};

} // namespace libprofile::tools
