; Made from factors.c by `make native`; its SHA-256 is c6d11bc3f9d829c34a4aae2360990c30eeff3f60398da53b69f4219165713789
define i64 @$cholesky_s(ptr %0, ptr %1, ptr %2, i64 %3) #0 {
  %5 = alloca i8, align 1
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = mul nsw i64 %3, %3
  %9 = call fastcc i32 @$finite_s(ptr %1, ptr %0, i64 %8)
  %10 = icmp eq i32 %9, 0
  br i1 %10, label %11, label %12

11:
   call fastcc void @$spoil_s(ptr %1, i64 %8)
  br label %16

12:
  store i8 85, ptr %5, align 1
  %13 = trunc i64 %3 to i32
  store i32 %13, ptr %6, align 4
  store i32 0, ptr %7, align 4
  call void %2(ptr %5, ptr %6, ptr %1, ptr %6, ptr %7, i64 1)
  call fastcc void @$clear_above_s(ptr %1, i64 %3)
  %14 = load i32, ptr %7, align 4
  %15 = sext i32 %14 to i64
  br label %16

16:
  %17 = phi i64 [ %15, %12 ], [ 0, %11 ]
  ret i64 %17
}
define internal fastcc i32 @$finite_s(ptr %0, ptr %1, i64 %2) #0 {
  %4 = alloca [16 x float], align 16
  %5 = icmp slt i64 %2, 16
  br i1 %5, label %8, label %6

6:
  %7 = icmp eq ptr %0, null
  br label %14

8:
  %9 = phi i64 [ 0, %3 ], [ %15, %22 ]
  %10 = phi <16 x float> [ zeroinitializer, %3 ], [ %23, %22 ]
  %11 = icmp slt i64 %9, %2
  br i1 %11, label %12, label %37

12:
  %13 = icmp eq ptr %0, null
  br label %26

14:
  %15 = phi i64 [ 16, %6 ], [ %24, %22 ]
  %16 = phi <16 x float> [ zeroinitializer, %6 ], [ %23, %22 ]
  %17 = phi i64 [ 0, %6 ], [ %15, %22 ]
  %18 = getelementptr inbounds float, ptr %1, i64 %17
  %19 = load <16 x float>, ptr %18, align 4
  br i1 %7, label %22, label %20

20:
  %21 = getelementptr inbounds float, ptr %0, i64 %17
  store <16 x float> %19, ptr %21, align 4
  br label %22

22:
  %23 = call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %19, <16 x float> zeroinitializer, <16 x float> %16)
  %24 = add nuw nsw i64 %15, 16
  %25 = icmp sgt i64 %24, %2
  br i1 %25, label %8, label %14

26:
  %27 = phi float [ 0.000000e+00, %12 ], [ %34, %33 ]
  %28 = phi i64 [ %9, %12 ], [ %35, %33 ]
  %29 = getelementptr inbounds float, ptr %1, i64 %28
  %30 = load float, ptr %29, align 4
  br i1 %13, label %33, label %31

31:
  %32 = getelementptr inbounds float, ptr %0, i64 %28
  store float %30, ptr %32, align 4
  br label %33

33:
  %34 = call float @llvm.fmuladd.f32(float %30, float 0.000000e+00, float %27)
  %35 = add nuw nsw i64 %28, 1
  %36 = icmp eq i64 %35, %2
  br i1 %36, label %37, label %26

37:
  %38 = phi float [ 0.000000e+00, %8 ], [ %34, %33 ]
  store <16 x float> %10, ptr %4, align 16
  br label %42

39:
  %40 = fcmp oeq float %47, 0.000000e+00
  %41 = zext i1 %40 to i32
  ret i32 %41

42:
  %43 = phi i64 [ 0, %37 ], [ %48, %42 ]
  %44 = phi float [ %38, %37 ], [ %47, %42 ]
  %45 = getelementptr inbounds float, ptr %4, i64 %43
  %46 = load float, ptr %45, align 4
  %47 = fadd float %44, %46
  %48 = add nuw nsw i64 %43, 1
  %49 = icmp eq i64 %48, 16
  br i1 %49, label %39, label %42
}
define internal fastcc void @$spoil_s(ptr %0, i64 %1) #0 {
   call fastcc void @$fill_s(ptr %0, i64 %1, float 0x7FF8000000000000)
  ret void
}
define internal fastcc void @$clear_above_s(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 0
  br i1 %3, label %4, label %6

4:
  %5 = add nuw i64 %1, 1
  br label %7

6:
  ret void

7:
  %8 = phi i64 [ 0, %4 ], [ %14, %7 ]
  %9 = mul i64 %8, %5
  %10 = getelementptr float, ptr %0, i64 %9
  %11 = getelementptr i8, ptr %10, i64 4
  %12 = xor i64 %8, -1
  %13 = add nsw i64 %1, %12
   call fastcc void @$fill_s(ptr %11, i64 %13, float 0.000000e+00)
  %14 = add nuw nsw i64 %8, 1
  %15 = icmp eq i64 %14, %1
  br i1 %15, label %6, label %7
}
define i64 @$cholesky_adjoint_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6) #0 {
  %8 = mul nsw i64 %6, %6
   call fastcc void @$copy_s(ptr %2, ptr %1, i64 %8)
   call fastcc void @$clear_above_s(ptr %2, i64 %6)
   call fastcc void @$by_triangle_s(ptr %4, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$clear_above_s(ptr %2, i64 %6)
  %9 = icmp sgt i64 %6, 0
  br i1 %9, label %10, label %25

10:
  %11 = add nuw nsw i64 %6, 1
  br label %12

12:
  %13 = phi i64 [ 0, %10 ], [ %18, %12 ]
  %14 = mul nuw nsw i64 %13, %11
  %15 = getelementptr inbounds float, ptr %2, i64 %14
  %16 = load float, ptr %15, align 4
  %17 = fmul float %16, 5.000000e-01
  store float %17, ptr %15, align 4
  %18 = add nuw nsw i64 %13, 1
  %19 = icmp eq i64 %18, %6
  br i1 %19, label %20, label %12

20:
   call fastcc void @$by_triangle_s(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_s(ptr %3, ptr %2, i64 %6, i64 %6)
   call fastcc void @$by_triangle_s(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %21

21:
  %22 = phi i64 [ %41, %40 ], [ 0, %20 ]
  %23 = getelementptr float, ptr %3, i64 %22
  %24 = mul nuw nsw i64 %22, %6
  br label %27

25:
   call fastcc void @$by_triangle_s(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_s(ptr %3, ptr %2, i64 %6, i64 %6)
   call fastcc void @$by_triangle_s(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %26

26:
  ret i64 0

27:
  %28 = phi i64 [ 0, %21 ], [ %38, %27 ]
  %29 = add nuw nsw i64 %28, %24
  %30 = getelementptr inbounds float, ptr %3, i64 %29
  %31 = mul nuw nsw i64 %28, %6
  %32 = getelementptr float, ptr %23, i64 %31
  %33 = getelementptr inbounds float, ptr %2, i64 %29
  %34 = load float, ptr %30, align 4
  %35 = load float, ptr %32, align 4
  %36 = fadd float %34, %35
  %37 = fmul float %36, 5.000000e-01
  store float %37, ptr %33, align 4
  %38 = add nuw nsw i64 %28, 1
  %39 = icmp eq i64 %38, %6
  br i1 %39, label %40, label %27

40:
  %41 = add nuw nsw i64 %22, 1
  %42 = icmp eq i64 %41, %6
  br i1 %42, label %26, label %21
}
define internal fastcc void @$copy_s(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 16
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %16, label %23

8:
  %9 = phi i64 [ %14, %8 ], [ 16, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds float, ptr %1, i64 %10
  %12 = load <16 x float>, ptr %11, align 4
  %13 = getelementptr inbounds float, ptr %0, i64 %10
  store <16 x float> %12, ptr %13, align 4
  %14 = add nuw nsw i64 %9, 16
  %15 = icmp sgt i64 %14, %2
  br i1 %15, label %5, label %8

16:
  %17 = phi i64 [ %21, %16 ], [ %6, %5 ]
  %18 = getelementptr inbounds float, ptr %1, i64 %17
  %19 = load float, ptr %18, align 4
  %20 = getelementptr inbounds float, ptr %0, i64 %17
  store float %19, ptr %20, align 4
  %21 = add nuw nsw i64 %17, 1
  %22 = icmp eq i64 %21, %2
  br i1 %22, label %23, label %16

23:
  ret void
}
define internal fastcc void @$by_triangle_s(ptr %0, i32 %1, i32 %2, i32 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = trunc i64 %6 to i32
  %11 = trunc i64 %7 to i32
  %12 = trunc i64 %8 to i32
   call void %0(i32 101, i32 141, i32 %1, i32 %2, i32 %3, i32 %10, i32 %11, float 1.000000e+00, ptr %4, i32 %10, ptr %5, i32 %12)
  ret void
}
define internal fastcc void @$transpose_s(ptr %0, ptr %1, i64 %2, i64 %3) #0 {
  %5 = icmp sgt i64 %2, 0
  br i1 %5, label %6, label %14

6:
  %7 = icmp sgt i64 %3, 0
  br label %8

8:
  %9 = phi i64 [ 0, %6 ], [ %24, %23 ]
  br i1 %7, label %10, label %23

10:
  %11 = getelementptr float, ptr %0, i64 %9
  %12 = mul nuw nsw i64 %9, %3
  %13 = getelementptr float, ptr %1, i64 %12
  br label %15

14:
  ret void

15:
  %16 = phi i64 [ 0, %10 ], [ %21, %15 ]
  %17 = getelementptr float, ptr %13, i64 %16
  %18 = mul nuw nsw i64 %16, %2
  %19 = getelementptr float, ptr %11, i64 %18
  %20 = load float, ptr %17, align 4
  store float %20, ptr %19, align 4
  %21 = add nuw nsw i64 %16, 1
  %22 = icmp eq i64 %21, %3
  br i1 %22, label %23, label %15

23:
  %24 = add nuw nsw i64 %9, 1
  %25 = icmp eq i64 %24, %2
  br i1 %25, label %14, label %8
}
define i64 @$has_zero_s(ptr %0, i64 %1) #0 {
  %3 = add nsw i64 %1, 1
  %4 = icmp sgt i64 %1, 0
  br i1 %4, label %8, label %14

5:
  %6 = add nuw nsw i64 %9, 1
  %7 = icmp eq i64 %6, %1
  br i1 %7, label %14, label %8

8:
  %9 = phi i64 [ %6, %5 ], [ 0, %2 ]
  %10 = mul nuw nsw i64 %9, %3
  %11 = getelementptr inbounds float, ptr %0, i64 %10
  %12 = load float, ptr %11, align 4
  %13 = fcmp une float %12, 0.000000e+00
  br i1 %13, label %5, label %14

14:
  %15 = phi i64 [ 0, %2 ], [ 0, %5 ], [ 1, %8 ]
  ret i64 %15
}
define i64 @$solve_triangular_s(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9, i64 %10) #0 {
  %12 = icmp eq i64 %7, %5
  br i1 %12, label %15, label %13

13:
  %14 = icmp sgt i64 %4, 0
  br i1 %14, label %17, label %25

15:
  %16 = mul nsw i64 %7, %4
   call fastcc void @$copy_s(ptr %2, ptr %1, i64 %16)
  br label %25

17:
  %18 = phi i64 [ %23, %17 ], [ 0, %13 ]
  %19 = mul nsw i64 %18, %5
  %20 = add nsw i64 %19, %6
  %21 = getelementptr inbounds float, ptr %2, i64 %20
  %22 = getelementptr inbounds float, ptr %1, i64 %20
   call fastcc void @$copy_s(ptr %21, ptr %22, i64 %7)
  %23 = add nuw nsw i64 %18, 1
  %24 = icmp eq i64 %23, %4
  br i1 %24, label %25, label %17

25:
  %26 = trunc i64 %8 to i32
  %27 = trunc i64 %9 to i32
  %28 = trunc i64 %10 to i32
  %29 = getelementptr inbounds float, ptr %2, i64 %6
   call fastcc void @$by_triangle_s(ptr %3, i32 %26, i32 %27, i32 %28, ptr %0, ptr %29, i64 %4, i64 %7, i64 %5)
  ret i64 0
}
define i64 @$solve_vector_s(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
   call fastcc void @$copy_s(ptr %2, ptr %1, i64 %4)
  %9 = trunc i64 %5 to i32
  %10 = trunc i64 %6 to i32
  %11 = trunc i64 %7 to i32
  %12 = trunc i64 %4 to i32
   call void %3(i32 101, i32 %9, i32 %10, i32 %11, i32 %12, ptr %0, i32 %12, ptr %2, i32 1)
  ret i64 0
}
define i64 @$lu_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, i64 %5, i64 %6) #0 {
  %8 = call i64 @llvm.smin.i64(i64 %5, i64 %6)
  %9 = mul nsw i64 %6, %5
  %10 = call fastcc i32 @$finite_s(ptr null, ptr %0, i64 %9)
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %14, label %12

12:
   call fastcc void @$transpose_s(ptr %3, ptr %0, i64 %5, i64 %6)
  %13 = call fastcc i64 @$eliminate_s(ptr %4, ptr %3, ptr %2, i64 %5, i64 %6)
   call fastcc void @$transpose_s(ptr %1, ptr %3, i64 %6, i64 %5)
  br label %15

14:
   call fastcc void @$spoil_s(ptr %1, i64 %9)
  br label %15

15:
  %16 = icmp sgt i64 %8, 0
  br i1 %16, label %18, label %17

17:
  ret i64 0

18:
  %19 = phi i64 [ %29, %26 ], [ 0, %15 ]
  br i1 %11, label %24, label %20

20:
  %21 = getelementptr inbounds i32, ptr %2, i64 %19
  %22 = load i32, ptr %21, align 4
  %23 = add nsw i32 %22, -1
  br label %26

24:
  %25 = trunc i64 %19 to i32
  br label %26

26:
  %27 = phi i32 [ %23, %20 ], [ %25, %24 ]
  %28 = getelementptr inbounds i32, ptr %2, i64 %19
  store i32 %27, ptr %28, align 4
  %29 = add nuw nsw i64 %19, 1
  %30 = icmp eq i64 %29, %8
  br i1 %30, label %17, label %18
}
define internal fastcc i64 @$eliminate_s(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4) #0 {
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = trunc i64 %3 to i32
  store i32 %9, ptr %6, align 4
  %10 = trunc i64 %4 to i32
  store i32 %10, ptr %7, align 4
  store i32 0, ptr %8, align 4
  call void %0(ptr %6, ptr %7, ptr %1, ptr %6, ptr %2, ptr %8)
  %11 = load i32, ptr %8, align 4
  %12 = sext i32 %11 to i64
  ret i64 %12
}
define i64 @$solve_factored_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = mul nsw i64 %7, %6
   call fastcc void @$copy_s(ptr %3, ptr %2, i64 %10)
  %11 = icmp eq i64 %8, 0
  br i1 %11, label %15, label %12

12:
   call fastcc void @$by_triangle_s(ptr %4, i32 121, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_s(ptr %4, i32 122, i32 113, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  %13 = trunc i64 %8 to i32
  %14 = call fastcc i64 @$exchange_s(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 %13, i32 0)
  br label %17

15:
  %16 = call fastcc i64 @$exchange_s(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 0, i32 0)
   call fastcc void @$by_triangle_s(ptr %4, i32 122, i32 111, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_s(ptr %4, i32 121, i32 111, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  br label %17

17:
  %18 = phi i64 [ %16, %15 ], [ %14, %12 ]
  ret i64 %18
}
define internal fastcc i64 @$exchange_s(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5, i32 %6, i32 %7) #0 {
  %9 = icmp sgt i64 %3, 0
  br i1 %9, label %10, label %14

10:
  %11 = icmp eq i32 %6, 0
  %12 = zext nneg i32 %7 to i64
  %13 = icmp ne i32 %7, 0
  br label %16

14:
  %15 = phi i64 [ 0, %8 ], [ %37, %36 ]
  ret i64 %15

16:
  %17 = phi i64 [ 0, %10 ], [ %37, %36 ]
  %18 = phi i64 [ 0, %10 ], [ %38, %36 ]
  %19 = xor i64 %18, -1
  %20 = add nsw i64 %3, %19
  %21 = select i1 %11, i64 %18, i64 %20
  %22 = getelementptr inbounds i32, ptr %1, i64 %21
  %23 = load i32, ptr %22, align 4
  %24 = sext i32 %23 to i64
  %25 = sub nsw i64 %24, %12
  %26 = icmp ult i64 %25, %4
  %27 = select i1 %13, i1 true, i1 %26
  br i1 %27, label %29, label %28

28:
  store i64 %25, ptr %2, align 8
  br label %36

29:
  %30 = icmp eq i64 %25, %21
  br i1 %30, label %36, label %31

31:
  %32 = mul nsw i64 %21, %5
  %33 = getelementptr inbounds float, ptr %0, i64 %32
  %34 = mul nsw i64 %25, %5
  %35 = getelementptr inbounds float, ptr %0, i64 %34
   call fastcc void @$swap_s(ptr %33, ptr %35, i64 %5)
  br label %36

36:
  %37 = phi i64 [ 1, %28 ], [ %17, %31 ], [ %17, %29 ]
  %38 = add nuw nsw i64 %18, 1
  %39 = icmp eq i64 %38, %3
  br i1 %39, label %14, label %16
}
define i64 @$permute_rows_s(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = mul nsw i64 %5, %4
   call fastcc void @$copy_s(ptr %2, ptr %0, i64 %9)
  %10 = trunc i64 %7 to i32
  %11 = call fastcc i64 @$exchange_s(ptr %2, ptr %1, ptr %3, i64 %6, i64 %4, i64 %5, i32 %10, i32 0)
  ret i64 %11
}
define i64 @$solve_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, i64 %7, i64 %8) #0 {
  %10 = mul nsw i64 %7, %7
  %11 = call fastcc i32 @$finite_s(ptr null, ptr %0, i64 %10)
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %13, label %15

13:
  %14 = mul nsw i64 %8, %7
   call fastcc void @$spoil_s(ptr %2, i64 %14)
  br label %19

15:
   call fastcc void @$transpose_s(ptr %3, ptr %0, i64 %7, i64 %7)
  %16 = call fastcc i64 @$eliminate_s(ptr %5, ptr %3, ptr %4, i64 %7, i64 %7)
  %17 = mul nsw i64 %8, %7
   call fastcc void @$copy_s(ptr %2, ptr %1, i64 %17)
  %18 = call fastcc i64 @$exchange_s(ptr %2, ptr %4, ptr null, i64 %7, i64 %7, i64 %8, i32 0, i32 1)
   call fastcc void @$by_triangle_s(ptr %6, i32 121, i32 112, i32 132, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
   call fastcc void @$by_triangle_s(ptr %6, i32 122, i32 112, i32 131, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
  br label %19

19:
  %20 = phi i64 [ %16, %15 ], [ 0, %13 ]
  ret i64 %20
}
define i64 @$inv_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7) #0 {
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = mul nsw i64 %6, %6
  %13 = call fastcc i32 @$finite_s(ptr %1, ptr %0, i64 %12)
  %14 = icmp eq i32 %13, 0
  br i1 %14, label %15, label %16

15:
   call fastcc void @$spoil_s(ptr %1, i64 %12)
  br label %20

16:
  %17 = call fastcc i64 @$eliminate_s(ptr %4, ptr %1, ptr %2, i64 %6, i64 %6)
  %18 = trunc i64 %6 to i32
  store i32 %18, ptr %9, align 4
  %19 = trunc i64 %7 to i32
  store i32 %19, ptr %10, align 4
  store i32 0, ptr %11, align 4
  call void %5(ptr %9, ptr %1, ptr %9, ptr %2, ptr %3, ptr %10, ptr %11)
  br label %20

20:
  %21 = phi i64 [ %17, %16 ], [ 0, %15 ]
  ret i64 %21
}
define i64 @$factored_s(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4) #0 {
  %6 = mul nsw i64 %4, %4
   call fastcc void @$copy_s(ptr %1, ptr %0, i64 %6)
  %7 = call fastcc i64 @$eliminate_s(ptr %3, ptr %1, ptr %2, i64 %4, i64 %4)
  ret i64 %7
}
define i64 @$qr_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11) #0 {
  %13 = alloca i32, align 4
  %14 = alloca i32, align 4
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  %17 = alloca i32, align 4
  %18 = trunc i64 %8 to i32
  store i32 %18, ptr %13, align 4
  %19 = trunc i64 %9 to i32
  store i32 %19, ptr %14, align 4
  %20 = trunc i64 %10 to i32
  store i32 %20, ptr %15, align 4
  %21 = trunc i64 %11 to i32
  store i32 %21, ptr %16, align 4
  store i32 0, ptr %17, align 4
   call fastcc void @$transpose_s(ptr %3, ptr %0, i64 %8, i64 %9)
  call void %6(ptr %13, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  %22 = icmp sgt i64 %9, 0
  br i1 %22, label %23, label %28

23:
  %24 = phi i64 [ %42, %41 ], [ 0, %12 ]
  %25 = getelementptr float, ptr %3, i64 %24
  %26 = mul nuw nsw i64 %24, %9
  %27 = getelementptr float, ptr %2, i64 %26
  br label %33

28:
  %29 = mul nsw i64 %9, %9
  %30 = getelementptr inbounds float, ptr %2, i64 %29
  %31 = sub nsw i64 %10, %9
  %32 = mul nsw i64 %31, %9
  call fastcc void @$fill_s(ptr %30, i64 %32, float 0.000000e+00)
  call fastcc void @$clear_below_s(ptr %2, i64 %9)
  call void %7(ptr %13, ptr %15, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  call fastcc void @$transpose_s(ptr %1, ptr %3, i64 %10, i64 %8)
  ret i64 0

33:
  %34 = phi i64 [ 0, %23 ], [ %39, %33 ]
  %35 = mul nsw i64 %34, %8
  %36 = getelementptr float, ptr %25, i64 %35
  %37 = getelementptr float, ptr %27, i64 %34
  %38 = load float, ptr %36, align 4
  store float %38, ptr %37, align 4
  %39 = add nuw nsw i64 %34, 1
  %40 = icmp eq i64 %39, %9
  br i1 %40, label %41, label %33

41:
  %42 = add nuw nsw i64 %24, 1
  %43 = icmp eq i64 %42, %9
  br i1 %43, label %28, label %23
}
define internal fastcc void @$fill_s(ptr %0, i64 %1, float %2) #0 {
  %4 = icmp sgt i64 %1, 0
  br i1 %4, label %6, label %5

5:
  ret void

6:
  %7 = phi i64 [ %9, %6 ], [ 0, %3 ]
  %8 = getelementptr inbounds float, ptr %0, i64 %7
  store float %2, ptr %8, align 4
  %9 = add nuw nsw i64 %7, 1
  %10 = icmp eq i64 %9, %1
  br i1 %10, label %5, label %6
}
define internal fastcc void @$clear_below_s(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 1
  br i1 %3, label %5, label %4

4:
  ret void

5:
  %6 = phi i64 [ %9, %5 ], [ 1, %2 ]
  %7 = mul nuw nsw i64 %6, %1
  %8 = getelementptr inbounds float, ptr %0, i64 %7
   call fastcc void @$fill_s(ptr %8, i64 %6, float 0.000000e+00)
  %9 = add nuw nsw i64 %6, 1
  %10 = icmp eq i64 %9, %1
  br i1 %10, label %4, label %5
}
define i64 @$eigenvalues_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11, i64 %12) #0 {
  %14 = alloca i8, align 1
  %15 = alloca i8, align 1
  %16 = alloca i32, align 4
  %17 = alloca [3 x i32], align 4
  %18 = alloca i32, align 4
  %19 = mul nsw i64 %8, %8
  %20 = call fastcc i32 @$finite_s(ptr null, ptr %0, i64 %19)
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %22, label %25

