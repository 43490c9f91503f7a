// Programs and libraries of Debian: how many functions are understood, and instructions against Zydis, a decoder of somebody else's.
#include "tests/code/debian_programs.hpp"
#include "tools/code/kept_loops.hpp"
#include "tools/code/loop_nest.hpp"
#include "tools/code/no_return.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#ifdef HAS_ZYDIS
#include <Zydis/Zydis.h>
#endif

using namespace libprofile;
using namespace libprofile::tools;

namespace {

class DebianProgram : public testing::TestWithParam<std::string> {
  protected:
    ElfCode code_{GetParam()};
};

std::string short_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param.substr(info.param.rfind('/') + 1);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

} // namespace

TEST(DebianPrograms, EssentialOnesAreThere) {
    const std::vector<std::string> programs = test::debian_programs();
    std::printf("%zu programs and libraries\n", programs.size());
    EXPECT_GE(programs.size(), test::essential_programs);
}

TEST_P(DebianProgram, IsUnderstood) {
    NoReturn no_return(code_);
    std::size_t functions = 0, understood = 0, loops = 0, tables = 0;
    std::map<std::string, std::size_t> problems;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reached;
    for (const CodePart& part : code_.parts()) {
        if (part.is_inner) continue;
        ++functions;
        FunctionBlocks blocks(code_, part.begin, no_return);
        if (blocks.is_understood()) {
            ++understood;
            for (const CodeBlock& block : blocks.blocks()) reached.emplace_back(block.begin, block.end);
        } else {
            ++problems[blocks.problem().substr(0, blocks.problem().rfind(" at "))];
            for (const CodePart& own : blocks.parts()) reached.emplace_back(own.begin, own.end);
        }
        for (const auto& [at, answer] : blocks.tables()) tables += answer.kind == JumpTargets::Kind::Table ? 1 : 0;
        loops += LoopNest(std::move(blocks)).loops().size();
    }
    // Compilers write little code that is never reached, behind functions that they do not know never to return: what is missed otherwise would be
    // an entry of a table, or a landing pad.
    std::sort(reached.begin(), reached.end());
    std::size_t instructions = 0, missed = 0, next = 0;
    std::uint64_t seen = 0;
    for (const CodePart& part : code_.parts())
        for (std::uint64_t at = part.begin; at < part.end;) {
            const CodeAt code = code_.at(at, part.end);
            if (code.instruction.kind == Instruction::Kind::Unknown) break;
            while (next < reached.size() && reached[next].first <= at) seen = std::max(seen, reached[next++].second);
            const bool is_padding = code.instruction.kind == Instruction::Kind::Nop;
            instructions += is_padding ? 0 : 1;
            missed += !is_padding && at >= seen ? 1 : 0;
            at += code.instruction.length;
        }
    std::printf("%s: %zu functions, %zu understood (%.2f %%), %zu loops, %zu tables; %zu of %zu instructions never reached\n", GetParam().c_str(), functions,
                understood, 100.0 * static_cast<double>(understood) / static_cast<double>(functions), loops, tables, missed, instructions);
    for (const auto& [problem, count] : problems) std::printf("  %zu: %s\n", count, problem.c_str());
    ASSERT_GT(functions, 5u);
    EXPECT_GE(understood * 100, functions * 98);
    EXPECT_LE(missed * 1000, instructions);
}

/// In every so manyth function all blocks are sites, so that every question is asked.
TEST_P(DebianProgram, LoopsAreKeptAsTheyAre) {
    constexpr std::size_t most_blocks = 64;
    NoReturn no_return(code_);
    const std::size_t step = std::max<std::size_t>(1, code_.parts().size() / 400);
    std::size_t loops = 0, questions = 0;
    for (std::size_t i = 0; i < code_.parts().size(); i += step) {
        const LoopNest nest(FunctionBlocks(code_, code_.parts()[i].begin, no_return));
        const std::vector<CodeBlock>& blocks = nest.blocks().blocks();
        if (!nest.blocks().is_understood() || blocks.empty() || blocks.size() > most_blocks) continue;
        std::vector<FunctionLoops::Place> places;
        for (const CodeBlock& block : blocks) places.push_back({block.last, 0, true});
        const KeptLoops kept = kept_loops(nest, places);
        ASSERT_EQ(kept.function.loops.size(), nest.loops().size()); // all have a block, so their numbers are the same
        for (const CodeBlock& from : blocks) {
            const std::uint32_t innermost = nest.innermost(from.last);
            EXPECT_EQ(kept.function.loop_of[kept.function.block_of(from.last)], innermost);
            for (const CodeBlock& to : blocks)
                for (std::uint32_t loop = innermost;; loop = nest.loops()[loop].parent) {
                    ASSERT_EQ(kept.function.reaches_forward(loop, from.last, to.last), nest.reaches_forward(loop, from.last, to.last))
                        << std::hex << from.last << " to " << to.last;
                    ++questions;
                    if (loop == LoopNest::none) break;
                }
        }
        loops += nest.loops().size();
    }
    std::printf("%s: %zu questions about %zu loops\n", GetParam().c_str(), questions, loops);
    EXPECT_GT(questions, 0u);
}

