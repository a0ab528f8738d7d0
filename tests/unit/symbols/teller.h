// A class that clang describes in full only where its constructor is: in teller.cpp, not in bank.cpp.
#pragma once

class Teller {
 public:
  Teller();
  void serve();

  int served_;
  int waiting_;
};
extern Teller teller;
