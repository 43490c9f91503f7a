#include "tools/code/kept_loops.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t none = FunctionLoops::none;
static_assert(none == LoopNest::none);

/// Which items of one loop may run after which.
class Order {
  public:
    /// @param blocks by item: a block of the nest that lies in it
    Order(const LoopNest& nest, std::uint32_t loop_of_nest, const std::vector<std::uint32_t>& items, const std::vector<std::uint32_t>& blocks) : items_(items) {
        for (const std::uint32_t item : items) {
            const std::vector<bool> reached = nest.reached_from(loop_of_nest, blocks[item]);
            std::vector<bool>& row = after_.emplace_back();
            for (const std::uint32_t other : items) row.push_back(reached[blocks[other]]);
        }
    }

    /// What must be kept of it: in code without cycles, the fewest pairs from which all others follow.
    void keep(const FunctionLoops& function, std::vector<std::vector<std::uint32_t>>& next) const {
        std::vector<std::size_t> order(items_.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return followers(a) > followers(b); });
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const bool is_loop = items_[i] >= function.loop_of.size(); // that it can be reached from itself is known
            const bool is_cycle = after_[i][i] && !is_loop;            // code that seems not to be reached may have some
            std::vector<bool> follows(items_.size());
            for (const std::size_t k : order) {
                if (!after_[i][k] || follows[k] || (k == i && is_loop)) continue;
                next[items_[i]].push_back(items_[k]);
                if (is_cycle) continue;
                for (std::size_t n = 0; n < follows.size(); ++n) follows[n] = follows[n] || after_[k][n];
            }
        }
    }

  private:
    std::ptrdiff_t followers(std::size_t i) const { return std::count(after_[i].begin(), after_[i].end(), true); }

    const std::vector<std::uint32_t>& items_;
    std::vector<std::vector<bool>> after_;
};

} // namespace

KeptLoops kept_loops(const LoopNest& nest, std::vector<FunctionLoops::Place> places) {
    KeptLoops kept;
    FunctionLoops& function = kept.function;
    function.is_understood = true;
    function.places = std::move(places);
    std::vector<std::uint32_t> blocks; // by item: one of the nest
    for (FunctionLoops::Place& place : function.places) {
        const std::uint32_t block = nest.blocks().block_of(place.offset);
        if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
        place.block = static_cast<std::uint32_t>(blocks.size() - 1);
    }

    std::vector<std::uint32_t> number(nest.loops().size(), none), block_in(nest.loops().size(), none);
    for (const std::uint32_t block : blocks)
        for (std::uint32_t loop = nest.innermost_of_block(block); loop != none && block_in[loop] == none; loop = nest.loops()[loop].parent)
            block_in[loop] = block;
    for (std::uint32_t loop = 0; loop < number.size(); ++loop) {
        if (block_in[loop] == none) continue;
        const CodeLoop& found = nest.loops()[loop];
        number[loop] = static_cast<std::uint32_t>(function.loops.size());
        function.loops.push_back({found.header, found.parent == none ? none : number[found.parent], none, 0});
        kept.loop_of_nest.push_back(loop);
    }
    for (const std::uint32_t block : blocks) {
        const std::uint32_t loop = nest.innermost_of_block(block);
        function.loop_of.push_back(loop == none ? none : number[loop]);
    }
    for (const std::uint32_t loop : kept.loop_of_nest) blocks.push_back(block_in[loop]);

    std::map<std::uint32_t, std::vector<std::uint32_t>> items; // by the loop around them
    for (std::uint32_t item = 0; item < blocks.size(); ++item) items[function.around(item)].push_back(item);
    function.next.resize(blocks.size());
    for (const auto& [loop, inside] : items) Order(nest, loop == none ? none : kept.loop_of_nest[loop], inside, blocks).keep(function, function.next);
    return kept;
}

} // namespace libprofile::tools
