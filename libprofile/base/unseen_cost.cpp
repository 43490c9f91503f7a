#include "libprofile/base/unseen_cost.hpp"

namespace libprofile {

constinit UnseenCost unseen_cost = {8, 10};

} // namespace libprofile
