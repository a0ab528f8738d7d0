// Nothing: what is compiled with it is the headers of the tests (CMakeLists.txt).
