#include "tools/code/no_return.hpp"

#include "tools/code/function_blocks.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace libprofile::tools {

namespace {

/// Of libc, libgcc, libstdc++ and libgfortran.
constexpr std::string_view names[] = {
    "_Exit",
    "_Unwind_Resume",
    "_ZSt10unexpectedv",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "_ZSt9terminatev",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_unexpected",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "__fortify_fail",
    "__longjmp_chk",
    "__stack_chk_fail",
    "_exit",
    "_gfortran_error_stop_numeric",
    "_gfortran_error_stop_string",
    "_gfortran_exit_i4",
    "_gfortran_exit_i8",
    "_gfortran_os_error",
    "_gfortran_os_error_at",
    "_gfortran_runtime_error",
    "_gfortran_runtime_error_at",
    "_gfortran_stop_numeric",
    "_gfortran_stop_string",
    "_longjmp",
    "abort",
    "err",
    "errx",
    "exit",
    "longjmp",
    "pthread_exit",
    "quick_exit",
    "siglongjmp",
    "thrd_exit",
    "verr",
    "verrx",
};

bool ends_all(std::string_view name) {
    if (std::binary_search(std::begin(names), std::end(names), name)) return true;
    return name.starts_with("_ZSt") && name.find("__throw_") != std::string_view::npos; // std::__throw_length_error(...)
}

} // namespace

bool NoReturn::operator()(const Instruction& call) {
    if (const std::uint64_t function = code_.callee(call); function != 0) return never_returns(function);
    const std::uint64_t key = call.target != 0 ? call.target : call.operand;
    if (key == 0) return false;
    const auto known = library_.find(key);
    if (known != library_.end()) return known->second;
    const std::uint64_t slot = call.target != 0 ? code_.slot_of_stub(key) : key;
    const char* name = slot == 0 ? nullptr : code_.symbol_in(slot);
    return library_[key] = name != nullptr && ends_all(name);
}

bool NoReturn::never_returns(std::uint64_t function) {
    const auto known = functions_.find(function);
    if (known != functions_.end()) return known->second == Answer::Never;
    if (depth_ == deepest) return false;
    functions_[function] = Answer::Returns; // as long as it is not known
    ++depth_;
    const FunctionBlocks blocks(code_, function, *this);
    bool never = blocks.is_understood() && !blocks.may_return();
    for (const std::uint64_t target : blocks.tail_calls()) never = never && never_returns(target);
    --depth_;
    functions_[function] = never ? Answer::Never : Answer::Returns;
    return never;
}

} // namespace libprofile::tools
