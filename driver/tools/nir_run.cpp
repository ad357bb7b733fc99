#include "driver/run/run_main.h"

int main(int argc, char **argv) { return nir::run_main(argc, argv); }