22:
   call fastcc void @$spoil_s(ptr %1, i64 %8)
  %23 = icmp eq ptr %2, null
  br i1 %23, label %40, label %24

24:
   call fastcc void @$spoil_s(ptr %2, i64 %19)
  br label %40

25:
   call fastcc void @$transpose_s(ptr %3, ptr %0, i64 %8, i64 %8)
  %26 = icmp eq ptr %2, null
  %27 = select i1 %26, i8 78, i8 86
  store i8 %27, ptr %14, align 1
  %28 = icmp eq i64 %9, 0
  %29 = select i1 %28, i8 76, i8 85
  store i8 %29, ptr %15, align 1
  %30 = trunc i64 %8 to i32
  store i32 %30, ptr %16, align 4
  %31 = trunc i64 %10 to i32
  store i32 %31, ptr %17, align 4
  %32 = getelementptr inbounds i8, ptr %17, i64 4
  %33 = trunc i64 %11 to i32
  store i32 %33, ptr %32, align 4
  %34 = getelementptr inbounds i8, ptr %17, i64 8
  %35 = trunc i64 %12 to i32
  store i32 %35, ptr %34, align 4
  store i32 0, ptr %18, align 4
  call void %7(ptr %14, ptr %15, ptr %16, ptr %3, ptr %16, ptr %1, ptr %4, ptr %17, ptr %6, ptr %34, ptr %18, i64 1, i64 1)
  br i1 %26, label %37, label %36

36:
  call fastcc void @$transpose_s(ptr %2, ptr %3, i64 %8, i64 %8)
  br label %37

37:
  %38 = load i32, ptr %18, align 4
  %39 = sext i32 %38 to i64
  br label %40

40:
  %41 = phi i64 [ %39, %37 ], [ 0, %24 ], [ 0, %22 ]
  ret i64 %41
}
define i64 @$singular_values_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, i64 %11, i64 %12, i64 %13, i64 %14, i64 %15, i64 %16) #0 {
  %18 = alloca i8, align 1
  %19 = alloca i32, align 4
  %20 = alloca i32, align 4
  %21 = alloca i32, align 4
  %22 = alloca i32, align 4
  %23 = alloca i32, align 4
  %24 = mul nsw i64 %12, %11
  %25 = call fastcc i32 @$finite_s(ptr null, ptr %0, i64 %24)
  %26 = icmp eq i32 %25, 0
  br i1 %26, label %27, label %36

27:
  %28 = call i64 @llvm.smin.i64(i64 %11, i64 %12)
   call fastcc void @$spoil_s(ptr %2, i64 %28)
  %29 = icmp eq ptr %1, null
  br i1 %29, label %32, label %30

30:
  %31 = mul nsw i64 %13, %11
   call fastcc void @$spoil_s(ptr %1, i64 %31)
  br label %32

32:
  %33 = icmp eq ptr %3, null
  br i1 %33, label %50, label %34

34:
  %35 = mul nsw i64 %14, %12
   call fastcc void @$spoil_s(ptr %3, i64 %35)
  br label %50

36:
   call fastcc void @$transpose_s(ptr %4, ptr %0, i64 %11, i64 %12)
  %37 = trunc i64 %16 to i8
  store i8 %37, ptr %18, align 1
  %38 = trunc i64 %11 to i32
  store i32 %38, ptr %19, align 4
  %39 = trunc i64 %12 to i32
  store i32 %39, ptr %20, align 4
  %40 = trunc i64 %14 to i32
  store i32 %40, ptr %21, align 4
  %41 = trunc i64 %15 to i32
  store i32 %41, ptr %22, align 4
  store i32 0, ptr %23, align 4
  call void %10(ptr %18, ptr %19, ptr %20, ptr %4, ptr %19, ptr %2, ptr %8, ptr %19, ptr %9, ptr %21, ptr %5, ptr %22, ptr %7, ptr %23, i64 1)
  %42 = icmp eq ptr %1, null
  br i1 %42, label %44, label %43

43:
  call fastcc void @$transpose_s(ptr %1, ptr %8, i64 %13, i64 %11)
  br label %44

44:
  %45 = icmp eq ptr %3, null
  br i1 %45, label %47, label %46

46:
  call fastcc void @$transpose_s(ptr %3, ptr %9, i64 %12, i64 %14)
  br label %47

47:
  %48 = load i32, ptr %23, align 4
  %49 = sext i32 %48 to i64
  br label %50

50:
  %51 = phi i64 [ %49, %47 ], [ 0, %34 ], [ 0, %32 ]
  ret i64 %51
}
define i64 @$blocked_begin_s(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = mul nsw i64 %5, %3
  %8 = mul nsw i64 %7, %4
  %9 = getelementptr inbounds float, ptr %1, i64 %8
  %10 = getelementptr inbounds float, ptr %0, i64 %8
  %11 = sub nsw i64 %4, %7
  %12 = call i64 @llvm.smin.i64(i64 %11, i64 %5)
  %13 = mul nsw i64 %12, %4
  %14 = call fastcc i32 @$finite_s(ptr %9, ptr %10, i64 %13)
  %15 = xor i32 %14, 1
  %16 = zext nneg i32 %15 to i64
  %17 = getelementptr inbounds i8, ptr %2, i64 24
  %18 = getelementptr inbounds i64, ptr %17, i64 %3
  store i64 %16, ptr %18, align 8
  ret i64 0
}
define i64 @$blocked_first_s(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = getelementptr inbounds i8, ptr %1, i64 16
  store i64 0, ptr %7, align 8
  %8 = getelementptr inbounds i8, ptr %1, i64 8
  store i64 0, ptr %8, align 8
  store i64 0, ptr %1, align 8
  %9 = icmp sgt i64 %5, 0
  br i1 %9, label %10, label %13

10:
  %11 = getelementptr inbounds i8, ptr %1, i64 24
  br label %14

12:
  store i64 %19, ptr %8, align 8
  br label %13

13:
   call fastcc void @$factor_block_s(ptr %0, ptr %1, ptr %2, i64 0, i64 %3, i64 %4)
  ret i64 0

14:
  %15 = phi i64 [ 0, %10 ], [ %19, %14 ]
  %16 = phi i64 [ 0, %10 ], [ %20, %14 ]
  %17 = getelementptr inbounds i64, ptr %11, i64 %16
  %18 = load i64, ptr %17, align 8
  %19 = or i64 %15, %18
  %20 = add nuw nsw i64 %16, 1
  %21 = icmp eq i64 %20, %5
  br i1 %21, label %12, label %14
}
define internal fastcc void @$factor_block_s(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = alloca i8, align 1
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  store i8 85, ptr %7, align 1
  %11 = sub nsw i64 %4, %3
  %12 = call i64 @llvm.smin.i64(i64 %11, i64 %5)
  %13 = trunc i64 %12 to i32
  store i32 %13, ptr %8, align 4
  %14 = trunc i64 %4 to i32
  store i32 %14, ptr %9, align 4
  store i32 0, ptr %10, align 4
  %15 = add nsw i64 %4, 1
  %16 = mul nsw i64 %15, %3
  %17 = getelementptr inbounds float, ptr %0, i64 %16
  call void %2(ptr %7, ptr %8, ptr %17, ptr %9, ptr %10, i64 1)
  %18 = load i32, ptr %10, align 4
  %19 = icmp sgt i32 %18, 0
  br i1 %19, label %20, label %22

20:
  %21 = getelementptr inbounds i8, ptr %1, i64 16
  store i64 1, ptr %21, align 8
  br label %22

22:
  ret void
}
define i64 @$blocked_panel_s(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5, i64 %6) #0 {
  %8 = load i64, ptr %1, align 8
  %9 = mul nsw i64 %6, %3
  %10 = add i64 %9, %5
  %11 = add i64 %10, %8
  %12 = sub nsw i64 %4, %11
  %13 = call i64 @llvm.smin.i64(i64 %12, i64 %6)
  %14 = trunc i64 %13 to i32
  %15 = trunc i64 %5 to i32
  %16 = add nsw i64 %4, 1
  %17 = mul nsw i64 %8, %16
  %18 = getelementptr inbounds float, ptr %0, i64 %17
  %19 = trunc i64 %4 to i32
  %20 = mul nsw i64 %11, %4
  %21 = getelementptr inbounds float, ptr %0, i64 %20
  %22 = getelementptr inbounds float, ptr %21, i64 %8
   call void %2(i32 101, i32 142, i32 122, i32 112, i32 131, i32 %14, i32 %15, float 1.000000e+00, ptr %18, i32 %19, ptr %22, i32 %19)
  ret i64 0
}
define i64 @$blocked_update_s(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = load i64, ptr %1, align 8
  %10 = add nsw i64 %9, %6
  %11 = mul nsw i64 %7, %4
  %12 = add nsw i64 %10, %11
  %13 = sub nsw i64 %5, %12
  %14 = call i64 @llvm.smin.i64(i64 %13, i64 %7)
  %15 = trunc i64 %14 to i32
  %16 = add i64 %11, %14
  %17 = trunc i64 %16 to i32
  %18 = trunc i64 %6 to i32
  %19 = mul nsw i64 %12, %5
  %20 = getelementptr inbounds float, ptr %0, i64 %19
  %21 = getelementptr inbounds float, ptr %20, i64 %9
  %22 = trunc i64 %5 to i32
  %23 = mul nsw i64 %10, %5
  %24 = getelementptr inbounds float, ptr %0, i64 %23
  %25 = getelementptr inbounds float, ptr %24, i64 %9
  %26 = getelementptr inbounds float, ptr %20, i64 %10
   call void %2(i32 101, i32 111, i32 112, i32 %15, i32 %17, i32 %18, float -1.000000e+00, ptr %21, i32 %22, ptr %25, i32 %22, float 1.000000e+00, ptr %26, i32 %22)
  %27 = icmp eq i64 %4, 0
  br i1 %27, label %28, label %29

28:
   call fastcc void @$factor_block_s(ptr %0, ptr %1, ptr %3, i64 %10, i64 %5, i64 %6)
  br label %29

29:
  ret i64 0
}
define i64 @$blocked_advance_s(ptr %0, i64 %1) #0 {
  %3 = load i64, ptr %0, align 8
  %4 = add nsw i64 %3, %1
  store i64 %4, ptr %0, align 8
  ret i64 0
}
define i64 @$blocked_clear_s(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4) #0 {
  %6 = mul nsw i64 %4, %2
  %7 = sub nsw i64 %3, %6
  %8 = call i64 @llvm.smin.i64(i64 %7, i64 %4)
  %9 = add nsw i64 %8, %6
  %10 = getelementptr inbounds i8, ptr %1, i64 8
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %11, 0
  br i1 %12, label %19, label %13

13:
  %14 = mul nsw i64 %6, %3
  %15 = getelementptr inbounds float, ptr %0, i64 %14
  %16 = mul nsw i64 %8, %3
   call fastcc void @$spoil_s(ptr %15, i64 %16)
  %17 = load i64, ptr %10, align 8
  %18 = icmp eq i64 %17, 0
  br label %19

19:
  %20 = phi i1 [ %18, %13 ], [ true, %5 ]
  %21 = icmp sgt i64 %8, 0
  %22 = and i1 %20, %21
  br i1 %22, label %24, label %23

23:
  ret i64 0

24:
  %25 = phi i64 [ %32, %24 ], [ %6, %19 ]
  %26 = mul nsw i64 %25, %3
  %27 = getelementptr inbounds float, ptr %0, i64 %26
  %28 = getelementptr inbounds float, ptr %27, i64 %25
  %29 = getelementptr inbounds i8, ptr %28, i64 4
  %30 = xor i64 %25, -1
  %31 = add i64 %3, %30
   call fastcc void @$fill_s(ptr %29, i64 %31, float 0.000000e+00)
  %32 = add nsw i64 %25, 1
  %33 = load i64, ptr %10, align 8
  %34 = icmp eq i64 %33, 0
  %35 = icmp slt i64 %32, %9
  %36 = select i1 %34, i1 %35, i1 false
  br i1 %36, label %24, label %23
}
define i64 @$blocked_failed_s(ptr %0) #0 {
  %2 = getelementptr inbounds i8, ptr %0, i64 16
  %3 = load i64, ptr %2, align 8
  %4 = icmp eq i64 %3, 0
  br i1 %4, label %10, label %5

5:
  %6 = getelementptr inbounds i8, ptr %0, i64 8
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  %9 = zext i1 %8 to i64
  br label %10

10:
  %11 = phi i64 [ 0, %1 ], [ %9, %5 ]
  ret i64 %11
}
define i64 @$adjoint_begin_s(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4) #0 {
  %6 = mul nsw i64 %4, %2
  %7 = mul nsw i64 %6, %3
  %8 = getelementptr inbounds float, ptr %1, i64 %7
  %9 = getelementptr inbounds float, ptr %0, i64 %7
  %10 = sub nsw i64 %3, %6
  %11 = call i64 @llvm.smin.i64(i64 %10, i64 %4)
  %12 = mul nsw i64 %11, %3
   call fastcc void @$copy_s(ptr %8, ptr %9, i64 %12)
  ret i64 0
}
define i64 @$adjoint_first_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  store i64 %6, ptr %2, align 8
   call fastcc void @$adjoint_block_s(ptr %0, ptr %1, ptr null, i64 0, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8)
  ret i64 0
}
define internal fastcc void @$adjoint_block_s(ptr %0, ptr %1, ptr %2, i64 %3, ptr %4, ptr %5, ptr %6, i64 %7, i64 %8, i64 %9) #0 {
  %11 = add nsw i64 %9, %7
  %12 = call i64 @llvm.smin.i64(i64 %11, i64 %8)
  %13 = sub i64 %12, %7
  %14 = add nsw i64 %8, 1
  %15 = mul nsw i64 %14, %7
  %16 = getelementptr inbounds float, ptr %1, i64 %15
  %17 = getelementptr inbounds float, ptr %0, i64 %15
  %18 = trunc i64 %8 to i32
  %19 = trunc i64 %13 to i32
  %20 = trunc i64 %9 to i32
  %21 = icmp sgt i64 %3, 0
  br i1 %21, label %22, label %28

22:
  %23 = icmp sgt i64 %13, 0
  %24 = mul nsw i64 %9, %9
  br label %25

25:
  %26 = phi i64 [ 0, %22 ], [ %37, %36 ]
  %27 = phi ptr [ %2, %22 ], [ %38, %36 ]
  br i1 %23, label %30, label %36

28:
   call fastcc void @$triangle_of_s(ptr %6, ptr %16, i64 %13, i64 %8, i64 %9, float 1.000000e+00)
   call void %5(i32 101, i32 141, i32 122, i32 112, i32 131, i32 %19, i32 %19, float 1.000000e+00, ptr %17, i32 %18, ptr %6, i32 %20)
   call fastcc void @$triangle_of_s(ptr %6, ptr %6, i64 %13, i64 %9, i64 %9, float 5.000000e-01)
   call void %4(i32 101, i32 141, i32 122, i32 112, i32 131, i32 %19, i32 %19, float 1.000000e+00, ptr %17, i32 %18, ptr %6, i32 %20)
   call void %4(i32 101, i32 142, i32 122, i32 111, i32 131, i32 %19, i32 %19, float 1.000000e+00, ptr %17, i32 %18, ptr %6, i32 %20)
  %29 = icmp sgt i64 %13, 0
  br i1 %29, label %52, label %59

30:
  %31 = phi i64 [ %41, %40 ], [ 0, %25 ]
  %32 = mul nsw i64 %31, %9
  %33 = getelementptr float, ptr %27, i64 %32
  %34 = mul nsw i64 %31, %8
  %35 = getelementptr float, ptr %16, i64 %34
  br label %43

36:
  %37 = add nuw nsw i64 %26, 1
  %38 = getelementptr inbounds float, ptr %27, i64 %24
  %39 = icmp eq i64 %37, %3
  br i1 %39, label %28, label %25

40:
  %41 = add nuw nsw i64 %31, 1
  %42 = icmp eq i64 %41, %13
  br i1 %42, label %36, label %30

43:
  %44 = phi i64 [ 0, %30 ], [ %50, %43 ]
  %45 = getelementptr float, ptr %33, i64 %44
  %46 = load float, ptr %45, align 4
  %47 = getelementptr float, ptr %35, i64 %44
  %48 = load float, ptr %47, align 4
  %49 = fsub float %48, %46
  store float %49, ptr %47, align 4
  %50 = add nuw nsw i64 %44, 1
  %51 = icmp eq i64 %50, %13
  br i1 %51, label %40, label %43

52:
  %53 = phi i64 [ %61, %60 ], [ 0, %28 ]
  %54 = getelementptr float, ptr %6, i64 %53
  %55 = mul nsw i64 %53, %9
  %56 = getelementptr float, ptr %6, i64 %55
  %57 = mul nsw i64 %53, %8
  %58 = getelementptr float, ptr %16, i64 %57
  br label %63

59:
  ret void

60:
  %61 = add nuw nsw i64 %53, 1
  %62 = icmp eq i64 %61, %13
  br i1 %62, label %59, label %52

63:
  %64 = phi i64 [ 0, %52 ], [ %73, %63 ]
  %65 = getelementptr float, ptr %56, i64 %64
  %66 = load float, ptr %65, align 4
  %67 = mul nsw i64 %64, %9
  %68 = getelementptr float, ptr %54, i64 %67
  %69 = load float, ptr %68, align 4
  %70 = fadd float %66, %69
  %71 = fmul float %70, 5.000000e-01
  %72 = getelementptr float, ptr %58, i64 %64
  store float %71, ptr %72, align 4
  %73 = add nuw nsw i64 %64, 1
  %74 = icmp eq i64 %73, %13
  br i1 %74, label %60, label %63
}
define i64 @$adjoint_panel_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8, i64 %9) #0 {
  %11 = load i64, ptr %2, align 8
  %12 = mul nsw i64 %9, %6
  %13 = add i64 %12, %8
  %14 = add i64 %13, %11
  %15 = mul nsw i64 %14, %7
  %16 = getelementptr inbounds float, ptr %1, i64 %15
  %17 = getelementptr inbounds float, ptr %16, i64 %11
  %18 = trunc i64 %8 to i32
  %19 = sub nsw i64 %7, %14
  %20 = call i64 @llvm.smin.i64(i64 %19, i64 %9)
  %21 = trunc i64 %20 to i32
  %22 = trunc i64 %7 to i32
  %23 = add nsw i64 %7, 1
  %24 = mul nsw i64 %11, %23
  %25 = getelementptr inbounds float, ptr %0, i64 %24
   call void %5(i32 101, i32 142, i32 122, i32 111, i32 131, i32 %21, i32 %18, float 1.000000e+00, ptr %25, i32 %22, ptr %17, i32 %22)
  %26 = getelementptr inbounds float, ptr %0, i64 %15
  %27 = getelementptr inbounds float, ptr %26, i64 %11
  %28 = mul nsw i64 %8, %6
  %29 = mul nsw i64 %28, %8
  %30 = getelementptr inbounds float, ptr %3, i64 %29
   call void %4(i32 101, i32 112, i32 111, i32 %18, i32 %18, i32 %21, float 1.000000e+00, ptr %17, i32 %22, ptr %27, i32 %22, float 0.000000e+00, ptr %30, i32 %18)
  ret i64 0
}
define i64 @$adjoint_columns_s(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11, i64 %12) #0 {
  %14 = load i64, ptr %2, align 8
  %15 = add nsw i64 %14, %10
  %16 = sub nsw i64 %9, %15
  %17 = add nsw i64 %8, -1
  %18 = sdiv i64 %17, 2
  %19 = mul nsw i64 %12, %18
  %20 = sub nsw i64 %14, %19
  %21 = call i64 @llvm.smin.i64(i64 %20, i64 %12)
  %22 = mul nsw i64 %15, %9
  %23 = getelementptr inbounds float, ptr %1, i64 %22
  %24 = getelementptr inbounds float, ptr %23, i64 %14
  %25 = icmp eq i64 %8, 0
  br i1 %25, label %26, label %30

