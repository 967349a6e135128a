; Made from pool.c by `make native`; its SHA-256 is 6d40401607f6c466827447bd873a56dcd8988a92a45f94d82cdcac8e13238425
define ptr @$worker(ptr %0) #0 {
  %2 = load ptr, ptr %0, align 8
  %3 = getelementptr inbounds i8, ptr %0, i64 8
  %4 = load ptr, ptr %3, align 8
  %5 = ptrtoint ptr %4 to i64
  %6 = getelementptr inbounds i8, ptr %0, i64 16
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds i8, ptr %2, i64 64
  %9 = getelementptr inbounds i8, ptr %7, i64 32
  %10 = getelementptr inbounds i8, ptr %2, i64 256
  %11 = getelementptr inbounds i8, ptr %2, i64 192
  %12 = getelementptr inbounds i8, ptr %7, i64 16
  %13 = getelementptr inbounds i8, ptr %2, i64 384
  %14 = getelementptr inbounds i8, ptr %7, i64 8
  %15 = getelementptr inbounds i8, ptr %2, i64 104
  %16 = getelementptr inbounds i8, ptr %2, i64 88
  %17 = getelementptr inbounds i8, ptr %2, i64 96
  %18 = getelementptr inbounds i8, ptr %2, i64 72
  %19 = getelementptr inbounds i8, ptr %2, i64 80
  %20 = getelementptr inbounds i8, ptr %2, i64 112
  %21 = getelementptr inbounds i8, ptr %2, i64 576
  br label %22

22:
  %23 = phi i64 [ 0, %1 ], [ %62, %122 ]
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
  br i1 %80, label %122, label %125

81:
  %82 = load atomic i64, ptr %15 acquire, align 8
  %83 = icmp eq i64 %82, 0
  br i1 %83, label %84, label %123

84:
  %85 = load i64, ptr %16, align 8
  %86 = icmp sgt i64 %85, %5
  br i1 %86, label %87, label %120

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
  %99 = icmp sgt i64 %94, 0
  br i1 %99, label %100, label %120

100:
  %101 = phi i64 [ %118, %117 ], [ 0, %91 ]
  %102 = add nsw i64 %101, %5
  %103 = srem i64 %102, %94
  %104 = getelementptr inbounds [8 x i64], ptr %21, i64 %103
  %105 = getelementptr inbounds i8, ptr %104, i64 8
  %106 = load atomic i64, ptr %105 monotonic, align 8
  %107 = load atomic i64, ptr %104 monotonic, align 8
  %108 = icmp slt i64 %107, %106
  br i1 %108, label %109, label %117

109:
  %110 = atomicrmw add ptr %104, i64 1 acq_rel, align 8
  %111 = icmp slt i64 %110, %106
  br i1 %111, label %112, label %114

112:
  %113 = add nsw i64 %110, 1
   call void %92(ptr %93, i64 %110, i64 %113, ptr %98, ptr %95)
  br label %114

114:
  %115 = load atomic i64, ptr %104 monotonic, align 8
  %116 = icmp slt i64 %115, %106
  br i1 %116, label %109, label %117

117:
  %118 = add nuw nsw i64 %101, 1
  %119 = icmp eq i64 %118, %94
  br i1 %119, label %120, label %100

120:
  %121 = atomicrmw sub ptr %2, i64 1 acq_rel, align 64
  br label %122

122:
  br label %22

123:
  %124 = atomicrmw sub ptr %2, i64 1 acq_rel, align 64
  br label %125

125:
  ret ptr null
}
define void @$open(ptr %0, ptr %1) #0 {
  %3 = load atomic i64, ptr %0 monotonic, align 64
  %4 = and i64 %3, -4294967296
  %5 = add i64 %4, 6442450944
  %6 = atomicrmw xchg ptr %0, i64 %5 seq_cst, align 64
  %7 = getelementptr inbounds i8, ptr %0, i64 192
  %8 = load atomic i32, ptr %7 seq_cst, align 64
  %9 = icmp sgt i32 %8, 0
  br i1 %9, label %10, label %21

10:
  %11 = load ptr, ptr %1, align 8
  %12 = getelementptr inbounds i8, ptr %0, i64 256
  %13 = call i32 %11(ptr %12)
  %14 = getelementptr inbounds i8, ptr %1, i64 24
  %15 = load ptr, ptr %14, align 8
  %16 = getelementptr inbounds i8, ptr %0, i64 384
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
  %13 = getelementptr inbounds i8, ptr %0, i64 192
  %14 = load atomic i32, ptr %13 monotonic, align 64
  %15 = sext i32 %14 to i64
  %16 = add nsw i64 %5, -1
  %17 = icmp sgt i64 %16, %15
  br i1 %17, label %18, label %22

18:
  %19 = getelementptr inbounds i8, ptr %0, i64 128
  %20 = cmpxchg ptr %19, i32 0, i32 1 acquire monotonic, align 64
  %21 = extractvalue { i32, i1 } %20, 1
  br i1 %21, label %25, label %22

22:
  %23 = load ptr, ptr %3, align 8
  %24 = load ptr, ptr %23, align 8
   call void %2(ptr %3, i64 0, i64 %4, ptr %24, ptr %6)
  br label %110

