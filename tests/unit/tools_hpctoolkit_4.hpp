// A database of HPCToolkit's version 4, written by HPCToolkit's doc/FORMATS.md and nothing else: no database of this version that
// HPCToolkit wrote itself can be kept here.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::test {

/// Bytes with little-endian numbers; places that are filled in later.
class DatabaseBytes {
  public:
    DatabaseBytes(const char* format, std::size_t header) : bytes(header, '\0') {
        bytes.replace(0, 10, "HPCTOOLKIT").replace(10, 4, format);
        bytes[14] = 4;
    }
    template <class Number> void put(std::size_t at, Number value) {
        for (std::size_t i = 0; i < sizeof value; ++i) bytes[at + i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
    /// Room for so many bytes, aligned to 8.
    std::uint64_t room(std::size_t size) {
        bytes.resize((bytes.size() + 7) / 8 * 8);
        const std::uint64_t at = bytes.size();
        bytes.resize(at + size);
        return at;
    }
    std::uint64_t text(const std::string& text) {
        const std::uint64_t at = bytes.size();
        bytes += text + '\0';
        return at;
    }
    void section(std::size_t number, std::uint64_t at, std::uint64_t size) {
        put(16 + 16 * number, size);
        put(24 + 16 * number, at);
    }
    std::string bytes;
};

struct DatabaseContext {
    std::uint8_t lexical_type = 0;        // 0: function, 1: loop, 2: line, 3: instruction
    std::uint8_t relation = 1;            // 1: call, 2: inlined
    std::uint64_t function = 0, file = 0; // specifications
    std::uint32_t line = 0;
    std::uint32_t id = 0;
    std::vector<DatabaseContext> children = {};
};

/// main (a.c) calls solve, which has a loop with a line that has an inlined function and an instruction: contexts 1 to 7, metric values of
/// two ranks and a summary. `is_point`: own values, else those with all below.
struct Database4 {
    std::string meta, profile;
};

inline void write_children(DatabaseBytes& to, std::uint64_t owner, const std::vector<DatabaseContext>& children) {
    if (children.empty()) return;
    const auto words = [](const DatabaseContext& context) {
        return (context.function != 0 ? 1u : 0u) + (context.file != 0 ? 2u : 0u) + (context.lexical_type == 3 ? 2u : 0u);
    };
    std::size_t size = 0;
    for (const DatabaseContext& child : children) size += 32 + 8 * words(child);
    std::uint64_t at = to.room(size);
    to.put(owner, static_cast<std::uint64_t>(size));
    to.put(owner + 8, at);
    for (const DatabaseContext& child : children) {
        to.put(at + 16, child.id);
        to.put(at + 20, static_cast<std::uint8_t>((child.function != 0 ? 1 : 0) | (child.file != 0 ? 2 : 0) | (child.lexical_type == 3 ? 4 : 0)));
        to.put(at + 21, child.relation);
        to.put(at + 22, child.lexical_type);
        to.put(at + 23, static_cast<std::uint8_t>(words(child)));
        std::uint64_t field = at + 32;
        if (child.function != 0) to.put(std::exchange(field, field + 8), child.function);
        if (child.file != 0) {
            to.put(std::exchange(field, field + 8), child.file);
            to.put(field, child.line);
        }
        write_children(to, at, child.children);
        at += 32 + 8 * words(child);
    }
}

inline Database4 database_4(bool is_point) {
    DatabaseBytes meta("meta", 0x90);
    const std::uint64_t module_path = meta.text("/bin/app"), file_path = meta.text("/src/a.c");
    const std::uint64_t module = meta.room(16), file = meta.room(16);
    meta.put(module + 8, module_path);
    meta.put(file + 8, file_path);
    const auto function = [&](const char* name, std::uint32_t line) {
        const std::uint64_t text = name == nullptr ? 0 : meta.text(name), at = meta.room(40);
        meta.put(at, text);
        meta.put(at + 8, module);
        meta.put(at + 16, std::uint64_t{0x1234});
        meta.put(at + 24, file);
        meta.put(at + 32, line);
        return at;
    };
    const std::uint64_t main = function("main", 3), solve = function("solve", 10), nameless = function(nullptr, 0), small = function("small", 20);

    const std::uint64_t kind_names[] = {meta.text("SUMMARY"), meta.text("NODE"), meta.text("RANK"), meta.text("THREAD")};
    const std::uint64_t kinds = meta.room(32), names = meta.room(16);
    for (std::size_t k = 0; k < 4; ++k) meta.put(kinds + 8 * k, kind_names[k]);
    meta.put(names, kinds);
    meta.put(names + 8, std::uint8_t{4});
    meta.section(1, names, 16);

    const std::uint64_t metric_names[] = {meta.text("CPUTIME (sec)"), meta.text("CYCLES")};
    const std::uint64_t scope_name = meta.text(is_point ? "point" : "execution");
    const std::uint64_t scope = meta.room(16), instances = meta.room(32), metrics = meta.room(64), section = meta.room(32);
    meta.put(scope, scope_name);
    meta.put(scope + 8, static_cast<std::uint8_t>(is_point ? 1 : 2));
    for (std::size_t m = 0; m < 2; ++m) {
        meta.put(instances + 16 * m, scope);
        meta.put(instances + 16 * m + 8, static_cast<std::uint16_t>(7 + m));
        meta.put(metrics + 32 * m, metric_names[m]);
        meta.put(metrics + 32 * m + 8, instances + 16 * m);
        meta.put(metrics + 32 * m + 24, std::uint16_t{1});
    }
    meta.put(section, metrics);
    meta.put(section + 8, std::uint32_t{2});
    meta.put(section + 12, std::uint8_t{32});
    meta.put(section + 13, std::uint8_t{16});
    meta.put(section + 14, std::uint8_t{24});
    meta.put(section + 16, scope);
    meta.put(section + 24, std::uint16_t{1});
    meta.put(section + 26, std::uint8_t{16});
    meta.section(2, section, 32);

    // 1: entry, 2: main, 3: solve, 4: loop, 5: line, 6: small (inlined), 7: an instruction of the line, 8: a function without a name
    const DatabaseContext instruction = {3, 0, 0, 0, 0, 7}, inlined = {0, 2, small, 0, 0, 6}, line = {2, 0, 0, file, 13, 5, {inlined, instruction}},
                          loop = {1, 0, 0, file, 12, 4, {line}}, called = {0, 1, solve, 0, 0, 3, {loop}}, other = {0, 1, nameless, 0, 0, 8},
                          top = {0, 1, main, 0, 0, 2, {called, other}};
    const std::uint64_t pretty = meta.text("main thread"), entry = meta.room(32), tree = meta.room(16);
    meta.put(entry + 16, std::uint32_t{1});
    meta.put(entry + 20, std::uint16_t{1});
    meta.put(entry + 24, pretty);
    write_children(meta, entry, {top});
    meta.put(tree, entry);
    meta.put(tree + 8, std::uint16_t{1});
    meta.put(tree + 10, std::uint8_t{32});
    meta.section(3, tree, 16);
    meta.bytes += "_meta.db";

    // Own values of the contexts 2, 3, 5, 6, 7 and 8, in seconds; cycles are a thousand times as much. Rank 1 has twice as much.
    const double own[9] = {0, 0, 0.5, 0.25, 0, 1, 0.125, 2, 0.75};
    const int above[9] = {0, 0, 1, 2, 3, 4, 5, 5, 2};
    double values[9] = {};
    for (int c = 8; c > 0; --c)
        for (int at = c; at != 0; at = is_point ? 0 : above[at]) values[at] += own[c];
    DatabaseBytes profile("prof", 0x30);
    const std::uint64_t infos = profile.room(3 * 48), infos_section = profile.room(16);
    profile.put(infos_section, infos);
    profile.put(infos_section + 8, std::uint32_t{3});
    profile.put(infos_section + 12, std::uint8_t{48});
    profile.section(0, infos_section, 16);
    profile.put(infos + 40, std::uint32_t{1}); // the summary
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        const std::uint64_t tuple = profile.room(8 + 3 * 16), info = infos + 48 * (rank + 1);
        profile.put(tuple, std::uint16_t{3});
        for (std::uint32_t i = 0; i < 3; ++i) {
            const std::uint64_t id = tuple + 8 + 16 * i;
            profile.put(id, static_cast<std::uint8_t>(i + 1));
            profile.put(id + 4, i == 1 ? rank : 0u);
            profile.put(id + 8, i == 0 ? std::uint64_t{0xabc} : std::uint64_t{i == 1 ? rank : 0u});
        }
        profile.put(info + 32, tuple);
        std::vector<std::pair<std::uint32_t, double>> kept;
        for (std::uint32_t c = 1; c < 9; ++c)
            if (values[c] != 0) kept.emplace_back(c, values[c] * (rank + 1));
        const std::uint64_t pairs = profile.room(kept.size() * 20), indices = profile.room(kept.size() * 12);
        for (std::size_t i = 0; i < kept.size(); ++i) {
            for (std::size_t m = 0; m < 2; ++m) {
                profile.put(pairs + 20 * i + 10 * m, static_cast<std::uint16_t>(7 + m));
                profile.put(pairs + 20 * i + 10 * m + 2, std::bit_cast<std::uint64_t>(kept[i].second * (m == 0 ? 1 : 1000)));
            }
            profile.put(indices + 12 * i, kept[i].first);
            profile.put(indices + 12 * i + 4, static_cast<std::uint64_t>(2 * i));
        }
        profile.put(info, static_cast<std::uint64_t>(2 * kept.size()));
        profile.put(info + 8, pairs);
        profile.put(info + 16, static_cast<std::uint32_t>(kept.size()));
        profile.put(info + 24, indices);
    }
    profile.section(1, infos, 0);
    profile.bytes += "_prof.db";
    return {meta.bytes, profile.bytes};
}

} // namespace libprofile::test
