; Made from calling.c by `make native`; its SHA-256 is 7ac7627a16fb13db3c12c5da0327b60c3a38430b2f03f484eea7ccaa2b528994
define ptr @$again(ptr %0, ptr %1, i64 %2) #0 {
  %4 = alloca [32 x ptr], align 16
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = getelementptr inbounds i8, ptr %0, i64 32
  %8 = load ptr, ptr %7, align 8
  %9 = load ptr, ptr %8, align 8
  store ptr null, ptr %5, align 8
  store ptr null, ptr %6, align 8
  %10 = getelementptr inbounds i8, ptr %0, i64 40
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds i8, ptr %11, i64 24
  %13 = load i64, ptr %11, align 8
  %14 = icmp eq i64 %13, 0
  br i1 %14, label %143, label %15

15:
  %16 = getelementptr inbounds i8, ptr %8, i64 272
  %17 = load ptr, ptr %16, align 8
  %18 = getelementptr inbounds i8, ptr %17, i64 16
  %19 = load i64, ptr %18, align 8
  %20 = icmp eq i64 %19, 0
  br i1 %20, label %21, label %143

21:
  %22 = getelementptr inbounds i8, ptr %9, i64 144
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds i8, ptr %8, i64 176
  %25 = load ptr, ptr %24, align 8
  %26 = call i32 %23(ptr %25, ptr null, ptr %6)
  %27 = icmp slt i32 %26, 0
  br i1 %27, label %155, label %28

28:
  %29 = getelementptr inbounds i8, ptr %9, i64 56
  %30 = load ptr, ptr %29, align 8
  %31 = load ptr, ptr %6, align 8
  call void %30(ptr %31)
  %32 = load ptr, ptr %6, align 8
  %33 = getelementptr inbounds i8, ptr %9, i64 224
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %32, %34
  br i1 %35, label %36, label %143

36:
  %37 = load ptr, ptr %22, align 8
  %38 = getelementptr inbounds i8, ptr %8, i64 168
  %39 = load ptr, ptr %38, align 8
  %40 = call i32 %37(ptr %39, ptr null, ptr %5)
  %41 = icmp slt i32 %40, 0
  br i1 %41, label %155, label %42

42:
  %43 = load ptr, ptr %5, align 8
  %44 = getelementptr inbounds i8, ptr %8, i64 192
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %43, i64 %45
  %47 = load ptr, ptr %46, align 8
  %48 = load ptr, ptr %8, align 8
  %49 = getelementptr inbounds i8, ptr %48, i64 296
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %47, i64 %50
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %48, i64 224
  %54 = load ptr, ptr %53, align 8
  %55 = icmp eq ptr %47, %54
  br i1 %55, label %73, label %56

56:
  %57 = getelementptr inbounds i8, ptr %8, i64 208
  %58 = load ptr, ptr %57, align 8
  %59 = icmp eq ptr %52, %58
  br i1 %59, label %73, label %60

60:
  %61 = getelementptr inbounds i8, ptr %8, i64 216
  %62 = load ptr, ptr %61, align 8
  %63 = icmp eq ptr %52, %62
  br i1 %63, label %64, label %73

64:
  %65 = getelementptr inbounds i8, ptr %8, i64 264
  %66 = load i64, ptr %65, align 8
  %67 = getelementptr inbounds i8, ptr %47, i64 %66
  %68 = load ptr, ptr %67, align 8
  %69 = getelementptr inbounds i8, ptr %48, i64 232
  %70 = load ptr, ptr %69, align 8
  %71 = icmp eq ptr %68, %70
  %72 = select i1 %71, i64 3, i64 2
  br label %73

73:
  %74 = phi i64 [ %72, %64 ], [ 0, %42 ], [ 1, %56 ], [ 4, %60 ]
  %75 = getelementptr inbounds i8, ptr %8, i64 184
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr inbounds i8, ptr %43, i64 %76
  %78 = load ptr, ptr %77, align 8
  %79 = getelementptr inbounds i8, ptr %8, i64 280
  %80 = load ptr, ptr %79, align 8
  %81 = getelementptr inbounds i8, ptr %80, i64 24
  %82 = load ptr, ptr %81, align 8
  %83 = load ptr, ptr %82, align 8
  %84 = load ptr, ptr %10, align 8
  %85 = load i64, ptr %84, align 8
  %86 = icmp sgt i64 %85, 0
  br i1 %86, label %87, label %143

87:
  %88 = getelementptr inbounds i8, ptr %9, i64 296
  br label %89

89:
  %90 = phi i64 [ %85, %87 ], [ %140, %139 ]
  %91 = phi i64 [ 0, %87 ], [ %141, %139 ]
  %92 = getelementptr inbounds ptr, ptr %12, i64 %91
  %93 = load ptr, ptr %92, align 8
  %94 = getelementptr inbounds i8, ptr %93, i64 96
  %95 = load i64, ptr %94, align 8
  %96 = icmp eq i64 %95, %2
  br i1 %96, label %97, label %139

97:
  %98 = getelementptr inbounds i8, ptr %93, i64 80
  %99 = load i64, ptr %98, align 8
  %100 = icmp eq i64 %99, %74
  br i1 %100, label %101, label %139

101:
  %102 = getelementptr inbounds i8, ptr %93, i64 8
  %103 = load ptr, ptr %102, align 8
  %104 = icmp eq ptr %103, %78
  br i1 %104, label %105, label %139

105:
  %106 = load ptr, ptr %93, align 8
  %107 = icmp eq ptr %106, %83
  br i1 %107, label %108, label %139

108:
  %109 = getelementptr inbounds i8, ptr %93, i64 32
  %110 = load ptr, ptr %109, align 8
  %111 = icmp eq ptr %110, null
  br i1 %111, label %118, label %112

112:
  %113 = load ptr, ptr %1, align 8
  %114 = load i64, ptr %88, align 8
  %115 = getelementptr inbounds i8, ptr %113, i64 %114
  %116 = load ptr, ptr %115, align 8
  %117 = icmp eq ptr %116, %110
  br i1 %117, label %118, label %139

118:
  %119 = call fastcc i32 @$are_of(ptr %8, ptr %93, ptr %1, ptr %4)
  %120 = icmp slt i32 %119, 0
  br i1 %120, label %148, label %121

121:
  %122 = icmp eq i32 %119, 0
  br i1 %122, label %123, label %126

123:
  %124 = load ptr, ptr %10, align 8
  %125 = load i64, ptr %124, align 8
  br label %139

126:
  %127 = icmp eq i64 %91, 0
  br i1 %127, label %132, label %128

128:
  %129 = getelementptr inbounds ptr, ptr %12, i64 %91
  %130 = getelementptr i8, ptr %129, i64 -8
  %131 = load ptr, ptr %130, align 8
  store ptr %131, ptr %129, align 8
  store ptr %93, ptr %130, align 8
  br label %132

132:
  %133 = load ptr, ptr %10, align 8
  %134 = getelementptr inbounds i8, ptr %133, i64 8
  %135 = load i64, ptr %134, align 8
  %136 = add nsw i64 %135, 1
  store i64 %136, ptr %134, align 8
  %137 = load ptr, ptr %5, align 8
  %138 = call fastcc ptr @$recorded(ptr %7, ptr %93, ptr %1, ptr %4, ptr %137)
  br label %148

139:
  %140 = phi i64 [ %125, %123 ], [ %90, %112 ], [ %90, %89 ], [ %90, %105 ], [ %90, %101 ], [ %90, %97 ]
  %141 = add nuw nsw i64 %91, 1
  %142 = icmp slt i64 %141, %140
  br i1 %142, label %89, label %143

143:
  %144 = getelementptr inbounds i8, ptr %9, i64 224
  %145 = load ptr, ptr %144, align 8
  %146 = getelementptr inbounds i8, ptr %9, i64 48
  %147 = load ptr, ptr %146, align 8
  call void %147(ptr %145)
  br label %148

148:
  %149 = phi ptr [ %145, %143 ], [ %138, %132 ], [ null, %118 ]
  %150 = load ptr, ptr %5, align 8
  %151 = icmp eq ptr %150, null
  br i1 %151, label %155, label %152

152:
  %153 = getelementptr inbounds i8, ptr %9, i64 56
  %154 = load ptr, ptr %153, align 8
  call void %154(ptr %150)
  br label %155

155:
  %156 = phi ptr [ null, %21 ], [ null, %36 ], [ %149, %152 ], [ %149, %148 ]
  ret ptr %156
}
define internal fastcc i32 @$are_of(ptr %0, ptr %1, ptr %2, ptr %3) #0 {
  %5 = getelementptr inbounds i8, ptr %1, i64 96
  %6 = load i64, ptr %5, align 8
  %7 = icmp sgt i64 %6, 0
  br i1 %7, label %8, label %242

