// Which cluster each iteration is in; merging clusters relabels no iterations. A disjoint-set forest covers the iterations of the newest
// block. Of an older block it covers only the roots of its clusters. Each iteration of an older block has the number that its cluster had when
// the block was closed, in as few bits as possible.
// Contract: belongs to one thread. Memory from the thread's arena: 4 bytes for an iteration of the newest block, one or two for others, and
// 14 KiB that later iterations will need. Work per iteration is constant on average; the last iteration of a block packs the block, a few ns
// an iteration. Source: union of trees with path compression (here by halving): Cormen et al., "Disjoint-set forests".
#pragma once

#include "libprofile/base/memory.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace libprofile {

class Membership {
  public:
    static constexpr std::uint32_t none = 0xffffffffu;

    /// `block`: the number of iterations that are packed together; 0 for no packing.
    explicit Membership(std::uint32_t block) : block_(block) {}
    /// The block size with which packing saves memory for this many clusters.
    static constexpr std::uint32_t block_for(std::uint32_t clusters) { return clusters > 256 ? 1024 : clusters > 32 ? std::bit_ceil(clusters * 4) : 128; }

    std::uint64_t size() const { return size_; }
    /// Bytes of the forest and the packed blocks.
    std::size_t memory() const { return packed_bytes_ + (kept_.size() + (block_ != 0 ? newest_count_ : 0)) * sizeof(std::uint32_t); }
    bool is_block_full() const { return block_ != 0 && newest_count_ == block_; }

    /// Whether so many can be added, or added outside, without more memory, after reserve(). False for more than one without packing.
    bool has_room_for(std::uint32_t iterations) const { return block_ == 0 ? iterations <= 1 : newest_count_ + iterations <= block_; }
    /// Makes room for one more iteration. Returns false if memory is short.
    bool reserve(Arena& arena) noexcept {
        if (block_ == 0) return kept_.size() < most && kept_.reserve(1, arena);
        return (newest_ != nullptr || prepare(arena)) && kept_.size() + block_ < most && (outside_ != none || kept_.reserve(1, arena));
    }
    /// Adds an iteration as the only member of set `label`. Returns the set's root; `none` if memory is short or the block is full.
    std::uint32_t add(Arena& arena, std::uint32_t label) noexcept { return append(arena, root_flag | label); }
    /// Adds an iteration to the set outside all clusters, whose label is `label`. Returns false as above.
    bool add_outside(Arena& arena, std::uint32_t label) noexcept {
        if (outside_ == none) { // reserve() has made room
            std::uint32_t* link = kept_.size() + 1 < most ? kept_.append(arena) : nullptr;
            if (link == nullptr) return false;
            *link = root_flag | label;
            outside_ = static_cast<std::uint32_t>(kept_.size() - 1);
            if (block_ == 0) return ++size_, true; // it is the iteration itself
        }
        return append(arena, outside_) != none;
    }
    /// The label of the iteration's set.
    std::uint32_t label(std::uint32_t iteration) noexcept {
        if (block_ == 0) return label_of_root(root(iteration));
        if (iteration / block_ == blocks_.size()) return label_of_root(root(newest_flag | iteration % block_));
        const Block& block = *blocks_[iteration / block_];
        return label_of_root(root(block.roots[block.code(iteration % block_)]));
    }
    void relabel(std::uint32_t root_of_set, std::uint32_t label) noexcept { link(root_of_set) = root_flag | label; }
    /// Joins the sets of two roots. Returns the root of both, `into` if possible. Kept links never lead into the newest block.
    std::uint32_t join(std::uint32_t into, std::uint32_t from) noexcept {
        if ((into & newest_flag) != 0 && (from & newest_flag) == 0) {
            const std::uint32_t kept = from;
            from = into;
            into = kept;
        }
        link(from) = into;
        return into;
    }
    /// Packs the newest block. `clusters`: the number of sets without the one outside. root_of(label) returns a reference to the owner's copy of
    /// a set's root, which may change. Returns false, with no relevant change, if memory is short.
    template <class RootOf> bool pack(Arena& arena, std::uint32_t clusters, RootOf root_of) noexcept {
        const unsigned bits = static_cast<unsigned>(std::bit_width(clusters)); // the number `clusters` means outside
        const std::size_t bytes = sizeof(Block) + (std::size_t{block_} * bits + 7) / 8;
        for (std::uint32_t c = 0; c < clusters; ++c) {
            std::uint32_t& cluster_root = root_of(c);
            if ((cluster_root & newest_flag) == 0) continue;
            std::uint32_t* kept = kept_.append(arena);
            if (kept == nullptr) return false;
            *kept = root_flag | c;
            link(cluster_root) = static_cast<std::uint32_t>(kept_.size() - 1);
            cluster_root = static_cast<std::uint32_t>(kept_.size() - 1);
        }
        if (!reserve_roots(arena, clusters, root_of) || !blocks_.reserve(1, arena)) return false;
        auto* block = static_cast<Block*>(allocate(arena, bytes)); // the last step that can fail, so nothing is left half done
        if (block == nullptr) return false;
        block->roots = roots_;
        block->bits = bits;
        Block** slot = blocks_.append(arena);
        for (std::uint32_t i = 0; i < newest_count_; ++i) {
            const std::uint32_t set = label_of_root(root(newest_flag | i));
            block->put(i, set < clusters ? set : clusters);
        }
        *slot = block;
        packed_bytes_ += bytes + sizeof block;
        newest_count_ = 0;
        return true;
    }

