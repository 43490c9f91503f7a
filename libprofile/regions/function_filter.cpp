#include "libprofile/regions/function_filter.hpp"

#include "libprofile/base/file_pieces.hpp"
#include "libprofile/callpath/function_symbols.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/regions/plain_name.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>

namespace libprofile {

constinit FunctionFilter function_filter;

namespace {

constexpr std::uint64_t largest_file = 4 << 20;

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

/// Cuts a word and the blanks after it off the line.
char* take_word(char*& line) {
    char* word = line;
    while (*line != 0 && *line != ' ' && *line != '\t') ++line;
    if (*line != 0) *line++ = 0;
    while (*line == ' ' || *line == '\t') ++line;
    return word;
}

} // namespace

/// Returns false if the line is not understood.
bool FunctionFilter::parse_line(char* line, std::uint32_t number) noexcept {
    while (*line == ' ' || *line == '\t') ++line;
    if (*line == 0 || *line == '#') return true;
    for (std::size_t end = std::strlen(line); end != 0 && (line[end - 1] == ' ' || line[end - 1] == '\t' || line[end - 1] == '\r'); --end) line[end - 1] = 0;
    const char* verb = take_word(line);
    const char* what = take_word(line);
    const bool excludes_it = std::strcmp(verb, "exclude") == 0;
    if ((!excludes_it && std::strcmp(verb, "include") != 0) || *line == 0) return false;
    if (excludes_it && (std::strcmp(what, "file") == 0 || std::strcmp(what, "compiled") == 0)) return has_lines_for_compilers_ = true;
    Rule rule{};
    rule.line = number;
    if (std::strcmp(what, "function") == 0) {
        rule.kind = excludes_it ? Rule::ExcludeName : Rule::IncludeName;
        rule.pattern = arena_.copy_text(line);
        has_names_ = true;
    } else if (std::strcmp(what, "at") == 0 && excludes_it) {
        rule.kind = Rule::ExcludeAddress;
        const char* id = take_word(line);
        for (; rule.id_size < sizeof rule.id && hex_digit(id[0]) >= 0 && hex_digit(id[1]) >= 0; id += 2)
            rule.id[rule.id_size++] = static_cast<unsigned char>(hex_digit(id[0]) * 16 + hex_digit(id[1]));
        char* end = nullptr;
        rule.offset = std::strtoull(line, &end, 16);
        if (*id != 0 || rule.id_size == 0 || end == line) return false;
    } else {
        return false;
    }
    if (Rule* slot = rules_.append(arena_)) *slot = rule;
    return true;
}

const char* FunctionFilter::load(const char* path) noexcept {
    const int saved = errno;
    Pieces file(path);
    const std::uint64_t size = file.size();
    char* text = size == 0 ? nullptr : file.piece(0, size, largest_file);
    if (text == nullptr) {
        std::snprintf(complaint_, sizeof complaint_, "cannot be read (%s)",
                      size > largest_file ? "too large"
                      : size == 0         ? "empty or missing"
                                          : "memory ran out");
        errno = saved;
        return complaint_;
    }
    unsigned number = 1, first_bad = 0, bad = 0;
    for (char* line = text; *line != 0; ++number) {
        char* end = line + std::strcspn(line, "\n");
        const bool is_last = *end == 0;
        *end = 0;
        if (!parse_line(line, number) && bad++ == 0) first_bad = number;
        if (is_last) break;
        line = end + 1;
    }
    errno = saved;
    follow_modules();
    if (bad == 0) return nullptr;
    char others[48] = "";
    if (bad > 1) std::snprintf(others, sizeof others, " and %u other%s", bad - 1, bad == 2 ? "" : "s");
    std::snprintf(complaint_, sizeof complaint_, "line %u%s %s not understood and left out; the other lines are used", first_bad, others,
                  bad == 1 ? "is" : "are");
    return complaint_;
}

void FunctionFilter::follow_modules() noexcept {
    if (rules_.size() == 0 || modules_.load(std::memory_order_acquire) == load_map.size()) return;
    if (busy_.test_and_set(std::memory_order_acquire)) return; // another thread does it
    const int saved = errno;
    for (std::uint32_t module = modules_.load(std::memory_order_relaxed); module < load_map.size(); ++module) {
        apply(module);
        modules_.store(module + 1, std::memory_order_release);
    }
    errno = saved;
    busy_.clear(std::memory_order_release);
}

void FunctionFilter::apply(std::uint32_t number) noexcept {
    const Module& module = load_map[number];
    if (module.is_libc || module.is_libprofile) return;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        Rule& rule = rules_[i];
        if (rule.kind != Rule::ExcludeAddress || rule.id_size != module.build_id_size || std::memcmp(rule.id, module.build_id, rule.id_size) != 0) continue;
        rule.fits = true;
        add(module.bias + rule.offset);
    }
    if (has_names_) apply_names(number);
}