26:
  %27 = add i64 %11, -1
  %28 = add i64 %27, %16
  %29 = sdiv i64 %28, %11
   call fastcc void @$adjoint_block_s(ptr %0, ptr %1, ptr %3, i64 %29, ptr %5, ptr %6, ptr %7, i64 %14, i64 %9, i64 %10)
  br label %44

30:
  %31 = and i64 %8, 1
  %32 = icmp eq i64 %31, 0
  br i1 %32, label %38, label %33

33:
  %34 = mul nsw i64 %14, %9
  %35 = getelementptr inbounds float, ptr %0, i64 %34
  %36 = getelementptr inbounds float, ptr %35, i64 %19
  %37 = getelementptr inbounds float, ptr %23, i64 %19
   call fastcc void @$multiply_s(ptr %4, i32 111, i64 %16, i64 %21, i64 %10, float -1.000000e+00, ptr %24, ptr %36, ptr %37, i64 %9)
  br label %44

38:
  %39 = getelementptr inbounds float, ptr %0, i64 %22
  %40 = getelementptr inbounds float, ptr %39, i64 %19
  %41 = mul nsw i64 %14, %9
  %42 = getelementptr inbounds float, ptr %1, i64 %41
  %43 = getelementptr inbounds float, ptr %42, i64 %19
   call fastcc void @$multiply_s(ptr %4, i32 112, i64 %10, i64 %21, i64 %16, float -1.000000e+00, ptr %24, ptr %40, ptr %43, i64 %9)
  br label %44

44:
  ret i64 0
}
define internal fastcc void @$multiply_s(ptr %0, i32 %1, i64 %2, i64 %3, i64 %4, float %5, ptr %6, ptr %7, ptr %8, i64 %9) #0 {
  %11 = trunc i64 %2 to i32
  %12 = trunc i64 %3 to i32
  %13 = trunc i64 %4 to i32
  %14 = trunc i64 %9 to i32
   call void %0(i32 101, i32 %1, i32 111, i32 %11, i32 %12, i32 %13, float %5, ptr %6, i32 %14, ptr %7, i32 %14, float 1.000000e+00, ptr %8, i32 %14)
  ret void
}
define i64 @$adjoint_rows_s(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = load i64, ptr %2, align 8
  %10 = sub nsw i64 %5, %9
  %11 = call i64 @llvm.smin.i64(i64 %10, i64 %6)
  %12 = mul nsw i64 %7, %4
  %13 = sub nsw i64 %9, %12
  %14 = call i64 @llvm.smin.i64(i64 %13, i64 %7)
  %15 = add nsw i64 %5, 1
  %16 = mul nsw i64 %9, %15
  %17 = getelementptr inbounds float, ptr %1, i64 %16
  %18 = mul nsw i64 %9, %5
  %19 = getelementptr inbounds float, ptr %0, i64 %18
  %20 = getelementptr inbounds float, ptr %19, i64 %12
  %21 = getelementptr inbounds float, ptr %1, i64 %18
  %22 = getelementptr inbounds float, ptr %21, i64 %12
   call fastcc void @$multiply_s(ptr %3, i32 111, i64 %11, i64 %14, i64 %11, float -2.000000e+00, ptr %17, ptr %20, ptr %22, i64 %5)
  ret i64 0
}
define i64 @$adjoint_mirror_s(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = mul nsw i64 %5, %2
  %8 = sub nsw i64 %3, %7
  %9 = call i64 @llvm.smin.i64(i64 %8, i64 %5)
  %10 = add nsw i64 %9, %7
  %11 = srem i64 %7, %4
  %12 = sub nsw i64 %7, %11
  %13 = icmp slt i64 %12, %10
  br i1 %13, label %15, label %14

14:
  ret i64 0

15:
  %16 = phi i64 [ %18, %45 ], [ %12, %6 ]
  %17 = call i64 @llvm.smax.i64(i64 %16, i64 %7)
  %18 = add nsw i64 %16, %4
  %19 = call i64 @llvm.smin.i64(i64 %18, i64 %10)
  %20 = icmp eq i64 %16, 0
  br i1 %20, label %45, label %21

21:
  %22 = icmp slt i64 %17, %19
  br i1 %22, label %23, label %30

23:
  %24 = icmp sgt i64 %16, 0
  br label %25

25:
  %26 = phi i64 [ %17, %23 ], [ %36, %35 ]
  br i1 %24, label %27, label %35

27:
  %28 = mul nsw i64 %26, %3
  %29 = getelementptr float, ptr %0, i64 %28
  br label %38

30:
  %31 = mul nsw i64 %17, %3
  %32 = getelementptr inbounds float, ptr %0, i64 %31
  %33 = getelementptr inbounds float, ptr %0, i64 %17
  %34 = sub nsw i64 %19, %17
   call void %1(ptr %32, i64 %3, ptr %33, i64 %3, i64 %16, i64 %34)
  br label %45

35:
  %36 = add nsw i64 %26, 1
  %37 = icmp slt i64 %36, %19
  br i1 %37, label %25, label %30

38:
  %39 = phi i64 [ 0, %27 ], [ %43, %38 ]
  %40 = getelementptr float, ptr %29, i64 %39
  %41 = load float, ptr %40, align 4
  %42 = fmul float %41, 5.000000e-01
  store float %42, ptr %40, align 4
  %43 = add nuw nsw i64 %39, 1
  %44 = icmp slt i64 %43, %16
  br i1 %44, label %38, label %35

45:
  %46 = icmp slt i64 %18, %10
  br i1 %46, label %15, label %14
}
define i64 @$cholesky_d(ptr %0, ptr %1, ptr %2, i64 %3) #0 {
  %5 = alloca i8, align 1
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = mul nsw i64 %3, %3
  %9 = call fastcc i32 @$finite_d(ptr %1, ptr %0, i64 %8)
  %10 = icmp eq i32 %9, 0
  br i1 %10, label %11, label %12

11:
   call fastcc void @$spoil_d(ptr %1, i64 %8)
  br label %16

12:
  store i8 85, ptr %5, align 1
  %13 = trunc i64 %3 to i32
  store i32 %13, ptr %6, align 4
  store i32 0, ptr %7, align 4
  call void %2(ptr %5, ptr %6, ptr %1, ptr %6, ptr %7, i64 1)
  call fastcc void @$clear_above_d(ptr %1, i64 %3)
  %14 = load i32, ptr %7, align 4
  %15 = sext i32 %14 to i64
  br label %16

16:
  %17 = phi i64 [ %15, %12 ], [ 0, %11 ]
  ret i64 %17
}
define internal fastcc i32 @$finite_d(ptr %0, ptr %1, i64 %2) #0 {
  %4 = alloca [8 x double], align 16
  %5 = icmp slt i64 %2, 8
  br i1 %5, label %8, label %6

6:
  %7 = icmp eq ptr %0, null
  br label %14

8:
  %9 = phi i64 [ 0, %3 ], [ %15, %22 ]
  %10 = phi <8 x double> [ zeroinitializer, %3 ], [ %23, %22 ]
  %11 = icmp slt i64 %9, %2
  br i1 %11, label %12, label %37

12:
  %13 = icmp eq ptr %0, null
  br label %26

14:
  %15 = phi i64 [ 8, %6 ], [ %24, %22 ]
  %16 = phi <8 x double> [ zeroinitializer, %6 ], [ %23, %22 ]
  %17 = phi i64 [ 0, %6 ], [ %15, %22 ]
  %18 = getelementptr inbounds double, ptr %1, i64 %17
  %19 = load <8 x double>, ptr %18, align 8
  br i1 %7, label %22, label %20

20:
  %21 = getelementptr inbounds double, ptr %0, i64 %17
  store <8 x double> %19, ptr %21, align 8
  br label %22

22:
  %23 = call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %19, <8 x double> zeroinitializer, <8 x double> %16)
  %24 = add nuw nsw i64 %15, 8
  %25 = icmp sgt i64 %24, %2
  br i1 %25, label %8, label %14

26:
  %27 = phi double [ 0.000000e+00, %12 ], [ %34, %33 ]
  %28 = phi i64 [ %9, %12 ], [ %35, %33 ]
  %29 = getelementptr inbounds double, ptr %1, i64 %28
  %30 = load double, ptr %29, align 8
  br i1 %13, label %33, label %31

31:
  %32 = getelementptr inbounds double, ptr %0, i64 %28
  store double %30, ptr %32, align 8
  br label %33

33:
  %34 = call double @llvm.fmuladd.f64(double %30, double 0.000000e+00, double %27)
  %35 = add nuw nsw i64 %28, 1
  %36 = icmp eq i64 %35, %2
  br i1 %36, label %37, label %26

37:
  %38 = phi double [ 0.000000e+00, %8 ], [ %34, %33 ]
  store <8 x double> %10, ptr %4, align 16
  br label %42

39:
  %40 = fcmp oeq double %47, 0.000000e+00
  %41 = zext i1 %40 to i32
  ret i32 %41

42:
  %43 = phi i64 [ 0, %37 ], [ %48, %42 ]
  %44 = phi double [ %38, %37 ], [ %47, %42 ]
  %45 = getelementptr inbounds double, ptr %4, i64 %43
  %46 = load double, ptr %45, align 8
  %47 = fadd double %44, %46
  %48 = add nuw nsw i64 %43, 1
  %49 = icmp eq i64 %48, 8
  br i1 %49, label %39, label %42
}
define internal fastcc void @$spoil_d(ptr %0, i64 %1) #0 {
   call fastcc void @$fill_d(ptr %0, i64 %1, double 0x7FF8000000000000)
  ret void
}
define internal fastcc void @$clear_above_d(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 0
  br i1 %3, label %4, label %6

4:
  %5 = add nuw i64 %1, 1
  br label %7

6:
  ret void

7:
  %8 = phi i64 [ 0, %4 ], [ %14, %7 ]
  %9 = mul i64 %8, %5
  %10 = getelementptr double, ptr %0, i64 %9
  %11 = getelementptr i8, ptr %10, i64 8
  %12 = xor i64 %8, -1
  %13 = add nsw i64 %1, %12
   call fastcc void @$fill_d(ptr %11, i64 %13, double 0.000000e+00)
  %14 = add nuw nsw i64 %8, 1
  %15 = icmp eq i64 %14, %1
  br i1 %15, label %6, label %7
}
define i64 @$cholesky_adjoint_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6) #0 {
  %8 = mul nsw i64 %6, %6
   call fastcc void @$copy_d(ptr %2, ptr %1, i64 %8)
   call fastcc void @$clear_above_d(ptr %2, i64 %6)
   call fastcc void @$by_triangle_d(ptr %4, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$clear_above_d(ptr %2, i64 %6)
  %9 = icmp sgt i64 %6, 0
  br i1 %9, label %10, label %25

10:
  %11 = add nuw nsw i64 %6, 1
  br label %12

12:
  %13 = phi i64 [ 0, %10 ], [ %18, %12 ]
  %14 = mul nuw nsw i64 %13, %11
  %15 = getelementptr inbounds double, ptr %2, i64 %14
  %16 = load double, ptr %15, align 8
  %17 = fmul double %16, 5.000000e-01
  store double %17, ptr %15, align 8
  %18 = add nuw nsw i64 %13, 1
  %19 = icmp eq i64 %18, %6
  br i1 %19, label %20, label %12

20:
   call fastcc void @$by_triangle_d(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_d(ptr %3, ptr %2, i64 %6, i64 %6)
   call fastcc void @$by_triangle_d(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %21

21:
  %22 = phi i64 [ %41, %40 ], [ 0, %20 ]
  %23 = getelementptr double, ptr %3, i64 %22
  %24 = mul nuw nsw i64 %22, %6
  br label %27

25:
   call fastcc void @$by_triangle_d(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_d(ptr %3, ptr %2, i64 %6, i64 %6)
   call fastcc void @$by_triangle_d(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %26

26:
  ret i64 0

27:
  %28 = phi i64 [ 0, %21 ], [ %38, %27 ]
  %29 = add nuw nsw i64 %28, %24
  %30 = getelementptr inbounds double, ptr %3, i64 %29
  %31 = mul nuw nsw i64 %28, %6
  %32 = getelementptr double, ptr %23, i64 %31
  %33 = getelementptr inbounds double, ptr %2, i64 %29
  %34 = load double, ptr %30, align 8
  %35 = load double, ptr %32, align 8
  %36 = fadd double %34, %35
  %37 = fmul double %36, 5.000000e-01
  store double %37, ptr %33, align 8
  %38 = add nuw nsw i64 %28, 1
  %39 = icmp eq i64 %38, %6
  br i1 %39, label %40, label %27

40:
  %41 = add nuw nsw i64 %22, 1
  %42 = icmp eq i64 %41, %6
  br i1 %42, label %26, label %21
}
define internal fastcc void @$copy_d(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 8
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %16, label %23

8:
  %9 = phi i64 [ %14, %8 ], [ 8, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds double, ptr %1, i64 %10
  %12 = load <8 x double>, ptr %11, align 8
  %13 = getelementptr inbounds double, ptr %0, i64 %10
  store <8 x double> %12, ptr %13, align 8
  %14 = add nuw nsw i64 %9, 8
  %15 = icmp sgt i64 %14, %2
  br i1 %15, label %5, label %8

16:
  %17 = phi i64 [ %21, %16 ], [ %6, %5 ]
  %18 = getelementptr inbounds double, ptr %1, i64 %17
  %19 = load double, ptr %18, align 8
  %20 = getelementptr inbounds double, ptr %0, i64 %17
  store double %19, ptr %20, align 8
  %21 = add nuw nsw i64 %17, 1
  %22 = icmp eq i64 %21, %2
  br i1 %22, label %23, label %16

23:
  ret void
}
define internal fastcc void @$by_triangle_d(ptr %0, i32 %1, i32 %2, i32 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = trunc i64 %6 to i32
  %11 = trunc i64 %7 to i32
  %12 = trunc i64 %8 to i32
   call void %0(i32 101, i32 141, i32 %1, i32 %2, i32 %3, i32 %10, i32 %11, double 1.000000e+00, ptr %4, i32 %10, ptr %5, i32 %12)
  ret void
}
define internal fastcc void @$transpose_d(ptr %0, ptr %1, i64 %2, i64 %3) #0 {
  %5 = icmp sgt i64 %2, 0
  br i1 %5, label %6, label %14

6:
  %7 = icmp sgt i64 %3, 0
  br label %8

8:
  %9 = phi i64 [ 0, %6 ], [ %24, %23 ]
  br i1 %7, label %10, label %23

10:
  %11 = getelementptr double, ptr %0, i64 %9
  %12 = mul nuw nsw i64 %9, %3
  %13 = getelementptr double, ptr %1, i64 %12
  br label %15

14:
  ret void

15:
  %16 = phi i64 [ 0, %10 ], [ %21, %15 ]
  %17 = getelementptr double, ptr %13, i64 %16
  %18 = mul nuw nsw i64 %16, %2
  %19 = getelementptr double, ptr %11, i64 %18
  %20 = load double, ptr %17, align 8
  store double %20, ptr %19, align 8
  %21 = add nuw nsw i64 %16, 1
  %22 = icmp eq i64 %21, %3
  br i1 %22, label %23, label %15

23:
  %24 = add nuw nsw i64 %9, 1
  %25 = icmp eq i64 %24, %2
  br i1 %25, label %14, label %8
}
define i64 @$has_zero_d(ptr %0, i64 %1) #0 {
  %3 = add nsw i64 %1, 1
  %4 = icmp sgt i64 %1, 0
  br i1 %4, label %8, label %14

5:
  %6 = add nuw nsw i64 %9, 1
  %7 = icmp eq i64 %6, %1
  br i1 %7, label %14, label %8

8:
  %9 = phi i64 [ %6, %5 ], [ 0, %2 ]
  %10 = mul nuw nsw i64 %9, %3
  %11 = getelementptr inbounds double, ptr %0, i64 %10
  %12 = load double, ptr %11, align 8
  %13 = fcmp une double %12, 0.000000e+00
  br i1 %13, label %5, label %14

14:
  %15 = phi i64 [ 0, %2 ], [ 0, %5 ], [ 1, %8 ]
  ret i64 %15
}
define i64 @$solve_triangular_d(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9, i64 %10) #0 {
  %12 = icmp eq i64 %7, %5
  br i1 %12, label %15, label %13

13:
  %14 = icmp sgt i64 %4, 0
  br i1 %14, label %17, label %25

15:
  %16 = mul nsw i64 %7, %4
   call fastcc void @$copy_d(ptr %2, ptr %1, i64 %16)
  br label %25

17:
  %18 = phi i64 [ %23, %17 ], [ 0, %13 ]
  %19 = mul nsw i64 %18, %5
  %20 = add nsw i64 %19, %6
  %21 = getelementptr inbounds double, ptr %2, i64 %20
  %22 = getelementptr inbounds double, ptr %1, i64 %20
   call fastcc void @$copy_d(ptr %21, ptr %22, i64 %7)
  %23 = add nuw nsw i64 %18, 1
  %24 = icmp eq i64 %23, %4
  br i1 %24, label %25, label %17

25:
  %26 = trunc i64 %8 to i32
  %27 = trunc i64 %9 to i32
  %28 = trunc i64 %10 to i32
  %29 = getelementptr inbounds double, ptr %2, i64 %6
   call fastcc void @$by_triangle_d(ptr %3, i32 %26, i32 %27, i32 %28, ptr %0, ptr %29, i64 %4, i64 %7, i64 %5)
  ret i64 0
}
define i64 @$solve_vector_d(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
   call fastcc void @$copy_d(ptr %2, ptr %1, i64 %4)
  %9 = trunc i64 %5 to i32
  %10 = trunc i64 %6 to i32
  %11 = trunc i64 %7 to i32
  %12 = trunc i64 %4 to i32
   call void %3(i32 101, i32 %9, i32 %10, i32 %11, i32 %12, ptr %0, i32 %12, ptr %2, i32 1)
  ret i64 0
}
define i64 @$lu_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, i64 %5, i64 %6) #0 {
  %8 = call i64 @llvm.smin.i64(i64 %5, i64 %6)
  %9 = mul nsw i64 %6, %5
  %10 = call fastcc i32 @$finite_d(ptr null, ptr %0, i64 %9)
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %14, label %12

12:
   call fastcc void @$transpose_d(ptr %3, ptr %0, i64 %5, i64 %6)
  %13 = call fastcc i64 @$eliminate_d(ptr %4, ptr %3, ptr %2, i64 %5, i64 %6)
   call fastcc void @$transpose_d(ptr %1, ptr %3, i64 %6, i64 %5)
  br label %15

14:
   call fastcc void @$spoil_d(ptr %1, i64 %9)
  br label %15

15:
  %16 = icmp sgt i64 %8, 0
  br i1 %16, label %18, label %17

17:
  ret i64 0

18:
  %19 = phi i64 [ %29, %26 ], [ 0, %15 ]
  br i1 %11, label %24, label %20

20:
  %21 = getelementptr inbounds i32, ptr %2, i64 %19
  %22 = load i32, ptr %21, align 4
  %23 = add nsw i32 %22, -1
  br label %26

24:
  %25 = trunc i64 %19 to i32
  br label %26

26:
  %27 = phi i32 [ %23, %20 ], [ %25, %24 ]
  %28 = getelementptr inbounds i32, ptr %2, i64 %19
  store i32 %27, ptr %28, align 4
  %29 = add nuw nsw i64 %19, 1
  %30 = icmp eq i64 %29, %8
  br i1 %30, label %17, label %18
}
define internal fastcc i64 @$eliminate_d(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4) #0 {
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = trunc i64 %3 to i32
  store i32 %9, ptr %6, align 4
  %10 = trunc i64 %4 to i32
  store i32 %10, ptr %7, align 4
  store i32 0, ptr %8, align 4
  call void %0(ptr %6, ptr %7, ptr %1, ptr %6, ptr %2, ptr %8)
  %11 = load i32, ptr %8, align 4
  %12 = sext i32 %11 to i64
  ret i64 %12
}
define i64 @$solve_factored_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = mul nsw i64 %7, %6
   call fastcc void @$copy_d(ptr %3, ptr %2, i64 %10)
  %11 = icmp eq i64 %8, 0
  br i1 %11, label %15, label %12

