// A copy of the loader's list of loaded objects, by address, for C libraries without _dl_find_object.
// Contract: find() is async-signal-safe and takes no lock. Where another thread is changing the copy it walks through the loader's list itself.
// renew() is called with the loader's lock held, not in handlers.
// Cost of find(): a binary search, and two or three system calls for an object that can be unloaded or an address in none.
//
// What describes an object belongs to the loader, which frees it when another thread unloads the object. So it is copied by the kernel, which says
// what is no longer there, and each object of the list must name the one before it: a walk through a list that changes begins again.
#pragma once

#include "libprofile/base/loaded_object.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <link.h>

namespace libprofile {

class LoaderCopy {
  public:
    using Map = struct link_map;

    void begin(const Map* executable) noexcept;
    bool is_begun() const noexcept { return executable_.object.end != 0; }
    /// Returns true if `address` is in an object that is there now.
    bool find(std::uintptr_t address, LoadedObject& object) noexcept;
    /// Makes the copy anew.
    void renew() noexcept;
    /// The objects of the copy will never be unloaded.
    void all_stay() noexcept;

  private:
    struct Entry {
        LoadedObject object;
        // What the loader's object said, besides `bias`: memory that was given back and used again says something else.
        const char* name = nullptr;
        const void* dynamic = nullptr;
        bool stays = false;

        /// Fills in what the object's program headers say. Returns false if they cannot be read.
        bool describe(const Map* map, const Map& copy) noexcept;
        bool is_described_by(const Map& map) const noexcept { return map.l_addr == object.bias && map.l_name == name && map.l_ld == dynamic; }
        bool is_still_there() const noexcept;
        bool holds(std::uintptr_t address) const noexcept { return object.start <= address && address < object.end; }
    };

    struct Table {
        Entry* entries = nullptr;
        std::uint32_t capacity = 0;
        std::uint32_t count = 0;
        Entry last; // of the loader's list

        /// The number of those that begin at `address` or before.
        std::uint32_t up_to(std::uintptr_t address) const noexcept;
        bool reserve(std::uint32_t wanted) noexcept;
        bool insert(const Entry& entry) noexcept;
    };

    /// Where the loader's list is read on: behind `entry`, or at its begin.
    struct Place {
        const Map* next;
        const Map* previous;
    };

    bool search(std::uintptr_t address, Entry& entry, Entry& last) const noexcept;
    Place place_behind(const Entry& last) const noexcept;
    template <class Visit> static bool walk(Place place, Visit visit) noexcept;
    bool recall(const Map* map, const Map& copy, Entry& entry) const noexcept;
    bool try_take_in(Place place) noexcept;

    Table tables_[2];                         // one is read while the other is written
    std::atomic<std::uint32_t> published_{0}; // counts up; its lowest bit is the table to read
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    std::atomic<bool> has_missed_{false}; // somebody was told "in no object" since the last change
    Entry executable_;                    // others may lie in holes of it
};

} // namespace libprofile
