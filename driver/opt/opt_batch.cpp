#include "driver/opt/opt_batch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "driver/cli/cli.h"
#include "driver/opt/opt_job.h"

namespace nir {
namespace {

void write_messages(std::string_view text) { std::cerr << text << std::flush; }

// Workers take the inputs in order. The messages of the first unfinished input are shown as they
// arise, those of later ones when all before them are done.
class Batch {
public:
  explicit Batch(const OptOptions &options) : options_(options), slots_(options.inputs.size()) {}

  void run() {
    const std::size_t count =
        std::min<std::size_t>(options_.jobs, std::max<std::size_t>(slots_.size(), 1));
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < count; ++i)
      workers.emplace_back([this] { work(); });
    work();
  }

  // After `run`.
  int worst_status() const {
    int status = exit_status::success;
    for (const Slot &slot : slots_)
      status = std::max(status, slot.result.status);
    return status;
  }
  // The statistics of all inputs; nullptr where no pipeline ran.
  const PassManager *total() {
    PassManager *sum = nullptr;
    for (const Slot &slot : slots_) {
      if (slot.result.pass_manager == nullptr)
        continue;
      if (sum == nullptr)
        sum = slot.result.pass_manager.get();
      else
        sum->add_statistics(*slot.result.pass_manager);
    }
    return sum;
  }

private:
  struct Slot {
    std::string waiting; // messages that may not be shown yet
    bool done = false;
    OptResult result;
  };

  void work() {
    for (std::size_t i = next_++; i < slots_.size(); i = next_++) {
      const auto sink = [this, i](std::string_view text) { add_message(i, text); };
      OptResult result;
      try {
        result = run_opt_job(options_, options_.inputs[i], sink);
      } catch (const std::exception &error) { // must not end the thread
        sink("nir-opt: internal error: " + std::string(error.what()) +
             "\nnir-opt: to reproduce: " + options_.command + '\n');
        result.status = exit_status::internal_error;
      }
      finish(i, std::move(result));
    }
  }

  void add_message(std::size_t index, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (index == first_unfinished_)
      write_messages(text);
    else
      slots_[index].waiting += text;
  }

  void finish(std::size_t index, OptResult result) {
    const std::lock_guard lock(mutex_);
    slots_[index].result = std::move(result);
    slots_[index].done = true;
    while (first_unfinished_ < slots_.size() && slots_[first_unfinished_].done) {
      if (++first_unfinished_ == slots_.size())
        return;
      write_messages(slots_[first_unfinished_].waiting);
      slots_[first_unfinished_].waiting.clear();
    }
  }

  const OptOptions &options_;
  std::vector<Slot> slots_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_; // of what follows, and of messages
  std::size_t first_unfinished_ = 0;
};

} // namespace

int run_opt_batch(const OptOptions &options) {
  Batch batch(options);
  batch.run();
  const PassManager *total = batch.total();
  if (total != nullptr && options.stats == StatsFormat::Text)
    write_messages(total->statistics_text());
  if (total != nullptr && options.stats == StatsFormat::Json)
    write_messages(total->statistics_json() + '\n');
  return batch.worst_status();
}

} // namespace nir
