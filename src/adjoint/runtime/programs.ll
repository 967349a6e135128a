; Made from programs.c by `make native`; its SHA-256 is 537afd8fabbbf956096e2033b39c6af6c4140737903b7ff0e2a84ffd446a2319
define void @$run(ptr %0) #0 {
  %2 = load ptr, ptr %0, align 8
  %3 = load ptr, ptr %2, align 8
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds i8, ptr %2, i64 8
  %6 = load ptr, ptr %5, align 8
  %7 = getelementptr inbounds i8, ptr %0, i64 16
  %8 = load i64, ptr %7, align 8
  %9 = getelementptr inbounds i8, ptr %0, i64 24
  %10 = load ptr, ptr %9, align 8
  %11 = icmp eq ptr %10, null
  %12 = getelementptr inbounds i8, ptr %0, i64 8
  br i1 %11, label %15, label %13

13:
  %14 = load ptr, ptr %12, align 8
  br label %15

15:
  %16 = phi ptr [ %14, %13 ], [ %12, %1 ]
  %17 = load ptr, ptr %16, align 8
  %18 = getelementptr inbounds i8, ptr %0, i64 40
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %0, i64 32
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, %19
  br i1 %22, label %53, label %23

23:
  %24 = icmp sgt i64 %8, -1
  br label %25

25:
  %26 = phi ptr [ %21, %23 ], [ %51, %43 ]
  %27 = load i64, ptr %26, align 8
  %28 = getelementptr inbounds ptr, ptr %17, i64 %27
  %29 = load ptr, ptr %28, align 8
  br i1 %24, label %30, label %43

30:
  %31 = getelementptr inbounds i8, ptr %29, i64 %8
  %32 = load ptr, ptr %31, align 8
  br i1 %11, label %43, label %33

33:
  %34 = getelementptr inbounds i8, ptr %29, i64 8
  %35 = load ptr, ptr %34, align 8
  %36 = icmp eq ptr %35, %10
  br i1 %36, label %37, label %42

37:
  %38 = getelementptr inbounds i8, ptr %29, i64 64
  %39 = load i32, ptr %38, align 4
  %40 = and i32 %39, 257
  %41 = icmp eq i32 %40, 257
  br i1 %41, label %43, label %42

42:
  store i64 -1, ptr %6, align 8
  br label %117

43:
  %44 = phi ptr [ %32, %37 ], [ %32, %30 ], [ %29, %25 ]
  %45 = getelementptr inbounds i8, ptr %26, i64 16
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr inbounds i8, ptr %44, i64 %46
  %48 = getelementptr inbounds i8, ptr %26, i64 8
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr inbounds ptr, ptr %2, i64 %49
  store ptr %47, ptr %50, align 8
  %51 = getelementptr inbounds i8, ptr %26, i64 24
  %52 = icmp eq ptr %51, %19
  br i1 %52, label %53, label %25

53:
  %54 = getelementptr inbounds i8, ptr %0, i64 96
  %55 = load ptr, ptr %54, align 8
  %56 = icmp eq ptr %55, null
  br i1 %56, label %61, label %57

57:
  %58 = call i32 %55()
  %59 = getelementptr inbounds i8, ptr %0, i64 104
  %60 = load ptr, ptr %59, align 8
   call void %60(i32 1)
  br label %61

61:
  %62 = phi i32 [ %58, %57 ], [ 0, %53 ]
  %63 = getelementptr inbounds i8, ptr %0, i64 56
  %64 = load ptr, ptr %63, align 8
  %65 = getelementptr inbounds i8, ptr %0, i64 48
  %66 = load ptr, ptr %65, align 8
  %67 = icmp eq ptr %66, %64
  br i1 %67, label %111, label %68

68:
  %69 = getelementptr inbounds i8, ptr %0, i64 64
  %70 = getelementptr inbounds i8, ptr %0, i64 72
  %71 = getelementptr inbounds i8, ptr %0, i64 80
  %72 = getelementptr inbounds i8, ptr %0, i64 88
  br label %73

73:
  %74 = phi ptr [ %66, %68 ], [ %110, %109 ]
  %75 = getelementptr inbounds i8, ptr %74, i64 24
  %76 = load i64, ptr %75, align 8
  %77 = and i64 %76, 1
  %78 = icmp eq i64 %77, 0
  br i1 %78, label %90, label %79

79:
  %80 = load ptr, ptr %69, align 8
  %81 = load ptr, ptr %70, align 8
  %82 = load ptr, ptr %71, align 8
  %83 = load ptr, ptr %74, align 8
  %84 = getelementptr inbounds i8, ptr %74, i64 16
  %85 = load i64, ptr %84, align 8
  %86 = load i64, ptr %72, align 8
  %87 = getelementptr inbounds i8, ptr %74, i64 8
  %88 = load ptr, ptr %87, align 8
  %89 = and i64 %76, 4
   call void %80(ptr %81, ptr %82, ptr %83, ptr %2, i64 %85, i64 %86, ptr %88, i64 %89)
  br label %96

