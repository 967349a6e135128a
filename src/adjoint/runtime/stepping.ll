; Made from stepping.c by `make native`; its SHA-256 is 99fdac1e09d9df5e24d9caee6ad46d4111f7b4cca0616cd536486435a136b181
define i64 @$drive(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, i64 %7, i64 %8, ptr %9, ptr %10, ptr %11) #0 {
  %13 = icmp eq ptr %3, %4
  %14 = icmp eq ptr %5, %6
  %15 = icmp eq ptr %11, null
  br label %16

16:
  %17 = phi i64 [ %7, %12 ], [ %77, %76 ]
  br i1 %13, label %20, label %18

18:
  %19 = trunc i64 %17 to i1
  br label %29

20:
   call void %0(ptr %1)
  %21 = load i64, ptr %9, align 8
  %22 = load i32, ptr %10, align 4
  %23 = sext i32 %22 to i64
  %24 = or i64 %21, %23
  %25 = icmp eq i64 %24, 0
  br i1 %25, label %26, label %79

26:
  br i1 %14, label %45, label %27

27:
  %28 = trunc i64 %17 to i1
  br label %46

29:
  %30 = phi ptr [ %3, %18 ], [ %43, %29 ]
  %31 = getelementptr inbounds i8, ptr %30, i64 8
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds i8, ptr %30, i64 16
  %34 = load i64, ptr %33, align 8
  %35 = mul nsw i64 %34, %17
  %36 = add nsw i64 %35, %32
  %37 = getelementptr inbounds i8, ptr %30, i64 24
  %38 = load i64, ptr %37, align 8
  %39 = select i1 %19, i64 %38, i64 0
  %40 = add nsw i64 %36, %39
  %41 = load i64, ptr %30, align 8
  %42 = getelementptr inbounds i64, ptr %2, i64 %41
  store i64 %40, ptr %42, align 8
  %43 = getelementptr inbounds i8, ptr %30, i64 32
  %44 = icmp eq ptr %43, %4
  br i1 %44, label %20, label %29

45:
  br i1 %15, label %76, label %73

46:
  %47 = phi ptr [ %5, %27 ], [ %71, %46 ]
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr inbounds i8, ptr %47, i64 8
  %50 = load i64, ptr %49, align 8
  %51 = mul nsw i64 %50, %17
  %52 = add nsw i64 %51, %48
  %53 = getelementptr inbounds i8, ptr %47, i64 16
  %54 = load i64, ptr %53, align 8
  %55 = select i1 %28, i64 %54, i64 0
  %56 = add nsw i64 %52, %55
  %57 = inttoptr i64 %56 to ptr
  %58 = getelementptr inbounds i8, ptr %47, i64 24
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr inbounds i8, ptr %47, i64 32
  %61 = load i64, ptr %60, align 8
  %62 = mul nsw i64 %61, %17
  %63 = add nsw i64 %62, %59
  %64 = getelementptr inbounds i8, ptr %47, i64 40
  %65 = load i64, ptr %64, align 8
  %66 = select i1 %28, i64 %65, i64 0
  %67 = add nsw i64 %63, %66
  %68 = inttoptr i64 %67 to ptr
  %69 = getelementptr inbounds i8, ptr %47, i64 48
  %70 = load i64, ptr %69, align 8
   call void @llvm.memcpy.p0.p0.i64(ptr align 1 %57, ptr align 1 %68, i64 %70, i1 false)
  %71 = getelementptr inbounds i8, ptr %47, i64 56
  %72 = icmp eq ptr %71, %6
  br i1 %72, label %45, label %46

73:
  %74 = load i8, ptr %11, align 1
  %75 = icmp eq i8 %74, 0
  br i1 %75, label %79, label %76

76:
  %77 = add nsw i64 %17, 1
  %78 = icmp slt i64 %77, %8
  br i1 %78, label %16, label %79

79:
  %80 = phi i64 [ %17, %20 ], [ %17, %73 ], [ %77, %76 ]
  ret i64 %80
}
define void @$scan(ptr %0, ptr %1, ptr %2) #0 {
  %4 = getelementptr inbounds i8, ptr %2, i64 88
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds i8, ptr %2, i64 96
  %7 = load ptr, ptr %6, align 8
  %8 = icmp eq ptr %5, %7
  br i1 %8, label %9, label %15

9:
  %10 = getelementptr inbounds i8, ptr %2, i64 104
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds i8, ptr %2, i64 112
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %11, %13
  br i1 %14, label %29, label %56