8:
  %9 = load ptr, ptr %0, align 8
  %10 = getelementptr inbounds i8, ptr %1, i64 136
  %11 = getelementptr inbounds i8, ptr %9, i64 296
  %12 = getelementptr inbounds i8, ptr %9, i64 248
  %13 = getelementptr inbounds i8, ptr %9, i64 40
  %14 = getelementptr inbounds i8, ptr %0, i64 24
  %15 = getelementptr inbounds i8, ptr %0, i64 40
  %16 = getelementptr inbounds i8, ptr %0, i64 48
  %17 = getelementptr inbounds i8, ptr %0, i64 64
  %18 = getelementptr inbounds i8, ptr %0, i64 56
  %19 = getelementptr inbounds i8, ptr %0, i64 72
  %20 = getelementptr inbounds i8, ptr %0, i64 8
  %21 = getelementptr inbounds i8, ptr %0, i64 16
  %22 = getelementptr inbounds i8, ptr %0, i64 32
  %23 = getelementptr inbounds i8, ptr %9, i64 344
  %24 = getelementptr inbounds i8, ptr %9, i64 328
  %25 = getelementptr inbounds i8, ptr %9, i64 336
  %26 = getelementptr inbounds i8, ptr %9, i64 224
  %27 = getelementptr inbounds i8, ptr %9, i64 304
  %28 = getelementptr inbounds i8, ptr %0, i64 336
  %29 = getelementptr inbounds i8, ptr %9, i64 32
  br label %30

30:
  %31 = phi i64 [ 0, %8 ], [ %238, %237 ]
  %32 = phi i64 [ 0, %8 ], [ %239, %237 ]
  %33 = load ptr, ptr %10, align 8
  %34 = mul nuw nsw i64 %32, 40
  %35 = getelementptr inbounds i8, ptr %33, i64 %34
  %36 = getelementptr inbounds ptr, ptr %2, i64 %32
  %37 = load ptr, ptr %36, align 8
  %38 = load i64, ptr %35, align 8
  switch i64 %38, label %196 [
    i64 0, label %39
    i64 1, label %39
    i64 2, label %159
    i64 3, label %159
  ]

39:
  %40 = load ptr, ptr %0, align 8
  %41 = getelementptr inbounds i8, ptr %40, i64 296
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %37, i64 %42
  %44 = load ptr, ptr %43, align 8
  %45 = load ptr, ptr %14, align 8
  %46 = getelementptr inbounds i8, ptr %40, i64 224
  br label %47

47:
  %48 = phi ptr [ null, %39 ], [ %82, %81 ]
  %49 = phi ptr [ %44, %39 ], [ %84, %81 ]
  %50 = phi ptr [ %37, %39 ], [ %57, %81 ]
  %51 = icmp eq ptr %49, %45
  %52 = icmp ne ptr %49, null
  %53 = and i1 %52, %51
  br i1 %53, label %54, label %92

54:
  %55 = load i64, ptr %15, align 8
  %56 = getelementptr inbounds i8, ptr %50, i64 %55
  %57 = load ptr, ptr %56, align 8
  %58 = load i64, ptr %16, align 8
  %59 = getelementptr inbounds i8, ptr %50, i64 %58
  %60 = load ptr, ptr %59, align 8
  %61 = load i64, ptr %17, align 8
  %62 = getelementptr inbounds i8, ptr %50, i64 %61
  %63 = load ptr, ptr %62, align 8
  %64 = icmp ne ptr %57, null
  %65 = icmp ne ptr %60, null
  %66 = select i1 %64, i1 %65, i1 false
  %67 = icmp ne ptr %63, null
  %68 = select i1 %66, i1 %67, i1 false
  br i1 %68, label %69, label %242

69:
  %70 = load i64, ptr %18, align 8
  %71 = getelementptr inbounds i8, ptr %60, i64 %70
  %72 = load ptr, ptr %71, align 8
  %73 = load ptr, ptr %46, align 8
  %74 = icmp eq ptr %72, %73
  br i1 %74, label %75, label %242

75:
  %76 = icmp eq ptr %48, null
  br i1 %76, label %77, label %81

77:
  %78 = load i64, ptr %19, align 8
  %79 = getelementptr inbounds i8, ptr %50, i64 %78
  %80 = load ptr, ptr %79, align 8
  br label %81

81:
  %82 = phi ptr [ %48, %75 ], [ %80, %77 ]
  %83 = getelementptr inbounds i8, ptr %57, i64 %42
  %84 = load ptr, ptr %83, align 8
  %85 = icmp eq ptr %84, %45
  %86 = select i1 %85, i64 72, i64 32
  %87 = getelementptr inbounds i8, ptr %0, i64 %86
  %88 = load i64, ptr %87, align 8
  %89 = getelementptr inbounds i8, ptr %57, i64 %88
  %90 = load ptr, ptr %89, align 8
  %91 = icmp eq ptr %63, %90
  br i1 %91, label %47, label %242

92:
  %93 = load ptr, ptr %20, align 8
  %94 = icmp eq ptr %49, %93
  br i1 %94, label %98, label %95

95:
  %96 = load ptr, ptr %21, align 8
  %97 = icmp eq ptr %49, %96
  br i1 %97, label %98, label %242

98:
  %99 = icmp eq ptr %48, null
  br i1 %99, label %100, label %105

100:
  %101 = load i64, ptr %22, align 8
  %102 = getelementptr inbounds i8, ptr %50, i64 %101
  %103 = load ptr, ptr %102, align 8
  %104 = icmp eq ptr %103, null
  br i1 %104, label %242, label %105

105:
  %106 = phi ptr [ %103, %100 ], [ %48, %98 ]
  %107 = icmp eq i64 %38, 1
  br i1 %107, label %108, label %114

108:
  %109 = getelementptr inbounds i8, ptr %35, i64 32
  %110 = load i64, ptr %109, align 8
  %111 = getelementptr inbounds ptr, ptr %3, i64 %110
  %112 = load ptr, ptr %111, align 8
  %113 = icmp eq ptr %112, %106
  br i1 %113, label %237, label %242

114:
  %115 = load i64, ptr %23, align 8
  %116 = getelementptr inbounds i8, ptr %106, i64 %115
  %117 = load ptr, ptr %116, align 8
  %118 = load i64, ptr %24, align 8
  %119 = getelementptr inbounds i8, ptr %106, i64 %118
  %120 = load ptr, ptr %119, align 8
  %121 = getelementptr inbounds i8, ptr %35, i64 8
  %122 = load ptr, ptr %121, align 8
  %123 = icmp eq ptr %120, %122
  br i1 %123, label %124, label %242

124:
  %125 = load i64, ptr %25, align 8
  %126 = getelementptr inbounds i8, ptr %106, i64 %125
  %127 = load ptr, ptr %126, align 8
  %128 = getelementptr inbounds i8, ptr %35, i64 16
  %129 = load ptr, ptr %128, align 8
  %130 = icmp ne ptr %127, %129
  %131 = icmp eq ptr %117, null
  %132 = select i1 %130, i1 true, i1 %131
  br i1 %132, label %242, label %133

133:
  %134 = load ptr, ptr %26, align 8
  %135 = icmp eq ptr %117, %134
  %136 = zext i1 %135 to i64
  %137 = getelementptr inbounds i8, ptr %35, i64 24
  %138 = load i64, ptr %137, align 8
  %139 = icmp eq i64 %138, %136
  br i1 %139, label %140, label %242

140:
  %141 = load i64, ptr %27, align 8
  %142 = getelementptr inbounds i8, ptr %106, i64 %141
  %143 = load ptr, ptr %142, align 8
  %144 = load ptr, ptr %28, align 8
  %145 = icmp eq ptr %143, %144
  br i1 %145, label %242, label %146

146:
  %147 = icmp sgt i64 %31, 0
  br i1 %147, label %151, label %156

148:
  %149 = add nuw nsw i64 %152, 1
  %150 = icmp eq i64 %149, %31
  br i1 %150, label %156, label %151

151:
  %152 = phi i64 [ %149, %148 ], [ 0, %146 ]
  %153 = getelementptr inbounds ptr, ptr %3, i64 %152
  %154 = load ptr, ptr %153, align 8
  %155 = icmp eq ptr %154, %106
  br i1 %155, label %242, label %148

156:
  %157 = add nsw i64 %31, 1
  %158 = getelementptr inbounds ptr, ptr %3, i64 %31
  store ptr %106, ptr %158, align 8
  br label %237

