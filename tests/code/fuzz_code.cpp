// Damages ELF files for some seconds and reads the loops of all their functions: each ends in an answer.
// Usage: fuzz_code SECONDS SEED FILE...
#include "tools/code/loop_nest.hpp"
#include "tools/code/no_return.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

namespace {

using namespace libprofile::tools;
using ByteVector = std::vector<unsigned char>;

/// Ranges that hold tables are small and would rarely be hit: half of all changes go there.
struct Seed {
    ByteVector bytes;
    std::vector<std::pair<std::size_t, std::size_t>> tables; // begin and size
};

Seed read_seed(const char* path) {
    Seed seed;
    std::ifstream in(path, std::ios::binary);
    seed.bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    Elf64_Ehdr header{};
    if (seed.bytes.size() < sizeof header) return seed;
    std::memcpy(&header, seed.bytes.data(), sizeof header);
    seed.tables.emplace_back(0, sizeof header + header.e_phnum * sizeof(Elf64_Phdr));
    seed.tables.emplace_back(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section{};
        std::memcpy(&section, seed.bytes.data() + header.e_shoff + i * sizeof section, sizeof section);
        // Code, its unwind tables and constants; not the debug information.
        if (section.sh_type != SHT_NOBITS && (section.sh_flags & SHF_ALLOC) != 0) seed.tables.emplace_back(section.sh_offset, section.sh_size);
    }
    std::erase_if(seed.tables, [&](const auto& table) { return table.second == 0 || table.first + table.second > seed.bytes.size(); });
    return seed;
}

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}
    ByteVector mutate(const Seed& seed) {
        ByteVector bytes = seed.bytes;
        for (std::uint64_t n = 1 + below(8); n-- > 0 && !bytes.empty();) change(bytes, seed);
        return bytes;
    }

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    void change(ByteVector& bytes, const Seed& seed) {
        std::size_t at = below(bytes.size());
        if (below(8) != 0) {
            const auto& [begin, size] = seed.tables[below(seed.tables.size())];
            at = std::min(begin + below(size), bytes.size() - 1);
        }
        constexpr unsigned char special[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xe9, 0xe8, 0x0f}; // the last three: jump, call, branch
        switch (below(16)) {
        case 0: bytes.resize(at); return;
        case 1:
        case 2:
            for (std::size_t i = at; i < std::min(at + 1 + below(8), bytes.size()); ++i) bytes[i] = 0xff;
            return;
        case 3:
        case 4: {
            const std::size_t from = below(bytes.size());
            std::memmove(bytes.data() + at, bytes.data() + from, std::min({std::size_t{1} + below(64), bytes.size() - at, bytes.size() - from}));
            return;
        }
        case 5:
        case 6:
        case 7: bytes[at] = special[below(std::size(special))]; return;
        default: bytes[at] ^= static_cast<unsigned char>(1u << below(8));
        }
    }
    std::mt19937_64 random_;
};

/// Returns the number of functions that were understood.
std::size_t read_all(std::span<const unsigned char> file) {
    const ElfCode code(file);
    NoReturn no_return(code);
    std::size_t understood = 0;
    for (const CodePart& part : code.parts()) {
        const LoopNest nest(FunctionBlocks(code, part.begin, no_return));
        understood += nest.blocks().is_understood() ? 1 : 0;
        for (std::uint32_t i = 0; i < nest.loops().size() && i < 8; ++i) {
            nest.contains(i, part.begin);
            nest.reaches_forward(i, nest.loops()[i].header, part.end - 1);
        }
    }
    return understood;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    std::vector<Seed> seeds;
    for (int i = 3; i < argc; ++i) seeds.push_back(read_seed(argv[i]));
    std::size_t whole = 0;
    for (const Seed& seed : seeds) whole += read_all(seed.bytes);
    if (whole < seeds.size()) return 1; // they are files with functions
    Mutator mutator(std::strtoull(argv[2], nullptr, 10));
    std::size_t runs = 0, understood = 0;
    double slowest = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
    for (auto now = std::chrono::steady_clock::now(); now < end; ++runs) {
        const ByteVector input = mutator.mutate(seeds[runs % seeds.size()]);
        // Exactly as long as it is, so that a sanitizer sees every byte beyond.
        const auto exact = std::make_unique<unsigned char[]>(input.size());
        std::copy(input.begin(), input.end(), exact.get());
        understood += read_all({exact.get(), input.size()});
        const auto after = std::chrono::steady_clock::now();
        slowest = std::max(slowest, std::chrono::duration<double>(after - now).count());
        now = after;
    }
    std::printf("%zu inputs, %zu functions understood, the slowest took %.3f s, seed %s\n", runs, understood, slowest, argv[2]);
    return 0;
}
