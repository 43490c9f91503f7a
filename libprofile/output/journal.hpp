// The journal of the main thread: every iteration that it closes, written into the memory behind its live file (live_file.hpp)
// at once, so that it is there whatever ends the process (format/journal.hpp).
//
// Contract: used by the main thread with its in-tool flag set; no system call, no allocation; not async-signal-safe. A record is
// committed by one store, so a process that is killed leaves whole records and at most one that does not count.
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
    /// Begins in `size` zeroed bytes at `memory`, right after `thread` was written to the file with `modules` modules. They stay
    /// in use until end().
    void begin(Thread& thread, unsigned char* memory, std::size_t size, std::uint32_t modules) noexcept;
    /// The memory is elsewhere, with what was in it, and larger.
    void move(unsigned char* memory, std::size_t size) noexcept {
        memory_ = memory;
        size_ = size;
    }
    /// There is no memory any more.
    void end() noexcept { memory_ = nullptr; }
    /// What is in it stays right, but nothing can follow until begin().
    void stop() noexcept {
        is_full_ = true;
        fate_ = nullptr;
    }
    /// Goes on at the start of the memory, which has been written out and is zeroed here.
    void rewind() noexcept;

    /// Takes records. False after end(), and once one was not taken: those after it would not fit to it.
    bool is_running() const { return memory_ != nullptr && !is_full_; }
    /// Bytes of whole records.
    std::size_t used() const { return used_; }

    /// An iteration of `thread`, in two steps (IterationListener); closed() returns whether it is in the journal.
    void closing(const Phase& phase, const IterationProfile& profile, const StructureSignatures& signatures, std::uint64_t wall_ns, std::uint64_t now) noexcept;
    bool closed(IterationFate fate) noexcept;
    /// The last iteration of `phase` was taken back. Returns whether that is in the journal.
    bool put_back(const Phase& phase) noexcept;

    /// Room that no record of an iteration with so many cells exceeds, definitions aside.
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
    unsigned char* fate_ = nullptr; // of the iteration that is closing; nullptr: it is not in the journal
    std::size_t pending_ = 0;       // bytes of its payload
    // Known to a reader: what the file or an earlier record has.
    std::uint32_t nodes_ = 0;
    std::uint32_t modules_ = 0;
    std::uint32_t phases_ = 0;
    std::uint64_t functions_[most_functions / 64] = {};
    std::uint64_t samples_taken_ = 0; // when the file was written
    std::uint64_t samples_lost_ = 0;
    std::uint64_t other_phases_at_ = 0; // when they were last written
};

} // namespace libprofile