12:
   call fastcc void @$by_triangle_d(ptr %4, i32 121, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_d(ptr %4, i32 122, i32 113, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  %13 = trunc i64 %8 to i32
  %14 = call fastcc i64 @$exchange_d(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 %13, i32 0)
  br label %17

15:
  %16 = call fastcc i64 @$exchange_d(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 0, i32 0)
   call fastcc void @$by_triangle_d(ptr %4, i32 122, i32 111, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_d(ptr %4, i32 121, i32 111, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  br label %17

17:
  %18 = phi i64 [ %16, %15 ], [ %14, %12 ]
  ret i64 %18
}
define internal fastcc i64 @$exchange_d(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5, i32 %6, i32 %7) #0 {
  %9 = icmp sgt i64 %3, 0
  br i1 %9, label %10, label %14

10:
  %11 = icmp eq i32 %6, 0
  %12 = zext nneg i32 %7 to i64
  %13 = icmp ne i32 %7, 0
  br label %16

14:
  %15 = phi i64 [ 0, %8 ], [ %37, %36 ]
  ret i64 %15

16:
  %17 = phi i64 [ 0, %10 ], [ %37, %36 ]
  %18 = phi i64 [ 0, %10 ], [ %38, %36 ]
  %19 = xor i64 %18, -1
  %20 = add nsw i64 %3, %19
  %21 = select i1 %11, i64 %18, i64 %20
  %22 = getelementptr inbounds i32, ptr %1, i64 %21
  %23 = load i32, ptr %22, align 4
  %24 = sext i32 %23 to i64
  %25 = sub nsw i64 %24, %12
  %26 = icmp ult i64 %25, %4
  %27 = select i1 %13, i1 true, i1 %26
  br i1 %27, label %29, label %28

28:
  store i64 %25, ptr %2, align 8
  br label %36

29:
  %30 = icmp eq i64 %25, %21
  br i1 %30, label %36, label %31

31:
  %32 = mul nsw i64 %21, %5
  %33 = getelementptr inbounds double, ptr %0, i64 %32
  %34 = mul nsw i64 %25, %5
  %35 = getelementptr inbounds double, ptr %0, i64 %34
   call fastcc void @$swap_d(ptr %33, ptr %35, i64 %5)
  br label %36

36:
  %37 = phi i64 [ 1, %28 ], [ %17, %31 ], [ %17, %29 ]
  %38 = add nuw nsw i64 %18, 1
  %39 = icmp eq i64 %38, %3
  br i1 %39, label %14, label %16
}
define i64 @$permute_rows_d(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = mul nsw i64 %5, %4
   call fastcc void @$copy_d(ptr %2, ptr %0, i64 %9)
  %10 = trunc i64 %7 to i32
  %11 = call fastcc i64 @$exchange_d(ptr %2, ptr %1, ptr %3, i64 %6, i64 %4, i64 %5, i32 %10, i32 0)
  ret i64 %11
}
define i64 @$solve_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, i64 %7, i64 %8) #0 {
  %10 = mul nsw i64 %7, %7
  %11 = call fastcc i32 @$finite_d(ptr null, ptr %0, i64 %10)
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %13, label %15

13:
  %14 = mul nsw i64 %8, %7
   call fastcc void @$spoil_d(ptr %2, i64 %14)
  br label %19

15:
   call fastcc void @$transpose_d(ptr %3, ptr %0, i64 %7, i64 %7)
  %16 = call fastcc i64 @$eliminate_d(ptr %5, ptr %3, ptr %4, i64 %7, i64 %7)
  %17 = mul nsw i64 %8, %7
   call fastcc void @$copy_d(ptr %2, ptr %1, i64 %17)
  %18 = call fastcc i64 @$exchange_d(ptr %2, ptr %4, ptr null, i64 %7, i64 %7, i64 %8, i32 0, i32 1)
   call fastcc void @$by_triangle_d(ptr %6, i32 121, i32 112, i32 132, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
   call fastcc void @$by_triangle_d(ptr %6, i32 122, i32 112, i32 131, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
  br label %19

19:
  %20 = phi i64 [ %16, %15 ], [ 0, %13 ]
  ret i64 %20
}
define i64 @$inv_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7) #0 {
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = mul nsw i64 %6, %6
  %13 = call fastcc i32 @$finite_d(ptr %1, ptr %0, i64 %12)
  %14 = icmp eq i32 %13, 0
  br i1 %14, label %15, label %16

15:
   call fastcc void @$spoil_d(ptr %1, i64 %12)
  br label %20

16:
  %17 = call fastcc i64 @$eliminate_d(ptr %4, ptr %1, ptr %2, i64 %6, i64 %6)
  %18 = trunc i64 %6 to i32
  store i32 %18, ptr %9, align 4
  %19 = trunc i64 %7 to i32
  store i32 %19, ptr %10, align 4
  store i32 0, ptr %11, align 4
  call void %5(ptr %9, ptr %1, ptr %9, ptr %2, ptr %3, ptr %10, ptr %11)
  br label %20

20:
  %21 = phi i64 [ %17, %16 ], [ 0, %15 ]
  ret i64 %21
}
define i64 @$factored_d(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4) #0 {
  %6 = mul nsw i64 %4, %4
   call fastcc void @$copy_d(ptr %1, ptr %0, i64 %6)
  %7 = call fastcc i64 @$eliminate_d(ptr %3, ptr %1, ptr %2, i64 %4, i64 %4)
  ret i64 %7
}
define i64 @$qr_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11) #0 {
  %13 = alloca i32, align 4
  %14 = alloca i32, align 4
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  %17 = alloca i32, align 4
  %18 = trunc i64 %8 to i32
  store i32 %18, ptr %13, align 4
  %19 = trunc i64 %9 to i32
  store i32 %19, ptr %14, align 4
  %20 = trunc i64 %10 to i32
  store i32 %20, ptr %15, align 4
  %21 = trunc i64 %11 to i32
  store i32 %21, ptr %16, align 4
  store i32 0, ptr %17, align 4
   call fastcc void @$transpose_d(ptr %3, ptr %0, i64 %8, i64 %9)
  call void %6(ptr %13, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  %22 = icmp sgt i64 %9, 0
  br i1 %22, label %23, label %28

23:
  %24 = phi i64 [ %42, %41 ], [ 0, %12 ]
  %25 = getelementptr double, ptr %3, i64 %24
  %26 = mul nuw nsw i64 %24, %9
  %27 = getelementptr double, ptr %2, i64 %26
  br label %33

28:
  %29 = mul nsw i64 %9, %9
  %30 = getelementptr inbounds double, ptr %2, i64 %29
  %31 = sub nsw i64 %10, %9
  %32 = mul nsw i64 %31, %9
  call fastcc void @$fill_d(ptr %30, i64 %32, double 0.000000e+00)
  call fastcc void @$clear_below_d(ptr %2, i64 %9)
  call void %7(ptr %13, ptr %15, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  call fastcc void @$transpose_d(ptr %1, ptr %3, i64 %10, i64 %8)
  ret i64 0

33:
  %34 = phi i64 [ 0, %23 ], [ %39, %33 ]
  %35 = mul nsw i64 %34, %8
  %36 = getelementptr double, ptr %25, i64 %35
  %37 = getelementptr double, ptr %27, i64 %34
  %38 = load double, ptr %36, align 8
  store double %38, ptr %37, align 8
  %39 = add nuw nsw i64 %34, 1
  %40 = icmp eq i64 %39, %9
  br i1 %40, label %41, label %33

41:
  %42 = add nuw nsw i64 %24, 1
  %43 = icmp eq i64 %42, %9
  br i1 %43, label %28, label %23
}
define internal fastcc void @$fill_d(ptr %0, i64 %1, double %2) #0 {
  %4 = icmp sgt i64 %1, 0
  br i1 %4, label %6, label %5

5:
  ret void

6:
  %7 = phi i64 [ %9, %6 ], [ 0, %3 ]
  %8 = getelementptr inbounds double, ptr %0, i64 %7
  store double %2, ptr %8, align 8
  %9 = add nuw nsw i64 %7, 1
  %10 = icmp eq i64 %9, %1
  br i1 %10, label %5, label %6
}
define internal fastcc void @$clear_below_d(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 1
  br i1 %3, label %5, label %4

4:
  ret void

5:
  %6 = phi i64 [ %9, %5 ], [ 1, %2 ]
  %7 = mul nuw nsw i64 %6, %1
  %8 = getelementptr inbounds double, ptr %0, i64 %7
   call fastcc void @$fill_d(ptr %8, i64 %6, double 0.000000e+00)
  %9 = add nuw nsw i64 %6, 1
  %10 = icmp eq i64 %9, %1
  br i1 %10, label %4, label %5
}
define i64 @$eigenvalues_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11, i64 %12) #0 {
  %14 = alloca i8, align 1
  %15 = alloca i8, align 1
  %16 = alloca i32, align 4
  %17 = alloca [3 x i32], align 4
  %18 = alloca i32, align 4
  %19 = mul nsw i64 %8, %8
  %20 = call fastcc i32 @$finite_d(ptr null, ptr %0, i64 %19)
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %22, label %25

22:
   call fastcc void @$spoil_d(ptr %1, i64 %8)
  %23 = icmp eq ptr %2, null
  br i1 %23, label %40, label %24

24:
   call fastcc void @$spoil_d(ptr %2, i64 %19)
  br label %40

25:
   call fastcc void @$transpose_d(ptr %3, ptr %0, i64 %8, i64 %8)
  %26 = icmp eq ptr %2, null
  %27 = select i1 %26, i8 78, i8 86
  store i8 %27, ptr %14, align 1
  %28 = icmp eq i64 %9, 0
  %29 = select i1 %28, i8 76, i8 85
  store i8 %29, ptr %15, align 1
  %30 = trunc i64 %8 to i32
  store i32 %30, ptr %16, align 4
  %31 = trunc i64 %10 to i32
  store i32 %31, ptr %17, align 4
  %32 = getelementptr inbounds i8, ptr %17, i64 4
  %33 = trunc i64 %11 to i32
  store i32 %33, ptr %32, align 4
  %34 = getelementptr inbounds i8, ptr %17, i64 8
  %35 = trunc i64 %12 to i32
  store i32 %35, ptr %34, align 4
  store i32 0, ptr %18, align 4
  call void %7(ptr %14, ptr %15, ptr %16, ptr %3, ptr %16, ptr %1, ptr %4, ptr %17, ptr %6, ptr %34, ptr %18, i64 1, i64 1)
  br i1 %26, label %37, label %36

36:
  call fastcc void @$transpose_d(ptr %2, ptr %3, i64 %8, i64 %8)
  br label %37

37:
  %38 = load i32, ptr %18, align 4
  %39 = sext i32 %38 to i64
  br label %40

40:
  %41 = phi i64 [ %39, %37 ], [ 0, %24 ], [ 0, %22 ]
  ret i64 %41
}
define i64 @$singular_values_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, i64 %11, i64 %12, i64 %13, i64 %14, i64 %15, i64 %16) #0 {
  %18 = alloca i8, align 1
  %19 = alloca i32, align 4
  %20 = alloca i32, align 4
  %21 = alloca i32, align 4
  %22 = alloca i32, align 4
  %23 = alloca i32, align 4
  %24 = mul nsw i64 %12, %11
  %25 = call fastcc i32 @$finite_d(ptr null, ptr %0, i64 %24)
  %26 = icmp eq i32 %25, 0
  br i1 %26, label %27, label %36

27:
  %28 = call i64 @llvm.smin.i64(i64 %11, i64 %12)
   call fastcc void @$spoil_d(ptr %2, i64 %28)
  %29 = icmp eq ptr %1, null
  br i1 %29, label %32, label %30

30:
  %31 = mul nsw i64 %13, %11
   call fastcc void @$spoil_d(ptr %1, i64 %31)
  br label %32

32:
  %33 = icmp eq ptr %3, null
  br i1 %33, label %50, label %34

34:
  %35 = mul nsw i64 %14, %12
   call fastcc void @$spoil_d(ptr %3, i64 %35)
  br label %50

36:
   call fastcc void @$transpose_d(ptr %4, ptr %0, i64 %11, i64 %12)
  %37 = trunc i64 %16 to i8
  store i8 %37, ptr %18, align 1
  %38 = trunc i64 %11 to i32
  store i32 %38, ptr %19, align 4
  %39 = trunc i64 %12 to i32
  store i32 %39, ptr %20, align 4
  %40 = trunc i64 %14 to i32
  store i32 %40, ptr %21, align 4
  %41 = trunc i64 %15 to i32
  store i32 %41, ptr %22, align 4
  store i32 0, ptr %23, align 4
  call void %10(ptr %18, ptr %19, ptr %20, ptr %4, ptr %19, ptr %2, ptr %8, ptr %19, ptr %9, ptr %21, ptr %5, ptr %22, ptr %7, ptr %23, i64 1)
  %42 = icmp eq ptr %1, null
  br i1 %42, label %44, label %43

43:
  call fastcc void @$transpose_d(ptr %1, ptr %8, i64 %13, i64 %11)
  br label %44

44:
  %45 = icmp eq ptr %3, null
  br i1 %45, label %47, label %46

46:
  call fastcc void @$transpose_d(ptr %3, ptr %9, i64 %12, i64 %14)
  br label %47

47:
  %48 = load i32, ptr %23, align 4
  %49 = sext i32 %48 to i64
  br label %50

50:
  %51 = phi i64 [ %49, %47 ], [ 0, %34 ], [ 0, %32 ]
  ret i64 %51
}
define i64 @$blocked_begin_d(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = mul nsw i64 %5, %3
  %8 = mul nsw i64 %7, %4
  %9 = getelementptr inbounds double, ptr %1, i64 %8
  %10 = getelementptr inbounds double, ptr %0, i64 %8
  %11 = sub nsw i64 %4, %7
  %12 = call i64 @llvm.smin.i64(i64 %11, i64 %5)
  %13 = mul nsw i64 %12, %4
  %14 = call fastcc i32 @$finite_d(ptr %9, ptr %10, i64 %13)
  %15 = xor i32 %14, 1
  %16 = zext nneg i32 %15 to i64
  %17 = getelementptr inbounds i8, ptr %2, i64 24
  %18 = getelementptr inbounds i64, ptr %17, i64 %3
  store i64 %16, ptr %18, align 8
  ret i64 0
}
define i64 @$blocked_first_d(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = getelementptr inbounds i8, ptr %1, i64 16
  store i64 0, ptr %7, align 8
  %8 = getelementptr inbounds i8, ptr %1, i64 8
  store i64 0, ptr %8, align 8
  store i64 0, ptr %1, align 8
  %9 = icmp sgt i64 %5, 0
  br i1 %9, label %10, label %13

10:
  %11 = getelementptr inbounds i8, ptr %1, i64 24
  br label %14

12:
  store i64 %19, ptr %8, align 8
  br label %13

13:
   call fastcc void @$factor_block_d(ptr %0, ptr %1, ptr %2, i64 0, i64 %3, i64 %4)
  ret i64 0

14:
  %15 = phi i64 [ 0, %10 ], [ %19, %14 ]
  %16 = phi i64 [ 0, %10 ], [ %20, %14 ]
  %17 = getelementptr inbounds i64, ptr %11, i64 %16
  %18 = load i64, ptr %17, align 8
  %19 = or i64 %15, %18
  %20 = add nuw nsw i64 %16, 1
  %21 = icmp eq i64 %20, %5
  br i1 %21, label %12, label %14
}
define internal fastcc void @$factor_block_d(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = alloca i8, align 1
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  store i8 85, ptr %7, align 1
  %11 = sub nsw i64 %4, %3
  %12 = call i64 @llvm.smin.i64(i64 %11, i64 %5)
  %13 = trunc i64 %12 to i32
  store i32 %13, ptr %8, align 4
  %14 = trunc i64 %4 to i32
  store i32 %14, ptr %9, align 4
  store i32 0, ptr %10, align 4
  %15 = add nsw i64 %4, 1
  %16 = mul nsw i64 %15, %3
  %17 = getelementptr inbounds double, ptr %0, i64 %16
  call void %2(ptr %7, ptr %8, ptr %17, ptr %9, ptr %10, i64 1)
  %18 = load i32, ptr %10, align 4
  %19 = icmp sgt i32 %18, 0
  br i1 %19, label %20, label %22

20:
  %21 = getelementptr inbounds i8, ptr %1, i64 16
  store i64 1, ptr %21, align 8
  br label %22

22:
  ret void
}
define i64 @$blocked_panel_d(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5, i64 %6) #0 {
  %8 = load i64, ptr %1, align 8
  %9 = mul nsw i64 %6, %3
  %10 = add i64 %9, %5
  %11 = add i64 %10, %8
  %12 = sub nsw i64 %4, %11
  %13 = call i64 @llvm.smin.i64(i64 %12, i64 %6)
  %14 = trunc i64 %13 to i32
  %15 = trunc i64 %5 to i32
  %16 = add nsw i64 %4, 1
  %17 = mul nsw i64 %8, %16
  %18 = getelementptr inbounds double, ptr %0, i64 %17
  %19 = trunc i64 %4 to i32
  %20 = mul nsw i64 %11, %4
  %21 = getelementptr inbounds double, ptr %0, i64 %20
  %22 = getelementptr inbounds double, ptr %21, i64 %8
   call void %2(i32 101, i32 142, i32 122, i32 112, i32 131, i32 %14, i32 %15, double 1.000000e+00, ptr %18, i32 %19, ptr %22, i32 %19)
  ret i64 0
}
define i64 @$blocked_update_d(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = load i64, ptr %1, align 8
  %10 = add nsw i64 %9, %6
  %11 = mul nsw i64 %7, %4
  %12 = add nsw i64 %10, %11
  %13 = sub nsw i64 %5, %12
  %14 = call i64 @llvm.smin.i64(i64 %13, i64 %7)
  %15 = trunc i64 %14 to i32
  %16 = add i64 %11, %14
  %17 = trunc i64 %16 to i32
  %18 = trunc i64 %6 to i32
  %19 = mul nsw i64 %12, %5
  %20 = getelementptr inbounds double, ptr %0, i64 %19
  %21 = getelementptr inbounds double, ptr %20, i64 %9
  %22 = trunc i64 %5 to i32
  %23 = mul nsw i64 %10, %5
  %24 = getelementptr inbounds double, ptr %0, i64 %23
  %25 = getelementptr inbounds double, ptr %24, i64 %9
  %26 = getelementptr inbounds double, ptr %20, i64 %10
   call void %2(i32 101, i32 111, i32 112, i32 %15, i32 %17, i32 %18, double -1.000000e+00, ptr %21, i32 %22, ptr %25, i32 %22, double 1.000000e+00, ptr %26, i32 %22)
  %27 = icmp eq i64 %4, 0
  br i1 %27, label %28, label %29

28:
   call fastcc void @$factor_block_d(ptr %0, ptr %1, ptr %3, i64 %10, i64 %5, i64 %6)
  br label %29

29:
  ret i64 0
}
define i64 @$blocked_advance_d(ptr %0, i64 %1) #0 {
  %3 = load i64, ptr %0, align 8
  %4 = add nsw i64 %3, %1
  store i64 %4, ptr %0, align 8
  ret i64 0
}
define i64 @$blocked_clear_d(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4) #0 {
  %6 = mul nsw i64 %4, %2
  %7 = sub nsw i64 %3, %6
  %8 = call i64 @llvm.smin.i64(i64 %7, i64 %4)
  %9 = add nsw i64 %8, %6
  %10 = getelementptr inbounds i8, ptr %1, i64 8
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %11, 0
  br i1 %12, label %19, label %13

13:
  %14 = mul nsw i64 %6, %3
  %15 = getelementptr inbounds double, ptr %0, i64 %14
  %16 = mul nsw i64 %8, %3
   call fastcc void @$spoil_d(ptr %15, i64 %16)
  %17 = load i64, ptr %10, align 8
  %18 = icmp eq i64 %17, 0
  br label %19

19:
  %20 = phi i1 [ %18, %13 ], [ true, %5 ]
  %21 = icmp sgt i64 %8, 0
  %22 = and i1 %20, %21
  br i1 %22, label %24, label %23

23:
  ret i64 0

24:
  %25 = phi i64 [ %32, %24 ], [ %6, %19 ]
  %26 = mul nsw i64 %25, %3
  %27 = getelementptr inbounds double, ptr %0, i64 %26
  %28 = getelementptr inbounds double, ptr %27, i64 %25
  %29 = getelementptr inbounds i8, ptr %28, i64 8
  %30 = xor i64 %25, -1
  %31 = add i64 %3, %30
   call fastcc void @$fill_d(ptr %29, i64 %31, double 0.000000e+00)
  %32 = add nsw i64 %25, 1
  %33 = load i64, ptr %10, align 8
  %34 = icmp eq i64 %33, 0
  %35 = icmp slt i64 %32, %9
  %36 = select i1 %34, i1 %35, i1 false
  br i1 %36, label %24, label %23
}
define i64 @$blocked_failed_d(ptr %0) #0 {
  %2 = getelementptr inbounds i8, ptr %0, i64 16
  %3 = load i64, ptr %2, align 8
  %4 = icmp eq i64 %3, 0
  br i1 %4, label %10, label %5

5:
  %6 = getelementptr inbounds i8, ptr %0, i64 8
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  %9 = zext i1 %8 to i64
  br label %10

