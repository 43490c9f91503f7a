// Lengths of instructions, and what they do to the flow of control.
#include "libprofile/code/instruction.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace libprofile;
using Kind = Instruction::Kind;

namespace {

Instruction decoded(const std::vector<unsigned char>& bytes) {
    std::vector<unsigned char> padded = bytes;
    padded.resize(bytes.size() + 16, 0x90);
    return decode(reinterpret_cast<std::uintptr_t>(padded.data()), padded.size());
}

} // namespace

TEST(InstructionTest, LengthsAndKindsAreRight) {
    struct Case {
        std::vector<unsigned char> bytes;
        Kind kind;
    };
    const std::vector<Case> cases{
        {{0x55}, Kind::Plain},                                      // push %rbp
        {{0xf3, 0x0f, 0x1e, 0xfa}, Kind::Nop},                      // endbr64
        {{0x48, 0x83, 0xec, 0x18}, Kind::Plain},                    // sub $24, %rsp
        {{0x48, 0x81, 0xec, 1, 2, 3, 4}, Kind::Plain},              // sub $..., %rsp
        {{0x8b, 0x05, 1, 2, 3, 4}, Kind::Plain},                    // mov ...(%rip), %eax
        {{0x66, 0xc7, 0x05, 1, 2, 3, 4, 5, 6}, Kind::Plain},        // movw $..., ...(%rip)
        {{0x49, 0xbb, 1, 2, 3, 4, 5, 6, 7, 8}, Kind::Plain},        // movabs
        {{0xc5, 0xf8, 0x77}, Kind::Plain},                          // vzeroupper
        {{0xc4, 0xe3, 0x79, 0x0f, 0xc1, 8}, Kind::Plain},           // vpalignr
        {{0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x47, 1}, Kind::Plain},     // vmovdqa64
        {{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8}, Kind::Plain},           // palignr
        {{0xf6, 0x05, 1, 2, 3, 4, 5}, Kind::Plain},                 // testb $5, ...(%rip)
        {{0xf6, 0xd8}, Kind::Plain},                                // neg %al
        {{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, Kind::Nop}, // nopw
        {{0xeb, 0x10}, Kind::Jump},
        {{0xe9, 1, 2, 3, 4}, Kind::Jump},
        {{0x74, 0x10}, Kind::Branch},
        {{0x0f, 0x84, 1, 2, 3, 4}, Kind::Branch},
        {{0xe3, 0x10}, Kind::ShortBranch},
        {{0xe8, 1, 2, 3, 4}, Kind::Call},
        {{0x67, 0xe8, 1, 2, 3, 4}, Kind::Call},
        {{0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4}, Kind::Call}, // of __tls_get_addr: what a thread-local variable takes
        {{0xff, 0x15, 1, 2, 3, 4}, Kind::IndirectCall},
        {{0xff, 0xd0}, Kind::IndirectCall},
        {{0x3e, 0xff, 0xe0}, Kind::IndirectJump},
        {{0xff, 0x24, 0xc5, 1, 2, 3, 4}, Kind::IndirectJump},
        {{0xc3}, Kind::End},
        {{0xf3, 0xc3}, Kind::End},
        {{0x0f, 0x0b}, Kind::End},
    };
    for (const Case& one : cases) {
        const Instruction instruction = decoded(one.bytes);
        EXPECT_EQ(instruction.kind, one.kind) << std::hex << static_cast<unsigned>(one.bytes[0]);
        EXPECT_EQ(instruction.length, one.bytes.size()) << std::hex << static_cast<unsigned>(one.bytes[0]);
    }
    EXPECT_EQ(decoded({0xff, 0x24, 0xc5, 1, 2, 0, 0}).table, 0x201u);
}

TEST(InstructionTest, WhatIsNotKnownOrCutIsUnknown) {
    for (const std::vector<unsigned char>& bytes :
         std::vector<std::vector<unsigned char>>{{0x06}, {0x0f, 0x04}, {0xc7, 0xf8, 1, 2, 3, 4}, {0xe4, 1}, {0xcf}, {0xff, 0xff}, {0x66, 0xe8, 1, 2, 3, 4}})
        EXPECT_EQ(decoded(bytes).kind, Kind::Unknown) << std::hex << static_cast<unsigned>(bytes[0]);
    const unsigned char cut[] = {0x48, 0x81, 0xec, 1, 2};
    for (std::size_t size = 0; size <= sizeof cut; ++size) EXPECT_EQ(decode(reinterpret_cast<std::uintptr_t>(cut), size).kind, Kind::Unknown);
}

/// All instructions of libraries that are there anyway, as binutils reads them.
TEST(InstructionTest, LengthsAreThoseOfBinutils) {
    FILE* pipe = popen(
        "objdump -d --insn-width=15 $(ls /lib/x86_64-linux-gnu/libz.so.1 /usr/lib/x86_64-linux-gnu/libfftw3.so.3 2>/dev/null) 2>/dev/null | head -300000", "r");
    ASSERT_NE(pipe, nullptr);
    char line[512];
    std::size_t instructions = 0, unknown = 0, wrong = 0;
    while (std::fgets(line, sizeof line, pipe) != nullptr) {
        const char* colon = std::strstr(line, ":\t");
        char* tab = colon == nullptr ? nullptr : std::strchr(line + (colon - line) + 2, '\t');
        if (tab == nullptr || std::strstr(tab, "(bad)") != nullptr) continue;
        *tab = 0; // the mnemonic may begin like a number
        std::vector<unsigned char> bytes;
        unsigned value = 0;
        int used = 0;
        for (const char* p = colon + 2; std::sscanf(p, " %2x%n", &value, &used) == 1; p += used) bytes.push_back(static_cast<unsigned char>(value));
        if (bytes.empty() || bytes[0] == 0x9b) continue; // fwait, which binutils takes for a part of the next one
        ++instructions;
        const Instruction instruction = decoded(bytes);
        if (instruction.kind == Kind::Unknown)
            ++unknown;
        else if (instruction.length != bytes.size())
            ++wrong;
    }
    pclose(pipe);
    if (instructions == 0) GTEST_SKIP() << "no objdump";
    EXPECT_EQ(wrong, 0u);
    EXPECT_LE(unknown * 1000, instructions);
}