159:
  %160 = load i64, ptr %11, align 8
  %161 = getelementptr inbounds i8, ptr %37, i64 %160
  %162 = load ptr, ptr %161, align 8
  %163 = load ptr, ptr %12, align 8
  %164 = icmp eq ptr %162, %163
  br i1 %164, label %165, label %242

165:
  %166 = icmp eq i64 %38, 2
  br i1 %166, label %167, label %183

167:
  %168 = getelementptr inbounds i8, ptr %35, i64 8
  %169 = load ptr, ptr %168, align 8
  %170 = load ptr, ptr %13, align 8
  %171 = call double %170(ptr %37)
  %172 = load ptr, ptr %13, align 8
  %173 = call double %172(ptr %169)
  %174 = fcmp oeq double %171, %173
  br i1 %174, label %175, label %242

175:
  %176 = fcmp une double %171, 0.000000e+00
  br i1 %176, label %183, label %177

177:
  %178 = fdiv double 1.000000e+00, %171
  %179 = fcmp ogt double %178, 0.000000e+00
  %180 = fdiv double 1.000000e+00, %173
  %181 = fcmp ogt double %180, 0.000000e+00
  %182 = xor i1 %179, %181
  br i1 %182, label %242, label %183

183:
  %184 = load ptr, ptr %13, align 8
  %185 = call double %184(ptr %37)
  %186 = load i64, ptr %35, align 8
  %187 = icmp eq i64 %186, 3
  br i1 %187, label %188, label %237

188:
  %189 = fcmp oeq double %185, 0.000000e+00
  %190 = fcmp oeq double %185, 1.000000e+00
  %191 = or i1 %189, %190
  %192 = fcmp oeq double %185, -1.000000e+00
  %193 = or i1 %192, %191
  %194 = fcmp oeq double %185, 2.000000e+00
  %195 = or i1 %194, %193
  br i1 %195, label %242, label %237

196:
  %197 = getelementptr inbounds i8, ptr %35, i64 8
  %198 = load ptr, ptr %197, align 8
  %199 = icmp eq ptr %37, %198
  br i1 %199, label %237, label %200

200:
  %201 = load i64, ptr %11, align 8
  %202 = getelementptr inbounds i8, ptr %37, i64 %201
  %203 = load ptr, ptr %202, align 8
  %204 = getelementptr inbounds i8, ptr %198, i64 %201
  %205 = load ptr, ptr %204, align 8
  %206 = icmp eq ptr %203, %205
  br i1 %206, label %207, label %242

207:
  %208 = icmp eq i64 %38, 4
  br i1 %208, label %209, label %233

209:
  %210 = getelementptr inbounds i8, ptr %37, i64 16
  %211 = load i64, ptr %210, align 8
  %212 = getelementptr inbounds i8, ptr %198, i64 16
  %213 = load i64, ptr %212, align 8
  %214 = icmp eq i64 %211, %213
  br i1 %214, label %215, label %242

215:
  %216 = icmp sgt i64 %211, 0
  br i1 %216, label %220, label %233

217:
  %218 = add nuw nsw i64 %221, 1
  %219 = icmp eq i64 %218, %211
  br i1 %219, label %233, label %220

220:
  %221 = phi i64 [ %218, %217 ], [ 0, %215 ]
  %222 = shl nsw i64 %221, 3
  %223 = add nuw nsw i64 %222, 24
  %224 = getelementptr inbounds i8, ptr %37, i64 %223
  %225 = load ptr, ptr %224, align 8
  %226 = getelementptr inbounds i8, ptr %225, i64 %201
  %227 = load ptr, ptr %226, align 8
  %228 = getelementptr inbounds i8, ptr %198, i64 %223
  %229 = load ptr, ptr %228, align 8
  %230 = getelementptr inbounds i8, ptr %229, i64 %201
  %231 = load ptr, ptr %230, align 8
  %232 = icmp eq ptr %227, %231
  br i1 %232, label %217, label %242

233:
  %234 = load ptr, ptr %29, align 8
  %235 = call i32 %234(ptr %37, ptr %198, i32 2)
  %236 = icmp sgt i32 %235, 0
  br i1 %236, label %237, label %242

237:
  %238 = phi i64 [ %31, %108 ], [ %157, %156 ], [ %31, %188 ], [ %31, %196 ], [ %31, %183 ], [ %31, %233 ]
  %239 = add nuw nsw i64 %32, 1
  %240 = load i64, ptr %5, align 8
  %241 = icmp slt i64 %239, %240
  br i1 %241, label %30, label %242

242:
  %243 = phi i32 [ 0, %151 ], [ 0, %54 ], [ 0, %220 ], [ 1, %4 ], [ 0, %81 ], [ 0, %69 ], [ 0, %209 ], [ 0, %133 ], [ 0, %140 ], [ 0, %124 ], [ 0, %114 ], [ 0, %100 ], [ 0, %167 ], [ 0, %188 ], [ 1, %237 ], [ 0, %200 ], [ 0, %159 ], [ 0, %177 ], [ %235, %233 ], [ 0, %95 ], [ 0, %108 ]
  ret i32 %243
}
define internal fastcc ptr @$recorded(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4) #0 {
  %6 = alloca [8 x i64], align 16
  %7 = alloca [8 x ptr], align 16
  %8 = alloca ptr, align 8
  %9 = alloca ptr, align 8
  %10 = alloca [5 x ptr], align 16
  %11 = alloca [5 x ptr], align 16
  %12 = alloca [6 x ptr], align 16
  %13 = alloca [5 x ptr], align 16
  %14 = alloca [5 x ptr], align 16
  %15 = alloca [2 x ptr], align 16
  %16 = load ptr, ptr %0, align 8
  %17 = load ptr, ptr %16, align 8
  %18 = getelementptr inbounds i8, ptr %16, i64 192
  %19 = load i64, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %4, i64 %19
  %21 = load ptr, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %16, i64 200
  %23 = load i64, ptr %22, align 8
  %24 = getelementptr inbounds i8, ptr %4, i64 %23
  %25 = load ptr, ptr %24, align 8
  %26 = getelementptr inbounds i8, ptr %1, i64 104
  %27 = load i64, ptr %26, align 8
  %28 = icmp sgt i64 %27, 0
  br i1 %28, label %29, label %34

29:
  %30 = getelementptr inbounds i8, ptr %17, i64 48
  br label %262

31:
  %32 = load ptr, ptr %0, align 8
  %33 = load ptr, ptr %32, align 8
  br label %34

34:
  %35 = phi ptr [ %33, %31 ], [ %17, %5 ]
  %36 = phi ptr [ %32, %31 ], [ %16, %5 ]
  %37 = getelementptr inbounds i8, ptr %1, i64 88
  %38 = load i64, ptr %37, align 8
  %39 = icmp eq i64 %38, 0
  br i1 %39, label %140, label %40

40:
  %41 = getelementptr inbounds i8, ptr %35, i64 136
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %36, i64 296
  %44 = load ptr, ptr %43, align 8
  %45 = getelementptr inbounds i8, ptr %0, i64 16
  %46 = call ptr %42(ptr %44, ptr %45, i64 1, ptr null)
  %47 = icmp eq ptr %46, null
  %48 = getelementptr inbounds i8, ptr %35, i64 152
  %49 = getelementptr inbounds i8, ptr %0, i64 24
  %50 = getelementptr inbounds i8, ptr %0, i64 8
  %51 = getelementptr inbounds i8, ptr %35, i64 56
  %52 = getelementptr inbounds i8, ptr %35, i64 160
  %53 = getelementptr inbounds i8, ptr %35, i64 176
  %54 = getelementptr inbounds i8, ptr %35, i64 168
  br i1 %47, label %676, label %58

55:
  %56 = icmp eq i32 %123, 0
  %57 = select i1 %126, i1 %56, i1 false
  br i1 %57, label %58, label %128

58:
  %59 = phi ptr [ %124, %55 ], [ %46, %40 ]
  %60 = phi ptr [ %121, %55 ], [ null, %40 ]
  %61 = load ptr, ptr %48, align 8
  %62 = call ptr %61(ptr %59)
  %63 = load ptr, ptr %0, align 8
  %64 = load ptr, ptr %63, align 8
  %65 = load i64, ptr %49, align 8
  %66 = icmp eq i64 %65, 0
  br i1 %66, label %106, label %67

67:
  %68 = load ptr, ptr %50, align 8
  %69 = getelementptr inbounds i8, ptr %68, i64 16
  %70 = load i64, ptr %69, align 8
  %71 = inttoptr i64 %70 to ptr
  %72 = icmp eq ptr %62, %71
  br i1 %72, label %106, label %73

