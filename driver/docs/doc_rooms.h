#pragma once

#include <string>

namespace nir {

// The table of rooms in docs/design/overview.md: cmake/rooms.txt below `root`, the source root,
// with the files and lines that each room has there. Lines are rounded up to hundreds, so that the
// table changes with the layout and not with every change.
std::string doc_rooms(const std::string &root);

} // namespace nir
