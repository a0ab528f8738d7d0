#include "cli/heddle.h"

int main(int argc, char** argv) { return heddle::run_heddle(argc, argv); }