15:
  %16 = phi ptr [ %27, %15 ], [ %5, %3 ]
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds i64, ptr %1, i64 %17
  %19 = load i64, ptr %18, align 8
  %20 = getelementptr inbounds i64, ptr %0, i64 %19
  %21 = load i64, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %16, i64 8
  %23 = load i64, ptr %22, align 8
  %24 = add nsw i64 %23, %21
  %25 = getelementptr inbounds i8, ptr %16, i64 16
  %26 = load ptr, ptr %25, align 8
  store i64 %24, ptr %26, align 8
  %27 = getelementptr inbounds i8, ptr %16, i64 24
  %28 = icmp eq ptr %27, %7
  br i1 %28, label %9, label %15

29:
  %30 = getelementptr inbounds i8, ptr %2, i64 8
  %31 = load ptr, ptr %30, align 8
  %32 = getelementptr inbounds i8, ptr %2, i64 16
  %33 = load ptr, ptr %32, align 8
  %34 = getelementptr inbounds i8, ptr %2, i64 24
  %35 = load ptr, ptr %34, align 8
  %36 = getelementptr inbounds i8, ptr %2, i64 32
  %37 = load ptr, ptr %36, align 8
  %38 = getelementptr inbounds i8, ptr %2, i64 40
  %39 = load ptr, ptr %38, align 8
  %40 = getelementptr inbounds i8, ptr %2, i64 48
  %41 = load ptr, ptr %40, align 8
  %42 = getelementptr inbounds i8, ptr %2, i64 56
  %43 = load ptr, ptr %42, align 8
  %44 = getelementptr inbounds i8, ptr %2, i64 64
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %2, i64 72
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %2, i64 80
  %49 = load ptr, ptr %48, align 8
  %50 = call i64 @$drive(ptr %31, ptr %33, ptr %35, ptr %37, ptr %39, ptr %41, ptr %43, i64 0, i64 %45, ptr %47, ptr %49, ptr null)
  %51 = getelementptr inbounds i8, ptr %2, i64 120
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %2, i64 128
  %54 = load ptr, ptr %53, align 8
  %55 = icmp eq ptr %52, %54
  br i1 %55, label %71, label %72

56:
  %57 = phi ptr [ %68, %56 ], [ %11, %9 ]
  %58 = getelementptr inbounds i8, ptr %57, i64 8
  %59 = load ptr, ptr %58, align 8
  %60 = load i64, ptr %57, align 8
  %61 = getelementptr inbounds i64, ptr %1, i64 %60
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr inbounds i64, ptr %0, i64 %62
  %64 = load i64, ptr %63, align 8
  %65 = inttoptr i64 %64 to ptr
  %66 = getelementptr inbounds i8, ptr %57, i64 16
  %67 = load i64, ptr %66, align 8
   call void @llvm.memcpy.p0.p0.i64(ptr align 1 %59, ptr align 1 %65, i64 %67, i1 false)
  %68 = getelementptr inbounds i8, ptr %57, i64 24
  %69 = load ptr, ptr %12, align 8
  %70 = icmp eq ptr %68, %69
  br i1 %70, label %29, label %56

71:
  ret void

72:
  %73 = phi ptr [ %84, %72 ], [ %52, %29 ]
  %74 = load i64, ptr %73, align 8
  %75 = getelementptr inbounds i64, ptr %1, i64 %74
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr inbounds i64, ptr %0, i64 %76
  %78 = load i64, ptr %77, align 8
  %79 = inttoptr i64 %78 to ptr
  %80 = getelementptr inbounds i8, ptr %73, i64 8
  %81 = load ptr, ptr %80, align 8
  %82 = getelementptr inbounds i8, ptr %73, i64 16
  %83 = load i64, ptr %82, align 8
   call void @llvm.memcpy.p0.p0.i64(ptr align 1 %79, ptr align 1 %81, i64 %83, i1 false)
  %84 = getelementptr inbounds i8, ptr %73, i64 24
  %85 = load ptr, ptr %53, align 8
  %86 = icmp eq ptr %84, %85
  br i1 %86, label %71, label %72
}
define void @$choose(ptr %0, ptr %1, ptr %2, i64 %3) #0 {
  %5 = getelementptr inbounds i8, ptr %2, i64 8
  %6 = load i64, ptr %5, align 8
  %7 = add nsw i64 %6, -1
  %8 = call i64 @llvm.smax.i64(i64 %3, i64 0)
  %9 = getelementptr inbounds i8, ptr %2, i64 16
  %10 = load ptr, ptr %9, align 8
  %11 = call i64 @llvm.smin.i64(i64 %8, i64 %7)
  %12 = getelementptr inbounds ptr, ptr %10, i64 %11
  %13 = load ptr, ptr %12, align 8
   call void @$scan(ptr %0, ptr %1, ptr %13)
  ret void
}
define void @$nothing(ptr %0) #0 {
  ret void
}
define void @$sweep(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, i64 %10, i64 %11, i64 %12, i64 %13) #0 {
  %15 = add i64 %12, -1
  %16 = add i64 %15, %13
  %17 = sdiv i64 %16, %12
  %18 = add nsw i64 %17, -1
  %19 = icmp eq ptr %8, %9
  %20 = mul i64 %12, %11
  br label %21

