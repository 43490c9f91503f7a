// What call paths need to know of the processor. One implementation per architecture (arch/ARCHITECTURE/machine.hpp).
//
// Contract: all is async-signal-safe and allocates nothing. registers_of() reads a ucontext_t, as signal handlers get it.
//   Registers                 of interrupted code, with which a walk over the stack begins; `extra` is one that some frames need
//   context_offset            where the ucontext_t of a signal handler's frame lies, from the stack pointer in the trampoline it returns to
//   extra_offset              where Registers::extra lies in it
//   LIBPROFILE_OWN_FRAME      a handle of the function's own frame, for those below; valid until the function returns. Frames that are farther inside
//                             have smaller handles, and a frame of the same function at the same depth has the same one. Stack pointers farther inside are
//                             smaller, too, also those of functions without a frame
//   LIBPROFILE_STACK_OF_CALLER  what stack_of_caller() tells
//   return_slot(frame)        where its return address lies; unless the frame lives, an address that may be read
//   frame_pointer_slot(frame) where the caller's frame pointer lies
//   stack_of_caller(frame)    the caller's stack pointer at the call
//   code_address(word)        a return address without signature
//   stored_return(slot, address)   what the slot holds for it, or held before it was marked
//   slot_below(stack)         the return slot of a function that was called with this stack pointer; 0 if it depends on the function
//   unwind_register           numbers of registers in unwind information
//   has_fixed_return_slot     the return address always lies right below the caller's stack pointer
//   has_signed_returns        unwind information may say that return addresses are signed
//   largest_code_address      of programs
//   missing_here              what libprofile cannot do on this processor, as a sentence; may be empty
//   is_system_call(code)      whether the instruction that ends at `code` is one
#pragma once

#if defined(__x86_64__)
#include "libprofile/callpath/arch/x86_64/machine.hpp"
#else
#include "libprofile/callpath/arch/aarch64/machine.hpp"
#endif

namespace libprofile {

inline std::uintptr_t return_address_of(std::uintptr_t frame) noexcept { return code_address(*reinterpret_cast<const std::uintptr_t*>(return_slot(frame))); }

} // namespace libprofile