73:
  %74 = getelementptr inbounds i8, ptr %64, i64 192
  %75 = load ptr, ptr %74, align 8
  %76 = getelementptr inbounds i8, ptr %63, i64 344
  %77 = load ptr, ptr %76, align 8
  %78 = call ptr %75(ptr %62, ptr %77)
  %79 = icmp eq ptr %78, null
  br i1 %79, label %117, label %80

80:
  %81 = getelementptr inbounds i8, ptr %64, i64 200
  %82 = load ptr, ptr %81, align 8
  %83 = getelementptr inbounds i8, ptr %63, i64 352
  %84 = load ptr, ptr %83, align 8
  %85 = call i64 %82(ptr %78, ptr %84, i64 0, i64 9223372036854775807, i32 -1)
  %86 = getelementptr inbounds i8, ptr %64, i64 56
  %87 = load ptr, ptr %86, align 8
   call void %87(ptr %78)
  %88 = icmp eq i64 %85, 0
  br i1 %88, label %92, label %89

89:
  %90 = icmp sgt i64 %85, -1
  %91 = load ptr, ptr %51, align 8
   call void %91(ptr %62)
  br i1 %90, label %114, label %119

92:
  %93 = load ptr, ptr %50, align 8
  %94 = getelementptr inbounds i8, ptr %93, i64 16
  %95 = load i64, ptr %94, align 8
  %96 = icmp eq i64 %95, 0
  br i1 %96, label %100, label %97

97:
  %98 = load ptr, ptr %86, align 8
  %99 = inttoptr i64 %95 to ptr
   call void %98(ptr %99)
  br label %100

100:
  %101 = getelementptr inbounds i8, ptr %64, i64 48
  %102 = load ptr, ptr %101, align 8
   call void %102(ptr %62)
  %103 = ptrtoint ptr %62 to i64
  %104 = load ptr, ptr %50, align 8
  %105 = getelementptr inbounds i8, ptr %104, i64 16
  store i64 %103, ptr %105, align 8
  br label %106

106:
  %107 = load ptr, ptr %53, align 8
  %108 = load ptr, ptr %54, align 8
  %109 = call i32 %108(ptr %59)
  %110 = sext i32 %109 to i64
  %111 = call ptr %107(i64 %110)
  %112 = icmp eq ptr %111, null
  %113 = select i1 %112, i32 -1, i32 1
  br label %119

114:
  %115 = load ptr, ptr %52, align 8
  %116 = call ptr %115(ptr %59)
  br label %119

117:
  %118 = load ptr, ptr %51, align 8
   call void %118(ptr %62)
  br label %119

119:
  %120 = phi ptr [ %62, %106 ], [ null, %117 ], [ null, %114 ], [ null, %89 ]
  %121 = phi ptr [ %111, %106 ], [ %60, %117 ], [ %60, %114 ], [ %60, %89 ]
  %122 = phi i1 [ true, %106 ], [ true, %117 ], [ false, %114 ], [ true, %89 ]
  %123 = phi i32 [ %113, %106 ], [ -1, %117 ], [ 0, %114 ], [ -1, %89 ]
  %124 = phi ptr [ null, %106 ], [ null, %117 ], [ %116, %114 ], [ null, %89 ]
  %125 = load ptr, ptr %51, align 8
   call void %125(ptr %59)
  %126 = icmp ne ptr %124, null
  %127 = select i1 %122, i1 true, i1 %126
  br i1 %127, label %55, label %521

128:
  %129 = icmp slt i32 %123, 1
  br i1 %129, label %519, label %130

130:
  %131 = load i64, ptr %37, align 8
  %132 = icmp eq i64 %131, 4
  br i1 %132, label %133, label %140

133:
  store ptr %21, ptr %15, align 16
  %134 = getelementptr inbounds i8, ptr %15, i64 8
  store ptr %120, ptr %134, align 8
  %135 = load ptr, ptr %41, align 8
  %136 = getelementptr inbounds i8, ptr %36, i64 304
  %137 = load ptr, ptr %136, align 8
  %138 = call ptr %135(ptr %137, ptr %15, i64 2, ptr null)
  %139 = icmp eq ptr %138, null
  br i1 %139, label %676, label %140

140:
  %141 = phi ptr [ null, %34 ], [ %120, %133 ], [ %120, %130 ]
  %142 = phi ptr [ null, %34 ], [ %121, %133 ], [ %121, %130 ]
  %143 = phi ptr [ null, %34 ], [ %138, %133 ], [ null, %130 ]
  %144 = getelementptr inbounds i8, ptr %1, i64 16
  %145 = load ptr, ptr %144, align 8
  %146 = icmp eq ptr %145, null
  br i1 %146, label %269, label %147

147:
  %148 = getelementptr inbounds i8, ptr %1, i64 80
  %149 = load i64, ptr %148, align 8
  switch i64 %149, label %150 [
    i64 3, label %153
    i64 0, label %153
    i64 1, label %155
  ]

150:
  %151 = getelementptr inbounds i8, ptr %35, i64 224
  %152 = load ptr, ptr %151, align 8
  br label %153

153:
  %154 = phi ptr [ %141, %147 ], [ %141, %147 ], [ %152, %150 ]
  switch i64 %149, label %158 [
    i64 3, label %161
    i64 0, label %161
    i64 1, label %155
  ]

155:
  %156 = phi ptr [ %154, %153 ], [ %21, %147 ]
  %157 = getelementptr inbounds i8, ptr %35, i64 224
  br label %166

158:
  %159 = getelementptr inbounds i8, ptr %35, i64 256
  %160 = load ptr, ptr %159, align 8
  br label %161

161:
  %162 = phi ptr [ %160, %158 ], [ %142, %153 ], [ %142, %153 ]
  %163 = and i64 %149, -2
  %164 = icmp eq i64 %163, 2
  %165 = getelementptr inbounds i8, ptr %35, i64 224
  br i1 %164, label %171, label %166

166:
  %167 = phi ptr [ %157, %155 ], [ %165, %161 ]
  %168 = phi ptr [ %25, %155 ], [ %162, %161 ]
  %169 = phi ptr [ %156, %155 ], [ %154, %161 ]
  %170 = load ptr, ptr %167, align 8
  br label %171

171:
  %172 = phi ptr [ %165, %161 ], [ %167, %166 ]
  %173 = phi ptr [ %162, %161 ], [ %168, %166 ]
  %174 = phi ptr [ %154, %161 ], [ %169, %166 ]
  %175 = phi ptr [ %21, %161 ], [ %170, %166 ]
  %176 = load ptr, ptr %36, align 8
  %177 = getelementptr inbounds i8, ptr %176, i64 88
  %178 = load ptr, ptr %177, align 8
  %179 = getelementptr inbounds i8, ptr %36, i64 216
  %180 = load ptr, ptr %179, align 8
  %181 = call ptr %178(ptr %180, i64 0)
  %182 = icmp eq ptr %181, null
  br i1 %182, label %676, label %183

183:
  store ptr %145, ptr %14, align 16
  %184 = getelementptr inbounds i8, ptr %14, i64 8
  store ptr %174, ptr %184, align 8
  %185 = getelementptr inbounds i8, ptr %14, i64 16
  store ptr %173, ptr %185, align 16
  %186 = getelementptr inbounds i8, ptr %14, i64 24
  store ptr %175, ptr %186, align 8
  %187 = getelementptr inbounds i8, ptr %14, i64 32
  %188 = getelementptr inbounds i8, ptr %176, i64 240
  %189 = load ptr, ptr %188, align 8
  store ptr %189, ptr %187, align 16
  %190 = getelementptr inbounds i8, ptr %176, i64 48
  br label %191

191:
  %192 = phi i64 [ 0, %183 ], [ %196, %191 ]
  %193 = load ptr, ptr %190, align 8
  %194 = getelementptr inbounds ptr, ptr %14, i64 %192
  %195 = load ptr, ptr %194, align 8
  call void %193(ptr %195)
  %196 = add nuw nsw i64 %192, 1
  %197 = icmp eq i64 %196, 5
  br i1 %197, label %198, label %191

