// The journal of the main thread: every closed iteration is written at once into the memory after its live file (live_file.hpp), so it survives
// whatever ends the process (format/journal.hpp).
//
// Contract: used by the main thread with its in-tool flag set; no system call, no allocation; not async-signal-safe. One store commits a record,
// so a killed process leaves complete records and at most one that does not count.
#pragma once

#include "format/journal.hpp"
#include "libprofile/phases/iteration_listener.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

struct Thread;
class Accumulator;

class Journal {
  public:
    /// Begins in `size` zeroed bytes at `memory`, right after `thread` was written to the file with `modules` modules. The memory stays in use
    /// until end().
    void begin(Thread& thread, unsigned char* memory, std::size_t size, std::uint32_t modules) noexcept;
    /// The memory was moved with its contents, and has grown.
    void move(unsigned char* memory, std::size_t size) noexcept {
        memory_ = memory;
        size_ = size;
    }
    /// The memory is gone.
    void end() noexcept { memory_ = nullptr; }
    /// The contents stay valid, but nothing can follow until begin().
    void stop() noexcept {
        is_full_ = true;
        fate_ = nullptr;
    }
    /// Continues at the start of the memory, whose contents were written out; zeroes it.
    void rewind() noexcept;

    /// Returns true if it takes records. False after end(), and after a record was refused: later ones would not fit to it.
    bool is_running() const { return memory_ != nullptr && !is_full_; }
    /// Bytes of complete records.
    std::size_t used() const { return used_; }

    /// Adds an iteration of `thread` in two steps (IterationListener). closed() returns true if it is in the journal.
    void closing(const Phase& phase, const IterationProfile& profile, const StructureSignatures& signatures, std::uint64_t wall_ns, std::uint64_t now) noexcept;
    bool closed(IterationFate fate) noexcept;
    /// The last iteration of `phase` was taken back. Returns true if the journal says so.
    bool put_back(const Phase& phase) noexcept;

    /// An upper bound of a record for an iteration with `cells` cells, without definitions.
    static std::size_t room_for(std::size_t cells) { return 256 + cells * JournalCells::largest; }

  private:
    unsigned char* payload() { return memory_ + used_ + sizeof(JournalRecordHeader); }
    bool has_room(std::size_t payload_bytes) noexcept;
    void commit(std::size_t payload_bytes) noexcept;
    void add_definitions() noexcept;
    void describe_definitions(Encoder& encoder, std::uint32_t modules) const noexcept;
    void add_other_phases(std::uint64_t now) noexcept;
    void add_phase(Phase& phase, std::uint64_t now) noexcept;

    static constexpr unsigned most_functions = 2048;
    static constexpr std::uint64_t other_phases_every_ns = 1000000000;

    Thread* thread_ = nullptr;
    unsigned char* memory_ = nullptr;
    std::size_t size_ = 0;
    std::size_t used_ = 0;
    std::uint64_t sequence_ = 0;
    bool is_full_ = false;
    unsigned char* fate_ = nullptr; // of the iteration that is closing; nullptr if it is not in the journal
    std::size_t pending_ = 0;       // bytes of its payload
    // Known to a reader from the file or an earlier record.
    std::uint32_t nodes_ = 0;
    std::uint32_t modules_ = 0;
    std::uint32_t phases_ = 0;
    std::uint64_t functions_[most_functions / 64] = {};
    std::uint64_t samples_taken_ = 0; // at the time when the file was written
    std::uint64_t samples_lost_ = 0;
    std::uint64_t other_phases_at_ = 0; // when the other phases were last written
};

} // namespace libprofile
