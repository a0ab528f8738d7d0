// What code did that was built with --heddle-dataflow before it said for which runtime.
extern "C" void heddle_flow_is_built(const void* globals, unsigned long count);

__attribute__((constructor(1000))) static void heddle_flow_constructor() { heddle_flow_is_built(nullptr, 0); }

int main() {}
