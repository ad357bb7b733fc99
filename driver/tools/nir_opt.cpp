#include "driver/opt/opt_main.h"

int main(int argc, char **argv) { return nir::opt_main(argc, argv); }
