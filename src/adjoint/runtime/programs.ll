; Made from programs.c by `make native`; its SHA-256 is 55b19b21df9919703b7a090aa63031dba79ce23d4d458e97c1a5c5395bd0a37a
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
  %13 = load ptr, ptr %12, align 8
  br i1 %11, label %17, label %14

14:
  %15 = load ptr, ptr %13, align 8
  %16 = getelementptr inbounds i8, ptr %15, i64 24
  br label %17

17:
  %18 = phi ptr [ %16, %14 ], [ %13, %1 ]
  %19 = getelementptr inbounds i8, ptr %0, i64 40
  %20 = load ptr, ptr %19, align 8
  %21 = getelementptr inbounds i8, ptr %0, i64 32
  %22 = load ptr, ptr %21, align 8
  %23 = icmp eq ptr %22, %20
  br i1 %23, label %54, label %24

24:
  %25 = icmp sgt i64 %8, -1
  br label %26

26:
  %27 = phi ptr [ %22, %24 ], [ %52, %44 ]
  %28 = load i64, ptr %27, align 8
  %29 = getelementptr inbounds ptr, ptr %18, i64 %28
  %30 = load ptr, ptr %29, align 8
  br i1 %25, label %31, label %44

31:
  %32 = getelementptr inbounds i8, ptr %30, i64 %8
  %33 = load ptr, ptr %32, align 8
  br i1 %11, label %44, label %34

34:
  %35 = getelementptr inbounds i8, ptr %30, i64 8
  %36 = load ptr, ptr %35, align 8
  %37 = icmp eq ptr %36, %10
  br i1 %37, label %38, label %43

38:
  %39 = getelementptr inbounds i8, ptr %30, i64 64
  %40 = load i32, ptr %39, align 4
  %41 = and i32 %40, 257
  %42 = icmp eq i32 %41, 257
  br i1 %42, label %44, label %43

43:
  store i64 -1, ptr %6, align 8
  br label %118

44:
  %45 = phi ptr [ %33, %38 ], [ %33, %31 ], [ %30, %26 ]
  %46 = getelementptr inbounds i8, ptr %27, i64 16
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %45, i64 %47
  %49 = getelementptr inbounds i8, ptr %27, i64 8
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds ptr, ptr %2, i64 %50
  store ptr %48, ptr %51, align 8
  %52 = getelementptr inbounds i8, ptr %27, i64 24
  %53 = icmp eq ptr %52, %20
  br i1 %53, label %54, label %26

54:
  %55 = getelementptr inbounds i8, ptr %0, i64 96
  %56 = load ptr, ptr %55, align 8
  %57 = icmp eq ptr %56, null
  br i1 %57, label %62, label %58

58:
  %59 = call i32 %56()
  %60 = getelementptr inbounds i8, ptr %0, i64 104
  %61 = load ptr, ptr %60, align 8
   call void %61(i32 1)
  br label %62

62:
  %63 = phi i32 [ %59, %58 ], [ 0, %54 ]
  %64 = getelementptr inbounds i8, ptr %0, i64 56
  %65 = load ptr, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %0, i64 48
  %67 = load ptr, ptr %66, align 8
  %68 = icmp eq ptr %67, %65
  br i1 %68, label %112, label %69

69:
  %70 = getelementptr inbounds i8, ptr %0, i64 64
  %71 = getelementptr inbounds i8, ptr %0, i64 72
  %72 = getelementptr inbounds i8, ptr %0, i64 80
  %73 = getelementptr inbounds i8, ptr %0, i64 88
  br label %74

74:
  %75 = phi ptr [ %67, %69 ], [ %111, %110 ]
  %76 = getelementptr inbounds i8, ptr %75, i64 24
  %77 = load i64, ptr %76, align 8
  %78 = and i64 %77, 1
  %79 = icmp eq i64 %78, 0
  br i1 %79, label %91, label %80

80:
  %81 = load ptr, ptr %70, align 8
  %82 = load ptr, ptr %71, align 8
  %83 = load ptr, ptr %72, align 8
  %84 = load ptr, ptr %75, align 8
  %85 = getelementptr inbounds i8, ptr %75, i64 16
  %86 = load i64, ptr %85, align 8
  %87 = load i64, ptr %73, align 8
  %88 = getelementptr inbounds i8, ptr %75, i64 8
  %89 = load ptr, ptr %88, align 8
  %90 = and i64 %77, 4
   call void %81(ptr %82, ptr %83, ptr %84, ptr %2, i64 %86, i64 %87, ptr %89, i64 %90)
  br label %97

