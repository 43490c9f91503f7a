// A set of call paths in its one canonical form: equal sets are equal tables, in whatever order they were made.
// Contract: one thread; never throws. Memory comes from the table's budget only; functions return false when that runs out.
//
// Nodes are in breadth-first order, the children of a node ordered by (what, b), modules by build-id, functions by name. So two tables are
// merged in one walk through both (table_merge.hpp), node numbers only grow, and the result does not depend on the order of merges.
#pragma once

#include "format/codec.hpp"
#include "format/profile_file.hpp"
#include "libprofile/merge/page_array.hpp"

#include <cstdint>

namespace libprofile {

struct TableSignature {
    std::uint64_t words[2] = {};
    bool operator==(const TableSignature&) const = default;
    void add(std::uint64_t value);
    void add(Text text);
};

struct TableNode {
    std::uint32_t parent = 0; // less than its own number; 0 for the root
    std::uint32_t what = 0;   // kind << 24 | module or function
    std::uint64_t b = 0;      // as in NodeRecord

    static constexpr unsigned kind_shift = 24;
    static constexpr std::uint32_t most_targets = 1u << kind_shift;
    NodeKind kind() const { return static_cast<NodeKind>(what >> kind_shift); }
    std::uint32_t target() const { return what & (most_targets - 1); }
    /// The order of the nodes of a table.
    bool operator<(const TableNode& other) const {
        if (parent != other.parent) return parent < other.parent;
        return what != other.what ? what < other.what : b < other.b;
    }
    bool operator==(const TableNode&) const = default;
};
static_assert(sizeof(TableNode) == 16);

class PathTable {
  public:
    explicit PathTable(PageBudget& budget) : texts_(budget), modules_(budget), functions_(budget), nodes_(budget) {}

    std::size_t module_count() const { return modules_.size(); }
    ModuleRecord module(std::size_t i) const { return {text(modules_[i].build_id), text(modules_[i].path)}; }
    std::size_t function_count() const { return functions_.size(); }
    /// `id` is the function's index here, not its number in the process.
    FunctionRecord function(std::size_t i) const { return {i, text(functions_[i].name), functions_[i].category}; }
    /// The number of nodes, including the root, which is number 0.
    std::size_t size() const { return nodes_.size(); }
    const TableNode& operator[](std::size_t i) const { return nodes_[i]; }

    /// Covers what makes call paths equal: the path of a module counts only if it has no build-id.
    TableSignature signature() const noexcept;

    /// Writes the table for another rank: module and function records, then per node the number of parents passed by << 4 | kind, its target,
    /// and b (as a difference from the last node's, if only that differs).
    template <class Codec> void encode(Codec& encoder) const;
    /// Replaces this table. Returns false if the bytes are malformed or memory is short; the table is then unusable.
    bool decode(const unsigned char* bytes, std::size_t size) noexcept;

    /// Fill an empty table, in its order. Each returns false if memory is short.
    bool add_module(const ModuleRecord& module) noexcept;
    bool add_function(const FunctionRecord& function) noexcept;
    bool reserve_nodes(std::size_t count) noexcept { return nodes_.reserve(count); }
    bool add_node(const TableNode& node) noexcept {
        TableNode* slot = nodes_.append();
        if (slot == nullptr) return false;
        *slot = node;
        return true;
    }
    void clear() noexcept;
    /// Like clear(), and returns the memory.
    void release() noexcept;

  private:
    struct Piece {
        std::uint32_t begin;
        std::uint32_t size;
    };
    struct TableModule {
        Piece build_id;
        Piece path;
    };
    struct TableFunction {
        Piece name;
        std::uint64_t category;
    };
    Text text(Piece piece) const { return {texts_.data() + piece.begin, piece.size}; }
    bool add_text(Text text, Piece& piece) noexcept;

    PageArray<char> texts_;
    PageArray<TableModule> modules_;
    PageArray<TableFunction> functions_;
    PageArray<TableNode> nodes_;
};

/// Compare what identifies a module or function. Return a negative number, 0 or a positive number.
int compare(const ModuleRecord& a, const ModuleRecord& b) noexcept;
int compare(const FunctionRecord& a, const FunctionRecord& b) noexcept;

} // namespace libprofile