198:
  %199 = getelementptr inbounds i8, ptr %36, i64 232
  %200 = load i64, ptr %199, align 8
  %201 = getelementptr inbounds i8, ptr %181, i64 %200
  store ptr %145, ptr %201, align 8
  %202 = getelementptr inbounds i8, ptr %36, i64 240
  %203 = load i64, ptr %202, align 8
  %204 = getelementptr inbounds i8, ptr %181, i64 %203
  store ptr %174, ptr %204, align 8
  %205 = getelementptr inbounds i8, ptr %36, i64 248
  %206 = load i64, ptr %205, align 8
  %207 = getelementptr inbounds i8, ptr %181, i64 %206
  store ptr %173, ptr %207, align 8
  %208 = getelementptr inbounds i8, ptr %36, i64 256
  %209 = load i64, ptr %208, align 8
  %210 = getelementptr inbounds i8, ptr %181, i64 %209
  store ptr %175, ptr %210, align 8
  %211 = getelementptr inbounds i8, ptr %36, i64 264
  %212 = load i64, ptr %211, align 8
  %213 = load ptr, ptr %188, align 8
  %214 = getelementptr inbounds i8, ptr %181, i64 %212
  store ptr %213, ptr %214, align 8
  %215 = getelementptr inbounds i8, ptr %1, i64 24
  %216 = load ptr, ptr %215, align 8
  %217 = icmp eq ptr %216, null
  br i1 %217, label %269, label %218

218:
  %219 = load ptr, ptr %172, align 8
  %220 = getelementptr inbounds i8, ptr %35, i64 256
  %221 = load ptr, ptr %220, align 8
  %222 = load ptr, ptr %36, align 8
  %223 = getelementptr inbounds i8, ptr %222, i64 88
  %224 = load ptr, ptr %223, align 8
  %225 = load ptr, ptr %179, align 8
  %226 = call ptr %224(ptr %225, i64 0)
  %227 = icmp eq ptr %226, null
  br i1 %227, label %255, label %228

228:
  store ptr %216, ptr %13, align 16
  %229 = getelementptr inbounds i8, ptr %13, i64 8
  store ptr %219, ptr %229, align 8
  %230 = getelementptr inbounds i8, ptr %13, i64 16
  store ptr %221, ptr %230, align 16
  %231 = getelementptr inbounds i8, ptr %13, i64 24
  store ptr %181, ptr %231, align 8
  %232 = getelementptr inbounds i8, ptr %13, i64 32
  %233 = getelementptr inbounds i8, ptr %222, i64 240
  %234 = load ptr, ptr %233, align 8
  store ptr %234, ptr %232, align 16
  %235 = getelementptr inbounds i8, ptr %222, i64 48
  br label %248

236:
  %237 = load i64, ptr %199, align 8
  %238 = getelementptr inbounds i8, ptr %226, i64 %237
  store ptr %216, ptr %238, align 8
  %239 = load i64, ptr %202, align 8
  %240 = getelementptr inbounds i8, ptr %226, i64 %239
  store ptr %219, ptr %240, align 8
  %241 = load i64, ptr %205, align 8
  %242 = getelementptr inbounds i8, ptr %226, i64 %241
  store ptr %221, ptr %242, align 8
  %243 = load i64, ptr %208, align 8
  %244 = getelementptr inbounds i8, ptr %226, i64 %243
  store ptr %181, ptr %244, align 8
  %245 = load i64, ptr %211, align 8
  %246 = load ptr, ptr %233, align 8
  %247 = getelementptr inbounds i8, ptr %226, i64 %245
  store ptr %246, ptr %247, align 8
  br label %255

248:
  %249 = phi i64 [ 0, %228 ], [ %253, %248 ]
  %250 = load ptr, ptr %235, align 8
  %251 = getelementptr inbounds ptr, ptr %13, i64 %249
  %252 = load ptr, ptr %251, align 8
  call void %250(ptr %252)
  %253 = add nuw nsw i64 %249, 1
  %254 = icmp eq i64 %253, 5
  br i1 %254, label %236, label %248

255:
  %256 = load ptr, ptr %215, align 8
  %257 = icmp eq ptr %256, null
  br i1 %257, label %261, label %258

258:
  %259 = getelementptr inbounds i8, ptr %35, i64 56
  %260 = load ptr, ptr %259, align 8
  call void %260(ptr %181)
  br label %261

261:
  br i1 %227, label %676, label %269

262:
  %263 = phi i64 [ 0, %29 ], [ %267, %262 ]
  %264 = load ptr, ptr %30, align 8
  %265 = getelementptr inbounds ptr, ptr %3, i64 %263
  %266 = load ptr, ptr %265, align 8
   call void %264(ptr %266)
  %267 = add nuw nsw i64 %263, 1
  %268 = icmp eq i64 %267, %27
  br i1 %268, label %31, label %262

269:
  %270 = phi ptr [ null, %140 ], [ %226, %261 ], [ %181, %198 ]
  %271 = getelementptr inbounds i8, ptr %1, i64 112
  %272 = load i64, ptr %271, align 8
  %273 = icmp eq i64 %272, 0
  br i1 %273, label %274, label %310

274:
  %275 = getelementptr inbounds i8, ptr %1, i64 120
  %276 = load i64, ptr %275, align 8
  %277 = getelementptr inbounds ptr, ptr %3, i64 %276
  %278 = load ptr, ptr %277, align 8
  %279 = load ptr, ptr %16, align 8
  %280 = getelementptr inbounds i8, ptr %279, i64 352
  %281 = load i64, ptr %280, align 8
  %282 = getelementptr inbounds i8, ptr %278, i64 %281
  %283 = load ptr, ptr %282, align 8
  %284 = getelementptr inbounds i8, ptr %279, i64 224
  %285 = load ptr, ptr %284, align 8
  %286 = icmp eq ptr %283, %285
  br i1 %286, label %287, label %302

287:
  %288 = getelementptr inbounds i8, ptr %279, i64 360
  %289 = load i64, ptr %288, align 8
  %290 = getelementptr inbounds i8, ptr %278, i64 %289
  %291 = load ptr, ptr %290, align 8
  %292 = getelementptr inbounds i8, ptr %279, i64 48
  %293 = load ptr, ptr %292, align 8
  call void %293(ptr %141)
  %294 = load ptr, ptr %292, align 8
  call void %294(ptr %142)
  %295 = load i64, ptr %280, align 8
  %296 = getelementptr inbounds i8, ptr %278, i64 %295
  store ptr %141, ptr %296, align 8
  %297 = load i64, ptr %288, align 8
  %298 = getelementptr inbounds i8, ptr %278, i64 %297
  store ptr %142, ptr %298, align 8
  %299 = getelementptr inbounds i8, ptr %279, i64 56
  %300 = load ptr, ptr %299, align 8
  call void %300(ptr %283)
  %301 = load ptr, ptr %299, align 8
  call void %301(ptr %291)
  br label %310

302:
  %303 = getelementptr inbounds i8, ptr %279, i64 296
  %304 = load i64, ptr %303, align 8
  %305 = getelementptr inbounds i8, ptr %283, i64 %304
  %306 = load ptr, ptr %305, align 8
  %307 = getelementptr inbounds i8, ptr %16, i64 216
  %308 = load ptr, ptr %307, align 8
  %309 = icmp eq ptr %306, %308
  br i1 %309, label %521, label %310

310:
  %311 = getelementptr inbounds i8, ptr %1, i64 32
  %312 = load ptr, ptr %311, align 8
  %313 = icmp eq ptr %312, null
  br i1 %313, label %335, label %314

314:
  %315 = load ptr, ptr %16, align 8
  %316 = getelementptr inbounds i8, ptr %16, i64 160
  %317 = load ptr, ptr %316, align 8
  %318 = getelementptr inbounds i8, ptr %317, i64 16
  %319 = load i64, ptr %318, align 8
  %320 = icmp eq i64 %319, 0
  br i1 %320, label %321, label %335

321:
  %322 = load ptr, ptr %2, align 8
  %323 = getelementptr inbounds i8, ptr %315, i64 208
  %324 = load ptr, ptr %323, align 8
  %325 = call ptr %324(ptr %322)
  %326 = icmp eq ptr %325, null
  br i1 %326, label %335, label %327

327:
  %328 = getelementptr inbounds i8, ptr %315, i64 216
  %329 = load ptr, ptr %328, align 8
  %330 = getelementptr inbounds i8, ptr %16, i64 152
  %331 = load ptr, ptr %330, align 8
  %332 = call ptr %329(ptr %331, ptr %325)
  %333 = getelementptr inbounds i8, ptr %315, i64 56
  %334 = load ptr, ptr %333, align 8
  call void %334(ptr %325)
  br label %335

335:
  %336 = phi ptr [ null, %321 ], [ %332, %327 ], [ null, %314 ], [ null, %310 ]
  %337 = load ptr, ptr %311, align 8
  %338 = icmp eq ptr %337, null
  %339 = icmp ne ptr %336, null
  %340 = select i1 %338, i1 true, i1 %339
  br i1 %340, label %341, label %521

