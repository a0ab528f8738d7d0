// Code that is built without Heddle and catches what the function throws.
bool catches(void (*function)(int), int argument) {
  try {
    function(argument);
  } catch (...) {
    return true;
  }
  return false;
}
