; Made from pool.c by `make pool`; its SHA-256 is 68c6a1e3ec439cbc2e000ee3b8a8c168659ae1ced0d146240a8dce1f8cf681a4
define ptr @$worker(ptr %0) #0 {
  %2 = load ptr, ptr %0, align 8
  %3 = getelementptr inbounds i8, ptr %0, i64 8
  %4 = load ptr, ptr %3, align 8
  %5 = ptrtoint ptr %4 to i64
  %6 = getelementptr inbounds i8, ptr %0, i64 16
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds i8, ptr %2, i64 128
  %9 = getelementptr inbounds i8, ptr %2, i64 320
  %10 = getelementptr inbounds i8, ptr %2, i64 256
  %11 = getelementptr inbounds i8, ptr %7, i64 16
  %12 = getelementptr inbounds i8, ptr %2, i64 448
  %13 = getelementptr inbounds i8, ptr %7, i64 8
  %14 = getelementptr inbounds i8, ptr %2, i64 168
  %15 = getelementptr inbounds i8, ptr %2, i64 152
  %16 = getelementptr inbounds i8, ptr %2, i64 160
  %17 = getelementptr inbounds i8, ptr %2, i64 136
  %18 = getelementptr inbounds i8, ptr %2, i64 144
  %19 = getelementptr inbounds i8, ptr %2, i64 176
  %20 = getelementptr inbounds i8, ptr %2, i64 64
  br label %21

21:
  %22 = phi i64 [ 0, %1 ], [ %26, %95 ]
  br label %23

23:
  %24 = phi i32 [ 0, %21 ], [ %32, %31 ]
  %25 = load atomic i64, ptr %2 acquire, align 64
  %26 = lshr i64 %25, 32
  %27 = icmp eq i64 %26, %22
  br i1 %27, label %28, label %50

28:
   call void @relax()
  %29 = add nuw nsw i32 %24, 1
  %30 = icmp eq i32 %29, 2000
  br i1 %30, label %33, label %31

31:
  %32 = phi i32 [ %29, %28 ], [ 0, %46 ]
  br label %23

33:
  %34 = load ptr, ptr %7, align 8
  %35 = call i32 %34(ptr %9)
  %36 = atomicrmw add ptr %10, i32 1 seq_cst, align 64
  %37 = load atomic i64, ptr %2 seq_cst, align 64
  %38 = lshr i64 %37, 32
  %39 = icmp eq i64 %38, %22
  br i1 %39, label %40, label %46

40:
  %41 = load ptr, ptr %11, align 8
  %42 = call i32 %41(ptr %12, ptr %9)
  %43 = load atomic i64, ptr %2 seq_cst, align 64
  %44 = lshr i64 %43, 32
  %45 = icmp eq i64 %44, %22
  br i1 %45, label %40, label %46

46:
  %47 = atomicrmw sub ptr %10, i32 1 seq_cst, align 64
  %48 = load ptr, ptr %13, align 8
  %49 = call i32 %48(ptr %9)
  br label %31

50:
  %51 = and i64 %25, 2147483648
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %65, label %53

53:
  %54 = phi i64 [ %59, %58 ], [ %25, %50 ]
  %55 = add nsw i64 %54, 1
  %56 = cmpxchg ptr %2, i64 %54, i64 %55 acq_rel acquire, align 64
  %57 = extractvalue { i64, i1 } %56, 1
  br i1 %57, label %68, label %58

58:
  %59 = extractvalue { i64, i1 } %56, 0
   call void @relax()
  %60 = and i64 %59, 2147483648
  %61 = icmp ne i64 %60, 0
  %62 = lshr i64 %59, 32
  %63 = icmp eq i64 %62, %26
  %64 = and i1 %61, %63
  br i1 %64, label %53, label %65

65:
  %66 = load atomic i64, ptr %14 acquire, align 8
  %67 = icmp eq i64 %66, 0
  br i1 %67, label %95, label %98

68:
  %69 = load atomic i64, ptr %14 acquire, align 8
  %70 = icmp eq i64 %69, 0
  br i1 %70, label %71, label %96

71:
  %72 = load i64, ptr %15, align 8
  %73 = icmp sgt i64 %72, %5
  br i1 %73, label %74, label %93

74:
  %75 = load ptr, ptr %16, align 8
  %76 = icmp eq ptr %75, null
  br i1 %76, label %78, label %77

77:
   call void %75(i32 1)
  br label %78

78:
  %79 = load ptr, ptr %8, align 8
  %80 = load ptr, ptr %17, align 8
  %81 = load i64, ptr %18, align 8
  %82 = load ptr, ptr %19, align 8
  %83 = load ptr, ptr %80, align 8
  %84 = getelementptr inbounds ptr, ptr %83, i64 %5
  %85 = load ptr, ptr %84, align 8
  %86 = atomicrmw add ptr %20, i64 1 acq_rel, align 64
  %87 = icmp slt i64 %86, %81
  br i1 %87, label %88, label %93

88:
  %89 = phi i64 [ %91, %88 ], [ %86, %78 ]
  %90 = add nsw i64 %89, 1
   call void %79(ptr %80, i64 %89, i64 %90, ptr %85, ptr %82)
  %91 = atomicrmw add ptr %20, i64 1 acq_rel, align 64
  %92 = icmp slt i64 %91, %81
  br i1 %92, label %88, label %93

93:
  %94 = atomicrmw sub ptr %2, i64 1 acq_rel, align 64
  br label %95

95:
  br label %21

96:
  %97 = atomicrmw sub ptr %2, i64 1 acq_rel, align 64
  br label %98