341:
  %342 = getelementptr inbounds i8, ptr %1, i64 112
  %343 = getelementptr inbounds i8, ptr %1, i64 144
  %344 = getelementptr inbounds i8, ptr %10, i64 8
  %345 = getelementptr inbounds i8, ptr %10, i64 16
  %346 = getelementptr inbounds i8, ptr %10, i64 24
  %347 = getelementptr inbounds i8, ptr %10, i64 32
  %348 = getelementptr inbounds i8, ptr %11, i64 8
  %349 = getelementptr inbounds i8, ptr %11, i64 16
  %350 = getelementptr inbounds i8, ptr %11, i64 24
  %351 = getelementptr inbounds i8, ptr %11, i64 32
  %352 = getelementptr inbounds i8, ptr %12, i64 8
  %353 = getelementptr inbounds i8, ptr %12, i64 16
  %354 = getelementptr inbounds i8, ptr %12, i64 24
  %355 = getelementptr inbounds i8, ptr %12, i64 32
  %356 = getelementptr inbounds i8, ptr %12, i64 40
  %357 = getelementptr inbounds i8, ptr %16, i64 320
  %358 = getelementptr inbounds i8, ptr %16, i64 328
  %359 = load i64, ptr %342, align 8
  %360 = icmp sgt i64 %359, 0
  br i1 %360, label %361, label %530

361:
  %362 = phi i64 [ %515, %514 ], [ %27, %341 ]
  %363 = load ptr, ptr %343, align 8
  %364 = sub nsw i64 %362, %27
  %365 = shl nsw i64 %364, 6
  %366 = getelementptr inbounds i8, ptr %363, i64 %365
  %367 = load ptr, ptr %16, align 8
  %368 = load ptr, ptr %366, align 8
  %369 = icmp eq ptr %368, null
  br i1 %369, label %370, label %376

370:
  %371 = getelementptr inbounds i8, ptr %367, i64 48
  %372 = load ptr, ptr %371, align 8
  %373 = getelementptr inbounds i8, ptr %366, i64 8
  %374 = load ptr, ptr %373, align 8
  call void %372(ptr %374)
  %375 = load ptr, ptr %373, align 8
  br label %510

376:
  %377 = getelementptr inbounds i8, ptr %367, i64 16
  %378 = load ptr, ptr %377, align 8
  %379 = getelementptr inbounds i8, ptr %366, i64 32
  %380 = load i64, ptr %379, align 8
  %381 = call ptr %378(i64 %380)
  %382 = icmp eq ptr %381, null
  br i1 %382, label %383, label %385

383:
  %384 = getelementptr inbounds ptr, ptr %3, i64 %362
  store ptr null, ptr %384, align 8
  br label %530

385:
  %386 = load i64, ptr %379, align 8
  %387 = icmp sgt i64 %386, 0
  br i1 %387, label %388, label %392

388:
  %389 = getelementptr inbounds i8, ptr %367, i64 48
  %390 = getelementptr inbounds i8, ptr %366, i64 56
  %391 = getelementptr inbounds i8, ptr %367, i64 24
  br label %399

392:
  %393 = getelementptr inbounds i8, ptr %367, i64 88
  %394 = load ptr, ptr %393, align 8
  %395 = getelementptr inbounds i8, ptr %367, i64 272
  %396 = load ptr, ptr %395, align 8
  %397 = call ptr %394(ptr %396, i64 0)
  store ptr %397, ptr %9, align 8
  %398 = icmp eq ptr %397, null
  br i1 %398, label %417, label %420

399:
  %400 = phi i64 [ 0, %388 ], [ %414, %399 ]
  %401 = load ptr, ptr %389, align 8
  %402 = load ptr, ptr %390, align 8
  %403 = getelementptr inbounds i64, ptr %402, i64 %400
  %404 = load i64, ptr %403, align 8
  %405 = getelementptr inbounds ptr, ptr %3, i64 %404
  %406 = load ptr, ptr %405, align 8
  call void %401(ptr %406)
  %407 = load ptr, ptr %391, align 8
  %408 = load ptr, ptr %390, align 8
  %409 = getelementptr inbounds i64, ptr %408, i64 %400
  %410 = load i64, ptr %409, align 8
  %411 = getelementptr inbounds ptr, ptr %3, i64 %410
  %412 = load ptr, ptr %411, align 8
  %413 = call i32 %407(ptr %381, i64 %400, ptr %412)
  %414 = add nuw nsw i64 %400, 1
  %415 = load i64, ptr %379, align 8
  %416 = icmp slt i64 %414, %415
  br i1 %416, label %399, label %392

417:
  %418 = getelementptr inbounds i8, ptr %367, i64 56
  %419 = load ptr, ptr %418, align 8
  call void %419(ptr %381)
  br label %508

420:
  %421 = getelementptr inbounds i8, ptr %367, i64 224
  %422 = load ptr, ptr %421, align 8
  store ptr %422, ptr %10, align 16
  store ptr %21, ptr %344, align 8
  store ptr %270, ptr %345, align 16
  store ptr %141, ptr %346, align 8
  store ptr %143, ptr %347, align 16
  %423 = getelementptr inbounds i8, ptr %367, i64 256
  %424 = load ptr, ptr %423, align 8
  store ptr %424, ptr %11, align 16
  store ptr %25, ptr %348, align 8
  store ptr %424, ptr %349, align 16
  store ptr %142, ptr %350, align 8
  store ptr %142, ptr %351, align 16
  %425 = getelementptr inbounds i8, ptr %366, i64 40
  %426 = load i64, ptr %425, align 8
  %427 = getelementptr inbounds ptr, ptr %10, i64 %426
  %428 = load ptr, ptr %427, align 8
  %429 = getelementptr inbounds ptr, ptr %11, i64 %426
  %430 = load ptr, ptr %429, align 8
  %431 = load ptr, ptr %366, align 8
  store ptr %431, ptr %12, align 16
  %432 = getelementptr inbounds i8, ptr %366, i64 48
  %433 = load i64, ptr %432, align 8
  %434 = icmp slt i64 %433, 0
  %435 = getelementptr inbounds i8, ptr %366, i64 8
  %436 = getelementptr inbounds ptr, ptr %2, i64 %433
  %437 = select i1 %434, ptr %435, ptr %436
  %438 = load ptr, ptr %437, align 8
  store ptr %438, ptr %352, align 8
  %439 = getelementptr inbounds i8, ptr %366, i64 16
  %440 = load ptr, ptr %439, align 8
  store ptr %440, ptr %353, align 16
  %441 = getelementptr inbounds i8, ptr %366, i64 24
  %442 = load ptr, ptr %441, align 8
  store ptr %442, ptr %354, align 8
  store ptr %428, ptr %355, align 16
  store ptr %430, ptr %356, align 8
  %443 = getelementptr inbounds i8, ptr %367, i64 48
  br label %481

444:
  %445 = load ptr, ptr %443, align 8
  %446 = load ptr, ptr %421, align 8
  call void %445(ptr %446)
  %447 = load ptr, ptr %443, align 8
  %448 = load ptr, ptr %423, align 8
  call void %447(ptr %448)
  %449 = getelementptr inbounds i8, ptr %367, i64 304
  %450 = load i64, ptr %449, align 8
  %451 = getelementptr inbounds i8, ptr %397, i64 %450
  store ptr %431, ptr %451, align 8
  %452 = getelementptr inbounds i8, ptr %367, i64 312
  %453 = load i64, ptr %452, align 8
  %454 = getelementptr inbounds i8, ptr %397, i64 %453
  store ptr %381, ptr %454, align 8
  %455 = getelementptr inbounds i8, ptr %367, i64 320
  %456 = load i64, ptr %455, align 8
  %457 = getelementptr inbounds i8, ptr %397, i64 %456
  store ptr %438, ptr %457, align 8
  %458 = getelementptr inbounds i8, ptr %367, i64 328
  %459 = load i64, ptr %458, align 8
  %460 = getelementptr inbounds i8, ptr %397, i64 %459
  store ptr %440, ptr %460, align 8
  %461 = getelementptr inbounds i8, ptr %367, i64 336
  %462 = load i64, ptr %461, align 8
  %463 = getelementptr inbounds i8, ptr %397, i64 %462
  store ptr %442, ptr %463, align 8
  %464 = getelementptr inbounds i8, ptr %367, i64 352
  %465 = load i64, ptr %464, align 8
  %466 = getelementptr inbounds i8, ptr %397, i64 %465
  store ptr %428, ptr %466, align 8
  %467 = getelementptr inbounds i8, ptr %367, i64 360
  %468 = load i64, ptr %467, align 8
  %469 = getelementptr inbounds i8, ptr %397, i64 %468
  store ptr %430, ptr %469, align 8
  %470 = getelementptr inbounds i8, ptr %367, i64 344
  %471 = load i64, ptr %470, align 8
  %472 = load ptr, ptr %421, align 8
  %473 = getelementptr inbounds i8, ptr %397, i64 %471
  store ptr %472, ptr %473, align 8
  %474 = getelementptr inbounds i8, ptr %367, i64 368
  %475 = load i64, ptr %474, align 8
  %476 = load ptr, ptr %423, align 8
  %477 = getelementptr inbounds i8, ptr %397, i64 %475
  store ptr %476, ptr %477, align 8
  %478 = load ptr, ptr %366, align 8
  %479 = load ptr, ptr %357, align 8
  %480 = icmp eq ptr %478, %479
  br i1 %480, label %488, label %506

