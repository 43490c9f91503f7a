// What one rank does when the call-path tables of a job are unified along a tree of ranks; whoever uses it carries the messages.
// Contract: one thread; never throws, never communicates; memory from the budget. When that runs out for a child's table, the child and the
// ranks behind it keep their own tables, and nothing else changes. When it runs out for a map, keeps_promises() says so.
//
// On the way up a rank takes in the tables of its children, one after another, and offers the union to its parent: first a signature, and the
// table itself only when the parent does not have that one yet. At the top the union is the table of the job. On the way down each rank is told
// which node of it each of its nodes is. For that it remembers two bits per node and child: table numbers only grow on the way (path_table.hpp).
//
//   up:    child -> parent Offer;  parent -> child Answer;  if Send: child -> parent table
//   down:  parent -> child Reply;  if Map: parent -> child the map. The child that came last comes first.
#pragma once

#include "libprofile/merge/table_merge.hpp"

namespace libprofile {

struct TableOffer {
    static constexpr std::uint64_t no_memory = ~std::uint64_t{0};
    TableSignature table;      // of the union of the rank and those behind it
    TableSignature layout;     // of all that the rank's node map depends on; with equal ones, ranks have equal maps
    std::uint64_t uniform = 0; // 1: all ranks behind it have that layout, too
    std::uint64_t bytes = 0;   // of the encoded table; no_memory: it cannot be sent, nor a map received
};

enum class TableAnswer : std::uint64_t {
    Refused = 0, // no memory: the Reply will be None
    Known = 1,   // it need not be sent
    Send = 2
};

struct TableReply {
    enum Kind : std::uint64_t { None = 0, Shared = 1, Map = 2 }; // None: own tables; Shared: the map of `owner` is the rank's own
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

    /// The offer of one of at most most_children. Send: take() must follow, with nothing if there was no memory for it after all.
    TableAnswer consider(std::uint64_t child, const TableOffer& offer) noexcept;
    void take(PageArray<unsigned char>&& table) noexcept;
    TableOffer offer() const noexcept;
    /// The union so far.
    const PathTable& table() const { return table_; }
    bool encode(PageArray<unsigned char>& bytes) const noexcept;
    /// An upper limit of what a map for this rank takes: of each run of its nodes up to 5 bytes for the gap before it, and no more bytes for its
    /// length than it has nodes.
    std::size_t most_map_bytes() const { return 6 * nodes_; }
    /// The parent has it: what follows does without.
    void release_table() noexcept { table_.release(); }

    /// The first rank: the union is the table of the job.
    void lead() noexcept;
    /// All others: what came from the parent.
    void receive(const TableReply& reply, PageArray<unsigned char>&& map) noexcept;
    /// Then, for each child that made an offer, the reply and the bytes of the map. Returns its rank.
    std::uint64_t reply_to_last_child(TableReply& reply, PageArray<unsigned char>& map) noexcept;
    bool has_children() const { return child_count_ != 0; }

    /// At the end: the rank has call paths in the job's table: through a map of its own (then also job_node()), or as another rank has.
    bool has_map() const { return kind_ == TableReply::Map; }
    bool is_shared() const { return kind_ == TableReply::Shared; }
    std::uint64_t owner() const { return owner_ == TableReply::itself ? rank_ : owner_; }
    /// The node of the job's table that a node of this rank's own table is.
    std::uint32_t job_node(std::size_t own) const { return map_[own]; }
    /// False: this rank or a child lacks the map that others were told to rely on, for want of memory.
    bool keeps_promises() const { return keeps_promises_; }
    /// Children whose tables were not taken for want of memory.
    std::uint64_t refused() const { return refused_; }

  private:
    struct Child {
        std::uint64_t rank = 0;
        TableOffer offer;
        std::size_t steps_then = 0; // merges when it was dealt with
        std::size_t step = 0;       // its nodes are those of the union after so many merges,
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