90:
  %91 = load ptr, ptr %74, align 8
  %92 = getelementptr inbounds i8, ptr %74, i64 16
  %93 = load i64, ptr %92, align 8
  %94 = getelementptr inbounds i8, ptr %74, i64 8
  %95 = load ptr, ptr %94, align 8
   call void %91(ptr %2, i64 0, i64 %93, ptr %4, ptr %95)
  br label %96

96:
  %97 = load i64, ptr %75, align 8
  %98 = and i64 %97, 2
  %99 = icmp eq i64 %98, 0
  br i1 %99, label %106, label %100

100:
  %101 = load i64, ptr %6, align 8
  %102 = icmp ne i64 %101, 0
  %103 = getelementptr inbounds i8, ptr %74, i64 32
  %104 = icmp eq ptr %103, %64
  %105 = select i1 %102, i1 true, i1 %104
  br i1 %105, label %111, label %109

106:
  %107 = getelementptr inbounds i8, ptr %74, i64 32
  %108 = icmp eq ptr %107, %64
  br i1 %108, label %111, label %109

109:
  %110 = phi ptr [ %107, %106 ], [ %103, %100 ]
  br label %73

111:
  %112 = load ptr, ptr %54, align 8
  %113 = icmp eq ptr %112, null
  br i1 %113, label %117, label %114

114:
  %115 = getelementptr inbounds i8, ptr %0, i64 104
  %116 = load ptr, ptr %115, align 8
   call void %116(i32 %62)
  br label %117

