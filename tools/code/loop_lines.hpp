// Where in the source a loop is.
// Contract: as Symbols, which it asks.
#pragma once

#include "tools/code/loop_nest.hpp"
#include "tools/names/symbols.hpp"

namespace libprofile::tools {

/// The function, and the functions inlined into it, that the loop's header and all its back edges belong to, and the first line of these. That
/// is the line of the `for` or `while` whether it is tested before the loop's body or behind it, as with optimisation; of `do`, it is the first
/// statement.
SourceCode source_of(Symbols& symbols, const CodeLoop& loop);

/// Makes one of loops that lie directly in each other and are one loop of the source by its line. Loops that a macro, or somebody who likes long
/// lines, writes into one line cannot be told apart: they become one, too.
void unite_copies(Symbols& symbols, LoopNest& nest);

} // namespace libprofile::tools
