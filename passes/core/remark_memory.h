#pragma once

#include <string>
#include <unordered_set>
#include <vector>

namespace nir {

// What passes have said in a pipeline so far, so that the later rounds of a fixpoint do not say it
// again. Within one run of a pass everything is said, also twice.
class RemarkMemory {
public:
  // Whether an earlier run said this; remembers it for later ones.
  bool is_repeated(std::string remark) {
    if (earlier_.contains(remark))
      return true;
    in_this_run_.push_back(std::move(remark));
    return false;
  }
  void end_run() {
    for (std::string &remark : in_this_run_)
      earlier_.insert(std::move(remark));
    in_this_run_.clear();
  }

private:
  std::unordered_set<std::string> earlier_; // asked only, never walked
  std::vector<std::string> in_this_run_;
};

} // namespace nir
