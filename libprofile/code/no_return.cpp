#include "libprofile/code/no_return.hpp"

#include "libprofile/base/hashing.hpp"
#include "libprofile/callpath/dynamic_symbols.hpp"
#include "libprofile/callpath/linker_stub.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/module_name.hpp"

namespace libprofile {

using Kind = Instruction::Kind;

namespace {

bool ends_function(std::uintptr_t at, const Instruction& instruction) { return instruction.kind == Kind::IndirectJump || is_return(at, instruction); }

/// Other modules may be unloaded while their tables are read.
bool stays_loaded(const Module& module) {
    return module.is_executable || module.is_libc || module.is_cxx_runtime || starts_with(file_name(module.path), "libgfortran.so");
}

} // namespace

/// Returns true if unknown.
bool NoReturn::has_return(std::uintptr_t function) noexcept {
    std::uintptr_t start = 0, end = 0;
    if (!find_code_(function, start, end) || start != function) return true;
    for (std::uintptr_t at = start; at < end;) { // most functions return soon
        const Instruction instruction = decode(at, end - at);
        if (instruction.kind == Kind::Unknown || instructions_left_ == 0 || ends_function(at, instruction)) return true;
        --instructions_left_;
        at += instruction.length;
    }
    FunctionCode code;
    if (!code.read(function, find_code_)) return true;
    return !code.for_each([&](std::uint32_t, bool, std::uintptr_t at, const Instruction& instruction) {
        const bool leaves = ends_function(at, instruction) || (is_jump(instruction.kind) && code.position(instruction.target) == FunctionCode::none);
        return !leaves && instructions_left_ != 0 && instructions_left_-- != 0;
    });
}

bool NoReturn::may_return(std::uintptr_t called) noexcept {
    std::uintptr_t start = 0, end = 0, target = 0;
    // A function of the program may look like a stub, and jump through a variable. It has a range of its own.
    if ((find_code_(called, start, end) && start == called) || !follow_stub(called, target)) return has_return(called);
    const char* name = unbound_name(target);
    return name == nullptr ? has_return(target) : has_return(name, load_map.find(called));
}

/// A function that was not called yet: each that the name may mean.
bool NoReturn::has_return(const char* name, std::uint32_t caller) noexcept {
    if (searches_left_ == 0) return true;
    --searches_left_;
    bool is_any = false;
    for (std::uint32_t i = 0; i < load_map.size(); ++i) {
        const Module& module = load_map[i];
        if (module.headers == nullptr || !module.loaded.load(std::memory_order_acquire) || (i != caller && !stays_loaded(module))) continue;
        const std::uintptr_t function = find_dynamic_symbol(module.bias, module.headers, module.header_count, name);
        if (function == 0) continue;
        if (has_return(function)) return true;
        is_any = true;
    }
    return !is_any;
}

bool NoReturn::is_made_by(const Instruction& call) noexcept {
    if (call.kind != Kind::Call) return false; // a variable may hold another function later
    const std::uintptr_t called = call.target;
    Known& known = known_[short_hash(called, 6)];
    if (known.called != called) known = {called, may_return(called)};
    return !known.returns;
}

} // namespace libprofile
