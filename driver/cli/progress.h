#pragma once

#include <string>
#include <string_view>

namespace nir {

// One line on standard error that says what long work is at, where that is a terminal; it is gone
// when anything else is to be written there, and at the end.
class Progress {
public:
  Progress(std::string_view tool, bool is_long);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void show(std::string_view what);
  void clear();

private:
  std::string tool_;
  bool enabled_;
  bool shown_ = false;
};

} // namespace nir