10:
  %11 = phi i64 [ 0, %1 ], [ %9, %5 ]
  ret i64 %11
}
define i64 @$adjoint_begin_d(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4) #0 {
  %6 = mul nsw i64 %4, %2
  %7 = mul nsw i64 %6, %3
  %8 = getelementptr inbounds double, ptr %1, i64 %7
  %9 = getelementptr inbounds double, ptr %0, i64 %7
  %10 = sub nsw i64 %3, %6
  %11 = call i64 @llvm.smin.i64(i64 %10, i64 %4)
  %12 = mul nsw i64 %11, %3
   call fastcc void @$copy_d(ptr %8, ptr %9, i64 %12)
  ret i64 0
}
define i64 @$adjoint_first_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  store i64 %6, ptr %2, align 8
   call fastcc void @$adjoint_block_d(ptr %0, ptr %1, ptr null, i64 0, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8)
  ret i64 0
}
define internal fastcc void @$adjoint_block_d(ptr %0, ptr %1, ptr %2, i64 %3, ptr %4, ptr %5, ptr %6, i64 %7, i64 %8, i64 %9) #0 {
  %11 = add nsw i64 %9, %7
  %12 = call i64 @llvm.smin.i64(i64 %11, i64 %8)
  %13 = sub i64 %12, %7
  %14 = add nsw i64 %8, 1
  %15 = mul nsw i64 %14, %7
  %16 = getelementptr inbounds double, ptr %1, i64 %15
  %17 = getelementptr inbounds double, ptr %0, i64 %15
  %18 = trunc i64 %8 to i32
  %19 = trunc i64 %13 to i32
  %20 = trunc i64 %9 to i32
  %21 = icmp sgt i64 %3, 0
  br i1 %21, label %22, label %28

22:
  %23 = icmp sgt i64 %13, 0
  %24 = mul nsw i64 %9, %9
  br label %25

25:
  %26 = phi i64 [ 0, %22 ], [ %37, %36 ]
  %27 = phi ptr [ %2, %22 ], [ %38, %36 ]
  br i1 %23, label %30, label %36

28:
   call fastcc void @$triangle_of_d(ptr %6, ptr %16, i64 %13, i64 %8, i64 %9, double 1.000000e+00)
   call void %5(i32 101, i32 141, i32 122, i32 112, i32 131, i32 %19, i32 %19, double 1.000000e+00, ptr %17, i32 %18, ptr %6, i32 %20)
   call fastcc void @$triangle_of_d(ptr %6, ptr %6, i64 %13, i64 %9, i64 %9, double 5.000000e-01)
   call void %4(i32 101, i32 141, i32 122, i32 112, i32 131, i32 %19, i32 %19, double 1.000000e+00, ptr %17, i32 %18, ptr %6, i32 %20)
   call void %4(i32 101, i32 142, i32 122, i32 111, i32 131, i32 %19, i32 %19, double 1.000000e+00, ptr %17, i32 %18, ptr %6, i32 %20)
  %29 = icmp sgt i64 %13, 0
  br i1 %29, label %52, label %59

30:
  %31 = phi i64 [ %41, %40 ], [ 0, %25 ]
  %32 = mul nsw i64 %31, %9
  %33 = getelementptr double, ptr %27, i64 %32
  %34 = mul nsw i64 %31, %8
  %35 = getelementptr double, ptr %16, i64 %34
  br label %43

36:
  %37 = add nuw nsw i64 %26, 1
  %38 = getelementptr inbounds double, ptr %27, i64 %24
  %39 = icmp eq i64 %37, %3
  br i1 %39, label %28, label %25

40:
  %41 = add nuw nsw i64 %31, 1
  %42 = icmp eq i64 %41, %13
  br i1 %42, label %36, label %30

43:
  %44 = phi i64 [ 0, %30 ], [ %50, %43 ]
  %45 = getelementptr double, ptr %33, i64 %44
  %46 = load double, ptr %45, align 8
  %47 = getelementptr double, ptr %35, i64 %44
  %48 = load double, ptr %47, align 8
  %49 = fsub double %48, %46
  store double %49, ptr %47, align 8
  %50 = add nuw nsw i64 %44, 1
  %51 = icmp eq i64 %50, %13
  br i1 %51, label %40, label %43

52:
  %53 = phi i64 [ %61, %60 ], [ 0, %28 ]
  %54 = getelementptr double, ptr %6, i64 %53
  %55 = mul nsw i64 %53, %9
  %56 = getelementptr double, ptr %6, i64 %55
  %57 = mul nsw i64 %53, %8
  %58 = getelementptr double, ptr %16, i64 %57
  br label %63

59:
  ret void

60:
  %61 = add nuw nsw i64 %53, 1
  %62 = icmp eq i64 %61, %13
  br i1 %62, label %59, label %52

63:
  %64 = phi i64 [ 0, %52 ], [ %73, %63 ]
  %65 = getelementptr double, ptr %56, i64 %64
  %66 = load double, ptr %65, align 8
  %67 = mul nsw i64 %64, %9
  %68 = getelementptr double, ptr %54, i64 %67
  %69 = load double, ptr %68, align 8
  %70 = fadd double %66, %69
  %71 = fmul double %70, 5.000000e-01
  %72 = getelementptr double, ptr %58, i64 %64
  store double %71, ptr %72, align 8
  %73 = add nuw nsw i64 %64, 1
  %74 = icmp eq i64 %73, %13
  br i1 %74, label %60, label %63
}
define i64 @$adjoint_panel_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8, i64 %9) #0 {
  %11 = load i64, ptr %2, align 8
  %12 = mul nsw i64 %9, %6
  %13 = add i64 %12, %8
  %14 = add i64 %13, %11
  %15 = mul nsw i64 %14, %7
  %16 = getelementptr inbounds double, ptr %1, i64 %15
  %17 = getelementptr inbounds double, ptr %16, i64 %11
  %18 = trunc i64 %8 to i32
  %19 = sub nsw i64 %7, %14
  %20 = call i64 @llvm.smin.i64(i64 %19, i64 %9)
  %21 = trunc i64 %20 to i32
  %22 = trunc i64 %7 to i32
  %23 = add nsw i64 %7, 1
  %24 = mul nsw i64 %11, %23
  %25 = getelementptr inbounds double, ptr %0, i64 %24
   call void %5(i32 101, i32 142, i32 122, i32 111, i32 131, i32 %21, i32 %18, double 1.000000e+00, ptr %25, i32 %22, ptr %17, i32 %22)
  %26 = getelementptr inbounds double, ptr %0, i64 %15
  %27 = getelementptr inbounds double, ptr %26, i64 %11
  %28 = mul nsw i64 %8, %6
  %29 = mul nsw i64 %28, %8
  %30 = getelementptr inbounds double, ptr %3, i64 %29
   call void %4(i32 101, i32 112, i32 111, i32 %18, i32 %18, i32 %21, double 1.000000e+00, ptr %17, i32 %22, ptr %27, i32 %22, double 0.000000e+00, ptr %30, i32 %18)
  ret i64 0
}
define i64 @$adjoint_columns_d(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11, i64 %12) #0 {
  %14 = load i64, ptr %2, align 8
  %15 = add nsw i64 %14, %10
  %16 = sub nsw i64 %9, %15
  %17 = add nsw i64 %8, -1
  %18 = sdiv i64 %17, 2
  %19 = mul nsw i64 %12, %18
  %20 = sub nsw i64 %14, %19
  %21 = call i64 @llvm.smin.i64(i64 %20, i64 %12)
  %22 = mul nsw i64 %15, %9
  %23 = getelementptr inbounds double, ptr %1, i64 %22
  %24 = getelementptr inbounds double, ptr %23, i64 %14
  %25 = icmp eq i64 %8, 0
  br i1 %25, label %26, label %30

26:
  %27 = add i64 %11, -1
  %28 = add i64 %27, %16
  %29 = sdiv i64 %28, %11
   call fastcc void @$adjoint_block_d(ptr %0, ptr %1, ptr %3, i64 %29, ptr %5, ptr %6, ptr %7, i64 %14, i64 %9, i64 %10)
  br label %44

30:
  %31 = and i64 %8, 1
  %32 = icmp eq i64 %31, 0
  br i1 %32, label %38, label %33

33:
  %34 = mul nsw i64 %14, %9
  %35 = getelementptr inbounds double, ptr %0, i64 %34
  %36 = getelementptr inbounds double, ptr %35, i64 %19
  %37 = getelementptr inbounds double, ptr %23, i64 %19
   call fastcc void @$multiply_d(ptr %4, i32 111, i64 %16, i64 %21, i64 %10, double -1.000000e+00, ptr %24, ptr %36, ptr %37, i64 %9)
  br label %44

38:
  %39 = getelementptr inbounds double, ptr %0, i64 %22
  %40 = getelementptr inbounds double, ptr %39, i64 %19
  %41 = mul nsw i64 %14, %9
  %42 = getelementptr inbounds double, ptr %1, i64 %41
  %43 = getelementptr inbounds double, ptr %42, i64 %19
   call fastcc void @$multiply_d(ptr %4, i32 112, i64 %10, i64 %21, i64 %16, double -1.000000e+00, ptr %24, ptr %40, ptr %43, i64 %9)
  br label %44

44:
  ret i64 0
}
define internal fastcc void @$multiply_d(ptr %0, i32 %1, i64 %2, i64 %3, i64 %4, double %5, ptr %6, ptr %7, ptr %8, i64 %9) #0 {
  %11 = trunc i64 %2 to i32
  %12 = trunc i64 %3 to i32
  %13 = trunc i64 %4 to i32
  %14 = trunc i64 %9 to i32
   call void %0(i32 101, i32 %1, i32 111, i32 %11, i32 %12, i32 %13, double %5, ptr %6, i32 %14, ptr %7, i32 %14, double 1.000000e+00, ptr %8, i32 %14)
  ret void
}
define i64 @$adjoint_rows_d(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = load i64, ptr %2, align 8
  %10 = sub nsw i64 %5, %9
  %11 = call i64 @llvm.smin.i64(i64 %10, i64 %6)
  %12 = mul nsw i64 %7, %4
  %13 = sub nsw i64 %9, %12
  %14 = call i64 @llvm.smin.i64(i64 %13, i64 %7)
  %15 = add nsw i64 %5, 1
  %16 = mul nsw i64 %9, %15
  %17 = getelementptr inbounds double, ptr %1, i64 %16
  %18 = mul nsw i64 %9, %5
  %19 = getelementptr inbounds double, ptr %0, i64 %18
  %20 = getelementptr inbounds double, ptr %19, i64 %12
  %21 = getelementptr inbounds double, ptr %1, i64 %18
  %22 = getelementptr inbounds double, ptr %21, i64 %12
   call fastcc void @$multiply_d(ptr %3, i32 111, i64 %11, i64 %14, i64 %11, double -2.000000e+00, ptr %17, ptr %20, ptr %22, i64 %5)
  ret i64 0
}
define i64 @$adjoint_mirror_d(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4, i64 %5) #0 {
  %7 = mul nsw i64 %5, %2
  %8 = sub nsw i64 %3, %7
  %9 = call i64 @llvm.smin.i64(i64 %8, i64 %5)
  %10 = add nsw i64 %9, %7
  %11 = srem i64 %7, %4
  %12 = sub nsw i64 %7, %11
  %13 = icmp slt i64 %12, %10
  br i1 %13, label %15, label %14

14:
  ret i64 0

15:
  %16 = phi i64 [ %18, %45 ], [ %12, %6 ]
  %17 = call i64 @llvm.smax.i64(i64 %16, i64 %7)
  %18 = add nsw i64 %16, %4
  %19 = call i64 @llvm.smin.i64(i64 %18, i64 %10)
  %20 = icmp eq i64 %16, 0
  br i1 %20, label %45, label %21

21:
  %22 = icmp slt i64 %17, %19
  br i1 %22, label %23, label %30

23:
  %24 = icmp sgt i64 %16, 0
  br label %25

25:
  %26 = phi i64 [ %17, %23 ], [ %36, %35 ]
  br i1 %24, label %27, label %35

27:
  %28 = mul nsw i64 %26, %3
  %29 = getelementptr double, ptr %0, i64 %28
  br label %38

30:
  %31 = mul nsw i64 %17, %3
  %32 = getelementptr inbounds double, ptr %0, i64 %31
  %33 = getelementptr inbounds double, ptr %0, i64 %17
  %34 = sub nsw i64 %19, %17
   call void %1(ptr %32, i64 %3, ptr %33, i64 %3, i64 %16, i64 %34)
  br label %45

35:
  %36 = add nsw i64 %26, 1
  %37 = icmp slt i64 %36, %19
  br i1 %37, label %25, label %30

38:
  %39 = phi i64 [ 0, %27 ], [ %43, %38 ]
  %40 = getelementptr double, ptr %29, i64 %39
  %41 = load double, ptr %40, align 8
  %42 = fmul double %41, 5.000000e-01
  store double %42, ptr %40, align 8
  %43 = add nuw nsw i64 %39, 1
  %44 = icmp slt i64 %43, %16
  br i1 %44, label %38, label %35

45:
  %46 = icmp slt i64 %18, %10
  br i1 %46, label %15, label %14
}
define i64 @$cholesky_c(ptr %0, ptr %1, ptr %2, i64 %3) #0 {
  %5 = alloca i8, align 1
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = shl i64 %3, 1
  %9 = mul i64 %8, %3
  %10 = call fastcc i32 @$finite_c(ptr %1, ptr %0, i64 %9)
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %12, label %13

12:
   call fastcc void @$spoil_c(ptr %1, i64 %9)
  br label %17

13:
  store i8 85, ptr %5, align 1
  %14 = trunc i64 %3 to i32
  store i32 %14, ptr %6, align 4
  store i32 0, ptr %7, align 4
  call void %2(ptr %5, ptr %6, ptr %1, ptr %6, ptr %7, i64 1)
  call fastcc void @$clear_above_c(ptr %1, i64 %3)
  %15 = load i32, ptr %7, align 4
  %16 = sext i32 %15 to i64
  br label %17

17:
  %18 = phi i64 [ %16, %13 ], [ 0, %12 ]
  ret i64 %18
}
define internal fastcc i32 @$finite_c(ptr %0, ptr %1, i64 %2) #0 {
  %4 = alloca [16 x float], align 16
  %5 = icmp slt i64 %2, 16
  br i1 %5, label %8, label %6

6:
  %7 = icmp eq ptr %0, null
  br label %14

8:
  %9 = phi i64 [ 0, %3 ], [ %15, %22 ]
  %10 = phi <16 x float> [ zeroinitializer, %3 ], [ %23, %22 ]
  %11 = icmp slt i64 %9, %2
  br i1 %11, label %12, label %37

12:
  %13 = icmp eq ptr %0, null
  br label %26

14:
  %15 = phi i64 [ 16, %6 ], [ %24, %22 ]
  %16 = phi <16 x float> [ zeroinitializer, %6 ], [ %23, %22 ]
  %17 = phi i64 [ 0, %6 ], [ %15, %22 ]
  %18 = getelementptr inbounds float, ptr %1, i64 %17
  %19 = load <16 x float>, ptr %18, align 4
  br i1 %7, label %22, label %20

20:
  %21 = getelementptr inbounds float, ptr %0, i64 %17
  store <16 x float> %19, ptr %21, align 4
  br label %22

22:
  %23 = call <16 x float> @llvm.fmuladd.v16f32(<16 x float> %19, <16 x float> zeroinitializer, <16 x float> %16)
  %24 = add nuw nsw i64 %15, 16
  %25 = icmp sgt i64 %24, %2
  br i1 %25, label %8, label %14

26:
  %27 = phi float [ 0.000000e+00, %12 ], [ %34, %33 ]
  %28 = phi i64 [ %9, %12 ], [ %35, %33 ]
  %29 = getelementptr inbounds float, ptr %1, i64 %28
  %30 = load float, ptr %29, align 4
  br i1 %13, label %33, label %31

31:
  %32 = getelementptr inbounds float, ptr %0, i64 %28
  store float %30, ptr %32, align 4
  br label %33

33:
  %34 = call float @llvm.fmuladd.f32(float %30, float 0.000000e+00, float %27)
  %35 = add nuw nsw i64 %28, 1
  %36 = icmp eq i64 %35, %2
  br i1 %36, label %37, label %26

37:
  %38 = phi float [ 0.000000e+00, %8 ], [ %34, %33 ]
  store <16 x float> %10, ptr %4, align 16
  br label %42

39:
  %40 = fcmp oeq float %47, 0.000000e+00
  %41 = zext i1 %40 to i32
  ret i32 %41

