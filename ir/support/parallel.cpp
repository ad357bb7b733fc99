#include "ir/support/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace nir {
namespace {

constexpr std::size_t ranges_per_thread = 8; // so that no thread waits long for the last one

class ParallelFor {
public:
  using Body = std::function<void(std::size_t, std::size_t)>;
  ParallelFor(Arena *arena, std::size_t count, std::size_t step, const Body &body)
      : arena_(arena), count_(count), step_(step), body_(body) {}

  void work() {
    std::optional<Arena::Lane> lane;
    if (arena_ != nullptr)
      lane.emplace(*arena_);
    for (std::size_t begin = next_.fetch_add(step_); begin < count_;
         begin = next_.fetch_add(step_)) {
      try {
        body_(begin, std::min(begin + step_, count_));
      } catch (...) {
        keep(begin, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (error_ != nullptr)
      std::rethrow_exception(error_);
  }

private:
  void keep(std::size_t begin, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error_ != nullptr && begin > error_begin_)
      return;
    error_ = std::move(error);
    error_begin_ = begin;
  }

  Arena *arena_;
  std::size_t count_;
  std::size_t step_;
  const Body &body_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_; // of what follows
  std::exception_ptr error_;
  std::size_t error_begin_ = 0;
};

} // namespace

void parallel_for(Arena *arena, unsigned jobs, std::size_t count,
                  const std::function<void(std::size_t, std::size_t)> &body) {
  const std::size_t threads = std::min<std::size_t>(jobs, count);
  if (threads <= 1)
    return body(0, count);
  ParallelFor loop(arena, count, (count - 1) / (threads * ranges_per_thread) + 1, body);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads; ++i)
      helpers.emplace_back([&loop] { loop.work(); });
    loop.work();
  }
  loop.rethrow();
}

} // namespace nir
