#include "teller.h"

Teller::Teller() : served_(0), waiting_(1) {}
Teller teller;
