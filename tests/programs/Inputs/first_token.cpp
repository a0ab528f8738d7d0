// Built without --heddle-dataflow.
#include <cstring>

char* first_token(char* text) { return std::strtok(text, ","); }
