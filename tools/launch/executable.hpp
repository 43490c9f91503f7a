// What a program's file tells of how it can be measured.
// Contract: reads the file; thread-safe. A file that is no ELF file, or cannot be read, tells nothing.
#pragma once

#include <string>

namespace libprofile::tools {

/// Why a preloaded library cannot measure the program, and what helps: "is ..., so it cannot be measured; link it ...". Empty if it can.
std::string why_not_measurable(const std::string& path);

/// The library of AddressSanitizer that the program needs (libasan.so.8), which ends the program if it does not come first of all. Empty without.
std::string address_sanitizer(const std::string& path);

} // namespace libprofile::tools
