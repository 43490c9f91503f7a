#include "libprofile/callpath/recipe_table.hpp"

#include "libprofile/base/memory.hpp"
#include "libprofile/callpath/code_frame.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/module_name.hpp"
#include "libprofile/callpath/unwind_info.hpp"

#include <cstring>

namespace libprofile {

constinit RecipeTable recipe_table;

namespace {

bool is_loader(const char* name) { return starts_with(name, "ld-linux", "ld-2."); }
bool is_unwinder(const char* name) { return starts_with(name, "libgcc_s", "libunwind"); }
bool passes_messages(const char* name) {
    return starts_with(name, "libmpi", "libopen-", "libucm", "libucp", "libuct", "libucs", "libfabric", "libpsm", "libpmix");
}

} // namespace

std::uint8_t recipe_flags_of_module(std::uintptr_t address) noexcept {
    const std::uint32_t number = load_map.find(address);
    if (number == LoadMap::none) return 0;
    const Module& module = load_map[number];
    const char* name = file_name(module.path);
    unsigned flags = 0;
    if (module.is_libc || is_loader(name)) flags |= InLibc;
    if (module.is_libprofile) flags |= InLibprofile;
    if (module.binding_layer) flags |= InBindingLayer;
    if (is_unwinder(name)) flags |= InUnwinder;
    if (passes_messages(name)) flags |= Unmarkable;
    return static_cast<std::uint8_t>(flags);
}

Recipe RecipeTable::learn(std::uintptr_t address, std::uint32_t epoch) noexcept {
    learned_.fetch_add(1, std::memory_order_relaxed);
    Recipe recipe = read_unwind_info(address);
    recipe.flags = static_cast<std::uint8_t>(recipe.flags | recipe_flags_of_module(address));
    if (address == 0 || !is_settled(epoch)) return recipe; // 0 is the mark of a free slot
    // Libraries come without a new epoch: this may be the address of one that is being loaded, or the place of the next.
    if (recipe.kind == RecipeKind::Missing && load_map.find(address) == LoadMap::none) return recipe;
    const bool is_code = recipe.kind != RecipeKind::Missing && recipe.kind != RecipeKind::Signal;
    if (is_code && !follows_call(address + 1)) recipe.flags |= NoReturnAddress;
    const std::uint64_t word = recipe.pack(epoch);
    for (;;) {
        const std::uintptr_t table = table_.load(std::memory_order_acquire);
        const std::uint32_t slots = table == 0 ? 0 : 1u << bits_of(table);
        if (insert(table, address, word, slots / 4 * 3)) break;
        if (grow(table)) continue;
        insert(table, address, word, slots); // the table cannot grow: fill it completely
        break;
    }
    return recipe;
}

bool RecipeTable::insert(std::uintptr_t table, std::uintptr_t address, std::uint64_t word, std::uint32_t most_used) noexcept {
    if (table == 0) return false;
    Header& header = *header_of(table);
    Slot* slot = first_slot(table, address);
    for (unsigned i = 0; i < most_probes; ++i, ++slot) {
        std::uint64_t key = slot->address.load(std::memory_order_relaxed);
        if (key == 0) {
            if (header.used.load(std::memory_order_relaxed) >= most_used) return false;
            if (slot->address.compare_exchange_strong(key, address, std::memory_order_relaxed)) {
                header.used.fetch_add(1, std::memory_order_relaxed);
                key = address;
            }
        }
        if (key != address) continue;
        slot->word.store(word, std::memory_order_release);
        return true;
    }
    return false;
}

bool RecipeTable::grow(std::uintptr_t table) noexcept {
    unsigned bits = smallest_bits;
    if (table != 0) {
        // A few addresses may compete for a slot in a rather empty table; a larger table would be a waste.
        bits = bits_of(table) + 2;
        if (bits > largest_bits || header_of(table)->used.load(std::memory_order_relaxed) < (1u << bits_of(table)) / 4) return false;
    }
    void* pages = memory_quota.map(bytes_of(bits));
    if (pages == nullptr) return false;
    const std::uintptr_t larger = reinterpret_cast<std::uintptr_t>(pages) | bits;
    // Zeroed pages are an empty table. The thread that comes second returns its pages and uses the winner's.
    if (!table_.compare_exchange_strong(table, larger, std::memory_order_acq_rel)) memory_quota.unmap(pages, bytes_of(bits));
    return true;
}

} // namespace libprofile
