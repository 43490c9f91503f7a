#include "libprofile/callpath/thread_block.hpp"

#include "libprofile/callpath/mark.hpp"

namespace libprofile {

constinit FindMark return_address_of_any_mark = nullptr;
constinit thread_local ThreadLocal thread_local_block __attribute__((tls_model("initial-exec"))){};

} // namespace libprofile