42:
  %43 = phi i64 [ 0, %37 ], [ %48, %42 ]
  %44 = phi float [ %38, %37 ], [ %47, %42 ]
  %45 = getelementptr inbounds float, ptr %4, i64 %43
  %46 = load float, ptr %45, align 4
  %47 = fadd float %44, %46
  %48 = add nuw nsw i64 %43, 1
  %49 = icmp eq i64 %48, 16
  br i1 %49, label %39, label %42
}
define internal fastcc void @$spoil_c(ptr %0, i64 %1) #0 {
   call fastcc void @$fill_c(ptr %0, i64 %1, float 0x7FF8000000000000)
  ret void
}
define internal fastcc void @$clear_above_c(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 0
  br i1 %3, label %4, label %7

4:
  %5 = shl i64 %1, 3
  %6 = add i64 %5, 8
  br label %8

7:
  ret void

8:
  %9 = phi i64 [ 0, %4 ], [ %16, %8 ]
  %10 = mul i64 %6, %9
  %11 = getelementptr i8, ptr %0, i64 %10
  %12 = getelementptr i8, ptr %11, i64 8
  %13 = xor i64 %9, -1
  %14 = add nsw i64 %1, %13
  %15 = shl nsw i64 %14, 1
   call fastcc void @$fill_c(ptr %12, i64 %15, float 0.000000e+00)
  %16 = add nuw nsw i64 %9, 1
  %17 = icmp eq i64 %16, %1
  br i1 %17, label %7, label %8
}
define i64 @$cholesky_adjoint_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6) #0 {
  %8 = shl i64 %6, 1
  %9 = mul i64 %8, %6
   call fastcc void @$copy_c(ptr %2, ptr %1, i64 %9)
   call fastcc void @$clear_above_c(ptr %2, i64 %6)
   call fastcc void @$by_triangle_c(ptr %4, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$clear_above_c(ptr %2, i64 %6)
  %10 = icmp sgt i64 %6, 0
  br i1 %10, label %11, label %29

11:
  %12 = shl i64 %6, 3
  %13 = add i64 %12, 8
  br label %14

14:
  %15 = phi i64 [ 0, %11 ], [ %23, %14 ]
  %16 = mul i64 %13, %15
  %17 = getelementptr i8, ptr %2, i64 %16
  %18 = load float, ptr %17, align 4
  %19 = fmul float %18, 5.000000e-01
  store float %19, ptr %17, align 4
  %20 = getelementptr i8, ptr %17, i64 4
  %21 = load float, ptr %20, align 4
  %22 = fmul float %21, 5.000000e-01
  store float %22, ptr %20, align 4
  %23 = add nuw nsw i64 %15, 1
  %24 = icmp eq i64 %23, %6
  br i1 %24, label %25, label %14

25:
   call fastcc void @$by_triangle_c(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_c(ptr %3, ptr %2, i64 %6, i64 %6, i32 1)
   call fastcc void @$by_triangle_c(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %26

26:
  %27 = phi i64 [ %40, %39 ], [ 0, %25 ]
  %28 = mul nuw nsw i64 %27, %6
  br label %31

29:
   call fastcc void @$by_triangle_c(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_c(ptr %3, ptr %2, i64 %6, i64 %6, i32 1)
   call fastcc void @$by_triangle_c(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %30

30:
  ret i64 0

31:
  %32 = phi i64 [ 0, %26 ], [ %43, %42 ]
  %33 = add nuw nsw i64 %32, %28
  %34 = shl nuw nsw i64 %33, 1
  %35 = mul nuw nsw i64 %32, %6
  %36 = add nuw nsw i64 %35, %27
  %37 = shl i64 %36, 3
  %38 = getelementptr i8, ptr %3, i64 %37
  br label %45

39:
  %40 = add nuw nsw i64 %27, 1
  %41 = icmp eq i64 %40, %6
  br i1 %41, label %30, label %26

42:
  %43 = add nuw nsw i64 %32, 1
  %44 = icmp eq i64 %43, %6
  br i1 %44, label %39, label %31

45:
  %46 = phi i1 [ true, %31 ], [ false, %45 ]
  %47 = phi i64 [ 0, %31 ], [ 1, %45 ]
  %48 = or disjoint i64 %47, %34
  %49 = getelementptr inbounds float, ptr %3, i64 %48
  %50 = load float, ptr %49, align 4
  %51 = getelementptr float, ptr %38, i64 %47
  %52 = load float, ptr %51, align 4
  %53 = fneg float %52
  %54 = select i1 %46, float %52, float %53
  %55 = fadd float %50, %54
  %56 = fmul float %55, 5.000000e-01
  %57 = getelementptr inbounds float, ptr %2, i64 %48
  store float %56, ptr %57, align 4
  br i1 %46, label %45, label %42
}
define internal fastcc void @$copy_c(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 16
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %16, label %23

8:
  %9 = phi i64 [ %14, %8 ], [ 16, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds float, ptr %1, i64 %10
  %12 = load <16 x float>, ptr %11, align 4
  %13 = getelementptr inbounds float, ptr %0, i64 %10
  store <16 x float> %12, ptr %13, align 4
  %14 = add nuw nsw i64 %9, 16
  %15 = icmp sgt i64 %14, %2
  br i1 %15, label %5, label %8

16:
  %17 = phi i64 [ %21, %16 ], [ %6, %5 ]
  %18 = getelementptr inbounds float, ptr %1, i64 %17
  %19 = load float, ptr %18, align 4
  %20 = getelementptr inbounds float, ptr %0, i64 %17
  store float %19, ptr %20, align 4
  %21 = add nuw nsw i64 %17, 1
  %22 = icmp eq i64 %21, %2
  br i1 %22, label %23, label %16

23:
  ret void
}
define internal fastcc void @$by_triangle_c(ptr %0, i32 %1, i32 %2, i32 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = alloca [2 x float], align 4
  store float 1.000000e+00, ptr %10, align 4
  %11 = getelementptr inbounds i8, ptr %10, i64 4
  store float 0.000000e+00, ptr %11, align 4
  %12 = trunc i64 %6 to i32
  %13 = trunc i64 %7 to i32
  %14 = trunc i64 %8 to i32
  call void %0(i32 101, i32 141, i32 %1, i32 %2, i32 %3, i32 %12, i32 %13, ptr %10, ptr %4, i32 %12, ptr %5, i32 %14)
  ret void
}
define internal fastcc void @$transpose_c(ptr %0, ptr %1, i64 %2, i64 %3, i32 %4) #0 {
  %6 = icmp sgt i64 %2, 0
  br i1 %6, label %7, label %14

7:
  %8 = icmp sgt i64 %3, 0
  %9 = icmp eq i32 %4, 0
  br label %10

10:
  %11 = phi i64 [ 0, %7 ], [ %33, %32 ]
  br i1 %8, label %12, label %32

12:
  %13 = mul nuw nsw i64 %11, %3
  br label %15

14:
  ret void

15:
  %16 = phi i64 [ 0, %12 ], [ %30, %15 ]
  %17 = add nuw nsw i64 %16, %13
  %18 = shl i64 %17, 3
  %19 = getelementptr i8, ptr %1, i64 %18
  %20 = mul nuw nsw i64 %16, %2
  %21 = add nuw nsw i64 %20, %11
  %22 = shl i64 %21, 3
  %23 = getelementptr i8, ptr %0, i64 %22
  %24 = load float, ptr %19, align 4
  store float %24, ptr %23, align 4
  %25 = getelementptr i8, ptr %19, i64 4
  %26 = load float, ptr %25, align 4
  %27 = fneg float %26
  %28 = select i1 %9, float %26, float %27
  %29 = getelementptr i8, ptr %23, i64 4
  store float %28, ptr %29, align 4
  %30 = add nuw nsw i64 %16, 1
  %31 = icmp eq i64 %30, %3
  br i1 %31, label %32, label %15

32:
  %33 = add nuw nsw i64 %11, 1
  %34 = icmp eq i64 %33, %2
  br i1 %34, label %14, label %10
}
define i64 @$has_zero_c(ptr %0, i64 %1) #0 {
  %3 = shl i64 %1, 3
  %4 = add i64 %3, 8
  %5 = icmp sgt i64 %1, 0
  br i1 %5, label %6, label %19

6:
  %7 = phi i64 [ %17, %16 ], [ 0, %2 ]
  %8 = mul i64 %4, %7
  %9 = getelementptr inbounds i8, ptr %0, i64 %8
  %10 = load float, ptr %9, align 4
  %11 = fcmp oeq float %10, 0.000000e+00
  br i1 %11, label %12, label %16

12:
  %13 = getelementptr inbounds i8, ptr %9, i64 4
  %14 = load float, ptr %13, align 4
  %15 = fcmp oeq float %14, 0.000000e+00
  br i1 %15, label %19, label %16

16:
  %17 = add nuw nsw i64 %7, 1
  %18 = icmp eq i64 %17, %1
  br i1 %18, label %19, label %6

19:
  %20 = phi i64 [ 0, %2 ], [ 0, %16 ], [ 1, %12 ]
  ret i64 %20
}
define i64 @$solve_triangular_c(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9, i64 %10) #0 {
  %12 = icmp eq i64 %7, %5
  br i1 %12, label %17, label %13

13:
  %14 = icmp sgt i64 %4, 0
  br i1 %14, label %15, label %29

15:
  %16 = shl nsw i64 %7, 1
  br label %20

17:
  %18 = shl i64 %4, 1
  %19 = mul i64 %18, %7
   call fastcc void @$copy_c(ptr %2, ptr %1, i64 %19)
  br label %29

20:
  %21 = phi i64 [ 0, %15 ], [ %27, %20 ]
  %22 = mul nsw i64 %21, %5
  %23 = add nsw i64 %22, %6
  %24 = shl nsw i64 %23, 1
  %25 = getelementptr inbounds float, ptr %2, i64 %24
  %26 = getelementptr inbounds float, ptr %1, i64 %24
   call fastcc void @$copy_c(ptr %25, ptr %26, i64 %16)
  %27 = add nuw nsw i64 %21, 1
  %28 = icmp eq i64 %27, %4
  br i1 %28, label %29, label %20

29:
  %30 = trunc i64 %8 to i32
  %31 = trunc i64 %9 to i32
  %32 = trunc i64 %10 to i32
  %33 = shl nsw i64 %6, 3
  %34 = getelementptr inbounds i8, ptr %2, i64 %33
   call fastcc void @$by_triangle_c(ptr %3, i32 %30, i32 %31, i32 %32, ptr %0, ptr %34, i64 %4, i64 %7, i64 %5)
  ret i64 0
}
define i64 @$solve_vector_c(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = shl nsw i64 %4, 1
   call fastcc void @$copy_c(ptr %2, ptr %1, i64 %9)
  %10 = trunc i64 %5 to i32
  %11 = trunc i64 %6 to i32
  %12 = trunc i64 %7 to i32
  %13 = trunc i64 %4 to i32
   call void %3(i32 101, i32 %10, i32 %11, i32 %12, i32 %13, ptr %0, i32 %13, ptr %2, i32 1)
  ret i64 0
}
define i64 @$lu_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, i64 %5, i64 %6) #0 {
  %8 = call i64 @llvm.smin.i64(i64 %5, i64 %6)
  %9 = shl i64 %5, 1
  %10 = mul i64 %9, %6
  %11 = call fastcc i32 @$finite_c(ptr null, ptr %0, i64 %10)
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %15, label %13

13:
   call fastcc void @$transpose_c(ptr %3, ptr %0, i64 %5, i64 %6, i32 0)
  %14 = call fastcc i64 @$eliminate_c(ptr %4, ptr %3, ptr %2, i64 %5, i64 %6)
   call fastcc void @$transpose_c(ptr %1, ptr %3, i64 %6, i64 %5, i32 0)
  br label %16

15:
   call fastcc void @$spoil_c(ptr %1, i64 %10)
  br label %16

16:
  %17 = icmp sgt i64 %8, 0
  br i1 %17, label %19, label %18

18:
  ret i64 0

19:
  %20 = phi i64 [ %30, %27 ], [ 0, %16 ]
  br i1 %12, label %25, label %21

21:
  %22 = getelementptr inbounds i32, ptr %2, i64 %20
  %23 = load i32, ptr %22, align 4
  %24 = add nsw i32 %23, -1
  br label %27

25:
  %26 = trunc i64 %20 to i32
  br label %27

27:
  %28 = phi i32 [ %24, %21 ], [ %26, %25 ]
  %29 = getelementptr inbounds i32, ptr %2, i64 %20
  store i32 %28, ptr %29, align 4
  %30 = add nuw nsw i64 %20, 1
  %31 = icmp eq i64 %30, %8
  br i1 %31, label %18, label %19
}
define internal fastcc i64 @$eliminate_c(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4) #0 {
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = trunc i64 %3 to i32
  store i32 %9, ptr %6, align 4
  %10 = trunc i64 %4 to i32
  store i32 %10, ptr %7, align 4
  store i32 0, ptr %8, align 4
  call void %0(ptr %6, ptr %7, ptr %1, ptr %6, ptr %2, ptr %8)
  %11 = load i32, ptr %8, align 4
  %12 = sext i32 %11 to i64
  ret i64 %12
}
define i64 @$solve_factored_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = shl i64 %6, 1
  %11 = mul i64 %10, %7
   call fastcc void @$copy_c(ptr %3, ptr %2, i64 %11)
  %12 = icmp eq i64 %8, 0
  br i1 %12, label %16, label %13

13:
   call fastcc void @$by_triangle_c(ptr %4, i32 121, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_c(ptr %4, i32 122, i32 113, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  %14 = trunc i64 %8 to i32
  %15 = call fastcc i64 @$exchange_c(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 %14, i32 0)
  br label %18

16:
  %17 = call fastcc i64 @$exchange_c(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 0, i32 0)
   call fastcc void @$by_triangle_c(ptr %4, i32 122, i32 111, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_c(ptr %4, i32 121, i32 111, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  br label %18

18:
  %19 = phi i64 [ %17, %16 ], [ %15, %13 ]
  ret i64 %19
}
define internal fastcc i64 @$exchange_c(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5, i32 %6, i32 %7) #0 {
  %9 = icmp sgt i64 %3, 0
  br i1 %9, label %10, label %16

10:
  %11 = icmp eq i32 %6, 0
  %12 = zext nneg i32 %7 to i64
  %13 = icmp ne i32 %7, 0
  %14 = shl i64 %5, 3
  %15 = shl nsw i64 %5, 1
  br label %18

16:
  %17 = phi i64 [ 0, %8 ], [ %39, %38 ]
  ret i64 %17

18:
  %19 = phi i64 [ 0, %10 ], [ %39, %38 ]
  %20 = phi i64 [ 0, %10 ], [ %40, %38 ]
  %21 = xor i64 %20, -1
  %22 = add nsw i64 %3, %21
  %23 = select i1 %11, i64 %20, i64 %22
  %24 = getelementptr inbounds i32, ptr %1, i64 %23
  %25 = load i32, ptr %24, align 4
  %26 = sext i32 %25 to i64
  %27 = sub nsw i64 %26, %12
  %28 = icmp ult i64 %27, %4
  %29 = select i1 %13, i1 true, i1 %28
  br i1 %29, label %31, label %30

30:
  store i64 %27, ptr %2, align 8
  br label %38

31:
  %32 = icmp eq i64 %27, %23
  br i1 %32, label %38, label %33

33:
  %34 = mul i64 %14, %23
  %35 = getelementptr inbounds i8, ptr %0, i64 %34
  %36 = mul i64 %14, %27
  %37 = getelementptr inbounds i8, ptr %0, i64 %36
   call fastcc void @$swap_c(ptr %35, ptr %37, i64 %15)
  br label %38

38:
  %39 = phi i64 [ 1, %30 ], [ %19, %33 ], [ %19, %31 ]
  %40 = add nuw nsw i64 %20, 1
  %41 = icmp eq i64 %40, %3
  br i1 %41, label %16, label %18
}
define i64 @$permute_rows_c(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = shl i64 %4, 1
  %10 = mul i64 %9, %5
   call fastcc void @$copy_c(ptr %2, ptr %0, i64 %10)
  %11 = trunc i64 %7 to i32
  %12 = call fastcc i64 @$exchange_c(ptr %2, ptr %1, ptr %3, i64 %6, i64 %4, i64 %5, i32 %11, i32 0)
  ret i64 %12
}
define i64 @$solve_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, i64 %7, i64 %8) #0 {
  %10 = shl i64 %7, 1
  %11 = mul i64 %10, %7
  %12 = call fastcc i32 @$finite_c(ptr null, ptr %0, i64 %11)
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %14, label %17

14:
  %15 = mul nsw i64 %8, %7
  %16 = shl nsw i64 %15, 1
   call fastcc void @$spoil_c(ptr %2, i64 %16)
  br label %22

17:
   call fastcc void @$transpose_c(ptr %3, ptr %0, i64 %7, i64 %7, i32 0)
  %18 = call fastcc i64 @$eliminate_c(ptr %5, ptr %3, ptr %4, i64 %7, i64 %7)
  %19 = mul nsw i64 %8, %7
  %20 = shl nsw i64 %19, 1
   call fastcc void @$copy_c(ptr %2, ptr %1, i64 %20)
  %21 = call fastcc i64 @$exchange_c(ptr %2, ptr %4, ptr null, i64 %7, i64 %7, i64 %8, i32 0, i32 1)
   call fastcc void @$by_triangle_c(ptr %6, i32 121, i32 112, i32 132, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
   call fastcc void @$by_triangle_c(ptr %6, i32 122, i32 112, i32 131, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
  br label %22

22:
  %23 = phi i64 [ %18, %17 ], [ 0, %14 ]
  ret i64 %23
}
define i64 @$inv_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7) #0 {
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = shl i64 %6, 1
  %13 = mul i64 %12, %6
  %14 = call fastcc i32 @$finite_c(ptr %1, ptr %0, i64 %13)
  %15 = icmp eq i32 %14, 0
  br i1 %15, label %16, label %17

16:
   call fastcc void @$spoil_c(ptr %1, i64 %13)
  br label %21

17:
  %18 = call fastcc i64 @$eliminate_c(ptr %4, ptr %1, ptr %2, i64 %6, i64 %6)
  %19 = trunc i64 %6 to i32
  store i32 %19, ptr %9, align 4
  %20 = trunc i64 %7 to i32
  store i32 %20, ptr %10, align 4
  store i32 0, ptr %11, align 4
  call void %5(ptr %9, ptr %1, ptr %9, ptr %2, ptr %3, ptr %10, ptr %11)
  br label %21

21:
  %22 = phi i64 [ %18, %17 ], [ 0, %16 ]
  ret i64 %22
}
define i64 @$factored_c(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4) #0 {
  %6 = shl i64 %4, 1
  %7 = mul i64 %6, %4
   call fastcc void @$copy_c(ptr %1, ptr %0, i64 %7)
  %8 = call fastcc i64 @$eliminate_c(ptr %3, ptr %1, ptr %2, i64 %4, i64 %4)
  ret i64 %8
}
define i64 @$qr_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11) #0 {
  %13 = alloca i32, align 4
  %14 = alloca i32, align 4
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  %17 = alloca i32, align 4
  %18 = trunc i64 %8 to i32
  store i32 %18, ptr %13, align 4
  %19 = trunc i64 %9 to i32
  store i32 %19, ptr %14, align 4
  %20 = trunc i64 %10 to i32
  store i32 %20, ptr %15, align 4
  %21 = trunc i64 %11 to i32
  store i32 %21, ptr %16, align 4
  store i32 0, ptr %17, align 4
   call fastcc void @$transpose_c(ptr %3, ptr %0, i64 %8, i64 %9, i32 0)
  call void %6(ptr %13, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  %22 = icmp sgt i64 %9, 0
  br i1 %22, label %23, label %26

23:
  %24 = phi i64 [ %49, %48 ], [ 0, %12 ]
  %25 = mul nuw nsw i64 %24, %9
  br label %33

26:
  %27 = shl i64 %9, 3
  %28 = mul i64 %27, %9
  %29 = getelementptr inbounds i8, ptr %2, i64 %28
  %30 = sub nsw i64 %10, %9
  %31 = shl i64 %9, 1
  %32 = mul i64 %31, %30
  call fastcc void @$fill_c(ptr %29, i64 %32, float 0.000000e+00)
  call fastcc void @$clear_below_c(ptr %2, i64 %9)
  call void %7(ptr %13, ptr %15, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  call fastcc void @$transpose_c(ptr %1, ptr %3, i64 %10, i64 %8, i32 0)
  ret i64 0

33:
  %34 = phi i64 [ 0, %23 ], [ %46, %33 ]
  %35 = mul nsw i64 %34, %8
  %36 = add nsw i64 %35, %24
  %37 = shl i64 %36, 3
  %38 = getelementptr i8, ptr %3, i64 %37
  %39 = add nuw nsw i64 %34, %25
  %40 = shl i64 %39, 3
  %41 = getelementptr i8, ptr %2, i64 %40
  %42 = load float, ptr %38, align 4
  store float %42, ptr %41, align 4
  %43 = getelementptr i8, ptr %38, i64 4
  %44 = load float, ptr %43, align 4
  %45 = getelementptr i8, ptr %41, i64 4
  store float %44, ptr %45, align 4
  %46 = add nuw nsw i64 %34, 1
  %47 = icmp eq i64 %46, %9
  br i1 %47, label %48, label %33

48:
  %49 = add nuw nsw i64 %24, 1
  %50 = icmp eq i64 %49, %9
  br i1 %50, label %26, label %23
}
define internal fastcc void @$fill_c(ptr %0, i64 %1, float %2) #0 {
  %4 = icmp sgt i64 %1, 0
  br i1 %4, label %6, label %5

5:
  ret void

6:
  %7 = phi i64 [ %9, %6 ], [ 0, %3 ]
  %8 = getelementptr inbounds float, ptr %0, i64 %7
  store float %2, ptr %8, align 4
  %9 = add nuw nsw i64 %7, 1
  %10 = icmp eq i64 %9, %1
  br i1 %10, label %5, label %6
}
define internal fastcc void @$clear_below_c(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 1
  br i1 %3, label %4, label %6

4:
  %5 = shl i64 %1, 3
  br label %7

6:
  ret void

7:
  %8 = phi i64 [ 1, %4 ], [ %12, %7 ]
  %9 = mul i64 %5, %8
  %10 = getelementptr inbounds i8, ptr %0, i64 %9
  %11 = shl nuw nsw i64 %8, 1
   call fastcc void @$fill_c(ptr %10, i64 %11, float 0.000000e+00)
  %12 = add nuw nsw i64 %8, 1
  %13 = icmp eq i64 %12, %1
  br i1 %13, label %6, label %7
}
define i64 @$eigenvalues_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11, i64 %12) #0 {
  %14 = alloca i8, align 1
  %15 = alloca i8, align 1
  %16 = alloca i32, align 4
  %17 = alloca [3 x i32], align 4
  %18 = alloca i32, align 4
  %19 = shl i64 %8, 1
  %20 = mul i64 %19, %8
  %21 = call fastcc i32 @$finite_c(ptr null, ptr %0, i64 %20)
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %23, label %26

23:
   call fastcc void @$spoil_c(ptr %1, i64 %8)
  %24 = icmp eq ptr %2, null
  br i1 %24, label %41, label %25

25:
   call fastcc void @$spoil_c(ptr %2, i64 %20)
  br label %41

26:
   call fastcc void @$transpose_c(ptr %3, ptr %0, i64 %8, i64 %8, i32 0)
  %27 = icmp eq ptr %2, null
  %28 = select i1 %27, i8 78, i8 86
  store i8 %28, ptr %14, align 1
  %29 = icmp eq i64 %9, 0
  %30 = select i1 %29, i8 76, i8 85
  store i8 %30, ptr %15, align 1
  %31 = trunc i64 %8 to i32
  store i32 %31, ptr %16, align 4
  %32 = trunc i64 %10 to i32
  store i32 %32, ptr %17, align 4
  %33 = getelementptr inbounds i8, ptr %17, i64 4
  %34 = trunc i64 %11 to i32
  store i32 %34, ptr %33, align 4
  %35 = getelementptr inbounds i8, ptr %17, i64 8
  %36 = trunc i64 %12 to i32
  store i32 %36, ptr %35, align 4
  store i32 0, ptr %18, align 4
  call void %7(ptr %14, ptr %15, ptr %16, ptr %3, ptr %16, ptr %1, ptr %4, ptr %17, ptr %5, ptr %33, ptr %6, ptr %35, ptr %18, i64 1, i64 1)
  br i1 %27, label %38, label %37

37:
  call fastcc void @$transpose_c(ptr %2, ptr %3, i64 %8, i64 %8, i32 0)
  br label %38

38:
  %39 = load i32, ptr %18, align 4
  %40 = sext i32 %39 to i64
  br label %41

41:
  %42 = phi i64 [ %40, %38 ], [ 0, %25 ], [ 0, %23 ]
  ret i64 %42
}
define i64 @$singular_values_c(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, i64 %11, i64 %12, i64 %13, i64 %14, i64 %15, i64 %16) #0 {
  %18 = alloca i8, align 1
  %19 = alloca i32, align 4
  %20 = alloca i32, align 4
  %21 = alloca i32, align 4
  %22 = alloca i32, align 4
  %23 = alloca i32, align 4
  %24 = shl i64 %11, 1
  %25 = mul i64 %24, %12
  %26 = call fastcc i32 @$finite_c(ptr null, ptr %0, i64 %25)
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %28, label %38

28:
  %29 = call i64 @llvm.smin.i64(i64 %11, i64 %12)
   call fastcc void @$spoil_c(ptr %2, i64 %29)
  %30 = icmp eq ptr %1, null
  br i1 %30, label %33, label %31

31:
  %32 = mul i64 %24, %13
   call fastcc void @$spoil_c(ptr %1, i64 %32)
  br label %33

33:
  %34 = icmp eq ptr %3, null
  br i1 %34, label %52, label %35

35:
  %36 = shl i64 %12, 1
  %37 = mul i64 %36, %14
   call fastcc void @$spoil_c(ptr %3, i64 %37)
  br label %52

