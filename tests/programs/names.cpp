// What the source calls the memory that is accessed. names.test compiles it and lists the names.
#include <array>
#include <atomic>
#include <memory>
#include <vector>

struct Point {
  int x;
  int y[4];
  double grid[3][5];
};

struct Base {
  long version;
  virtual ~Base();
};

template <class T>
struct Slot {
  T value;
};

class Account : public Base {
 public:
  void fields(int i);
  void arrays(int i);
  void library(int i);
  int loops();

 private:
  int balance_;
  std::atomic<int> hits_;
  std::atomic<bool> open_;
  Point inner_;
  int* data_;
  std::vector<int> list_;
  std::array<short, 4> four_;
  std::unique_ptr<Point> point_;
  Slot<float> slot_;
  union {
    int number;
    float fraction;
  } either_;
  static int all_;
};

int Account::all_;
int counter;
int table[100];
Point origin;
namespace {
int hidden;
}

// CHECK-LABEL: _ZN7Account6fieldsEi:
// CHECK-NEXT: {{^}}write Account::balance_{{$}}
// CHECK-NEXT: {{^}}write Base::version{{$}}
// CHECK-NEXT: {{^}}write Account::inner_.x{{$}}
// CHECK-NEXT: {{^}}write Account::slot_.value{{$}}
// CHECK-NEXT: {{^}}write Account::either_{{$}}
void Account::fields(int i) {
  balance_ += i;
  asm volatile("" ::: "memory");
  version++;
  asm volatile("" ::: "memory");
  inner_.x = i;
  asm volatile("" ::: "memory");
  slot_.value = 2;
  asm volatile("" ::: "memory");
  either_.number = 3;
}

// CHECK-LABEL: _ZN7Account6arraysEi:
// CHECK-NEXT: {{^}}write Account::inner_.y[]{{$}}
// CHECK-NEXT: {{^}}write Account::inner_.grid[][]{{$}}
// CHECK-NEXT: {{^}}write Account::inner_.grid[][]{{$}}
// CHECK-NEXT: {{^}}read Account::data_{{$}}
// CHECK-NEXT: {{^}}write Account::data_[]{{$}}
// CHECK-NEXT: {{^}}read Account::data_{{$}}
// CHECK-NEXT: {{^}}write *Account::data_{{$}}
void Account::arrays(int i) {
  inner_.y[i]++;
  inner_.grid[i][i] = 1;
  inner_.grid[1][i] = 1;
  asm volatile("" ::: "memory");
  data_[i] = 1;
  asm volatile("" ::: "memory");
  *data_ = 4;
}

// OPTIMIZED-LABEL: _ZN7Account7libraryEi:
// OPTIMIZED-NEXT: {{^}}atomic Account::hits_{{$}}
// OPTIMIZED-NEXT: {{^}}atomic Account::hits_{{$}}
// OPTIMIZED-NEXT: {{^}}atomic Account::open_{{$}}
// OPTIMIZED-NEXT: {{^}}read Account::list_{{$}}
// OPTIMIZED-NEXT: {{^}}write Account::list_[]{{$}}
// OPTIMIZED-NEXT: {{^}}write Account::four_[]{{$}}
// OPTIMIZED-NEXT: {{^}}read Account::point_{{$}}
// OPTIMIZED-NEXT: {{^}}write Point::x{{$}}
// PLAIN-LABEL: _ZN7Account7libraryEi:
// PLAIN: atomic Account::hits_
// PLAIN: atomic Account::open_
// PLAIN: write Account::list_[]
// PLAIN: write Account::four_[]
// PLAIN: write Point::x
void Account::library(int i) {
  hits_++;
  hits_ = i;
  open_.store(true);
  list_[i] = 1;
  four_[i] = 1;
  point_->x = 1;
}

struct Gauge {
  std::atomic<int> level;
};

// Two functions of the library are called in one place; the atomic is what the second one is called for.
// CHECK-LABEL: _Z13behind_ownersRSt10unique_ptrI5GaugeSt14default_deleteIS0_EE:
// CHECK: {{^}}atomic Gauge::level{{$}}
// CHECK: {{^}}atomic Gauge::level{{$}}
void behind_owners(std::unique_ptr<Gauge>& gauge) {
  gauge->level++;
  asm volatile("" ::: "memory");
  gauge->level = 3;
}

// CHECK-LABEL: _ZN7Account5loopsEv:
// CHECK: write Account::data_[]
// CHECK: read Account::inner_.y[]
// CHECK: write Account::balance_
int Account::loops() {
  for (int i = 0; i < 100; ++i) data_[i] = i;
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += inner_.y[i];
  return balance_ = sum;
}

// CHECK-LABEL: _Z9variablesi:
// CHECK-NEXT: {{^}}write variables::calls{{$}}
// CHECK-NEXT: {{^}}write counter{{$}}
// CHECK-NEXT: {{^}}write table[]{{$}}
// CHECK-NEXT: {{^}}write origin.y[]{{$}}
// CHECK-NEXT: {{^}}write hidden{{$}}
void variables(int i) {
  static int calls;
  calls += i;
  counter++;
  table[i]++;
  origin.y[2]++;
  hidden++;
}

// CHECK-LABEL: _Z8pointersPiRiP5PointiPPA2_d:
// CHECK-NEXT: {{^}}write data[]{{$}}
// CHECK-NEXT: {{^}}write *data{{$}}
// CHECK-NEXT: {{^}}write reference{{$}}
// CHECK-NEXT: {{^}}write Point::y[]{{$}}
// CHECK-NEXT: {{^}}write Point::x{{$}}
// CHECK-NEXT: {{^}}read deep[]{{$}}
// CHECK-NEXT: {{^}}write (*deep[])[]{{$}}
void pointers(int* data, int& reference, Point* points, int i, double (**deep)[2]) {
  data[i] = 2;
  *data = 1;
  reference++;
  points[i].y[2] = 5;
  points[2].x = 3;
  deep[1][2][1] = 4;
}

struct Flags {
  long count;
  unsigned ready : 1;
  unsigned failed : 3;
  unsigned retries : 9;
  int between;
  unsigned first : 1, second : 1, third : 1, fourth : 1, fifth : 1;
};

// CHECK-LABEL: _Z10bit_fieldsP5Flags:
// CHECK-NEXT: {{^}}write Flags::ready/failed/retries{{$}}
// CHECK-NEXT: {{^}}write Flags::first/{{[^a-z]+}}/fifth{{$}}
void bit_fields(Flags* flags) {
  flags->failed = 2;
  asm volatile("" ::: "memory");
  flags->third = 1;
}

// CHECK-LABEL: _Z4copyP5PointS0_:
// CHECK-NEXT: {{^}}read *from{{$}}
// CHECK-NEXT: {{^}}write to[]{{$}}
void copy(Point* from, Point* to) { to[1] = *from; }

template <class Body>
__attribute__((noinline)) void call(const Body& body) {
  body();
}
// CHECK-LABEL: _Z8capturesi:
// CHECK: write counter
void captures(int count) {
  call([&] { count++; });
  counter = count;
}
// PLAIN-LABEL: _ZZ8capturesi
// PLAIN: write count{{$}}
// OPTIMIZED-LABEL: _Z4callIZ8captures
// OPTIMIZED: write count{{$}}
