// The options of the runtime as flags of `libprofile run` and as documentation, from format/options.def.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "format/option_table.hpp"

#include <string>

namespace libprofile::tools {

/// "FINALIZE_TIMEOUT" -> "--finalize-timeout".
std::string flag_of(const OptionRow& row);

/// "integer", "size", "flag", "choice", "text", "rate", "percentage" or "time".
const char* type_word(OptionType type);

/// What values an option takes: "1..4096", "auto|tsc|monotonic", "1M..1T", "0|1".
std::string range_of(const OptionRow& row);

/// Why a value is not valid for an option, as a clause ("must be a whole number from 1 to 4096"); empty when it is.
std::string value_problem(const OptionRow& row, const std::string& value);

/// Whether a value of a flag means yes; anything that is no valid value means no.
bool flag_value(const std::string& value);

/// How values of each type are written: two or three sentences in lines.
std::string value_forms();

/// docs/options.md.
std::string options_markdown();

/// The same as a table for a terminal of `width` columns.
std::string options_text(int width);

} // namespace libprofile::tools