38:
   call fastcc void @$transpose_c(ptr %4, ptr %0, i64 %11, i64 %12, i32 0)
  %39 = trunc i64 %16 to i8
  store i8 %39, ptr %18, align 1
  %40 = trunc i64 %11 to i32
  store i32 %40, ptr %19, align 4
  %41 = trunc i64 %12 to i32
  store i32 %41, ptr %20, align 4
  %42 = trunc i64 %14 to i32
  store i32 %42, ptr %21, align 4
  %43 = trunc i64 %15 to i32
  store i32 %43, ptr %22, align 4
  store i32 0, ptr %23, align 4
  call void %10(ptr %18, ptr %19, ptr %20, ptr %4, ptr %19, ptr %2, ptr %8, ptr %19, ptr %9, ptr %21, ptr %5, ptr %22, ptr %6, ptr %7, ptr %23, i64 1)
  %44 = icmp eq ptr %1, null
  br i1 %44, label %46, label %45

45:
  call fastcc void @$transpose_c(ptr %1, ptr %8, i64 %13, i64 %11, i32 0)
  br label %46

46:
  %47 = icmp eq ptr %3, null
  br i1 %47, label %49, label %48

48:
  call fastcc void @$transpose_c(ptr %3, ptr %9, i64 %12, i64 %14, i32 0)
  br label %49

49:
  %50 = load i32, ptr %23, align 4
  %51 = sext i32 %50 to i64
  br label %52

52:
  %53 = phi i64 [ %51, %49 ], [ 0, %35 ], [ 0, %33 ]
  ret i64 %53
}
define i64 @$product_c(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9, i64 %10) #0 {
  %12 = alloca [2 x float], align 4
  %13 = alloca [2 x float], align 4
  store float 1.000000e+00, ptr %12, align 4
  %14 = getelementptr inbounds i8, ptr %13, i64 4
  store float 0.000000e+00, ptr %14, align 4
  store float 0.000000e+00, ptr %13, align 4
  %15 = getelementptr inbounds i8, ptr %12, i64 4
  store float 0.000000e+00, ptr %15, align 4
  %16 = trunc i64 %7 to i32
  %17 = trunc i64 %8 to i32
  %18 = trunc i64 %4 to i32
  %19 = trunc i64 %5 to i32
  %20 = trunc i64 %6 to i32
  %21 = trunc i64 %9 to i32
  %22 = trunc i64 %10 to i32
  call void %3(i32 101, i32 %16, i32 %17, i32 %18, i32 %19, i32 %20, ptr %12, ptr %0, i32 %21, ptr %1, i32 %22, ptr %13, ptr %2, i32 %19)
  ret i64 0
}
define i64 @$cholesky_z(ptr %0, ptr %1, ptr %2, i64 %3) #0 {
  %5 = alloca i8, align 1
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = shl i64 %3, 1
  %9 = mul i64 %8, %3
  %10 = call fastcc i32 @$finite_z(ptr %1, ptr %0, i64 %9)
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %12, label %13

12:
   call fastcc void @$spoil_z(ptr %1, i64 %9)
  br label %17

13:
  store i8 85, ptr %5, align 1
  %14 = trunc i64 %3 to i32
  store i32 %14, ptr %6, align 4
  store i32 0, ptr %7, align 4
  call void %2(ptr %5, ptr %6, ptr %1, ptr %6, ptr %7, i64 1)
  call fastcc void @$clear_above_z(ptr %1, i64 %3)
  %15 = load i32, ptr %7, align 4
  %16 = sext i32 %15 to i64
  br label %17

17:
  %18 = phi i64 [ %16, %13 ], [ 0, %12 ]
  ret i64 %18
}
define internal fastcc i32 @$finite_z(ptr %0, ptr %1, i64 %2) #0 {
  %4 = alloca [8 x double], align 16
  %5 = icmp slt i64 %2, 8
  br i1 %5, label %8, label %6

6:
  %7 = icmp eq ptr %0, null
  br label %14

8:
  %9 = phi i64 [ 0, %3 ], [ %15, %22 ]
  %10 = phi <8 x double> [ zeroinitializer, %3 ], [ %23, %22 ]
  %11 = icmp slt i64 %9, %2
  br i1 %11, label %12, label %37

12:
  %13 = icmp eq ptr %0, null
  br label %26

14:
  %15 = phi i64 [ 8, %6 ], [ %24, %22 ]
  %16 = phi <8 x double> [ zeroinitializer, %6 ], [ %23, %22 ]
  %17 = phi i64 [ 0, %6 ], [ %15, %22 ]
  %18 = getelementptr inbounds double, ptr %1, i64 %17
  %19 = load <8 x double>, ptr %18, align 8
  br i1 %7, label %22, label %20

20:
  %21 = getelementptr inbounds double, ptr %0, i64 %17
  store <8 x double> %19, ptr %21, align 8
  br label %22

22:
  %23 = call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %19, <8 x double> zeroinitializer, <8 x double> %16)
  %24 = add nuw nsw i64 %15, 8
  %25 = icmp sgt i64 %24, %2
  br i1 %25, label %8, label %14

26:
  %27 = phi double [ 0.000000e+00, %12 ], [ %34, %33 ]
  %28 = phi i64 [ %9, %12 ], [ %35, %33 ]
  %29 = getelementptr inbounds double, ptr %1, i64 %28
  %30 = load double, ptr %29, align 8
  br i1 %13, label %33, label %31

31:
  %32 = getelementptr inbounds double, ptr %0, i64 %28
  store double %30, ptr %32, align 8
  br label %33

33:
  %34 = call double @llvm.fmuladd.f64(double %30, double 0.000000e+00, double %27)
  %35 = add nuw nsw i64 %28, 1
  %36 = icmp eq i64 %35, %2
  br i1 %36, label %37, label %26

37:
  %38 = phi double [ 0.000000e+00, %8 ], [ %34, %33 ]
  store <8 x double> %10, ptr %4, align 16
  br label %42

39:
  %40 = fcmp oeq double %47, 0.000000e+00
  %41 = zext i1 %40 to i32
  ret i32 %41

42:
  %43 = phi i64 [ 0, %37 ], [ %48, %42 ]
  %44 = phi double [ %38, %37 ], [ %47, %42 ]
  %45 = getelementptr inbounds double, ptr %4, i64 %43
  %46 = load double, ptr %45, align 8
  %47 = fadd double %44, %46
  %48 = add nuw nsw i64 %43, 1
  %49 = icmp eq i64 %48, 8
  br i1 %49, label %39, label %42
}
define internal fastcc void @$spoil_z(ptr %0, i64 %1) #0 {
   call fastcc void @$fill_z(ptr %0, i64 %1, double 0x7FF8000000000000)
  ret void
}
define internal fastcc void @$clear_above_z(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 0
  br i1 %3, label %4, label %7

4:
  %5 = shl i64 %1, 4
  %6 = add i64 %5, 16
  br label %8

7:
  ret void

8:
  %9 = phi i64 [ 0, %4 ], [ %16, %8 ]
  %10 = mul i64 %6, %9
  %11 = getelementptr i8, ptr %0, i64 %10
  %12 = getelementptr i8, ptr %11, i64 16
  %13 = xor i64 %9, -1
  %14 = add nsw i64 %1, %13
  %15 = shl nsw i64 %14, 1
   call fastcc void @$fill_z(ptr %12, i64 %15, double 0.000000e+00)
  %16 = add nuw nsw i64 %9, 1
  %17 = icmp eq i64 %16, %1
  br i1 %17, label %7, label %8
}
define i64 @$cholesky_adjoint_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6) #0 {
  %8 = shl i64 %6, 1
  %9 = mul i64 %8, %6
   call fastcc void @$copy_z(ptr %2, ptr %1, i64 %9)
   call fastcc void @$clear_above_z(ptr %2, i64 %6)
   call fastcc void @$by_triangle_z(ptr %4, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$clear_above_z(ptr %2, i64 %6)
  %10 = icmp sgt i64 %6, 0
  br i1 %10, label %11, label %29

11:
  %12 = shl i64 %6, 4
  %13 = add i64 %12, 16
  br label %14

14:
  %15 = phi i64 [ 0, %11 ], [ %23, %14 ]
  %16 = mul i64 %13, %15
  %17 = getelementptr i8, ptr %2, i64 %16
  %18 = load double, ptr %17, align 8
  %19 = fmul double %18, 5.000000e-01
  store double %19, ptr %17, align 8
  %20 = getelementptr i8, ptr %17, i64 8
  %21 = load double, ptr %20, align 8
  %22 = fmul double %21, 5.000000e-01
  store double %22, ptr %20, align 8
  %23 = add nuw nsw i64 %15, 1
  %24 = icmp eq i64 %23, %6
  br i1 %24, label %25, label %14

25:
   call fastcc void @$by_triangle_z(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_z(ptr %3, ptr %2, i64 %6, i64 %6, i32 1)
   call fastcc void @$by_triangle_z(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %26

26:
  %27 = phi i64 [ %40, %39 ], [ 0, %25 ]
  %28 = mul nuw nsw i64 %27, %6
  br label %31

29:
   call fastcc void @$by_triangle_z(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %2, i64 %6, i64 %6, i64 %6)
   call fastcc void @$transpose_z(ptr %3, ptr %2, i64 %6, i64 %6, i32 1)
   call fastcc void @$by_triangle_z(ptr %5, i32 122, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %6, i64 %6)
  br label %30

30:
  ret i64 0

31:
  %32 = phi i64 [ 0, %26 ], [ %43, %42 ]
  %33 = add nuw nsw i64 %32, %28
  %34 = shl nuw nsw i64 %33, 1
  %35 = mul nuw nsw i64 %32, %6
  %36 = add nuw nsw i64 %35, %27
  %37 = shl i64 %36, 4
  %38 = getelementptr i8, ptr %3, i64 %37
  br label %45

39:
  %40 = add nuw nsw i64 %27, 1
  %41 = icmp eq i64 %40, %6
  br i1 %41, label %30, label %26

42:
  %43 = add nuw nsw i64 %32, 1
  %44 = icmp eq i64 %43, %6
  br i1 %44, label %39, label %31

45:
  %46 = phi i1 [ true, %31 ], [ false, %45 ]
  %47 = phi i64 [ 0, %31 ], [ 1, %45 ]
  %48 = or disjoint i64 %47, %34
  %49 = getelementptr inbounds double, ptr %3, i64 %48
  %50 = load double, ptr %49, align 8
  %51 = getelementptr double, ptr %38, i64 %47
  %52 = load double, ptr %51, align 8
  %53 = fneg double %52
  %54 = select i1 %46, double %52, double %53
  %55 = fadd double %50, %54
  %56 = fmul double %55, 5.000000e-01
  %57 = getelementptr inbounds double, ptr %2, i64 %48
  store double %56, ptr %57, align 8
  br i1 %46, label %45, label %42
}
define internal fastcc void @$copy_z(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 8
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %16, label %23

8:
  %9 = phi i64 [ %14, %8 ], [ 8, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds double, ptr %1, i64 %10
  %12 = load <8 x double>, ptr %11, align 8
  %13 = getelementptr inbounds double, ptr %0, i64 %10
  store <8 x double> %12, ptr %13, align 8
  %14 = add nuw nsw i64 %9, 8
  %15 = icmp sgt i64 %14, %2
  br i1 %15, label %5, label %8

16:
  %17 = phi i64 [ %21, %16 ], [ %6, %5 ]
  %18 = getelementptr inbounds double, ptr %1, i64 %17
  %19 = load double, ptr %18, align 8
  %20 = getelementptr inbounds double, ptr %0, i64 %17
  store double %19, ptr %20, align 8
  %21 = add nuw nsw i64 %17, 1
  %22 = icmp eq i64 %21, %2
  br i1 %22, label %23, label %16

23:
  ret void
}
define internal fastcc void @$by_triangle_z(ptr %0, i32 %1, i32 %2, i32 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = alloca [2 x double], align 16
  store double 1.000000e+00, ptr %10, align 16
  %11 = getelementptr inbounds i8, ptr %10, i64 8
  store double 0.000000e+00, ptr %11, align 8
  %12 = trunc i64 %6 to i32
  %13 = trunc i64 %7 to i32
  %14 = trunc i64 %8 to i32
  call void %0(i32 101, i32 141, i32 %1, i32 %2, i32 %3, i32 %12, i32 %13, ptr %10, ptr %4, i32 %12, ptr %5, i32 %14)
  ret void
}
define internal fastcc void @$transpose_z(ptr %0, ptr %1, i64 %2, i64 %3, i32 %4) #0 {
  %6 = icmp sgt i64 %2, 0
  br i1 %6, label %7, label %14

7:
  %8 = icmp sgt i64 %3, 0
  %9 = icmp eq i32 %4, 0
  br label %10

10:
  %11 = phi i64 [ 0, %7 ], [ %33, %32 ]
  br i1 %8, label %12, label %32

12:
  %13 = mul nuw nsw i64 %11, %3
  br label %15

14:
  ret void

15:
  %16 = phi i64 [ 0, %12 ], [ %30, %15 ]
  %17 = add nuw nsw i64 %16, %13
  %18 = shl i64 %17, 4
  %19 = getelementptr i8, ptr %1, i64 %18
  %20 = mul nuw nsw i64 %16, %2
  %21 = add nuw nsw i64 %20, %11
  %22 = shl i64 %21, 4
  %23 = getelementptr i8, ptr %0, i64 %22
  %24 = load double, ptr %19, align 8
  store double %24, ptr %23, align 8
  %25 = getelementptr i8, ptr %19, i64 8
  %26 = load double, ptr %25, align 8
  %27 = fneg double %26
  %28 = select i1 %9, double %26, double %27
  %29 = getelementptr i8, ptr %23, i64 8
  store double %28, ptr %29, align 8
  %30 = add nuw nsw i64 %16, 1
  %31 = icmp eq i64 %30, %3
  br i1 %31, label %32, label %15

32:
  %33 = add nuw nsw i64 %11, 1
  %34 = icmp eq i64 %33, %2
  br i1 %34, label %14, label %10
}
define i64 @$has_zero_z(ptr %0, i64 %1) #0 {
  %3 = shl i64 %1, 4
  %4 = add i64 %3, 16
  %5 = icmp sgt i64 %1, 0
  br i1 %5, label %6, label %19

6:
  %7 = phi i64 [ %17, %16 ], [ 0, %2 ]
  %8 = mul i64 %4, %7
  %9 = getelementptr inbounds i8, ptr %0, i64 %8
  %10 = load double, ptr %9, align 8
  %11 = fcmp oeq double %10, 0.000000e+00
  br i1 %11, label %12, label %16

12:
  %13 = getelementptr inbounds i8, ptr %9, i64 8
  %14 = load double, ptr %13, align 8
  %15 = fcmp oeq double %14, 0.000000e+00
  br i1 %15, label %19, label %16

16:
  %17 = add nuw nsw i64 %7, 1
  %18 = icmp eq i64 %17, %1
  br i1 %18, label %19, label %6

19:
  %20 = phi i64 [ 0, %2 ], [ 0, %16 ], [ 1, %12 ]
  ret i64 %20
}
define i64 @$solve_triangular_z(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9, i64 %10) #0 {
  %12 = icmp eq i64 %7, %5
  br i1 %12, label %17, label %13

13:
  %14 = icmp sgt i64 %4, 0
  br i1 %14, label %15, label %29

15:
  %16 = shl nsw i64 %7, 1
  br label %20

17:
  %18 = shl i64 %4, 1
  %19 = mul i64 %18, %7
   call fastcc void @$copy_z(ptr %2, ptr %1, i64 %19)
  br label %29

20:
  %21 = phi i64 [ 0, %15 ], [ %27, %20 ]
  %22 = mul nsw i64 %21, %5
  %23 = add nsw i64 %22, %6
  %24 = shl nsw i64 %23, 1
  %25 = getelementptr inbounds double, ptr %2, i64 %24
  %26 = getelementptr inbounds double, ptr %1, i64 %24
   call fastcc void @$copy_z(ptr %25, ptr %26, i64 %16)
  %27 = add nuw nsw i64 %21, 1
  %28 = icmp eq i64 %27, %4
  br i1 %28, label %29, label %20

29:
  %30 = trunc i64 %8 to i32
  %31 = trunc i64 %9 to i32
  %32 = trunc i64 %10 to i32
  %33 = shl nsw i64 %6, 4
  %34 = getelementptr inbounds i8, ptr %2, i64 %33
   call fastcc void @$by_triangle_z(ptr %3, i32 %30, i32 %31, i32 %32, ptr %0, ptr %34, i64 %4, i64 %7, i64 %5)
  ret i64 0
}
define i64 @$solve_vector_z(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = shl nsw i64 %4, 1
   call fastcc void @$copy_z(ptr %2, ptr %1, i64 %9)
  %10 = trunc i64 %5 to i32
  %11 = trunc i64 %6 to i32
  %12 = trunc i64 %7 to i32
  %13 = trunc i64 %4 to i32
   call void %3(i32 101, i32 %10, i32 %11, i32 %12, i32 %13, ptr %0, i32 %13, ptr %2, i32 1)
  ret i64 0
}
define i64 @$lu_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, i64 %5, i64 %6) #0 {
  %8 = call i64 @llvm.smin.i64(i64 %5, i64 %6)
  %9 = shl i64 %5, 1
  %10 = mul i64 %9, %6
  %11 = call fastcc i32 @$finite_z(ptr null, ptr %0, i64 %10)
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %15, label %13

13:
   call fastcc void @$transpose_z(ptr %3, ptr %0, i64 %5, i64 %6, i32 0)
  %14 = call fastcc i64 @$eliminate_z(ptr %4, ptr %3, ptr %2, i64 %5, i64 %6)
   call fastcc void @$transpose_z(ptr %1, ptr %3, i64 %6, i64 %5, i32 0)
  br label %16

15:
   call fastcc void @$spoil_z(ptr %1, i64 %10)
  br label %16

16:
  %17 = icmp sgt i64 %8, 0
  br i1 %17, label %19, label %18

18:
  ret i64 0

19:
  %20 = phi i64 [ %30, %27 ], [ 0, %16 ]
  br i1 %12, label %25, label %21

21:
  %22 = getelementptr inbounds i32, ptr %2, i64 %20
  %23 = load i32, ptr %22, align 4
  %24 = add nsw i32 %23, -1
  br label %27

25:
  %26 = trunc i64 %20 to i32
  br label %27

27:
  %28 = phi i32 [ %24, %21 ], [ %26, %25 ]
  %29 = getelementptr inbounds i32, ptr %2, i64 %20
  store i32 %28, ptr %29, align 4
  %30 = add nuw nsw i64 %20, 1
  %31 = icmp eq i64 %30, %8
  br i1 %31, label %18, label %19
}
define internal fastcc i64 @$eliminate_z(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4) #0 {
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = trunc i64 %3 to i32
  store i32 %9, ptr %6, align 4
  %10 = trunc i64 %4 to i32
  store i32 %10, ptr %7, align 4
  store i32 0, ptr %8, align 4
  call void %0(ptr %6, ptr %7, ptr %1, ptr %6, ptr %2, ptr %8)
  %11 = load i32, ptr %8, align 4
  %12 = sext i32 %11 to i64
  ret i64 %12
}
define i64 @$solve_factored_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8) #0 {
  %10 = shl i64 %6, 1
  %11 = mul i64 %10, %7
   call fastcc void @$copy_z(ptr %3, ptr %2, i64 %11)
  %12 = icmp eq i64 %8, 0
  br i1 %12, label %16, label %13

13:
   call fastcc void @$by_triangle_z(ptr %4, i32 121, i32 113, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_z(ptr %4, i32 122, i32 113, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  %14 = trunc i64 %8 to i32
  %15 = call fastcc i64 @$exchange_z(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 %14, i32 0)
  br label %18

16:
  %17 = call fastcc i64 @$exchange_z(ptr %3, ptr %1, ptr %5, i64 %6, i64 %6, i64 %7, i32 0, i32 0)
   call fastcc void @$by_triangle_z(ptr %4, i32 122, i32 111, i32 132, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
   call fastcc void @$by_triangle_z(ptr %4, i32 121, i32 111, i32 131, ptr %0, ptr %3, i64 %6, i64 %7, i64 %7)
  br label %18

18:
  %19 = phi i64 [ %17, %16 ], [ %15, %13 ]
  ret i64 %19
}
define internal fastcc i64 @$exchange_z(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5, i32 %6, i32 %7) #0 {
  %9 = icmp sgt i64 %3, 0
  br i1 %9, label %10, label %16

10:
  %11 = icmp eq i32 %6, 0
  %12 = zext nneg i32 %7 to i64
  %13 = icmp ne i32 %7, 0
  %14 = shl i64 %5, 4
  %15 = shl nsw i64 %5, 1
  br label %18

16:
  %17 = phi i64 [ 0, %8 ], [ %39, %38 ]
  ret i64 %17

18:
  %19 = phi i64 [ 0, %10 ], [ %39, %38 ]
  %20 = phi i64 [ 0, %10 ], [ %40, %38 ]
  %21 = xor i64 %20, -1
  %22 = add nsw i64 %3, %21
  %23 = select i1 %11, i64 %20, i64 %22
  %24 = getelementptr inbounds i32, ptr %1, i64 %23
  %25 = load i32, ptr %24, align 4
  %26 = sext i32 %25 to i64
  %27 = sub nsw i64 %26, %12
  %28 = icmp ult i64 %27, %4
  %29 = select i1 %13, i1 true, i1 %28
  br i1 %29, label %31, label %30

30:
  store i64 %27, ptr %2, align 8
  br label %38

31:
  %32 = icmp eq i64 %27, %23
  br i1 %32, label %38, label %33

33:
  %34 = mul i64 %14, %23
  %35 = getelementptr inbounds i8, ptr %0, i64 %34
  %36 = mul i64 %14, %27
  %37 = getelementptr inbounds i8, ptr %0, i64 %36
   call fastcc void @$swap_z(ptr %35, ptr %37, i64 %15)
  br label %38

38:
  %39 = phi i64 [ 1, %30 ], [ %19, %33 ], [ %19, %31 ]
  %40 = add nuw nsw i64 %20, 1
  %41 = icmp eq i64 %40, %3
  br i1 %41, label %16, label %18
}
define i64 @$permute_rows_z(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7) #0 {
  %9 = shl i64 %4, 1
  %10 = mul i64 %9, %5
   call fastcc void @$copy_z(ptr %2, ptr %0, i64 %10)
  %11 = trunc i64 %7 to i32
  %12 = call fastcc i64 @$exchange_z(ptr %2, ptr %1, ptr %3, i64 %6, i64 %4, i64 %5, i32 %11, i32 0)
  ret i64 %12
}
define i64 @$solve_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, i64 %7, i64 %8) #0 {
  %10 = shl i64 %7, 1
  %11 = mul i64 %10, %7
  %12 = call fastcc i32 @$finite_z(ptr null, ptr %0, i64 %11)
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %14, label %17