/// The last matching rule decides. Earlier rules are tried only until they have matched something.
bool FunctionFilter::is_excluded(const char* linkage_name) noexcept {
    char plain[512];
    const bool has_plain = plain_name(linkage_name, plain, sizeof plain);
    bool is_decided = false, excludes_it = false;
    for (std::size_t i = rules_.size(); i-- > 0;) {
        Rule& rule = rules_[i];
        if (rule.kind == Rule::ExcludeAddress || (is_decided && rule.fits)) continue;
        if (!matches(rule.pattern, linkage_name) && !(has_plain && matches(rule.pattern, plain))) continue;
        rule.fits = true;
        if (!is_decided) excludes_it = rule.kind == Rule::ExcludeName;
        is_decided = true;
    }
    return excludes_it;
}

const char* FunctionFilter::useless_lines() noexcept {
    if (rules_.size() == 0) {
        if (!has_lines_for_compilers_) return nullptr;
        return "no line of it applies at run time (exclude file and exclude compiled are for libprofile-cc)";
    }
    const int saved = errno;
    load_map.refresh();
    errno = saved;
    follow_modules();
    for (unsigned tries = 0; busy_.test_and_set(std::memory_order_acquire); sched_yield())
        if (++tries == 10000) return nullptr; // the thread that does it has gone or takes long: saying nothing is better than waiting
    std::uint32_t names = 0, addresses = 0;
    const Rule *name = nullptr, *address = nullptr;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        const Rule& rule = rules_[i];
        if (rule.fits) continue;
        const bool is_address = rule.kind == Rule::ExcludeAddress;
        const Rule*& first = is_address ? address : name;
        if (first == nullptr) first = &rule;
        ++(is_address ? addresses : names);
    }
    busy_.clear(std::memory_order_release);
    std::size_t used = 0;
    complaint_[0] = 0;
    const auto add_part = [&](const char* format, auto... values) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
        if (used != 0 && used + 2 < sizeof complaint_) used += static_cast<std::size_t>(std::snprintf(complaint_ + used, sizeof complaint_ - used, "; "));
        if (used < sizeof complaint_) used += static_cast<std::size_t>(std::snprintf(complaint_ + used, sizeof complaint_ - used, format, values...));
#pragma GCC diagnostic pop
    };
    if (names == 1)
        add_part("line %u (%.80s) matches no function of the program and its libraries", name->line, name->pattern);
    else if (names != 0)
        add_part("%u lines match no function of the program and its libraries, the first is line %u (%.80s)", names, name->line, name->pattern);
    if (addresses != 0)
        add_part("%u line%s from line %u on %s functions of a build that is not loaded (make a new file: libprofile filter)", addresses,
                 addresses == 1 ? "" : "s", address->line, addresses == 1 ? "names" : "name");
    if (is_stripped_measured_.load(std::memory_order_relaxed) || (names != 0 && stripped_.load(std::memory_order_relaxed) != ~0u))
        add_part("the program is stripped, so its functions have no names to compare");
    if (lacks_memory_.load(std::memory_order_relaxed)) add_part("there was no memory for the names of some modules; raise LIBPROFILE_MEMORY");
    return used == 0 ? nullptr : complaint_;
}

void FunctionFilter::apply_names(std::uint32_t number) noexcept {
    const Module& module = load_map[number];
    FunctionSymbols symbols(module);
    if (module.is_executable && !symbols.has_all()) stripped_.store(number, std::memory_order_relaxed);
    for (FunctionSymbol symbol; symbols.next(symbol);)
        if (is_excluded(symbol.name)) add(module.bias + symbol.value);
    if (symbols.lacks_memory()) lacks_memory_.store(true, std::memory_order_relaxed);
}

bool FunctionFilter::grow() noexcept {
    const Table* old = table_.load(std::memory_order_relaxed);
    const std::uint64_t slots = old == nullptr ? 256 : (old->mask + 1) * 2;
    auto* table = arena_.make<Table>();
    auto* functions = arena_.array<std::uintptr_t>(slots);
    if (table == nullptr || functions == nullptr) return false;
    table->mask = slots - 1;
    table->shift = static_cast<unsigned>(__builtin_clzll(slots)) + 1;
    table->functions = functions;
    for (std::uint64_t i = 0; old != nullptr && i <= old->mask; ++i) {
        const std::uintptr_t function = old->functions[i];
        if (function == 0) continue;
        std::uint64_t slot = (function * multiplier >> table->shift) & table->mask;
        while (functions[slot] != 0) slot = (slot + 1) & table->mask;
        functions[slot] = function;
    }
    table_.store(table, std::memory_order_release);
    return true;
}

void FunctionFilter::add(std::uintptr_t function) noexcept {
    if (excludes(function)) return;
    const Table* table = table_.load(std::memory_order_relaxed);
    if (table == nullptr || 2 * (std::uint64_t{size_} + 1) > table->mask) {
        if (!grow()) return;
        table = table_.load(std::memory_order_relaxed);
    }
    std::uint64_t slot = (function * multiplier >> table->shift) & table->mask;
    while (table->functions[slot] != 0) slot = (slot + 1) & table->mask;
    __atomic_store_n(&table->functions[slot], function, __ATOMIC_RELEASE);
    ++size_;
}

} // namespace libprofile
