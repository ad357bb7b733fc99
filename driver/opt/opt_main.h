#pragma once

namespace nir {

// The whole of nir-opt. A project with passes of its own registers them (passes/core/pass.h), calls
// this from its main, and has a tool that knows them. Returns the exit status.
int opt_main(int argc, char **argv);

} // namespace nir
