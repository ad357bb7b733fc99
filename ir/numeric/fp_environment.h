// The floating-point environment that conversion kernels count on.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace nir {

// While it lives: round to nearest even, denormals honoured, no traps, whatever the thread had set.
// Floating-point operations must depend on memory read after its construction and end in memory
// written before its destruction; otherwise the compiler may move them out.
#if defined(__SSE2__)
class DefaultFpEnvironment {
public:
  DefaultFpEnvironment() : saved_(_mm_getcsr()) {
    if (differs())
      _mm_setcsr(default_mxcsr);
  }
  ~DefaultFpEnvironment() {
    if (differs())
      _mm_setcsr(saved_);
  }
  DefaultFpEnvironment(const DefaultFpEnvironment &) = delete;
  DefaultFpEnvironment &operator=(const DefaultFpEnvironment &) = delete;

private:
  static constexpr unsigned default_mxcsr = 0x1f80; // all exceptions masked, nothing else
  static constexpr unsigned sticky_flags = 0x3f;    // what happened so far; changes no result

  bool differs() const { return (saved_ & ~sticky_flags) != default_mxcsr; }

  unsigned saved_;
};
#else
class DefaultFpEnvironment {
public:
  DefaultFpEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFpEnvironment() { std::fesetenv(&saved_); }
  DefaultFpEnvironment(const DefaultFpEnvironment &) = delete;
  DefaultFpEnvironment &operator=(const DefaultFpEnvironment &) = delete;

private:
  std::fenv_t saved_;
};
#endif

} // namespace nir
