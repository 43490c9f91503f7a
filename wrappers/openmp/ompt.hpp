// The tool interface of OpenMP runtimes that have one (LLVM's libomp): they call us, nothing is interposed.
#pragma once

namespace libprofile {

/// The runtime whose module lies at `base` tells of its regions by callbacks: its entry points of the GNU interface must not be counted
/// as well. One load.
bool ompt_tells_of(const void* base) noexcept;

} // namespace libprofile