25:
  %26 = getelementptr inbounds i8, ptr %0, i64 64
  %27 = call i64 @llvm.smin.i64(i64 %5, i64 %4)
  %28 = call i64 @llvm.smin.i64(i64 %27, i64 64)
  store ptr %2, ptr %26, align 8
  %29 = getelementptr inbounds i8, ptr %0, i64 72
  store ptr %3, ptr %29, align 8
  %30 = getelementptr inbounds i8, ptr %0, i64 80
  store i64 %28, ptr %30, align 8
  %31 = getelementptr inbounds i8, ptr %0, i64 88
  store i64 %5, ptr %31, align 8
  %32 = getelementptr inbounds i8, ptr %0, i64 112
  store ptr %6, ptr %32, align 8
  %33 = icmp sgt i64 %4, 0
  br i1 %33, label %34, label %37

34:
  %35 = getelementptr inbounds i8, ptr %0, i64 576
  %36 = call i64 @llvm.smax.i64(i64 %28, i64 1)
  br label %87

37:
  %38 = load atomic i64, ptr %0 monotonic, align 64
  %39 = and i64 %38, -4294967296
  %40 = add i64 %39, 6442450944
  %41 = atomicrmw xchg ptr %0, i64 %40 seq_cst, align 64
  %42 = getelementptr inbounds i8, ptr %0, i64 192
  %43 = load atomic i32, ptr %42 seq_cst, align 64
  %44 = icmp sgt i32 %43, 0
  br i1 %44, label %45, label %56

45:
  %46 = load ptr, ptr %1, align 8
  %47 = getelementptr inbounds i8, ptr %0, i64 256
  %48 = call i32 %46(ptr %47)
  %49 = getelementptr inbounds i8, ptr %1, i64 24
  %50 = load ptr, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %0, i64 384
  %52 = call i32 %50(ptr %51)
  %53 = getelementptr inbounds i8, ptr %1, i64 8
  %54 = load ptr, ptr %53, align 8
  %55 = call i32 %54(ptr %47)
  br label %56

56:
  %57 = load ptr, ptr %3, align 8
  %58 = load ptr, ptr %57, align 8
  br i1 %33, label %59, label %80

59:
  %60 = getelementptr inbounds i8, ptr %0, i64 576
  br label %61

61:
  %62 = phi i64 [ 0, %59 ], [ %78, %77 ]
  %63 = urem i64 %62, %28
  %64 = getelementptr inbounds [8 x i64], ptr %60, i64 %63
  %65 = getelementptr inbounds i8, ptr %64, i64 8
  %66 = load atomic i64, ptr %65 monotonic, align 8
  %67 = load atomic i64, ptr %64 monotonic, align 8
  %68 = icmp slt i64 %67, %66
  br i1 %68, label %69, label %77

69:
  %70 = atomicrmw add ptr %64, i64 1 acq_rel, align 8
  %71 = icmp slt i64 %70, %66
  br i1 %71, label %72, label %74

72:
  %73 = add nsw i64 %70, 1
   call void %2(ptr %3, i64 %70, i64 %73, ptr %58, ptr %6)
  br label %74

74:
  %75 = load atomic i64, ptr %64 monotonic, align 8
  %76 = icmp slt i64 %75, %66
  br i1 %76, label %69, label %77

77:
  %78 = add nuw nsw i64 %62, 1
  %79 = icmp eq i64 %78, %28
  br i1 %79, label %80, label %61

80:
  %81 = atomicrmw and ptr %0, i64 -2147483649 acq_rel, align 64
  %82 = load atomic i64, ptr %0 acquire, align 64
  %83 = and i64 %82, 2147483647
  %84 = icmp eq i64 %83, 0
  br i1 %84, label %97, label %85

85:
  %86 = getelementptr inbounds i8, ptr %1, i64 32
  br label %98

87:
  %88 = phi i64 [ 0, %34 ], [ %91, %87 ]
  %89 = getelementptr inbounds [8 x i64], ptr %35, i64 %88
  %90 = getelementptr inbounds i8, ptr %89, i64 8
  %91 = add nuw nsw i64 %88, 1
  %92 = mul nuw nsw i64 %91, %4
  %93 = udiv i64 %92, %28
  store atomic i64 %93, ptr %90 monotonic, align 8
  %94 = mul nuw nsw i64 %88, %4
  %95 = udiv i64 %94, %28
  store atomic i64 %95, ptr %89 release, align 64
  %96 = icmp eq i64 %91, %36
  br i1 %96, label %37, label %87

97:
  store atomic i32 0, ptr %19 release, align 64
  br label %110

98:
  %99 = phi i32 [ 0, %85 ], [ %106, %105 ]
  %100 = icmp samesign ult i32 %99, 2000
  br i1 %100, label %101, label %102

101:
   call void @relax()
  br label %105

102:
  %103 = load ptr, ptr %86, align 8
  %104 = call i32 %103()
  br label %105

105:
  %106 = add nuw nsw i32 %99, 1
  %107 = load atomic i64, ptr %0 acquire, align 64
  %108 = and i64 %107, 2147483647
  %109 = icmp eq i64 %108, 0
  br i1 %109, label %97, label %98

110:
  ret void
}
