// The blocks that define the numbers in other blocks: modules, functions, call paths, and the maps from locations to them.
// Contract: as for BlockBuffer. `rank`: the owner, or no_rank for the job. Every `at(i)` is called twice for each i in order, and must return the same
// both times.
#pragma once

#include "libprofile/output/block_writer.hpp"

namespace libprofile {

/// `at(i)`: ModuleRecord of module i.
template <class At> bool write_modules(BlockBuffer& buffer, std::uint32_t rank, std::uint64_t count, At at) noexcept {
    return write_block(buffer, {BlockType::Modules, rank}, [&](Encoder& encoder) {
        encoder.number(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            ModuleRecord record = at(i);
            describe(encoder, record);
        }
    });
}

/// `at(i)`: FunctionRecord of the i-th function.
template <class At> bool write_functions(BlockBuffer& buffer, std::uint32_t rank, std::uint64_t count, At at) noexcept {
    return write_block(buffer, {BlockType::Functions, rank}, [&](Encoder& encoder) {
        encoder.number(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            FunctionRecord record = at(i);
            describe(encoder, record);
        }
    });
}

/// `at(i)`: NodeRecord of node i, from 1 to `nodes`.
template <class At> bool write_tree(BlockBuffer& buffer, std::uint32_t rank, std::uint64_t thread, std::uint64_t nodes, At at) noexcept {
    return write_block(buffer, {BlockType::Tree, rank, thread}, [&](Encoder& encoder) {
        TreeRecord record{thread, nodes};
        describe(encoder, record);
        for (std::uint64_t i = 1; i <= nodes; ++i) {
            NodeRecord node = at(i);
            describe(encoder, node);
        }
    });
}

/// `at(i)`: the node of the job's tree for node i of the location, from 1 to `nodes`.
template <class At> bool write_node_map(BlockBuffer& buffer, std::uint32_t rank, std::uint64_t thread, std::uint64_t nodes, At at) noexcept {
    return write_block(buffer, {BlockType::NodeMap, rank, thread}, [&](Encoder& encoder) {
        NodeMapRecord record{thread, nodes};
        describe(encoder, record);
        std::uint64_t before = 0;
        for (std::uint64_t i = 1; i <= nodes; ++i) {
            const std::uint64_t node = at(i);
            encoder.signed_number(static_cast<std::int64_t>(node - before));
            before = node;
        }
    });
}

inline bool write_location(BlockBuffer& buffer, std::uint32_t rank, LocationRecord record) noexcept {
    return write_block(buffer, {BlockType::Location, rank, record.thread}, [&](Encoder& encoder) { describe(encoder, record); });
}

} // namespace libprofile
