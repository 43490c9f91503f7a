// The stub that a marked return address leads to (mark.hpp). One implementation per architecture.
// Contract: constants; usable anywhere. has_marks: there are marks on this architecture; else mark_stub() is no return address.
#pragma once

#if defined(__x86_64__)
#include "libprofile/callpath/arch/x86_64/mark_stub.hpp"
#else
#include "libprofile/callpath/arch/aarch64/mark_stub.hpp"
#endif