91:
  %92 = load ptr, ptr %75, align 8
  %93 = getelementptr inbounds i8, ptr %75, i64 16
  %94 = load i64, ptr %93, align 8
  %95 = getelementptr inbounds i8, ptr %75, i64 8
  %96 = load ptr, ptr %95, align 8
   call void %92(ptr %2, i64 0, i64 %94, ptr %4, ptr %96)
  br label %97

97:
  %98 = load i64, ptr %76, align 8
  %99 = and i64 %98, 2
  %100 = icmp eq i64 %99, 0
  br i1 %100, label %107, label %101

101:
  %102 = load i64, ptr %6, align 8
  %103 = icmp ne i64 %102, 0
  %104 = getelementptr inbounds i8, ptr %75, i64 32
  %105 = icmp eq ptr %104, %65
  %106 = select i1 %103, i1 true, i1 %105
  br i1 %106, label %112, label %110

107:
  %108 = getelementptr inbounds i8, ptr %75, i64 32
  %109 = icmp eq ptr %108, %65
  br i1 %109, label %112, label %110

110:
  %111 = phi ptr [ %108, %107 ], [ %104, %101 ]
  br label %74

112:
  %113 = load ptr, ptr %55, align 8
  %114 = icmp eq ptr %113, null
  br i1 %114, label %118, label %115

115:
  %116 = getelementptr inbounds i8, ptr %0, i64 104
  %117 = load ptr, ptr %116, align 8
   call void %117(i32 %63)
  br label %118

118:
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
  br i1 %9, label %10, label %71

10:
  %11 = getelementptr inbounds i8, ptr %0, i64 40
  %12 = load ptr, ptr %11, align 8
  store ptr %1, ptr %12, align 8
  %13 = getelementptr inbounds i8, ptr %0, i64 120
  %14 = load i64, ptr %13, align 8
  %15 = icmp sgt i64 %14, 0
  br i1 %15, label %16, label %19

16:
  %17 = getelementptr inbounds i8, ptr %0, i64 128
  %18 = getelementptr inbounds i8, ptr %1, i64 24
  br label %23

19:
  %20 = getelementptr inbounds i8, ptr %0, i64 72
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, null
  br i1 %22, label %49, label %47

23:
  %24 = phi ptr [ %17, %16 ], [ %38, %36 ]
  %25 = phi i64 [ %14, %16 ], [ %37, %36 ]
  %26 = load i64, ptr %24, align 8
  %27 = getelementptr inbounds ptr, ptr %18, i64 %26
  %28 = load ptr, ptr %27, align 8
  %29 = getelementptr inbounds i8, ptr %28, i64 32
  %30 = getelementptr inbounds i8, ptr %24, i64 16
  %31 = load i64, ptr %30, align 8
  %32 = icmp sgt i64 %31, 0
  br i1 %32, label %33, label %36

33:
  %34 = getelementptr inbounds i8, ptr %24, i64 8
  %35 = load ptr, ptr %34, align 8
  br label %40

36:
  %37 = add nsw i64 %25, -1
  %38 = getelementptr inbounds i8, ptr %24, i64 24
  %39 = icmp sgt i64 %25, 1
  br i1 %39, label %23, label %19

40:
  %41 = phi i64 [ 0, %33 ], [ %45, %40 ]
  %42 = getelementptr inbounds i32, ptr %29, i64 %41
  %43 = load i32, ptr %42, align 4
  %44 = getelementptr inbounds i32, ptr %35, i64 %41
  store i32 %43, ptr %44, align 4
  %45 = add nuw nsw i64 %41, 1
  %46 = icmp eq i64 %45, %31
  br i1 %46, label %36, label %40

47:
  %48 = call ptr %21()
  br label %49

49:
  %50 = phi ptr [ %48, %47 ], [ null, %19 ]
  %51 = load ptr, ptr %3, align 8
   call void @$run(ptr %51)
  %52 = load ptr, ptr %20, align 8
  %53 = icmp eq ptr %52, null
  br i1 %53, label %57, label %54

54:
  %55 = getelementptr inbounds i8, ptr %0, i64 80
  %56 = load ptr, ptr %55, align 8
   call void %56(ptr %50)
  br label %57