#ifdef HAS_ZYDIS

namespace {

using Kind = Instruction::Kind;

Kind kind_of(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
    const bool is_direct = instruction.operand_count != 0 && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL: return is_direct ? Kind::Call : Kind::IndirectCall;
    case ZYDIS_CATEGORY_UNCOND_BR: return is_direct ? Kind::Jump : Kind::IndirectJump;
    case ZYDIS_CATEGORY_COND_BR:
        if (instruction.mnemonic == ZYDIS_MNEMONIC_XEND) return Kind::Plain; // it goes nowhere
        return instruction.opcode >= 0xe0 && instruction.opcode <= 0xe3 ? Kind::ShortBranch : Kind::Branch;
    case ZYDIS_CATEGORY_RET: return Kind::End;
    default: break;
    }
    if (instruction.mnemonic == ZYDIS_MNEMONIC_UD2 || instruction.mnemonic == ZYDIS_MNEMONIC_HLT) return Kind::End;
    return Kind::Plain;
}

bool is_equal(const Instruction& ours, const ZydisDecodedInstruction& theirs, const ZydisDecodedOperand* operands, std::uint64_t at) {
    const Kind kind = kind_of(theirs, operands);
    if (ours.length != theirs.length || (ours.kind == Kind::Nop ? Kind::Plain : ours.kind) != kind) return false;
    ZyanU64 address = 0;
    for (std::size_t i = 0; i < theirs.operand_count; ++i) {
        const bool is_relative = operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[i].mem.base == ZYDIS_REGISTER_RIP;
        const bool is_target = operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[i].imm.is_relative != 0;
        if ((!is_relative && !is_target) || ZYAN_FAILED(ZydisCalcAbsoluteAddress(&theirs, &operands[i], at, &address))) continue;
        if (address != (is_target ? ours.target : ours.operand)) return false;
    }
    return true;
}

} // namespace

TEST_P(DebianProgram, IsDecodedAsByZydis) {
    ZydisDecoder decoder;
    ASSERT_TRUE(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
    std::size_t instructions = 0, unknown = 0, different = 0;
    for (const CodePart& part : code_.parts())
        for (std::uint64_t at = part.begin; at < part.end;) {
            const CodeAt ours = code_.at(at, part.end);
            ZydisDecodedInstruction theirs;
            ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
            const bool is_known = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, ours.bytes, part.end - at, &theirs, operands));
            ++instructions;
            if (ours.instruction.kind == Kind::Unknown) {
                unknown += is_known ? 1 : 0;
                if (!is_known) break; // data in code
                at += theirs.length;
                continue;
            }
            if (!is_known || !is_equal(ours.instruction, theirs, operands, at)) {
                if (++different <= 5)
                    ADD_FAILURE() << std::hex << "0x" << at << ": length " << std::dec << int{ours.instruction.length} << ", theirs "
                                  << (is_known ? int{theirs.length} : 0) << " " << (is_known ? ZydisMnemonicGetString(theirs.mnemonic) : "bad") << " kind "
                                  << int(ours.instruction.kind);
            }
            at += ours.instruction.length;
        }
    std::printf("%s: %zu instructions, %zu different, %zu unknown here\n", GetParam().c_str(), instructions, different, unknown);
    EXPECT_EQ(different, 0u);
    EXPECT_LE(unknown * 1000, instructions);
}

#endif

INSTANTIATE_TEST_SUITE_P(Installed, DebianProgram, testing::ValuesIn(libprofile::test::debian_programs()), short_name);