14:
  %15 = mul nsw i64 %8, %7
  %16 = shl nsw i64 %15, 1
   call fastcc void @$spoil_z(ptr %2, i64 %16)
  br label %22

17:
   call fastcc void @$transpose_z(ptr %3, ptr %0, i64 %7, i64 %7, i32 0)
  %18 = call fastcc i64 @$eliminate_z(ptr %5, ptr %3, ptr %4, i64 %7, i64 %7)
  %19 = mul nsw i64 %8, %7
  %20 = shl nsw i64 %19, 1
   call fastcc void @$copy_z(ptr %2, ptr %1, i64 %20)
  %21 = call fastcc i64 @$exchange_z(ptr %2, ptr %4, ptr null, i64 %7, i64 %7, i64 %8, i32 0, i32 1)
   call fastcc void @$by_triangle_z(ptr %6, i32 121, i32 112, i32 132, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
   call fastcc void @$by_triangle_z(ptr %6, i32 122, i32 112, i32 131, ptr %3, ptr %2, i64 %7, i64 %8, i64 %8)
  br label %22

22:
  %23 = phi i64 [ %18, %17 ], [ 0, %14 ]
  ret i64 %23
}
define i64 @$inv_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6, i64 %7) #0 {
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = shl i64 %6, 1
  %13 = mul i64 %12, %6
  %14 = call fastcc i32 @$finite_z(ptr %1, ptr %0, i64 %13)
  %15 = icmp eq i32 %14, 0
  br i1 %15, label %16, label %17

16:
   call fastcc void @$spoil_z(ptr %1, i64 %13)
  br label %21

17:
  %18 = call fastcc i64 @$eliminate_z(ptr %4, ptr %1, ptr %2, i64 %6, i64 %6)
  %19 = trunc i64 %6 to i32
  store i32 %19, ptr %9, align 4
  %20 = trunc i64 %7 to i32
  store i32 %20, ptr %10, align 4
  store i32 0, ptr %11, align 4
  call void %5(ptr %9, ptr %1, ptr %9, ptr %2, ptr %3, ptr %10, ptr %11)
  br label %21

21:
  %22 = phi i64 [ %18, %17 ], [ 0, %16 ]
  ret i64 %22
}
define i64 @$factored_z(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4) #0 {
  %6 = shl i64 %4, 1
  %7 = mul i64 %6, %4
   call fastcc void @$copy_z(ptr %1, ptr %0, i64 %7)
  %8 = call fastcc i64 @$eliminate_z(ptr %3, ptr %1, ptr %2, i64 %4, i64 %4)
  ret i64 %8
}
define i64 @$qr_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11) #0 {
  %13 = alloca i32, align 4
  %14 = alloca i32, align 4
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  %17 = alloca i32, align 4
  %18 = trunc i64 %8 to i32
  store i32 %18, ptr %13, align 4
  %19 = trunc i64 %9 to i32
  store i32 %19, ptr %14, align 4
  %20 = trunc i64 %10 to i32
  store i32 %20, ptr %15, align 4
  %21 = trunc i64 %11 to i32
  store i32 %21, ptr %16, align 4
  store i32 0, ptr %17, align 4
   call fastcc void @$transpose_z(ptr %3, ptr %0, i64 %8, i64 %9, i32 0)
  call void %6(ptr %13, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  %22 = icmp sgt i64 %9, 0
  br i1 %22, label %23, label %26

23:
  %24 = phi i64 [ %49, %48 ], [ 0, %12 ]
  %25 = mul nuw nsw i64 %24, %9
  br label %33

26:
  %27 = shl i64 %9, 4
  %28 = mul i64 %27, %9
  %29 = getelementptr inbounds i8, ptr %2, i64 %28
  %30 = sub nsw i64 %10, %9
  %31 = shl i64 %9, 1
  %32 = mul i64 %31, %30
  call fastcc void @$fill_z(ptr %29, i64 %32, double 0.000000e+00)
  call fastcc void @$clear_below_z(ptr %2, i64 %9)
  call void %7(ptr %13, ptr %15, ptr %14, ptr %3, ptr %13, ptr %4, ptr %5, ptr %16, ptr %17)
  call fastcc void @$transpose_z(ptr %1, ptr %3, i64 %10, i64 %8, i32 0)
  ret i64 0

33:
  %34 = phi i64 [ 0, %23 ], [ %46, %33 ]
  %35 = mul nsw i64 %34, %8
  %36 = add nsw i64 %35, %24
  %37 = shl i64 %36, 4
  %38 = getelementptr i8, ptr %3, i64 %37
  %39 = add nuw nsw i64 %34, %25
  %40 = shl i64 %39, 4
  %41 = getelementptr i8, ptr %2, i64 %40
  %42 = load double, ptr %38, align 8
  store double %42, ptr %41, align 8
  %43 = getelementptr i8, ptr %38, i64 8
  %44 = load double, ptr %43, align 8
  %45 = getelementptr i8, ptr %41, i64 8
  store double %44, ptr %45, align 8
  %46 = add nuw nsw i64 %34, 1
  %47 = icmp eq i64 %46, %9
  br i1 %47, label %48, label %33

48:
  %49 = add nuw nsw i64 %24, 1
  %50 = icmp eq i64 %49, %9
  br i1 %50, label %26, label %23
}
define internal fastcc void @$fill_z(ptr %0, i64 %1, double %2) #0 {
  %4 = icmp sgt i64 %1, 0
  br i1 %4, label %6, label %5

5:
  ret void

6:
  %7 = phi i64 [ %9, %6 ], [ 0, %3 ]
  %8 = getelementptr inbounds double, ptr %0, i64 %7
  store double %2, ptr %8, align 8
  %9 = add nuw nsw i64 %7, 1
  %10 = icmp eq i64 %9, %1
  br i1 %10, label %5, label %6
}
define internal fastcc void @$clear_below_z(ptr %0, i64 %1) #0 {
  %3 = icmp sgt i64 %1, 1
  br i1 %3, label %4, label %6

4:
  %5 = shl i64 %1, 4
  br label %7

6:
  ret void

7:
  %8 = phi i64 [ 1, %4 ], [ %12, %7 ]
  %9 = mul i64 %5, %8
  %10 = getelementptr inbounds i8, ptr %0, i64 %9
  %11 = shl nuw nsw i64 %8, 1
   call fastcc void @$fill_z(ptr %10, i64 %11, double 0.000000e+00)
  %12 = add nuw nsw i64 %8, 1
  %13 = icmp eq i64 %12, %1
  br i1 %13, label %6, label %7
}
define i64 @$eigenvalues_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, i64 %8, i64 %9, i64 %10, i64 %11, i64 %12) #0 {
  %14 = alloca i8, align 1
  %15 = alloca i8, align 1
  %16 = alloca i32, align 4
  %17 = alloca [3 x i32], align 4
  %18 = alloca i32, align 4
  %19 = shl i64 %8, 1
  %20 = mul i64 %19, %8
  %21 = call fastcc i32 @$finite_z(ptr null, ptr %0, i64 %20)
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %23, label %26

23:
   call fastcc void @$spoil_z(ptr %1, i64 %8)
  %24 = icmp eq ptr %2, null
  br i1 %24, label %41, label %25

25:
   call fastcc void @$spoil_z(ptr %2, i64 %20)
  br label %41

26:
   call fastcc void @$transpose_z(ptr %3, ptr %0, i64 %8, i64 %8, i32 0)
  %27 = icmp eq ptr %2, null
  %28 = select i1 %27, i8 78, i8 86
  store i8 %28, ptr %14, align 1
  %29 = icmp eq i64 %9, 0
  %30 = select i1 %29, i8 76, i8 85
  store i8 %30, ptr %15, align 1
  %31 = trunc i64 %8 to i32
  store i32 %31, ptr %16, align 4
  %32 = trunc i64 %10 to i32
  store i32 %32, ptr %17, align 4
  %33 = getelementptr inbounds i8, ptr %17, i64 4
  %34 = trunc i64 %11 to i32
  store i32 %34, ptr %33, align 4
  %35 = getelementptr inbounds i8, ptr %17, i64 8
  %36 = trunc i64 %12 to i32
  store i32 %36, ptr %35, align 4
  store i32 0, ptr %18, align 4
  call void %7(ptr %14, ptr %15, ptr %16, ptr %3, ptr %16, ptr %1, ptr %4, ptr %17, ptr %5, ptr %33, ptr %6, ptr %35, ptr %18, i64 1, i64 1)
  br i1 %27, label %38, label %37

37:
  call fastcc void @$transpose_z(ptr %2, ptr %3, i64 %8, i64 %8, i32 0)
  br label %38

38:
  %39 = load i32, ptr %18, align 4
  %40 = sext i32 %39 to i64
  br label %41

41:
  %42 = phi i64 [ %40, %38 ], [ 0, %25 ], [ 0, %23 ]
  ret i64 %42
}
define i64 @$singular_values_z(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, i64 %11, i64 %12, i64 %13, i64 %14, i64 %15, i64 %16) #0 {
  %18 = alloca i8, align 1
  %19 = alloca i32, align 4
  %20 = alloca i32, align 4
  %21 = alloca i32, align 4
  %22 = alloca i32, align 4
  %23 = alloca i32, align 4
  %24 = shl i64 %11, 1
  %25 = mul i64 %24, %12
  %26 = call fastcc i32 @$finite_z(ptr null, ptr %0, i64 %25)
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %28, label %38

28:
  %29 = call i64 @llvm.smin.i64(i64 %11, i64 %12)
   call fastcc void @$spoil_z(ptr %2, i64 %29)
  %30 = icmp eq ptr %1, null
  br i1 %30, label %33, label %31

31:
  %32 = mul i64 %24, %13
   call fastcc void @$spoil_z(ptr %1, i64 %32)
  br label %33

33:
  %34 = icmp eq ptr %3, null
  br i1 %34, label %52, label %35

35:
  %36 = shl i64 %12, 1
  %37 = mul i64 %36, %14
   call fastcc void @$spoil_z(ptr %3, i64 %37)
  br label %52

38:
   call fastcc void @$transpose_z(ptr %4, ptr %0, i64 %11, i64 %12, i32 0)
  %39 = trunc i64 %16 to i8
  store i8 %39, ptr %18, align 1
  %40 = trunc i64 %11 to i32
  store i32 %40, ptr %19, align 4
  %41 = trunc i64 %12 to i32
  store i32 %41, ptr %20, align 4
  %42 = trunc i64 %14 to i32
  store i32 %42, ptr %21, align 4
  %43 = trunc i64 %15 to i32
  store i32 %43, ptr %22, align 4
  store i32 0, ptr %23, align 4
  call void %10(ptr %18, ptr %19, ptr %20, ptr %4, ptr %19, ptr %2, ptr %8, ptr %19, ptr %9, ptr %21, ptr %5, ptr %22, ptr %6, ptr %7, ptr %23, i64 1)
  %44 = icmp eq ptr %1, null
  br i1 %44, label %46, label %45

45:
  call fastcc void @$transpose_z(ptr %1, ptr %8, i64 %13, i64 %11, i32 0)
  br label %46

46:
  %47 = icmp eq ptr %3, null
  br i1 %47, label %49, label %48

48:
  call fastcc void @$transpose_z(ptr %3, ptr %9, i64 %12, i64 %14, i32 0)
  br label %49

49:
  %50 = load i32, ptr %23, align 4
  %51 = sext i32 %50 to i64
  br label %52

52:
  %53 = phi i64 [ %51, %49 ], [ 0, %35 ], [ 0, %33 ]
  ret i64 %53
}
define i64 @$product_z(ptr %0, ptr %1, ptr %2, ptr %3, i64 %4, i64 %5, i64 %6, i64 %7, i64 %8, i64 %9, i64 %10) #0 {
  %12 = alloca [2 x double], align 16
  %13 = alloca [2 x double], align 16
  store double 1.000000e+00, ptr %12, align 16
  %14 = getelementptr inbounds i8, ptr %13, i64 8
  store double 0.000000e+00, ptr %14, align 8
  store double 0.000000e+00, ptr %13, align 16
  %15 = getelementptr inbounds i8, ptr %12, i64 8
  store double 0.000000e+00, ptr %15, align 8
  %16 = trunc i64 %7 to i32
  %17 = trunc i64 %8 to i32
  %18 = trunc i64 %4 to i32
  %19 = trunc i64 %5 to i32
  %20 = trunc i64 %6 to i32
  %21 = trunc i64 %9 to i32
  %22 = trunc i64 %10 to i32
  call void %3(i32 101, i32 %16, i32 %17, i32 %18, i32 %19, i32 %20, ptr %12, ptr %0, i32 %21, ptr %1, i32 %22, ptr %13, ptr %2, i32 %19)
  ret i64 0
}
define internal fastcc void @$swap_s(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 16
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %17, label %25

8:
  %9 = phi i64 [ %15, %8 ], [ 16, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds float, ptr %0, i64 %10
  %12 = load <16 x float>, ptr %11, align 4
  %13 = getelementptr inbounds float, ptr %1, i64 %10
  %14 = load <16 x float>, ptr %13, align 4
  store <16 x float> %14, ptr %11, align 4
  store <16 x float> %12, ptr %13, align 4
  %15 = add nuw nsw i64 %9, 16
  %16 = icmp sgt i64 %15, %2
  br i1 %16, label %5, label %8

17:
  %18 = phi i64 [ %23, %17 ], [ %6, %5 ]
  %19 = getelementptr inbounds float, ptr %0, i64 %18
  %20 = load float, ptr %19, align 4
  %21 = getelementptr inbounds float, ptr %1, i64 %18
  %22 = load float, ptr %21, align 4
  store float %22, ptr %19, align 4
  store float %20, ptr %21, align 4
  %23 = add nuw nsw i64 %18, 1
  %24 = icmp eq i64 %23, %2
  br i1 %24, label %25, label %17

25:
  ret void
}
define internal fastcc void @$triangle_of_s(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4, float %5) #0 {
  %7 = icmp sgt i64 %2, 0
  br i1 %7, label %8, label %10

8:
  %9 = add nsw i64 %4, 1
  br label %11

10:
  ret void

11:
  %12 = phi i64 [ 0, %8 ], [ %17, %11 ]
  %13 = mul nsw i64 %12, %4
  %14 = getelementptr inbounds float, ptr %0, i64 %13
  %15 = mul nsw i64 %12, %3
  %16 = getelementptr inbounds float, ptr %1, i64 %15
  %17 = add nuw nsw i64 %12, 1
   call fastcc void @$copy_s(ptr %14, ptr %16, i64 %17)
  %18 = getelementptr inbounds float, ptr %14, i64 %12
  %19 = getelementptr inbounds i8, ptr %18, i64 4
  %20 = xor i64 %12, -1
  %21 = add nsw i64 %2, %20
   call fastcc void @$fill_s(ptr %19, i64 %21, float 0.000000e+00)
  %22 = mul nsw i64 %12, %9
  %23 = getelementptr inbounds float, ptr %0, i64 %22
  %24 = load float, ptr %23, align 4
  %25 = fmul float %5, %24
  store float %25, ptr %23, align 4
  %26 = icmp eq i64 %17, %2
  br i1 %26, label %10, label %11
}
define internal fastcc void @$swap_d(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 8
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %17, label %25

8:
  %9 = phi i64 [ %15, %8 ], [ 8, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds double, ptr %0, i64 %10
  %12 = load <8 x double>, ptr %11, align 8
  %13 = getelementptr inbounds double, ptr %1, i64 %10
  %14 = load <8 x double>, ptr %13, align 8
  store <8 x double> %14, ptr %11, align 8
  store <8 x double> %12, ptr %13, align 8
  %15 = add nuw nsw i64 %9, 8
  %16 = icmp sgt i64 %15, %2
  br i1 %16, label %5, label %8

17:
  %18 = phi i64 [ %23, %17 ], [ %6, %5 ]
  %19 = getelementptr inbounds double, ptr %0, i64 %18
  %20 = load double, ptr %19, align 8
  %21 = getelementptr inbounds double, ptr %1, i64 %18
  %22 = load double, ptr %21, align 8
  store double %22, ptr %19, align 8
  store double %20, ptr %21, align 8
  %23 = add nuw nsw i64 %18, 1
  %24 = icmp eq i64 %23, %2
  br i1 %24, label %25, label %17

25:
  ret void
}
define internal fastcc void @$triangle_of_d(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4, double %5) #0 {
  %7 = icmp sgt i64 %2, 0
  br i1 %7, label %8, label %10

8:
  %9 = add nsw i64 %4, 1
  br label %11

10:
  ret void

11:
  %12 = phi i64 [ 0, %8 ], [ %17, %11 ]
  %13 = mul nsw i64 %12, %4
  %14 = getelementptr inbounds double, ptr %0, i64 %13
  %15 = mul nsw i64 %12, %3
  %16 = getelementptr inbounds double, ptr %1, i64 %15
  %17 = add nuw nsw i64 %12, 1
   call fastcc void @$copy_d(ptr %14, ptr %16, i64 %17)
  %18 = getelementptr inbounds double, ptr %14, i64 %12
  %19 = getelementptr inbounds i8, ptr %18, i64 8
  %20 = xor i64 %12, -1
  %21 = add nsw i64 %2, %20
   call fastcc void @$fill_d(ptr %19, i64 %21, double 0.000000e+00)
  %22 = mul nsw i64 %12, %9
  %23 = getelementptr inbounds double, ptr %0, i64 %22
  %24 = load double, ptr %23, align 8
  %25 = fmul double %5, %24
  store double %25, ptr %23, align 8
  %26 = icmp eq i64 %17, %2
  br i1 %26, label %10, label %11
}
define internal fastcc void @$swap_c(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 16
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %17, label %25

8:
  %9 = phi i64 [ %15, %8 ], [ 16, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds float, ptr %0, i64 %10
  %12 = load <16 x float>, ptr %11, align 4
  %13 = getelementptr inbounds float, ptr %1, i64 %10
  %14 = load <16 x float>, ptr %13, align 4
  store <16 x float> %14, ptr %11, align 4
  store <16 x float> %12, ptr %13, align 4
  %15 = add nuw nsw i64 %9, 16
  %16 = icmp sgt i64 %15, %2
  br i1 %16, label %5, label %8

17:
  %18 = phi i64 [ %23, %17 ], [ %6, %5 ]
  %19 = getelementptr inbounds float, ptr %0, i64 %18
  %20 = load float, ptr %19, align 4
  %21 = getelementptr inbounds float, ptr %1, i64 %18
  %22 = load float, ptr %21, align 4
  store float %22, ptr %19, align 4
  store float %20, ptr %21, align 4
  %23 = add nuw nsw i64 %18, 1
  %24 = icmp eq i64 %23, %2
  br i1 %24, label %25, label %17

25:
  ret void
}
define internal fastcc void @$swap_z(ptr %0, ptr %1, i64 %2) #0 {
  %4 = icmp slt i64 %2, 8
  br i1 %4, label %5, label %8

5:
  %6 = phi i64 [ 0, %3 ], [ %9, %8 ]
  %7 = icmp slt i64 %6, %2
  br i1 %7, label %17, label %25

8:
  %9 = phi i64 [ %15, %8 ], [ 8, %3 ]
  %10 = phi i64 [ %9, %8 ], [ 0, %3 ]
  %11 = getelementptr inbounds double, ptr %0, i64 %10
  %12 = load <8 x double>, ptr %11, align 8
  %13 = getelementptr inbounds double, ptr %1, i64 %10
  %14 = load <8 x double>, ptr %13, align 8
  store <8 x double> %14, ptr %11, align 8
  store <8 x double> %12, ptr %13, align 8
  %15 = add nuw nsw i64 %9, 8
  %16 = icmp sgt i64 %15, %2
  br i1 %16, label %5, label %8

17:
  %18 = phi i64 [ %23, %17 ], [ %6, %5 ]
  %19 = getelementptr inbounds double, ptr %0, i64 %18
  %20 = load double, ptr %19, align 8
  %21 = getelementptr inbounds double, ptr %1, i64 %18
  %22 = load double, ptr %21, align 8
  store double %22, ptr %19, align 8
  store double %20, ptr %21, align 8
  %23 = add nuw nsw i64 %18, 1
  %24 = icmp eq i64 %23, %2
  br i1 %24, label %25, label %17

25:
  ret void
}
