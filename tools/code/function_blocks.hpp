// The basic blocks of one function: all code that can be reached from its beginning, also by exceptions and through the tables of a switch.
// Contract: const access is thread-safe; allocates in proportion to the function; throws std::bad_alloc only. A function is understood or not as
// a whole; then problem() says why, and the blocks that were found are no answer.
#pragma once

#include "tools/code/jump_table.hpp"
#include "tools/code/landing_pads.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

struct CodeCall {
    std::uint64_t at = 0;     // the instruction
    std::uint64_t target = 0; // 0 if a register or memory holds it
    std::uint32_t block = 0;
};

struct CodeBlock {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t last = 0; // its last instruction
    std::uint32_t first_successor = 0, successors = 0;
};

class FunctionBlocks {
  public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Whether what is called, or jumped to, never returns.
    using NeverReturns = std::function<bool(const Instruction&)>;

    /// @param address any in the function
    FunctionBlocks(const ElfCode& code, std::uint64_t address, NeverReturns never_returns);

    bool is_understood() const { return problem_.empty(); }
    const std::string& problem() const { return problem_; }

    /// By address.
    const std::vector<CodeBlock>& blocks() const { return blocks_; }
    std::span<const std::uint32_t> successors(std::uint32_t block) const {
        return {successors_.data() + blocks_[block].first_successor, blocks_[block].successors};
    }
    /// Blocks at which the function begins: one, but in assembler.
    const std::vector<std::uint32_t>& entries() const { return entries_; }
    /// By address.
    const std::vector<CodeCall>& calls() const { return calls_; }
    /// The block that holds an address, or `none`.
    std::uint32_t block_of(std::uint64_t address) const;
    /// Its parts in memory, as they were found.
    const std::vector<CodePart>& parts() const { return ranges_; }

    bool may_return() const { return may_return_; }
    /// Functions of the file that it ends with.
    const std::set<std::uint64_t>& tail_calls() const { return tail_calls_; }
    /// Jumps through tables, by address.
    const std::map<std::uint64_t, JumpTargets>& tables() const { return tables_; }

  private:
    struct Part {
        CodePart range;
        std::vector<std::uint8_t> marks; // by byte: where instructions and blocks begin
        std::vector<LandingPad> pads;
        std::vector<bool> is_start; // by byte: instructions if all are read in order; filled when it is asked for
        bool is_entry = false;
    };
    static constexpr std::uint8_t instruction_mark = 1, block_mark = 2;
    static constexpr std::size_t most_parts = 64, most_table_entries = 1 << 20; // broken files claim more

    Part* part_of(std::uint64_t address);
    /// That address must lie in a part.
    std::uint8_t& mark(std::uint64_t address);
    bool may_be_own(std::uint64_t address);
    void add_part(const CodePart& range, bool is_entry);
    bool jumps_back(const CodePart& range);
    bool lead_to(std::uint64_t target, std::uint64_t from);
    void leave_by(std::uint64_t at, const Instruction& jump);
    std::uint64_t pad_of(std::uint64_t call);
    bool is_dead(std::uint64_t at, const Instruction& call) const;
    bool goes_to_elsewhere(std::uint64_t address);
    void restart();
    void discover();
    void walk(std::uint64_t address);
    void take_jump(std::uint64_t at, const CodeAt& jump);
    bool find_dead_calls();
    void make_blocks();
    void make_block(CodeBlock& block, std::vector<std::uint64_t>& targets);
    bool read_tables();
    void fail(const char* what, std::uint64_t address);

    const ElfCode& code_;
    NeverReturns never_returns_;
    std::vector<Part> parts_;
    std::vector<std::uint64_t> waiting_; // where blocks begin that have not been walked
    std::set<std::uint64_t> dead_calls_;
    std::set<std::uint64_t> register_jumps_; // without an answer yet
    std::set<std::uint64_t> data_;           // addresses that the code uses
    std::map<std::uint64_t, JumpTargets> tables_;
    std::size_t table_entries_ = 0;
    std::set<std::uint64_t> tail_calls_;
    bool may_return_ = false;
    std::string problem_;

    std::vector<CodeBlock> blocks_;
    std::vector<std::uint32_t> successors_;
    std::vector<std::uint32_t> entries_;
    std::vector<CodeCall> calls_;
    std::vector<CodePart> ranges_;
};

} // namespace libprofile::tools