21:
  %22 = phi i64 [ 0, %14 ], [ %45, %41 ]
  br i1 %19, label %34, label %23

23:
  %24 = phi ptr [ %32, %23 ], [ %8, %21 ]
  %25 = getelementptr inbounds i8, ptr %24, i64 8
  %26 = load ptr, ptr %25, align 8
  %27 = getelementptr inbounds i8, ptr %24, i64 16
  %28 = load i64, ptr %27, align 8
  %29 = mul nsw i64 %28, %22
  %30 = getelementptr inbounds i8, ptr %26, i64 %29
  %31 = load ptr, ptr %24, align 8
   call void @llvm.memcpy.p0.p0.i64(ptr align 1 %30, ptr align 1 %31, i64 %28, i1 false)
  %32 = getelementptr inbounds i8, ptr %24, i64 24
  %33 = icmp eq ptr %32, %9
  br i1 %33, label %34, label %23

34:
  %35 = icmp eq i64 %22, %18
  br i1 %35, label %36, label %41

36:
  %37 = icmp sgt i64 %17, 0
  br i1 %37, label %38, label %46

38:
  %39 = icmp eq ptr %6, %7
  %40 = sub nsw i64 0, %11
  br label %47

41:
  %42 = mul i64 %20, %22
  %43 = add nsw i64 %42, %10
  %44 = call i64 %0(ptr %1, i64 %43, i64 %11, i64 %12)
  %45 = add nuw nsw i64 %22, 1
  br label %21

46:
  ret void

47:
  %48 = phi i64 [ %18, %38 ], [ %73, %70 ]
  br i1 %19, label %60, label %49

49:
  %50 = phi ptr [ %58, %49 ], [ %8, %47 ]
  %51 = getelementptr inbounds i8, ptr %50, i64 8
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %50, i64 16
  %54 = load i64, ptr %53, align 8
  %55 = mul nsw i64 %54, %48
  %56 = getelementptr inbounds i8, ptr %52, i64 %55
  %57 = load ptr, ptr %50, align 8
   call void @llvm.memcpy.p0.p0.i64(ptr align 1 %57, ptr align 1 %56, i64 %54, i1 false)
  %58 = getelementptr inbounds i8, ptr %50, i64 24
  %59 = icmp eq ptr %58, %9
  br i1 %59, label %60, label %49

60:
  %61 = mul nsw i64 %48, %12
  %62 = sub nsw i64 %13, %61
  %63 = call i64 @llvm.smin.i64(i64 %62, i64 %12)
  %64 = mul nsw i64 %61, %11
  %65 = add nsw i64 %64, %10
  %66 = add nsw i64 %63, -1
  %67 = mul nsw i64 %66, %11
  %68 = add nsw i64 %67, %65
  %69 = call i64 @llvm.smin.i64(i64 %65, i64 %68)
  br i1 %39, label %70, label %75

70:
  %71 = call i64 %2(ptr %3, i64 %65, i64 %11, i64 %63)
  %72 = call i64 %4(ptr %5, i64 %68, i64 %40, i64 %63)
  %73 = add nsw i64 %48, -1
  %74 = icmp sgt i64 %48, 0
  br i1 %74, label %47, label %46

75:
  %76 = phi ptr [ %84, %75 ], [ %6, %60 ]
  %77 = getelementptr inbounds i8, ptr %76, i64 8
  %78 = load i64, ptr %77, align 8
  %79 = getelementptr inbounds i8, ptr %76, i64 16
  %80 = load i64, ptr %79, align 8
  %81 = mul nsw i64 %80, %69
  %82 = sub nsw i64 %78, %81
  %83 = load ptr, ptr %76, align 8
  store i64 %82, ptr %83, align 8
  %84 = getelementptr inbounds i8, ptr %76, i64 24
  %85 = icmp eq ptr %84, %7
  br i1 %85, label %70, label %75
}