117:
  ret void
}
define ptr @$enter(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %0, i64 32
  %4 = getelementptr inbounds i8, ptr %0, i64 112
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds i8, ptr %0, i64 64
  %7 = load ptr, ptr %6, align 8
  %8 = atomicrmw xchg ptr %7, i64 1 acquire, align 8
  %9 = icmp eq i64 %8, 0
  br i1 %9, label %10, label %73

10:
  %11 = getelementptr inbounds i8, ptr %0, i64 120
  %12 = load i64, ptr %11, align 8
  %13 = getelementptr inbounds i8, ptr %1, i64 %12
  %14 = getelementptr inbounds i8, ptr %0, i64 40
  %15 = load ptr, ptr %14, align 8
  store ptr %13, ptr %15, align 8
  %16 = getelementptr inbounds i8, ptr %0, i64 128
  %17 = load i64, ptr %16, align 8
  %18 = icmp sgt i64 %17, 0
  br i1 %18, label %19, label %21

19:
  %20 = getelementptr inbounds i8, ptr %0, i64 136
  br label %25

21:
  %22 = getelementptr inbounds i8, ptr %0, i64 72
  %23 = load ptr, ptr %22, align 8
  %24 = icmp eq ptr %23, null
  br i1 %24, label %51, label %49

25:
  %26 = phi ptr [ %40, %38 ], [ %20, %19 ]
  %27 = phi i64 [ %39, %38 ], [ %17, %19 ]
  %28 = load i64, ptr %26, align 8
  %29 = getelementptr inbounds ptr, ptr %13, i64 %28
  %30 = load ptr, ptr %29, align 8
  %31 = getelementptr inbounds i8, ptr %30, i64 32
  %32 = getelementptr inbounds i8, ptr %26, i64 16
  %33 = load i64, ptr %32, align 8
  %34 = icmp sgt i64 %33, 0
  br i1 %34, label %35, label %38

35:
  %36 = getelementptr inbounds i8, ptr %26, i64 8
  %37 = load ptr, ptr %36, align 8
  br label %42

38:
  %39 = add nsw i64 %27, -1
  %40 = getelementptr inbounds i8, ptr %26, i64 24
  %41 = icmp sgt i64 %27, 1
  br i1 %41, label %25, label %21

42:
  %43 = phi i64 [ 0, %35 ], [ %47, %42 ]
  %44 = getelementptr inbounds i32, ptr %31, i64 %43
  %45 = load i32, ptr %44, align 4
  %46 = getelementptr inbounds i32, ptr %37, i64 %43
  store i32 %45, ptr %46, align 4
  %47 = add nuw nsw i64 %43, 1
  %48 = icmp eq i64 %47, %33
  br i1 %48, label %38, label %42

49:
  %50 = call ptr %23()
  br label %51

51:
  %52 = phi ptr [ %50, %49 ], [ null, %21 ]
  %53 = load ptr, ptr %3, align 8
   call void @$run(ptr %53)
  %54 = load ptr, ptr %22, align 8
  %55 = icmp eq ptr %54, null
  br i1 %55, label %59, label %56

56:
  %57 = getelementptr inbounds i8, ptr %0, i64 80
  %58 = load ptr, ptr %57, align 8
   call void %58(ptr %52)
  br label %59

59:
  %60 = getelementptr inbounds i8, ptr %0, i64 48
  %61 = load ptr, ptr %60, align 8
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %0, i64 56
  %64 = load ptr, ptr %63, align 8
  %65 = load i32, ptr %64, align 4
  %66 = sext i32 %65 to i64
  %67 = or i64 %62, %66
  %68 = icmp eq i64 %67, 0
  %69 = select i1 %68, i64 96, i64 104
  %70 = getelementptr inbounds i8, ptr %0, i64 %69
  %71 = load ptr, ptr %70, align 8
  %72 = load ptr, ptr %6, align 8
  store atomic i64 0, ptr %72 release, align 8
  br label %73

73:
  %74 = phi ptr [ %5, %2 ], [ %71, %59 ]
  %75 = getelementptr inbounds i8, ptr %0, i64 88
  %76 = load ptr, ptr %75, align 8
   call void %76(ptr %74)
  ret ptr %74
}
define ptr @$holds(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %0, i64 32
  %4 = getelementptr inbounds i8, ptr %0, i64 56
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds i8, ptr %0, i64 72
  %7 = load i64, ptr %6, align 8
  %8 = icmp sgt i64 %7, 0
  br i1 %8, label %9, label %34

9:
  %10 = getelementptr inbounds i8, ptr %0, i64 80
  br label %11

11:
  %12 = phi i64 [ %31, %30 ], [ %7, %9 ]
  %13 = phi ptr [ %32, %30 ], [ %10, %9 ]
  %14 = load ptr, ptr %3, align 8
  %15 = load ptr, ptr %13, align 8
  %16 = getelementptr inbounds i8, ptr %13, i64 8
  %17 = load ptr, ptr %16, align 8
  %18 = call ptr %14(ptr %15, ptr %17)
  %19 = getelementptr inbounds i8, ptr %13, i64 16
  %20 = load ptr, ptr %19, align 8
  %21 = icmp eq ptr %18, %20
  br i1 %21, label %30, label %22

22:
  %23 = icmp eq ptr %18, null
  br i1 %23, label %24, label %27

24:
  %25 = getelementptr inbounds i8, ptr %0, i64 40
  %26 = load ptr, ptr %25, align 8
   call void %26()
  br label %27

27:
  %28 = getelementptr inbounds i8, ptr %0, i64 64
  %29 = load ptr, ptr %28, align 8
  br label %34

30:
  %31 = add nsw i64 %12, -1
  %32 = getelementptr inbounds i8, ptr %13, i64 24
  %33 = icmp sgt i64 %12, 1
  br i1 %33, label %11, label %34

34:
  %35 = phi ptr [ %29, %27 ], [ %5, %2 ], [ %5, %30 ]
  %36 = getelementptr inbounds i8, ptr %0, i64 48
  %37 = load ptr, ptr %36, align 8
   call void %37(ptr %35)
  ret ptr %35
}
define ptr @$owned(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %0, i64 32
  %4 = load i64, ptr %3, align 8
  %5 = icmp slt i64 %4, 1
  br i1 %5, label %38, label %6

6:
  %7 = getelementptr inbounds i8, ptr %0, i64 88
  %8 = load i64, ptr %7, align 8
  %9 = getelementptr i8, ptr %1, i64 %8
  %10 = getelementptr inbounds i8, ptr %0, i64 40
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds i8, ptr %0, i64 48
  br label %13

13:
  %14 = phi i64 [ 0, %6 ], [ %36, %35 ]
  %15 = shl nsw i64 %14, 3
  %16 = getelementptr i8, ptr %9, i64 %15
  %17 = load ptr, ptr %16, align 8
  %18 = getelementptr inbounds i8, ptr %17, i64 8
  %19 = load ptr, ptr %18, align 8
  %20 = icmp eq ptr %19, %11
  br i1 %20, label %21, label %38

21:
  %22 = getelementptr inbounds i8, ptr %17, i64 64
  %23 = load i32, ptr %22, align 4
  %24 = and i32 %23, 1024
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %38, label %26

26:
  %27 = getelementptr inbounds i8, ptr %17, i64 48
  %28 = load ptr, ptr %27, align 8
  %29 = icmp eq ptr %28, null
  br i1 %29, label %35, label %30

30:
  %31 = getelementptr inbounds i8, ptr %28, i64 8
  %32 = load ptr, ptr %31, align 8
  %33 = load ptr, ptr %12, align 8
  %34 = icmp eq ptr %32, %33
  br i1 %34, label %35, label %38

35:
  %36 = add nuw nsw i64 %14, 1
  %37 = icmp eq i64 %36, %4
  br i1 %37, label %38, label %13

38:
  %39 = phi i64 [ 0, %2 ], [ %14, %21 ], [ %14, %13 ], [ %4, %35 ], [ %14, %30 ]
  %40 = icmp eq i64 %39, %4
  %41 = getelementptr inbounds i8, ptr %0, i64 64
  %42 = getelementptr inbounds i8, ptr %0, i64 72
  %43 = select i1 %40, ptr %41, ptr %42
  %44 = load ptr, ptr %43, align 8
  %45 = load ptr, ptr %41, align 8
  %46 = icmp eq ptr %44, %45
  br i1 %46, label %47, label %71

47:
  %48 = getelementptr inbounds i8, ptr %0, i64 96
  %49 = load i64, ptr %48, align 8
  %50 = icmp eq i64 %49, 0
  %51 = or i1 %50, %5
  br i1 %51, label %71, label %52

52:
  %53 = shl nuw i64 %4, 1
  %54 = getelementptr inbounds i8, ptr %0, i64 88
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr i8, ptr %1, i64 %55
  %57 = call i64 @llvm.smax.i64(i64 %53, i64 1)
  br label %61

58:
  %59 = add nuw nsw i64 %62, 1
  %60 = icmp eq i64 %59, %57
  br i1 %60, label %71, label %61

61:
  %62 = phi i64 [ 0, %52 ], [ %59, %58 ]
  %63 = shl nsw i64 %62, 3
  %64 = getelementptr i8, ptr %56, i64 %63
  %65 = load ptr, ptr %64, align 8
  %66 = load i64, ptr %65, align 8
  %67 = icmp eq i64 %66, %49
  br i1 %67, label %58, label %68

68:
  %69 = getelementptr inbounds i8, ptr %0, i64 80
  %70 = load ptr, ptr %69, align 8
  br label %71

71:
  %72 = phi ptr [ %70, %68 ], [ %44, %38 ], [ %44, %47 ], [ %44, %58 ]
  %73 = getelementptr inbounds i8, ptr %0, i64 56
  %74 = load ptr, ptr %73, align 8
   call void %74(ptr %72)
  ret ptr %72
}
define ptr @$freeze(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %0, i64 72
  %4 = load i64, ptr %3, align 8
  %5 = getelementptr i8, ptr %1, i64 %4
  %6 = getelementptr i8, ptr %5, i64 8
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds i8, ptr %7, i64 8
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds i8, ptr %0, i64 48
  %11 = load ptr, ptr %10, align 8
  %12 = icmp eq ptr %9, %11
  br i1 %12, label %13, label %40

13:
  %14 = getelementptr inbounds i8, ptr %0, i64 32
  %15 = getelementptr inbounds i8, ptr %7, i64 56
  %16 = load ptr, ptr %15, align 8
  %17 = getelementptr inbounds i8, ptr %0, i64 56
  %18 = load ptr, ptr %17, align 8
   call void %18(ptr %16)
  %19 = load ptr, ptr %14, align 8
  %20 = load ptr, ptr %10, align 8
  %21 = getelementptr inbounds i8, ptr %7, i64 24
  %22 = load i32, ptr %21, align 8
  %23 = getelementptr inbounds i8, ptr %7, i64 32
  %24 = load ptr, ptr %23, align 8
  %25 = getelementptr inbounds i8, ptr %7, i64 40
  %26 = load ptr, ptr %25, align 8
  %27 = getelementptr inbounds i8, ptr %7, i64 16
  %28 = load ptr, ptr %27, align 8
  %29 = call ptr %19(ptr %20, ptr %16, i32 %22, ptr %24, ptr %26, ptr %28, i32 0, ptr null)
  %30 = icmp eq ptr %29, null
  br i1 %30, label %40, label %31

31:
  %32 = load ptr, ptr %17, align 8
   call void %32(ptr %1)
  %33 = getelementptr inbounds i8, ptr %0, i64 40
  %34 = load ptr, ptr %33, align 8
  %35 = call i32 %34(ptr %29, ptr %1)
  %36 = icmp eq i32 %35, 0
  br i1 %36, label %40, label %37

37:
  %38 = getelementptr inbounds i8, ptr %0, i64 64
  %39 = load ptr, ptr %38, align 8
   call void %39(ptr %29)
  br label %40

40:
  %41 = phi ptr [ null, %2 ], [ null, %37 ], [ null, %13 ], [ %29, %31 ]
  ret ptr %41
}
