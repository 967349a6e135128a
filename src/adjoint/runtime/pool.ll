; Made from pool.c by `make pool`; its SHA-256 is 471fd28f2e7cd2879ac12597ff8c4aec84573f46bd0680dd52967a8a5c21a712
define ptr @$worker(ptr %0) #0 {
  %2 = load ptr, ptr %0, align 8
  %3 = getelementptr inbounds i8, ptr %0, i64 8
  %4 = load ptr, ptr %3, align 8
  %5 = ptrtoint ptr %4 to i64
  %6 = getelementptr inbounds i8, ptr %0, i64 16
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds i8, ptr %2, i64 128
  %9 = getelementptr inbounds i8, ptr %7, i64 32
  %10 = getelementptr inbounds i8, ptr %2, i64 320
  %11 = getelementptr inbounds i8, ptr %2, i64 256
  %12 = getelementptr inbounds i8, ptr %7, i64 16
  %13 = getelementptr inbounds i8, ptr %2, i64 448
  %14 = getelementptr inbounds i8, ptr %7, i64 8
  %15 = getelementptr inbounds i8, ptr %2, i64 168
  %16 = getelementptr inbounds i8, ptr %2, i64 152
  %17 = getelementptr inbounds i8, ptr %2, i64 160
  %18 = getelementptr inbounds i8, ptr %2, i64 136
  %19 = getelementptr inbounds i8, ptr %2, i64 144
  %20 = getelementptr inbounds i8, ptr %2, i64 176
  %21 = getelementptr inbounds i8, ptr %2, i64 64
  br label %22

22:
  %23 = phi i64 [ 0, %1 ], [ %62, %108 ]
  br label %24

24:
  %25 = phi i32 [ 0, %22 ], [ %33, %32 ]
  %26 = load atomic i64, ptr %2 acquire, align 64
  %27 = lshr i64 %26, 32
  %28 = icmp eq i64 %27, %23
  br i1 %28, label %29, label %61

29:
   call void @relax()
  %30 = add nuw nsw i32 %25, 1
  %31 = icmp eq i32 %30, 2000
  br i1 %31, label %34, label %32

32:
  %33 = phi i32 [ %30, %29 ], [ 0, %57 ]
  br label %24

34:
  %35 = phi i32 [ %42, %39 ], [ 0, %29 ]
  %36 = load atomic i64, ptr %2 acquire, align 64
  %37 = lshr i64 %36, 32
  %38 = icmp eq i64 %37, %23
  br i1 %38, label %39, label %61

39:
  %40 = load ptr, ptr %9, align 8
  %41 = call i32 %40()
  %42 = add nuw nsw i32 %35, 1
  %43 = icmp eq i32 %42, 2000
  br i1 %43, label %44, label %34

44:
  %45 = load ptr, ptr %7, align 8
  %46 = call i32 %45(ptr %10)
  %47 = atomicrmw add ptr %11, i32 1 seq_cst, align 64
  %48 = load atomic i64, ptr %2 seq_cst, align 64
  %49 = lshr i64 %48, 32
  %50 = icmp eq i64 %49, %23
  br i1 %50, label %51, label %57

51:
  %52 = load ptr, ptr %12, align 8
  %53 = call i32 %52(ptr %13, ptr %10)
  %54 = load atomic i64, ptr %2 seq_cst, align 64
  %55 = lshr i64 %54, 32
  %56 = icmp eq i64 %55, %23
  br i1 %56, label %51, label %57

57:
  %58 = atomicrmw sub ptr %11, i32 1 seq_cst, align 64
  %59 = load ptr, ptr %14, align 8
  %60 = call i32 %59(ptr %10)
  br label %32

61:
  %62 = phi i64 [ %37, %34 ], [ %27, %24 ]
  %63 = phi i64 [ %36, %34 ], [ %26, %24 ]
  %64 = and i64 %63, 2147483648
  %65 = icmp eq i64 %64, 0
  br i1 %65, label %78, label %66

66:
  %67 = phi i64 [ %72, %71 ], [ %63, %61 ]
  %68 = add nsw i64 %67, 1
  %69 = cmpxchg ptr %2, i64 %67, i64 %68 acq_rel acquire, align 64
  %70 = extractvalue { i64, i1 } %69, 1
  br i1 %70, label %81, label %71

71:
  %72 = extractvalue { i64, i1 } %69, 0
   call void @relax()
  %73 = and i64 %72, 2147483648
  %74 = icmp ne i64 %73, 0
  %75 = lshr i64 %72, 32
  %76 = icmp eq i64 %75, %62
  %77 = and i1 %74, %76
  br i1 %77, label %66, label %78

78:
  %79 = load atomic i64, ptr %15 acquire, align 8
  %80 = icmp eq i64 %79, 0
  br i1 %80, label %108, label %111

81:
  %82 = load atomic i64, ptr %15 acquire, align 8
  %83 = icmp eq i64 %82, 0
  br i1 %83, label %84, label %109

84:
  %85 = load i64, ptr %16, align 8
  %86 = icmp sgt i64 %85, %5
  br i1 %86, label %87, label %106

87:
  %88 = load ptr, ptr %17, align 8
  %89 = icmp eq ptr %88, null
  br i1 %89, label %91, label %90

90:
   call void %88(i32 1)
  br label %91

91:
  %92 = load ptr, ptr %8, align 8
  %93 = load ptr, ptr %18, align 8
  %94 = load i64, ptr %19, align 8
  %95 = load ptr, ptr %20, align 8
  %96 = load ptr, ptr %93, align 8
  %97 = getelementptr inbounds ptr, ptr %96, i64 %5
  %98 = load ptr, ptr %97, align 8
  %99 = atomicrmw add ptr %21, i64 1 acq_rel, align 64
  %100 = icmp slt i64 %99, %94
  br i1 %100, label %101, label %106

101:
  %102 = phi i64 [ %104, %101 ], [ %99, %91 ]
  %103 = add nsw i64 %102, 1
   call void %92(ptr %93, i64 %102, i64 %103, ptr %98, ptr %95)
  %104 = atomicrmw add ptr %21, i64 1 acq_rel, align 64
  %105 = icmp slt i64 %104, %94
  br i1 %105, label %101, label %106

106:
  %107 = atomicrmw sub ptr %2, i64 1 acq_rel, align 64
  br label %108

108:
  br label %22

109:
  %110 = atomicrmw sub ptr %2, i64 1 acq_rel, align 64
  br label %111

111:
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
