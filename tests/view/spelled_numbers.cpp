// Spells numbers as the text report does, for tests that compare the page's words: a line "UNIT VALUE" of the input makes one of the
// output. UNIT: ns, bytes, count, or share for percent().
#include "tools/text/layout.hpp"

#include <iostream>
#include <string>

int main() {
    using namespace libprofile::tools;
    std::string unit;
    double value = 0;
    while (std::cin >> unit >> value) std::cout << (unit == "share" ? percent(value) : quantity(value, unit, {})) << '\n';
    return 0;
}