481:
  %482 = phi i64 [ 0, %420 ], [ %486, %481 ]
  %483 = load ptr, ptr %443, align 8
  %484 = getelementptr inbounds ptr, ptr %12, i64 %482
  %485 = load ptr, ptr %484, align 8
  call void %483(ptr %485)
  %486 = add nuw nsw i64 %482, 1
  %487 = icmp eq i64 %486, 6
  br i1 %487, label %444, label %481

488:
  %489 = getelementptr inbounds i8, ptr %367, i64 136
  %490 = load ptr, ptr %489, align 8
  %491 = load ptr, ptr %358, align 8
  %492 = call ptr %490(ptr %491, ptr %9, i64 1, ptr null)
  %493 = icmp eq ptr %492, null
  br i1 %493, label %498, label %494

494:
  %495 = getelementptr inbounds i8, ptr %367, i64 56
  %496 = load ptr, ptr %495, align 8
  call void %496(ptr %492)
  %497 = load ptr, ptr %9, align 8
  br label %506

498:
  %499 = load ptr, ptr %366, align 8
  %500 = load ptr, ptr %357, align 8
  %501 = load ptr, ptr %9, align 8
  %502 = icmp eq ptr %499, %500
  br i1 %502, label %503, label %506

503:
  %504 = getelementptr inbounds i8, ptr %367, i64 56
  %505 = load ptr, ptr %504, align 8
  call void %505(ptr %501)
  br label %506

506:
  %507 = phi ptr [ null, %503 ], [ %501, %498 ], [ %497, %494 ], [ %397, %444 ]
  br label %508

508:
  %509 = phi ptr [ %507, %506 ], [ null, %417 ]
  br label %510

510:
  %511 = phi ptr [ %375, %370 ], [ %509, %508 ]
  %512 = getelementptr inbounds ptr, ptr %3, i64 %362
  store ptr %511, ptr %512, align 8
  %513 = icmp eq ptr %511, null
  br i1 %513, label %530, label %514

514:
  %515 = add nsw i64 %362, 1
  %516 = load i64, ptr %342, align 8
  %517 = add nsw i64 %516, %27
  %518 = icmp slt i64 %515, %517
  br i1 %518, label %361, label %530

519:
  %520 = icmp eq i32 %123, 0
  br i1 %520, label %521, label %676

521:
  %522 = phi ptr [ %143, %335 ], [ null, %519 ], [ %143, %302 ], [ null, %119 ]
  %523 = phi ptr [ %270, %335 ], [ null, %519 ], [ %270, %302 ], [ null, %119 ]
  %524 = phi ptr [ %142, %335 ], [ %121, %519 ], [ %142, %302 ], [ %121, %119 ]
  %525 = phi ptr [ %141, %335 ], [ %120, %519 ], [ %141, %302 ], [ %120, %119 ]
  %526 = getelementptr inbounds i8, ptr %17, i64 224
  %527 = load ptr, ptr %526, align 8
  %528 = getelementptr inbounds i8, ptr %17, i64 48
  %529 = load ptr, ptr %528, align 8
  call void %529(ptr %527)
  br label %676

530:
  %531 = phi i64 [ %362, %383 ], [ %27, %341 ], [ %362, %510 ], [ %515, %514 ]
  %532 = load i64, ptr %342, align 8
  %533 = add nsw i64 %532, %27
  %534 = icmp eq i64 %531, %533
  br i1 %534, label %535, label %676

535:
  %536 = getelementptr inbounds i8, ptr %1, i64 120
  %537 = load i64, ptr %536, align 8
  %538 = getelementptr inbounds ptr, ptr %3, i64 %537
  %539 = load ptr, ptr %538, align 8
  %540 = getelementptr inbounds i8, ptr %1, i64 128
  %541 = load i64, ptr %540, align 8
  %542 = icmp eq i64 %541, 0
  br i1 %542, label %579, label %543

543:
  store ptr %539, ptr %8, align 8
  %544 = load ptr, ptr %16, align 8
  %545 = getelementptr inbounds i8, ptr %544, i64 184
  %546 = load ptr, ptr %545, align 8
  %547 = getelementptr inbounds i8, ptr %16, i64 288
  %548 = load ptr, ptr %547, align 8
  %549 = getelementptr inbounds i8, ptr %548, i64 24
  %550 = load ptr, ptr %549, align 8
  %551 = load ptr, ptr %550, align 8
  %552 = call i64 %546(ptr %551)
  %553 = add nsw i64 %552, %541
  %554 = getelementptr inbounds i8, ptr %16, i64 360
  %555 = load i64, ptr %554, align 8
  %556 = icmp slt i64 %553, %555
  br i1 %556, label %567, label %557

557:
  %558 = getelementptr inbounds i8, ptr %544, i64 136
  %559 = load ptr, ptr %558, align 8
  %560 = getelementptr inbounds i8, ptr %16, i64 312
  %561 = load ptr, ptr %560, align 8
  %562 = call ptr %559(ptr %561, ptr %8, i64 1, ptr null)
  %563 = icmp eq ptr %562, null
  br i1 %563, label %572, label %564

564:
  %565 = getelementptr inbounds i8, ptr %544, i64 56
  %566 = load ptr, ptr %565, align 8
  call void %566(ptr %562)
  br label %579

567:
  %568 = getelementptr inbounds i8, ptr %544, i64 176
  %569 = load ptr, ptr %568, align 8
  %570 = call ptr %569(i64 %553)
  %571 = icmp eq ptr %570, null
  br i1 %571, label %572, label %573

572:
  br label %676

573:
  %574 = getelementptr inbounds i8, ptr %544, i64 8
  %575 = load ptr, ptr %574, align 8
  %576 = load ptr, ptr %547, align 8
  %577 = call i32 %575(ptr %576, i64 0, ptr %570)
  %578 = icmp eq i32 %577, 0
  br i1 %578, label %579, label %676

579:
  %580 = getelementptr inbounds i8, ptr %1, i64 32
  %581 = load ptr, ptr %580, align 8
  %582 = icmp eq ptr %581, null
  br i1 %582, label %656, label %583

583:
  %584 = load ptr, ptr %2, align 8
  %585 = load ptr, ptr %3, align 8
  %586 = load ptr, ptr %16, align 8
  %587 = getelementptr inbounds i8, ptr %586, i64 88
  %588 = load ptr, ptr %587, align 8
  %589 = getelementptr inbounds i8, ptr %16, i64 24
  %590 = load ptr, ptr %589, align 8
  %591 = call ptr %588(ptr %590, i64 0)
  %592 = icmp eq ptr %591, null
  br i1 %592, label %676, label %593

