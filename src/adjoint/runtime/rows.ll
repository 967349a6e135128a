; Made from rows.c by `make native`; its SHA-256 is c27da42281bb08574fe38e96c5cd887b365eca84e1f3993d2737287110e64f95
define void @$tape(ptr %0, ptr %1, ptr %2) #0 {
  br label %4

4:
  %5 = phi ptr [ %0, %3 ], [ %17, %4 ]
  %6 = load ptr, ptr %5, align 8
  %7 = getelementptr inbounds i8, ptr %5, i64 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds i8, ptr %5, i64 16
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds i8, ptr %5, i64 24
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds i8, ptr %5, i64 32
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %5, i64 40
  %16 = load i64, ptr %15, align 8
   call void %6(ptr %8, ptr %10, ptr %12, ptr %14, i64 %16, ptr %2)
  %17 = getelementptr inbounds i8, ptr %5, i64 48
  %18 = icmp eq ptr %17, %1
  br i1 %18, label %19, label %4

19:
  ret void
}
define void @$runs(ptr %0, ptr %1, ptr %2, ptr %3) #0 {
  br label %5

5:
  %6 = phi ptr [ %0, %4 ], [ %12, %5 ]
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds i8, ptr %6, i64 8
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds i8, ptr %6, i64 16
  %11 = load i64, ptr %10, align 8
   call void %7(ptr %2, ptr %9, i64 %11, ptr %3)
  %12 = getelementptr inbounds i8, ptr %6, i64 24
  %13 = icmp eq ptr %12, %1
  br i1 %13, label %14, label %5

14:
  ret void
}