98:
  ret ptr null
}
define void @$open(ptr %0, ptr %1) #0 {
  %3 = load atomic i64, ptr %0 monotonic, align 64
  %4 = and i64 %3, -4294967296
  %5 = add i64 %4, 6442450944
  %6 = atomicrmw xchg ptr %0, i64 %5 seq_cst, align 64
  %7 = getelementptr inbounds i8, ptr %0, i64 256
  %8 = load atomic i32, ptr %7 seq_cst, align 64
  %9 = icmp sgt i32 %8, 0
  br i1 %9, label %10, label %21

10:
  %11 = load ptr, ptr %1, align 8
  %12 = getelementptr inbounds i8, ptr %0, i64 320
  %13 = call i32 %11(ptr %12)
  %14 = getelementptr inbounds i8, ptr %1, i64 24
  %15 = load ptr, ptr %14, align 8
  %16 = getelementptr inbounds i8, ptr %0, i64 448
  %17 = call i32 %15(ptr %16)
  %18 = getelementptr inbounds i8, ptr %1, i64 8
  %19 = load ptr, ptr %18, align 8
  %20 = call i32 %19(ptr %12)
  br label %21

21:
  ret void
}
define void @$launch(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, ptr %6, i64 %7) #0 {
  %9 = icmp sgt i64 %5, 1
  br i1 %9, label %10, label %22

10:
  %11 = icmp eq i64 %7, 0
  br i1 %11, label %12, label %18

12:
  %13 = getelementptr inbounds i8, ptr %0, i64 256
  %14 = load atomic i32, ptr %13 monotonic, align 64
  %15 = sext i32 %14 to i64
  %16 = add nsw i64 %5, -1
  %17 = icmp sgt i64 %16, %15
  br i1 %17, label %18, label %22

18:
  %19 = getelementptr inbounds i8, ptr %0, i64 192
  %20 = cmpxchg ptr %19, i32 0, i32 1 acquire monotonic, align 64
  %21 = extractvalue { i32, i1 } %20, 1
  br i1 %21, label %25, label %22

22:
  %23 = load ptr, ptr %3, align 8
  %24 = load ptr, ptr %23, align 8
   call void %2(ptr %3, i64 0, i64 %4, ptr %24, ptr %6)
  br label %80

25:
  %26 = getelementptr inbounds i8, ptr %0, i64 128
  store ptr %2, ptr %26, align 8
  %27 = getelementptr inbounds i8, ptr %0, i64 136
  store ptr %3, ptr %27, align 8
  %28 = getelementptr inbounds i8, ptr %0, i64 144
  store i64 %4, ptr %28, align 8
  %29 = getelementptr inbounds i8, ptr %0, i64 152
  store i64 %5, ptr %29, align 8
  %30 = getelementptr inbounds i8, ptr %0, i64 176
  store ptr %6, ptr %30, align 8
  %31 = getelementptr inbounds i8, ptr %0, i64 64
  store atomic i64 0, ptr %31 release, align 64
  %32 = load atomic i64, ptr %0 monotonic, align 64
  %33 = and i64 %32, -4294967296
  %34 = add i64 %33, 6442450944
  %35 = atomicrmw xchg ptr %0, i64 %34 seq_cst, align 64
  %36 = getelementptr inbounds i8, ptr %0, i64 256
  %37 = load atomic i32, ptr %36 seq_cst, align 64
  %38 = icmp sgt i32 %37, 0
  br i1 %38, label %39, label %50

39:
  %40 = load ptr, ptr %1, align 8
  %41 = getelementptr inbounds i8, ptr %0, i64 320
  %42 = call i32 %40(ptr %41)
  %43 = getelementptr inbounds i8, ptr %1, i64 24
  %44 = load ptr, ptr %43, align 8
  %45 = getelementptr inbounds i8, ptr %0, i64 448
  %46 = call i32 %44(ptr %45)
  %47 = getelementptr inbounds i8, ptr %1, i64 8
  %48 = load ptr, ptr %47, align 8
  %49 = call i32 %48(ptr %41)
  br label %50

50:
  %51 = load ptr, ptr %3, align 8
  %52 = load ptr, ptr %51, align 8
  %53 = atomicrmw add ptr %31, i64 1 acq_rel, align 64
  %54 = icmp slt i64 %53, %4
  br i1 %54, label %55, label %60

55:
  %56 = phi i64 [ %58, %55 ], [ %53, %50 ]
  %57 = add nsw i64 %56, 1
   call void %2(ptr %3, i64 %56, i64 %57, ptr %52, ptr %6)
  %58 = atomicrmw add ptr %31, i64 1 acq_rel, align 64
  %59 = icmp slt i64 %58, %4
  br i1 %59, label %55, label %60

60:
  %61 = atomicrmw and ptr %0, i64 -2147483649 acq_rel, align 64
  %62 = load atomic i64, ptr %0 acquire, align 64
  %63 = and i64 %62, 2147483647
  %64 = icmp eq i64 %63, 0
  br i1 %64, label %67, label %65

65:
  %66 = getelementptr inbounds i8, ptr %1, i64 32
  br label %68

67:
  store atomic i32 0, ptr %19 release, align 64
  br label %80

68:
  %69 = phi i32 [ 0, %65 ], [ %76, %75 ]
  %70 = icmp samesign ult i32 %69, 2000
  br i1 %70, label %71, label %72

71:
   call void @relax()
  br label %75

72:
  %73 = load ptr, ptr %66, align 8
  %74 = call i32 %73()
  br label %75

75:
  %76 = add nuw nsw i32 %69, 1
  %77 = load atomic i64, ptr %0 acquire, align 64
  %78 = and i64 %77, 2147483647
  %79 = icmp eq i64 %78, 0
  br i1 %79, label %67, label %68

80:
  ret void
}