593:
  %594 = getelementptr inbounds i8, ptr %16, i64 40
  %595 = load i64, ptr %594, align 8
  store i64 %595, ptr %6, align 16
  %596 = getelementptr inbounds i8, ptr %6, i64 8
  %597 = getelementptr inbounds i8, ptr %16, i64 64
  %598 = load i64, ptr %597, align 8
  store i64 %598, ptr %596, align 8
  %599 = getelementptr inbounds i8, ptr %6, i64 16
  %600 = getelementptr inbounds i8, ptr %16, i64 72
  %601 = load i64, ptr %600, align 8
  store i64 %601, ptr %599, align 16
  %602 = getelementptr inbounds i8, ptr %6, i64 24
  %603 = getelementptr inbounds i8, ptr %16, i64 48
  %604 = load i64, ptr %603, align 8
  store i64 %604, ptr %602, align 8
  %605 = getelementptr inbounds i8, ptr %6, i64 32
  %606 = getelementptr inbounds i8, ptr %16, i64 120
  %607 = load i64, ptr %606, align 8
  store i64 %607, ptr %605, align 16
  %608 = getelementptr inbounds i8, ptr %6, i64 40
  %609 = getelementptr inbounds i8, ptr %16, i64 128
  %610 = load i64, ptr %609, align 8
  store i64 %610, ptr %608, align 8
  %611 = getelementptr inbounds i8, ptr %6, i64 48
  %612 = getelementptr inbounds i8, ptr %16, i64 136
  %613 = load i64, ptr %612, align 8
  store i64 %613, ptr %611, align 16
  %614 = getelementptr inbounds i8, ptr %6, i64 56
  %615 = getelementptr inbounds i8, ptr %16, i64 144
  %616 = load i64, ptr %615, align 8
  store i64 %616, ptr %614, align 8
  store ptr %584, ptr %7, align 16
  %617 = getelementptr inbounds i8, ptr %7, i64 8
  store ptr %585, ptr %617, align 8
  %618 = getelementptr inbounds i8, ptr %7, i64 16
  store ptr %539, ptr %618, align 16
  %619 = getelementptr inbounds i8, ptr %7, i64 24
  store ptr %336, ptr %619, align 8
  %620 = getelementptr inbounds i8, ptr %7, i64 32
  %621 = getelementptr inbounds i8, ptr %586, i64 240
  %622 = load ptr, ptr %621, align 8
  store ptr %622, ptr %620, align 16
  %623 = getelementptr inbounds i8, ptr %7, i64 40
  store ptr %622, ptr %623, align 8
  %624 = getelementptr inbounds i8, ptr %7, i64 48
  %625 = getelementptr inbounds i8, ptr %586, i64 224
  %626 = load ptr, ptr %625, align 8
  store ptr %626, ptr %624, align 16
  %627 = getelementptr inbounds i8, ptr %7, i64 56
  %628 = getelementptr inbounds i8, ptr %586, i64 256
  %629 = load ptr, ptr %628, align 8
  store ptr %629, ptr %627, align 8
  %630 = getelementptr inbounds i8, ptr %586, i64 48
  br label %634

631:
  %632 = getelementptr inbounds i8, ptr %1, i64 40
  %633 = getelementptr inbounds i8, ptr %16, i64 80
  br label %645

634:
  %635 = phi i64 [ 0, %593 ], [ %642, %634 ]
  %636 = load ptr, ptr %630, align 8
  %637 = getelementptr inbounds ptr, ptr %7, i64 %635
  %638 = load ptr, ptr %637, align 8
  call void %636(ptr %638)
  %639 = getelementptr inbounds i64, ptr %6, i64 %635
  %640 = load i64, ptr %639, align 8
  %641 = getelementptr inbounds i8, ptr %591, i64 %640
  store ptr %638, ptr %641, align 8
  %642 = add nuw nsw i64 %635, 1
  %643 = icmp eq i64 %642, 8
  br i1 %643, label %631, label %634

644:
  br label %662

645:
  %646 = phi i64 [ 0, %631 ], [ %654, %645 ]
  %647 = load ptr, ptr %630, align 8
  %648 = getelementptr inbounds ptr, ptr %632, i64 %646
  %649 = load ptr, ptr %648, align 8
  call void %647(ptr %649)
  %650 = getelementptr inbounds i64, ptr %633, i64 %646
  %651 = load i64, ptr %650, align 8
  %652 = load ptr, ptr %648, align 8
  %653 = getelementptr inbounds i8, ptr %591, i64 %651
  store ptr %652, ptr %653, align 8
  %654 = add nuw nsw i64 %646, 1
  %655 = icmp eq i64 %654, 5
  br i1 %655, label %644, label %645

656:
  %657 = getelementptr inbounds i8, ptr %17, i64 88
  %658 = load ptr, ptr %657, align 8
  %659 = getelementptr inbounds i8, ptr %16, i64 8
  %660 = load ptr, ptr %659, align 8
  %661 = call ptr %658(ptr %660, i64 0)
  br label %662

662:
  %663 = phi ptr [ %661, %656 ], [ %591, %644 ]
  %664 = icmp ne ptr %663, null
  %665 = icmp ne ptr %539, null
  %666 = select i1 %664, i1 %665, i1 false
  br i1 %666, label %667, label %676

667:
  %668 = load ptr, ptr %580, align 8
  %669 = icmp eq ptr %668, null
  br i1 %669, label %670, label %676

670:
  %671 = getelementptr inbounds i8, ptr %17, i64 48
  %672 = load ptr, ptr %671, align 8
  call void %672(ptr %539)
  %673 = getelementptr inbounds i8, ptr %16, i64 32
  %674 = load i64, ptr %673, align 8
  %675 = getelementptr inbounds i8, ptr %663, i64 %674
  store ptr %539, ptr %675, align 8
  br label %676

676:
  %677 = phi ptr [ %141, %662 ], [ %141, %670 ], [ %141, %667 ], [ %141, %583 ], [ %525, %521 ], [ %141, %572 ], [ %141, %530 ], [ %141, %573 ], [ %120, %519 ], [ %141, %261 ], [ %120, %133 ], [ %141, %171 ], [ null, %40 ]
  %678 = phi ptr [ %142, %662 ], [ %142, %670 ], [ %142, %667 ], [ %142, %583 ], [ %524, %521 ], [ %142, %572 ], [ %142, %530 ], [ %142, %573 ], [ %121, %519 ], [ %142, %261 ], [ %121, %133 ], [ %142, %171 ], [ null, %40 ]
  %679 = phi ptr [ %270, %662 ], [ %270, %670 ], [ %270, %667 ], [ %270, %583 ], [ %523, %521 ], [ %270, %572 ], [ %270, %530 ], [ %270, %573 ], [ null, %519 ], [ null, %261 ], [ null, %133 ], [ null, %171 ], [ null, %40 ]
  %680 = phi ptr [ %143, %662 ], [ %143, %670 ], [ %143, %667 ], [ %143, %583 ], [ %522, %521 ], [ %143, %572 ], [ %143, %530 ], [ %143, %573 ], [ null, %519 ], [ %143, %261 ], [ null, %133 ], [ %143, %171 ], [ null, %40 ]
  %681 = phi i64 [ %531, %662 ], [ %531, %670 ], [ %531, %667 ], [ %531, %583 ], [ %27, %521 ], [ %531, %572 ], [ %531, %530 ], [ %531, %573 ], [ %27, %519 ], [ %27, %261 ], [ %27, %133 ], [ %27, %171 ], [ %27, %40 ]
  %682 = phi ptr [ %663, %662 ], [ %663, %670 ], [ %663, %667 ], [ null, %583 ], [ %527, %521 ], [ null, %572 ], [ null, %530 ], [ null, %573 ], [ null, %519 ], [ null, %261 ], [ null, %133 ], [ null, %171 ], [ null, %40 ]
  %683 = icmp sgt i64 %681, 0
  br i1 %683, label %684, label %693

684:
  %685 = getelementptr inbounds i8, ptr %17, i64 56
  br label %686

686:
  %687 = phi i64 [ %681, %684 ], [ %689, %686 ]
  %688 = load ptr, ptr %685, align 8
  %689 = add nsw i64 %687, -1
  %690 = getelementptr inbounds ptr, ptr %3, i64 %689
  %691 = load ptr, ptr %690, align 8
  call void %688(ptr %691)
  %692 = icmp samesign ugt i64 %687, 1
  br i1 %692, label %686, label %693

693:
  %694 = icmp eq ptr %677, null
  br i1 %694, label %698, label %695

695:
  %696 = getelementptr inbounds i8, ptr %17, i64 56
  %697 = load ptr, ptr %696, align 8
  call void %697(ptr %677)
  br label %698

698:
  %699 = icmp eq ptr %678, null
  br i1 %699, label %703, label %700

700:
  %701 = getelementptr inbounds i8, ptr %17, i64 56
  %702 = load ptr, ptr %701, align 8
  call void %702(ptr %678)
  br label %703

703:
  %704 = icmp eq ptr %680, null
  br i1 %704, label %708, label %705

705:
  %706 = getelementptr inbounds i8, ptr %17, i64 56
  %707 = load ptr, ptr %706, align 8
  call void %707(ptr %680)
  br label %708

708:
  %709 = icmp eq ptr %679, null
  br i1 %709, label %713, label %710

710:
  %711 = getelementptr inbounds i8, ptr %17, i64 56
  %712 = load ptr, ptr %711, align 8
  call void %712(ptr %679)
  br label %713

713:
  ret ptr %682
}
