// One rank's part in unifying the call-path tables of a job along a tree of ranks. The caller carries the messages.
// Contract: one thread; never throws, never communicates. Memory comes from the budget. If it runs out for a child's table, the child and the
// ranks below it keep their own tables, and nothing else changes. If it runs out for a map, keeps_promises() is false.
//
// On the way up, a rank merges the tables of its children one after another and offers the union to its parent: first a signature, then the
// table itself if the parent does not have it yet. At the top, the union is the table of the job. On the way down, each rank learns which node
// of it each of its own nodes is. For that it stores two bits per node and child: node numbers only grow on the way (path_table.hpp).
//
//   up:    child -> parent Offer;  parent -> child Answer;  if Send: child -> parent table
//   down:  parent -> child Reply;  if Map: parent -> child the map. The child that came last comes first.
#pragma once

#include "libprofile/merge/table_merge.hpp"

namespace libprofile {

struct TableOffer {
    static constexpr std::uint64_t no_memory = ~std::uint64_t{0};
    TableSignature table;      // of the union of the rank and those below it
    TableSignature layout;     // covers all that the rank's node map depends on; ranks with equal layouts have equal maps
    std::uint64_t uniform = 0; // 1 if all ranks below it have that layout, too
    std::uint64_t bytes = 0;   // of the encoded table; no_memory if neither it can be sent nor a map received
};

enum class TableAnswer : std::uint64_t {
    Refused = 0, // no memory: the Reply will be None
    Known = 1,   // the table need not be sent
    Send = 2
};

struct TableReply {
    enum Kind : std::uint64_t { None = 0, Shared = 1, Map = 2 }; // None: own tables; Shared: the rank uses the map of `owner`
    static constexpr std::uint64_t itself = ~std::uint64_t{0};
    std::uint64_t kind = None;
    std::uint64_t owner = itself; // the rank whose map is to be written for this one
    std::uint64_t job_nodes = 0;
    std::uint64_t bytes = 0; // of the encoded map
};

class TableReduction {
  public:
    static constexpr std::size_t most_children = 32;

    /// `own`: this rank's call paths.
    TableReduction(PageBudget& budget, std::uint64_t rank, PathTable&& own, TableSignature layout) noexcept;

    /// Takes the offer of one of at most most_children. After `Send`, take() must follow, with an empty table if memory was short after all.
    TableAnswer consider(std::uint64_t child, const TableOffer& offer) noexcept;
    void take(PageArray<unsigned char>&& table) noexcept;
    TableOffer offer() const noexcept;
    /// The union so far.
    const PathTable& table() const { return table_; }
    bool encode(PageArray<unsigned char>& bytes) const noexcept;
    /// An upper bound of the size of a map for this rank: each run of its nodes takes up to 5 bytes for the gap before it, and at most as many
    /// bytes for its length as it has nodes.
    std::size_t most_map_bytes() const { return 6 * nodes_; }
    /// Call it when the parent has the table: the rest does not need it.
    void release_table() noexcept { table_.release(); }

    /// For the first rank: the union is the table of the job.
    void lead() noexcept;
    /// For all others: the reply and the map from the parent.
    void receive(const TableReply& reply, PageArray<unsigned char>&& map) noexcept;
    /// Then, for each child that made an offer, the reply and the bytes of the map. Returns the child's rank.
    std::uint64_t reply_to_last_child(TableReply& reply, PageArray<unsigned char>& map) noexcept;
    bool has_children() const { return child_count_ != 0; }

    /// At the end, if the rank has call paths in the job's table: has_map() if it has a map of its own (then also job_node()), is_shared() if
    /// it uses another rank's.
    bool has_map() const { return kind_ == TableReply::Map; }
    bool is_shared() const { return kind_ == TableReply::Shared; }
    std::uint64_t owner() const { return owner_ == TableReply::itself ? rank_ : owner_; }
    /// The node of the job's table for a node of this rank's own table.
    std::uint32_t job_node(std::size_t own) const { return map_[own]; }
    /// Returns false if this rank or a child lacks, for want of memory, a map that others rely on.
    bool keeps_promises() const { return keeps_promises_; }
    /// The number of children whose tables were refused for want of memory.
    std::uint64_t refused() const { return refused_; }

  private:
    struct Child {
        std::uint64_t rank = 0;
        TableOffer offer;
        std::size_t steps_then = 0; // number of merges when it was handled
        std::size_t step = 0;       // its nodes are those of the union after this many merges,
        bool merged_then = false;   // or only those that came from the other side then
        bool lost = true;
    };
    bool encode_map(const Child& child, PageArray<unsigned char>& map) const noexcept;
    void step_back_to(std::size_t step) noexcept;
    std::uint64_t owner_for(const Child& child) const noexcept;

    PageBudget* budget_;
    std::uint64_t rank_;
    TableSignature layout_;
    PathTable table_;
    std::size_t nodes_;                            // of the union
    TableSignature signatures_[most_children + 1]; // of the union after each merge
    NodeOrigins origins_;                          // of all merges, one after another
    std::size_t begin_[most_children + 1] = {};    // of each merge in origins_; merge 0 is the own table and has none
    std::size_t steps_ = 0;
    Child children_[most_children];
    std::size_t child_count_ = 0;
    bool uniform_ = true;
    std::uint64_t refused_ = 0;
    bool keeps_promises_ = true;

    std::uint64_t kind_ = TableReply::None;
    std::uint64_t owner_ = TableReply::itself;
    std::uint64_t job_nodes_ = 0;
    PageArray<std::uint32_t> map_; // of the union after steps_ merges
};

} // namespace libprofile