  private:
    static constexpr std::uint32_t root_flag = 0x80000000u;   // in a link: the rest is a label
    static constexpr std::uint32_t newest_flag = 0x40000000u; // in an element: the rest is an index in the newest block
    static constexpr std::uint32_t most = newest_flag;

    struct Block {
        const std::uint32_t* roots; // roots of the sets, by code
        unsigned bits;              // of a code
        unsigned char* codes() { return reinterpret_cast<unsigned char*>(this + 1); }
        std::uint32_t code(std::uint32_t i) const {
            const auto* bytes = reinterpret_cast<const unsigned char*>(this + 1);
            std::uint32_t value = 0;
            for (unsigned b = 0, at = i * bits; b < bits; ++b, ++at) value |= static_cast<std::uint32_t>(bytes[at / 8] >> at % 8 & 1) << b;
            return value;
        }
        void put(std::uint32_t i, std::uint32_t value) {
            for (unsigned b = 0, at = i * bits; b < bits; ++b, ++at) codes()[at / 8] = static_cast<unsigned char>(codes()[at / 8] | (value >> b & 1) << at % 8);
        }
    };

    std::uint32_t& link(std::uint32_t element) { return (element & newest_flag) != 0 ? newest_[element & ~newest_flag] : kept_[element]; }
    std::uint32_t label_of_root(std::uint32_t root_of_set) { return link(root_of_set) & ~root_flag; }
    std::uint32_t root(std::uint32_t element) noexcept {
        for (std::uint32_t* here = &link(element); (*here & root_flag) == 0; here = &link(element)) {
            const std::uint32_t above = link(*here);
            if ((above & root_flag) == 0) *here = above;
            element = *here;
        }
        return element;
    }
    /// The first block, and room for a few thousand iterations after the quota is used up. Without it their values would have no iteration.
    bool prepare(Arena& arena) noexcept {
        if (!kept_.reserve(1, arena) || !blocks_.reserve(1, arena)) return false;
        if (spare_ == nullptr) spare_ = static_cast<unsigned char*>(arena.allocate(spare_bytes));
        if (spare_ == nullptr) return false;
        newest_ = arena.array<std::uint32_t>(block_);
        return newest_ != nullptr;
    }
    /// Zeroed.
    void* allocate(Arena& arena, std::size_t bytes) noexcept {
        if (void* memory = arena.allocate(bytes)) return memory;
        bytes = (bytes + 15) / 16 * 16;
        if (spare_bytes - spare_used_ < bytes) return nullptr;
        spare_used_ += bytes;
        return spare_ + spare_used_ - bytes;
    }
    std::uint32_t append(Arena& arena, std::uint32_t what) noexcept {
        if (is_block_full() || !reserve(arena)) return none;
        ++size_;
        if (block_ == 0) {
            *kept_.append(arena) = what;
            return static_cast<std::uint32_t>(kept_.size() - 1);
        }
        newest_[newest_count_] = what;
        return newest_flag | newest_count_++;
    }
    /// The roots of all sets by label, then the one outside. Blocks share them until they change.
    template <class RootOf> bool reserve_roots(Arena& arena, std::uint32_t clusters, RootOf root_of) noexcept {
        bool is_same = roots_count_ == clusters + 1 && roots_[clusters] == outside_;
        for (std::uint32_t c = 0; is_same && c < clusters; ++c) is_same = roots_[c] == root_of(c);
        if (is_same) return true;
        auto* fresh = static_cast<std::uint32_t*>(allocate(arena, (clusters + 1) * sizeof(std::uint32_t)));
        if (fresh == nullptr) return false;
        for (std::uint32_t c = 0; c < clusters; ++c) fresh[c] = root_of(c);
        fresh[clusters] = outside_;
        roots_ = fresh;
        roots_count_ = clusters + 1;
        packed_bytes_ += roots_count_ * sizeof(std::uint32_t);
        return true;
    }

    static constexpr std::size_t spare_bytes = 8 << 10;

    std::uint32_t block_;
    std::uint32_t newest_count_ = 0;
    std::uint32_t* newest_ = nullptr;     // links of the newest block: the parent element, or root_flag | label
    StableArray<std::uint32_t, 10> kept_; // links kept after packing
    StableArray<Block*, 8> blocks_;
    unsigned char* spare_ = nullptr;
    std::size_t spare_used_ = 0;
    std::uint32_t* roots_ = nullptr; // of the block packed last
    std::uint32_t roots_count_ = 0;
    std::uint32_t outside_ = none;
    std::uint64_t size_ = 0;
    std::size_t packed_bytes_ = 0;
};

} // namespace libprofile