57:
  %58 = getelementptr inbounds i8, ptr %0, i64 48
  %59 = load ptr, ptr %58, align 8
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr inbounds i8, ptr %0, i64 56
  %62 = load ptr, ptr %61, align 8
  %63 = load i32, ptr %62, align 4
  %64 = sext i32 %63 to i64
  %65 = or i64 %60, %64
  %66 = icmp eq i64 %65, 0
  %67 = select i1 %66, i64 96, i64 104
  %68 = getelementptr inbounds i8, ptr %0, i64 %67
  %69 = load ptr, ptr %68, align 8
  %70 = load ptr, ptr %6, align 8
  store atomic i64 0, ptr %70 release, align 8
  br label %71

71:
  %72 = phi ptr [ %5, %2 ], [ %69, %57 ]
  %73 = getelementptr inbounds i8, ptr %0, i64 88
  %74 = load ptr, ptr %73, align 8
   call void %74(ptr %72)
  ret ptr %72
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
  %4 = getelementptr inbounds i8, ptr %1, i64 24
  %5 = load i64, ptr %3, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %35

7:
  %8 = getelementptr inbounds i8, ptr %0, i64 40
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds i8, ptr %0, i64 48
  br label %11

11:
  %12 = phi i64 [ 0, %7 ], [ %33, %32 ]
  %13 = getelementptr inbounds ptr, ptr %4, i64 %12
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %14, i64 8
  %16 = load ptr, ptr %15, align 8
  %17 = icmp eq ptr %16, %9
  br i1 %17, label %18, label %35

18:
  %19 = getelementptr inbounds i8, ptr %14, i64 64
  %20 = load i32, ptr %19, align 4
  %21 = and i32 %20, 1024
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %35, label %23

23:
  %24 = getelementptr inbounds i8, ptr %14, i64 48
  %25 = load ptr, ptr %24, align 8
  %26 = icmp eq ptr %25, null
  br i1 %26, label %32, label %27

27:
  %28 = getelementptr inbounds i8, ptr %25, i64 8
  %29 = load ptr, ptr %28, align 8
  %30 = load ptr, ptr %10, align 8
  %31 = icmp eq ptr %29, %30
  br i1 %31, label %32, label %35

32:
  %33 = add nuw nsw i64 %12, 1
  %34 = icmp eq i64 %33, %5
  br i1 %34, label %35, label %11

35:
  %36 = phi i64 [ 0, %2 ], [ %12, %18 ], [ %12, %11 ], [ %5, %32 ], [ %12, %27 ]
  %37 = icmp eq i64 %36, %5
  %38 = select i1 %37, i64 64, i64 72
  %39 = getelementptr inbounds i8, ptr %0, i64 %38
  %40 = load ptr, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %0, i64 56
  %42 = load ptr, ptr %41, align 8
   call void %42(ptr %40)
  ret ptr %40
}
define ptr @$freeze(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %1, i64 32
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds i8, ptr %4, i64 8
  %6 = load ptr, ptr %5, align 8
  %7 = getelementptr inbounds i8, ptr %0, i64 48
  %8 = load ptr, ptr %7, align 8
  %9 = icmp eq ptr %6, %8
  br i1 %9, label %10, label %37

10:
  %11 = getelementptr inbounds i8, ptr %0, i64 32
  %12 = getelementptr inbounds i8, ptr %4, i64 56
  %13 = load ptr, ptr %12, align 8
  %14 = getelementptr inbounds i8, ptr %0, i64 56
  %15 = load ptr, ptr %14, align 8
   call void %15(ptr %13)
  %16 = load ptr, ptr %11, align 8
  %17 = load ptr, ptr %7, align 8
  %18 = getelementptr inbounds i8, ptr %4, i64 24
  %19 = load i32, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %4, i64 32
  %21 = load ptr, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %4, i64 40
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds i8, ptr %4, i64 16
  %25 = load ptr, ptr %24, align 8
  %26 = call ptr %16(ptr %17, ptr %13, i32 %19, ptr %21, ptr %23, ptr %25, i32 0, ptr null)
  %27 = icmp eq ptr %26, null
  br i1 %27, label %37, label %28

28:
  %29 = load ptr, ptr %14, align 8
   call void %29(ptr %1)
  %30 = getelementptr inbounds i8, ptr %0, i64 40
  %31 = load ptr, ptr %30, align 8
  %32 = call i32 %31(ptr %26, ptr %1)
  %33 = icmp eq i32 %32, 0
  br i1 %33, label %37, label %34

34:
  %35 = getelementptr inbounds i8, ptr %0, i64 64
  %36 = load ptr, ptr %35, align 8
   call void %36(ptr %26)
  br label %37

37:
  %38 = phi ptr [ null, %2 ], [ null, %34 ], [ null, %10 ], [ %26, %28 ]
  ret ptr %38
}
