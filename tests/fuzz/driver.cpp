// Runs a libFuzzer target without libFuzzer: mutates valid profiles for some seconds. Usage: driver SECONDS [SEED]
//
// Random bytes would stop at the checksums, so most mutants get theirs repaired: then the decoders see the damage.
#include "tests/unit/tools_journal_builder.hpp"
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/profile/decode.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace libprofile;
using libprofile::test::ByteVector;

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    ByteVector mutate(ByteVector bytes) {
        for (std::uint64_t n = 1 + below(4); n-- > 0;)
            change(bytes);
        if (below(8) != 0)
            repair(bytes);
        return bytes;
    }

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    void change(ByteVector& bytes) {
        if (bytes.empty())
            return;
        const std::size_t at = below(bytes.size());
        constexpr unsigned char special[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
        switch (below(6)) {
        case 0:
            bytes[at] ^= static_cast<unsigned char>(1u << below(8));
            break;
        case 1:
            bytes[at] = static_cast<unsigned char>(below(256));
            break;
        case 2:
            bytes[at] = special[below(std::size(special))];
            break;
        case 3: // a long number
            for (std::size_t i = at; i < std::min(at + 1 + below(10), bytes.size()); ++i)
                bytes[i] = 0xff;
            break;
        case 4:
            bytes.resize(at);
            break;
        default: { // a piece from elsewhere
            const std::size_t from = below(bytes.size());
            const std::size_t size =
                std::min({std::size_t{1} + below(64), bytes.size() - at, bytes.size() - from});
            std::memmove(bytes.data() + at, bytes.data() + from, size);
        }
        }
    }

    static void repair_journal(unsigned char* journal, std::size_t size) {
        JournalRecordHeader header{};
        std::uint64_t sequence = 0;
        for (std::size_t at = 0; size - at >= sizeof header;) {
            std::memcpy(&header, journal + at, sizeof header);
            if (header.mark != journal_mark || padded_to_8(header.size) > size - at - sizeof header)
                return;
            header.check = journal_check(journal + at + sizeof header, header.size, sequence++);
            std::memcpy(journal + at, &header, sizeof header);
            at += sizeof header + padded_to_8(header.size);
        }
    }

    static void repair(ByteVector& bytes) {
        std::size_t at = sizeof(FileHeader);
        while (at + sizeof(BlockHeader) <= bytes.size()) {
            BlockHeader header{};
            std::memcpy(&header, bytes.data() + at, sizeof header);
            const std::size_t room = bytes.size() - at - sizeof header;
            header.magic = block_magic;
            header.stored_size = std::min<std::uint64_t>(header.stored_size, room);
            header.raw_size = header.stored_size;
            header.crc = crc32(bytes.data() + at + sizeof header, header.stored_size);
            if (header.type == static_cast<std::uint32_t>(BlockType::Journal))
                repair_journal(bytes.data() + at + sizeof header, header.stored_size);
            std::memcpy(bytes.data() + at, &header, sizeof header);
            at += sizeof header + (header.stored_size + 7) / 8 * 8;
        }
    }

    std::mt19937_64 random_;
};

/// Names with inlined functions, for both modules of the sample job.
ByteVector with_names() {
    test::ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    test::add_sample_rank(b, 0);
    test::add_sample_trace(b, 0);
    b.block(BlockType::Names, no_rank, [](Encoder& e) {
        e.number(2);
        tools::NameRecord solve{"", "/usr/lib/libsolve.so", 0x2000, "solve", "solve.cpp", 20, 2};
        describe(e, solve);
        tools::InlinedRecord sweep{"sweep", "sweep.hpp", 30}, kernel{"kernel", "kernel.hpp", 40};
        describe(e, sweep);
        describe(e, kernel);
        tools::NameRecord main{"BUILD-APP", "/home/user/app", 0x1000, "main", "main.cpp", 10, 0};
        describe(e, main);
    });
    return b.bytes();
}

} // namespace

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const ByteVector seeds[] = {test::sample_file(1), test::sample_file(3), test::sample_file(2, true),
                                with_names(), test::live_file(test::sample_journal(), 1024)};
    Mutator mutator(seed);
    std::size_t runs = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (; std::chrono::steady_clock::now() < end; ++runs) {
        // Exactly as long as it is, so that a sanitizer sees every byte beyond.
        const ByteVector input = mutator.mutate(seeds[runs % std::size(seeds)]);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%zu inputs, seed %llu\n", runs, static_cast<unsigned long long>(seed));
    return 0;
}
