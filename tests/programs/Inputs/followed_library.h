#pragma once

long next_of(long* counter);
long seen_of(const long* counter);
