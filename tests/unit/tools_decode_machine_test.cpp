// Machines in a profile: what is written is read, and what cannot be is refused.
#include "format/machine.hpp"
#include "tools/analysis/machine_places.hpp"
#include "tools/reader/decode_machine.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace libprofile::tools {

namespace {

using enum MachineObject;

struct Part {
    MachineObject type;
    std::uint64_t children = 0, number = 0, size = 0, kind = 0;
};

std::vector<unsigned char> machine_block(const std::vector<Part>& parts, const std::vector<std::uint64_t>& distances = {}, std::uint64_t side = 0,
                                         std::uint64_t more = 0) {
    std::vector<unsigned char> bytes(4096);
    Encoder encoder(bytes.data(), bytes.size());
    MachineRecord head{Text("hwloc 2.9.0"), parts.size() + more, side};
    describe(encoder, head);
    for (const Part& part : parts) {
        MachineObjectRecord record{static_cast<std::uint64_t>(part.type), part.children, part.number, part.size, part.kind};
        describe(encoder, record);
    }
    for (const std::uint64_t value : distances) encoder.number(value);
    bytes.resize(encoder.size());
    return bytes;
}

std::optional<MachineTree> machine_in(const std::vector<unsigned char>& bytes) {
    std::optional<MachineTree> machine;
    if (!decode_machine(Decoder(bytes.data(), bytes.size()), machine)) return std::nullopt;
    return machine;
}

const std::vector<Part> two_nodes = {{Machine, 2},      {Package, 3, 1}, {NumaNode, 0, 1, 1024}, {Core, 1, 1, 0, 1}, {Processor, 0, 1}, {Core, 1, 2, 0, 2},
                                     {Processor, 0, 2}, {Package, 2, 2}, {NumaNode, 0, 2, 2048}, {Core, 1, 3, 0, 1}, {Processor, 0, 3}};

} // namespace

TEST(MachineBlock, PartsLieInEachOther) {
    const auto machine = machine_in(machine_block(two_nodes, {10, 20, 21, 10}, 2));
    ASSERT_TRUE(machine);
    EXPECT_EQ(machine->source, "hwloc 2.9.0");
    ASSERT_EQ(machine->nodes.size(), two_nodes.size());
    EXPECT_EQ(machine->nodes[0].end, 11u);
    EXPECT_EQ(machine->nodes[1].end, 7u);
    EXPECT_EQ(machine->nodes[7].end, 11u);
    EXPECT_EQ(machine->nodes[2].size, 1024u);
    EXPECT_EQ(machine->nodes[0].number, std::nullopt);
    EXPECT_EQ(machine->nodes[6].number, 1u);
    EXPECT_EQ(machine->nodes[5].kind, 2u);
    EXPECT_EQ(machine->distances, (std::vector<std::vector<std::uint64_t>>{{10, 20}, {21, 10}}));
    EXPECT_TRUE(are_alike(*machine, 3, 9)) << "one core of the first kind each";
    EXPECT_FALSE(are_alike(*machine, 3, 5)) << "another kind";
    EXPECT_FALSE(are_alike(*machine, 1, 7)) << "another number of cores";
}

TEST(MachineBlock, WhatCannotBeIsRefused) {
    EXPECT_TRUE(machine_in(machine_block({{Machine}})));
    EXPECT_FALSE(machine_in(machine_block({}))) << "no machine";
    EXPECT_FALSE(machine_in(machine_block({{Package}}))) << "a package without a machine";
    EXPECT_FALSE(machine_in(machine_block({{Machine, 1}, {Machine}}))) << "a machine in a machine";
    EXPECT_FALSE(machine_in(machine_block({{Machine}, {Core}}))) << "a core outside";
    EXPECT_FALSE(machine_in(machine_block({{Machine, 2}, {Core}}))) << "a core is missing";
    EXPECT_FALSE(machine_in(machine_block({{Machine, 1}, {static_cast<MachineObject>(99)}}))) << "no such type";
    EXPECT_FALSE(machine_in(machine_block({{Machine, 1}, {Core, 0, UINT64_MAX}}))) << "no such number";
    EXPECT_FALSE(machine_in(machine_block(two_nodes, {10, 20, 21, 10}, 3))) << "distances of three nodes";
    EXPECT_FALSE(machine_in(machine_block(two_nodes, {10, 20, 21}, 2))) << "a distance is missing";
    EXPECT_FALSE(machine_in(machine_block(two_nodes, {10, 20, 21, 10, 1}, 2))) << "something follows";
    EXPECT_FALSE(machine_in(machine_block({{Machine}}, {}, 0, UINT64_MAX - 1))) << "more objects than bytes";
    EXPECT_FALSE(machine_in(machine_block({{Machine}}, {}, UINT64_MAX)));
    std::vector<Part> deep = {{Machine, 1}};
    for (int i = 0; i < 100; ++i) deep.push_back({Group, 1});
    deep.push_back({Core});
    EXPECT_FALSE(machine_in(machine_block(deep))) << "too deep";
    const std::vector<unsigned char> whole = machine_block(two_nodes, {10, 20, 21, 10}, 2);
    for (std::size_t left = 0; left < whole.size(); ++left)
        EXPECT_FALSE(machine_in(std::vector<unsigned char>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left)))) << left;
    std::optional<MachineTree> present = MachineTree();
    EXPECT_FALSE(decode_machine(Decoder(whole.data(), whole.size()), present)) << "a rank has one block";
}

} // namespace libprofile::tools
