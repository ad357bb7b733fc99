#pragma once

namespace nir {

// The whole of nir-run (tools, nir-run); returns the exit status.
int run_main(int argc, char **argv);

} // namespace nir
