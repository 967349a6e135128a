; Made from known_calls.c by `make native`; its SHA-256 is 0b611e3bd0e225dead6b2cbbe5d1978a1af98d0a4735cfeae656bae4c9e4c8d7
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
  %49 = getelementptr inbounds i8, ptr %48, i64 304
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
  %88 = getelementptr inbounds i8, ptr %9, i64 304
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
  br i1 %7, label %8, label %246

8:
  %9 = load ptr, ptr %0, align 8
  %10 = getelementptr inbounds i8, ptr %1, i64 136
  %11 = getelementptr inbounds i8, ptr %9, i64 304
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
  %23 = getelementptr inbounds i8, ptr %9, i64 360
  %24 = getelementptr inbounds i8, ptr %9, i64 344
  %25 = getelementptr inbounds i8, ptr %9, i64 352
  %26 = getelementptr inbounds i8, ptr %9, i64 224
  %27 = getelementptr inbounds i8, ptr %9, i64 320
  %28 = getelementptr inbounds i8, ptr %0, i64 336
  %29 = getelementptr inbounds i8, ptr %9, i64 312
  %30 = getelementptr inbounds i8, ptr %9, i64 32
  br label %31

31:
  %32 = phi i64 [ 0, %8 ], [ %242, %241 ]
  %33 = phi i64 [ 0, %8 ], [ %243, %241 ]
  %34 = load ptr, ptr %10, align 8
  %35 = mul nuw nsw i64 %33, 40
  %36 = getelementptr inbounds i8, ptr %34, i64 %35
  %37 = getelementptr inbounds ptr, ptr %2, i64 %33
  %38 = load ptr, ptr %37, align 8
  %39 = load i64, ptr %36, align 8
  switch i64 %39, label %197 [
    i64 0, label %40
    i64 1, label %40
    i64 2, label %160
    i64 3, label %160
  ]

40:
  %41 = load ptr, ptr %0, align 8
  %42 = getelementptr inbounds i8, ptr %41, i64 304
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds i8, ptr %38, i64 %43
  %45 = load ptr, ptr %44, align 8
  %46 = load ptr, ptr %14, align 8
  %47 = getelementptr inbounds i8, ptr %41, i64 224
  br label %48

48:
  %49 = phi ptr [ null, %40 ], [ %83, %82 ]
  %50 = phi ptr [ %45, %40 ], [ %85, %82 ]
  %51 = phi ptr [ %38, %40 ], [ %58, %82 ]
  %52 = icmp eq ptr %50, %46
  %53 = icmp ne ptr %50, null
  %54 = and i1 %53, %52
  br i1 %54, label %55, label %93

55:
  %56 = load i64, ptr %15, align 8
  %57 = getelementptr inbounds i8, ptr %51, i64 %56
  %58 = load ptr, ptr %57, align 8
  %59 = load i64, ptr %16, align 8
  %60 = getelementptr inbounds i8, ptr %51, i64 %59
  %61 = load ptr, ptr %60, align 8
  %62 = load i64, ptr %17, align 8
  %63 = getelementptr inbounds i8, ptr %51, i64 %62
  %64 = load ptr, ptr %63, align 8
  %65 = icmp ne ptr %58, null
  %66 = icmp ne ptr %61, null
  %67 = select i1 %65, i1 %66, i1 false
  %68 = icmp ne ptr %64, null
  %69 = select i1 %67, i1 %68, i1 false
  br i1 %69, label %70, label %246

70:
  %71 = load i64, ptr %18, align 8
  %72 = getelementptr inbounds i8, ptr %61, i64 %71
  %73 = load ptr, ptr %72, align 8
  %74 = load ptr, ptr %47, align 8
  %75 = icmp eq ptr %73, %74
  br i1 %75, label %76, label %246

76:
  %77 = icmp eq ptr %49, null
  br i1 %77, label %78, label %82

78:
  %79 = load i64, ptr %19, align 8
  %80 = getelementptr inbounds i8, ptr %51, i64 %79
  %81 = load ptr, ptr %80, align 8
  br label %82

82:
  %83 = phi ptr [ %49, %76 ], [ %81, %78 ]
  %84 = getelementptr inbounds i8, ptr %58, i64 %43
  %85 = load ptr, ptr %84, align 8
  %86 = icmp eq ptr %85, %46
  %87 = select i1 %86, i64 72, i64 32
  %88 = getelementptr inbounds i8, ptr %0, i64 %87
  %89 = load i64, ptr %88, align 8
  %90 = getelementptr inbounds i8, ptr %58, i64 %89
  %91 = load ptr, ptr %90, align 8
  %92 = icmp eq ptr %64, %91
  br i1 %92, label %48, label %246

93:
  %94 = load ptr, ptr %20, align 8
  %95 = icmp eq ptr %50, %94
  br i1 %95, label %99, label %96

96:
  %97 = load ptr, ptr %21, align 8
  %98 = icmp eq ptr %50, %97
  br i1 %98, label %99, label %246

99:
  %100 = icmp eq ptr %49, null
  br i1 %100, label %101, label %106

101:
  %102 = load i64, ptr %22, align 8
  %103 = getelementptr inbounds i8, ptr %51, i64 %102
  %104 = load ptr, ptr %103, align 8
  %105 = icmp eq ptr %104, null
  br i1 %105, label %246, label %106

106:
  %107 = phi ptr [ %104, %101 ], [ %49, %99 ]
  %108 = icmp eq i64 %39, 1
  br i1 %108, label %109, label %115

109:
  %110 = getelementptr inbounds i8, ptr %36, i64 32
  %111 = load i64, ptr %110, align 8
  %112 = getelementptr inbounds ptr, ptr %3, i64 %111
  %113 = load ptr, ptr %112, align 8
  %114 = icmp eq ptr %113, %107
  br i1 %114, label %241, label %246

115:
  %116 = load i64, ptr %23, align 8
  %117 = getelementptr inbounds i8, ptr %107, i64 %116
  %118 = load ptr, ptr %117, align 8
  %119 = load i64, ptr %24, align 8
  %120 = getelementptr inbounds i8, ptr %107, i64 %119
  %121 = load ptr, ptr %120, align 8
  %122 = getelementptr inbounds i8, ptr %36, i64 8
  %123 = load ptr, ptr %122, align 8
  %124 = icmp eq ptr %121, %123
  br i1 %124, label %125, label %246

125:
  %126 = load i64, ptr %25, align 8
  %127 = getelementptr inbounds i8, ptr %107, i64 %126
  %128 = load ptr, ptr %127, align 8
  %129 = getelementptr inbounds i8, ptr %36, i64 16
  %130 = load ptr, ptr %129, align 8
  %131 = icmp ne ptr %128, %130
  %132 = icmp eq ptr %118, null
  %133 = select i1 %131, i1 true, i1 %132
  br i1 %133, label %246, label %134

134:
  %135 = load ptr, ptr %26, align 8
  %136 = icmp eq ptr %118, %135
  %137 = zext i1 %136 to i64
  %138 = getelementptr inbounds i8, ptr %36, i64 24
  %139 = load i64, ptr %138, align 8
  %140 = icmp eq i64 %139, %137
  br i1 %140, label %141, label %246

141:
  %142 = load i64, ptr %27, align 8
  %143 = getelementptr inbounds i8, ptr %107, i64 %142
  %144 = load ptr, ptr %143, align 8
  %145 = load ptr, ptr %28, align 8
  %146 = icmp eq ptr %144, %145
  br i1 %146, label %246, label %147

147:
  %148 = icmp sgt i64 %32, 0
  br i1 %148, label %152, label %157

149:
  %150 = add nuw nsw i64 %153, 1
  %151 = icmp eq i64 %150, %32
  br i1 %151, label %157, label %152

152:
  %153 = phi i64 [ %150, %149 ], [ 0, %147 ]
  %154 = getelementptr inbounds ptr, ptr %3, i64 %153
  %155 = load ptr, ptr %154, align 8
  %156 = icmp eq ptr %155, %107
  br i1 %156, label %246, label %149

157:
  %158 = add nsw i64 %32, 1
  %159 = getelementptr inbounds ptr, ptr %3, i64 %32
  store ptr %107, ptr %159, align 8
  br label %241

160:
  %161 = load i64, ptr %11, align 8
  %162 = getelementptr inbounds i8, ptr %38, i64 %161
  %163 = load ptr, ptr %162, align 8
  %164 = load ptr, ptr %12, align 8
  %165 = icmp eq ptr %163, %164
  br i1 %165, label %166, label %246

166:
  %167 = icmp eq i64 %39, 2
  br i1 %167, label %168, label %184

168:
  %169 = getelementptr inbounds i8, ptr %36, i64 8
  %170 = load ptr, ptr %169, align 8
  %171 = load ptr, ptr %13, align 8
  %172 = call double %171(ptr %38)
  %173 = load ptr, ptr %13, align 8
  %174 = call double %173(ptr %170)
  %175 = fcmp oeq double %172, %174
  br i1 %175, label %176, label %246

176:
  %177 = fcmp une double %172, 0.000000e+00
  br i1 %177, label %184, label %178

178:
  %179 = fdiv double 1.000000e+00, %172
  %180 = fcmp ogt double %179, 0.000000e+00
  %181 = fdiv double 1.000000e+00, %174
  %182 = fcmp ogt double %181, 0.000000e+00
  %183 = xor i1 %180, %182
  br i1 %183, label %246, label %184

184:
  %185 = load ptr, ptr %13, align 8
  %186 = call double %185(ptr %38)
  %187 = load i64, ptr %36, align 8
  %188 = icmp eq i64 %187, 3
  br i1 %188, label %189, label %241

189:
  %190 = fcmp oeq double %186, 0.000000e+00
  %191 = fcmp oeq double %186, 1.000000e+00
  %192 = or i1 %190, %191
  %193 = fcmp oeq double %186, -1.000000e+00
  %194 = or i1 %193, %192
  %195 = fcmp oeq double %186, 2.000000e+00
  %196 = or i1 %195, %194
  br i1 %196, label %246, label %241

197:
  %198 = getelementptr inbounds i8, ptr %36, i64 8
  %199 = load ptr, ptr %198, align 8
  %200 = icmp eq ptr %38, %199
  br i1 %200, label %241, label %201

201:
  %202 = load i64, ptr %11, align 8
  %203 = getelementptr inbounds i8, ptr %38, i64 %202
  %204 = load ptr, ptr %203, align 8
  %205 = getelementptr inbounds i8, ptr %199, i64 %202
  %206 = load ptr, ptr %205, align 8
  %207 = icmp eq ptr %204, %206
  br i1 %207, label %208, label %246

208:
  %209 = icmp eq i64 %39, 4
  br i1 %209, label %210, label %237

210:
  %211 = getelementptr inbounds i8, ptr %38, i64 16
  %212 = load i64, ptr %211, align 8
  %213 = getelementptr inbounds i8, ptr %199, i64 16
  %214 = load i64, ptr %213, align 8
  %215 = icmp eq i64 %212, %214
  br i1 %215, label %216, label %246

216:
  %217 = icmp sgt i64 %212, 0
  br i1 %217, label %218, label %237

218:
  %219 = load i64, ptr %29, align 8
  %220 = getelementptr i8, ptr %38, i64 %219
  %221 = getelementptr i8, ptr %199, i64 %219
  br label %225

222:
  %223 = add nuw nsw i64 %226, 1
  %224 = icmp eq i64 %223, %212
  br i1 %224, label %237, label %225

225:
  %226 = phi i64 [ 0, %218 ], [ %223, %222 ]
  %227 = shl nsw i64 %226, 3
  %228 = getelementptr i8, ptr %220, i64 %227
  %229 = load ptr, ptr %228, align 8
  %230 = getelementptr inbounds i8, ptr %229, i64 %202
  %231 = load ptr, ptr %230, align 8
  %232 = getelementptr i8, ptr %221, i64 %227
  %233 = load ptr, ptr %232, align 8
  %234 = getelementptr inbounds i8, ptr %233, i64 %202
  %235 = load ptr, ptr %234, align 8
  %236 = icmp eq ptr %231, %235
  br i1 %236, label %222, label %246

237:
  %238 = load ptr, ptr %30, align 8
  %239 = call i32 %238(ptr %38, ptr %199, i32 2)
  %240 = icmp sgt i32 %239, 0
  br i1 %240, label %241, label %246

241:
  %242 = phi i64 [ %32, %109 ], [ %158, %157 ], [ %32, %189 ], [ %32, %197 ], [ %32, %184 ], [ %32, %237 ]
  %243 = add nuw nsw i64 %33, 1
  %244 = load i64, ptr %5, align 8
  %245 = icmp slt i64 %243, %244
  br i1 %245, label %31, label %246

246:
  %247 = phi i32 [ 0, %152 ], [ 0, %55 ], [ 0, %225 ], [ 1, %4 ], [ 0, %82 ], [ 0, %70 ], [ 0, %210 ], [ 0, %134 ], [ 0, %141 ], [ 0, %125 ], [ 0, %115 ], [ 0, %101 ], [ 0, %168 ], [ 0, %189 ], [ 1, %241 ], [ 0, %201 ], [ 0, %160 ], [ 0, %178 ], [ %239, %237 ], [ 0, %96 ], [ 0, %109 ]
  ret i32 %247
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
  br i1 %47, label %679, label %58

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
  br i1 %127, label %55, label %524

128:
  %129 = icmp slt i32 %123, 1
  br i1 %129, label %522, label %130

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
  br i1 %139, label %679, label %140

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
  br i1 %182, label %679, label %183

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
  br i1 %227, label %679, label %269

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
  br i1 %273, label %274, label %313

274:
  %275 = load i64, ptr %37, align 8
  %276 = icmp eq i64 %275, 0
  br i1 %276, label %313, label %277

277:
  %278 = getelementptr inbounds i8, ptr %1, i64 120
  %279 = load i64, ptr %278, align 8
  %280 = getelementptr inbounds ptr, ptr %3, i64 %279
  %281 = load ptr, ptr %280, align 8
  %282 = load ptr, ptr %16, align 8
  %283 = getelementptr inbounds i8, ptr %282, i64 368
  %284 = load i64, ptr %283, align 8
  %285 = getelementptr inbounds i8, ptr %281, i64 %284
  %286 = load ptr, ptr %285, align 8
  %287 = getelementptr inbounds i8, ptr %282, i64 224
  %288 = load ptr, ptr %287, align 8
  %289 = icmp eq ptr %286, %288
  br i1 %289, label %290, label %305

290:
  %291 = getelementptr inbounds i8, ptr %282, i64 376
  %292 = load i64, ptr %291, align 8
  %293 = getelementptr inbounds i8, ptr %281, i64 %292
  %294 = load ptr, ptr %293, align 8
  %295 = getelementptr inbounds i8, ptr %282, i64 48
  %296 = load ptr, ptr %295, align 8
  call void %296(ptr %141)
  %297 = load ptr, ptr %295, align 8
  call void %297(ptr %142)
  %298 = load i64, ptr %283, align 8
  %299 = getelementptr inbounds i8, ptr %281, i64 %298
  store ptr %141, ptr %299, align 8
  %300 = load i64, ptr %291, align 8
  %301 = getelementptr inbounds i8, ptr %281, i64 %300
  store ptr %142, ptr %301, align 8
  %302 = getelementptr inbounds i8, ptr %282, i64 56
  %303 = load ptr, ptr %302, align 8
  call void %303(ptr %286)
  %304 = load ptr, ptr %302, align 8
  call void %304(ptr %294)
  br label %313

305:
  %306 = getelementptr inbounds i8, ptr %282, i64 304
  %307 = load i64, ptr %306, align 8
  %308 = getelementptr inbounds i8, ptr %286, i64 %307
  %309 = load ptr, ptr %308, align 8
  %310 = getelementptr inbounds i8, ptr %16, i64 216
  %311 = load ptr, ptr %310, align 8
  %312 = icmp eq ptr %309, %311
  br i1 %312, label %524, label %313

313:
  %314 = getelementptr inbounds i8, ptr %1, i64 32
  %315 = load ptr, ptr %314, align 8
  %316 = icmp eq ptr %315, null
  br i1 %316, label %338, label %317

317:
  %318 = load ptr, ptr %16, align 8
  %319 = getelementptr inbounds i8, ptr %16, i64 160
  %320 = load ptr, ptr %319, align 8
  %321 = getelementptr inbounds i8, ptr %320, i64 16
  %322 = load i64, ptr %321, align 8
  %323 = icmp eq i64 %322, 0
  br i1 %323, label %324, label %338

324:
  %325 = load ptr, ptr %2, align 8
  %326 = getelementptr inbounds i8, ptr %318, i64 208
  %327 = load ptr, ptr %326, align 8
  %328 = call ptr %327(ptr %325)
  %329 = icmp eq ptr %328, null
  br i1 %329, label %338, label %330

330:
  %331 = getelementptr inbounds i8, ptr %318, i64 216
  %332 = load ptr, ptr %331, align 8
  %333 = getelementptr inbounds i8, ptr %16, i64 152
  %334 = load ptr, ptr %333, align 8
  %335 = call ptr %332(ptr %334, ptr %328)
  %336 = getelementptr inbounds i8, ptr %318, i64 56
  %337 = load ptr, ptr %336, align 8
  call void %337(ptr %328)
  br label %338

338:
  %339 = phi ptr [ null, %324 ], [ %335, %330 ], [ null, %317 ], [ null, %313 ]
  %340 = load ptr, ptr %314, align 8
  %341 = icmp eq ptr %340, null
  %342 = icmp ne ptr %339, null
  %343 = select i1 %341, i1 true, i1 %342
  br i1 %343, label %344, label %524

344:
  %345 = getelementptr inbounds i8, ptr %1, i64 112
  %346 = getelementptr inbounds i8, ptr %1, i64 144
  %347 = getelementptr inbounds i8, ptr %10, i64 8
  %348 = getelementptr inbounds i8, ptr %10, i64 16
  %349 = getelementptr inbounds i8, ptr %10, i64 24
  %350 = getelementptr inbounds i8, ptr %10, i64 32
  %351 = getelementptr inbounds i8, ptr %11, i64 8
  %352 = getelementptr inbounds i8, ptr %11, i64 16
  %353 = getelementptr inbounds i8, ptr %11, i64 24
  %354 = getelementptr inbounds i8, ptr %11, i64 32
  %355 = getelementptr inbounds i8, ptr %12, i64 8
  %356 = getelementptr inbounds i8, ptr %12, i64 16
  %357 = getelementptr inbounds i8, ptr %12, i64 24
  %358 = getelementptr inbounds i8, ptr %12, i64 32
  %359 = getelementptr inbounds i8, ptr %12, i64 40
  %360 = getelementptr inbounds i8, ptr %16, i64 320
  %361 = getelementptr inbounds i8, ptr %16, i64 328
  %362 = load i64, ptr %345, align 8
  %363 = icmp sgt i64 %362, 0
  br i1 %363, label %364, label %533

364:
  %365 = phi i64 [ %518, %517 ], [ %27, %344 ]
  %366 = load ptr, ptr %346, align 8
  %367 = sub nsw i64 %365, %27
  %368 = shl nsw i64 %367, 6
  %369 = getelementptr inbounds i8, ptr %366, i64 %368
  %370 = load ptr, ptr %16, align 8
  %371 = load ptr, ptr %369, align 8
  %372 = icmp eq ptr %371, null
  br i1 %372, label %373, label %379

373:
  %374 = getelementptr inbounds i8, ptr %370, i64 48
  %375 = load ptr, ptr %374, align 8
  %376 = getelementptr inbounds i8, ptr %369, i64 8
  %377 = load ptr, ptr %376, align 8
  call void %375(ptr %377)
  %378 = load ptr, ptr %376, align 8
  br label %513

379:
  %380 = getelementptr inbounds i8, ptr %370, i64 16
  %381 = load ptr, ptr %380, align 8
  %382 = getelementptr inbounds i8, ptr %369, i64 32
  %383 = load i64, ptr %382, align 8
  %384 = call ptr %381(i64 %383)
  %385 = icmp eq ptr %384, null
  br i1 %385, label %386, label %388

386:
  %387 = getelementptr inbounds ptr, ptr %3, i64 %365
  store ptr null, ptr %387, align 8
  br label %533

388:
  %389 = load i64, ptr %382, align 8
  %390 = icmp sgt i64 %389, 0
  br i1 %390, label %391, label %395

391:
  %392 = getelementptr inbounds i8, ptr %370, i64 48
  %393 = getelementptr inbounds i8, ptr %369, i64 56
  %394 = getelementptr inbounds i8, ptr %370, i64 24
  br label %402

395:
  %396 = getelementptr inbounds i8, ptr %370, i64 88
  %397 = load ptr, ptr %396, align 8
  %398 = getelementptr inbounds i8, ptr %370, i64 272
  %399 = load ptr, ptr %398, align 8
  %400 = call ptr %397(ptr %399, i64 0)
  store ptr %400, ptr %9, align 8
  %401 = icmp eq ptr %400, null
  br i1 %401, label %420, label %423

402:
  %403 = phi i64 [ 0, %391 ], [ %417, %402 ]
  %404 = load ptr, ptr %392, align 8
  %405 = load ptr, ptr %393, align 8
  %406 = getelementptr inbounds i64, ptr %405, i64 %403
  %407 = load i64, ptr %406, align 8
  %408 = getelementptr inbounds ptr, ptr %3, i64 %407
  %409 = load ptr, ptr %408, align 8
  call void %404(ptr %409)
  %410 = load ptr, ptr %394, align 8
  %411 = load ptr, ptr %393, align 8
  %412 = getelementptr inbounds i64, ptr %411, i64 %403
  %413 = load i64, ptr %412, align 8
  %414 = getelementptr inbounds ptr, ptr %3, i64 %413
  %415 = load ptr, ptr %414, align 8
  %416 = call i32 %410(ptr %384, i64 %403, ptr %415)
  %417 = add nuw nsw i64 %403, 1
  %418 = load i64, ptr %382, align 8
  %419 = icmp slt i64 %417, %418
  br i1 %419, label %402, label %395

420:
  %421 = getelementptr inbounds i8, ptr %370, i64 56
  %422 = load ptr, ptr %421, align 8
  call void %422(ptr %384)
  br label %511

423:
  %424 = getelementptr inbounds i8, ptr %370, i64 224
  %425 = load ptr, ptr %424, align 8
  store ptr %425, ptr %10, align 16
  store ptr %21, ptr %347, align 8
  store ptr %270, ptr %348, align 16
  store ptr %141, ptr %349, align 8
  store ptr %143, ptr %350, align 16
  %426 = getelementptr inbounds i8, ptr %370, i64 256
  %427 = load ptr, ptr %426, align 8
  store ptr %427, ptr %11, align 16
  store ptr %25, ptr %351, align 8
  store ptr %427, ptr %352, align 16
  store ptr %142, ptr %353, align 8
  store ptr %142, ptr %354, align 16
  %428 = getelementptr inbounds i8, ptr %369, i64 40
  %429 = load i64, ptr %428, align 8
  %430 = getelementptr inbounds ptr, ptr %10, i64 %429
  %431 = load ptr, ptr %430, align 8
  %432 = getelementptr inbounds ptr, ptr %11, i64 %429
  %433 = load ptr, ptr %432, align 8
  %434 = load ptr, ptr %369, align 8
  store ptr %434, ptr %12, align 16
  %435 = getelementptr inbounds i8, ptr %369, i64 48
  %436 = load i64, ptr %435, align 8
  %437 = icmp slt i64 %436, 0
  %438 = getelementptr inbounds i8, ptr %369, i64 8
  %439 = getelementptr inbounds ptr, ptr %2, i64 %436
  %440 = select i1 %437, ptr %438, ptr %439
  %441 = load ptr, ptr %440, align 8
  store ptr %441, ptr %355, align 8
  %442 = getelementptr inbounds i8, ptr %369, i64 16
  %443 = load ptr, ptr %442, align 8
  store ptr %443, ptr %356, align 16
  %444 = getelementptr inbounds i8, ptr %369, i64 24
  %445 = load ptr, ptr %444, align 8
  store ptr %445, ptr %357, align 8
  store ptr %431, ptr %358, align 16
  store ptr %433, ptr %359, align 8
  %446 = getelementptr inbounds i8, ptr %370, i64 48
  br label %484

447:
  %448 = load ptr, ptr %446, align 8
  %449 = load ptr, ptr %424, align 8
  call void %448(ptr %449)
  %450 = load ptr, ptr %446, align 8
  %451 = load ptr, ptr %426, align 8
  call void %450(ptr %451)
  %452 = getelementptr inbounds i8, ptr %370, i64 320
  %453 = load i64, ptr %452, align 8
  %454 = getelementptr inbounds i8, ptr %400, i64 %453
  store ptr %434, ptr %454, align 8
  %455 = getelementptr inbounds i8, ptr %370, i64 328
  %456 = load i64, ptr %455, align 8
  %457 = getelementptr inbounds i8, ptr %400, i64 %456
  store ptr %384, ptr %457, align 8
  %458 = getelementptr inbounds i8, ptr %370, i64 336
  %459 = load i64, ptr %458, align 8
  %460 = getelementptr inbounds i8, ptr %400, i64 %459
  store ptr %441, ptr %460, align 8
  %461 = getelementptr inbounds i8, ptr %370, i64 344
  %462 = load i64, ptr %461, align 8
  %463 = getelementptr inbounds i8, ptr %400, i64 %462
  store ptr %443, ptr %463, align 8
  %464 = getelementptr inbounds i8, ptr %370, i64 352
  %465 = load i64, ptr %464, align 8
  %466 = getelementptr inbounds i8, ptr %400, i64 %465
  store ptr %445, ptr %466, align 8
  %467 = getelementptr inbounds i8, ptr %370, i64 368
  %468 = load i64, ptr %467, align 8
  %469 = getelementptr inbounds i8, ptr %400, i64 %468
  store ptr %431, ptr %469, align 8
  %470 = getelementptr inbounds i8, ptr %370, i64 376
  %471 = load i64, ptr %470, align 8
  %472 = getelementptr inbounds i8, ptr %400, i64 %471
  store ptr %433, ptr %472, align 8
  %473 = getelementptr inbounds i8, ptr %370, i64 360
  %474 = load i64, ptr %473, align 8
  %475 = load ptr, ptr %424, align 8
  %476 = getelementptr inbounds i8, ptr %400, i64 %474
  store ptr %475, ptr %476, align 8
  %477 = getelementptr inbounds i8, ptr %370, i64 384
  %478 = load i64, ptr %477, align 8
  %479 = load ptr, ptr %426, align 8
  %480 = getelementptr inbounds i8, ptr %400, i64 %478
  store ptr %479, ptr %480, align 8
  %481 = load ptr, ptr %369, align 8
  %482 = load ptr, ptr %360, align 8
  %483 = icmp eq ptr %481, %482
  br i1 %483, label %491, label %509

484:
  %485 = phi i64 [ 0, %423 ], [ %489, %484 ]
  %486 = load ptr, ptr %446, align 8
  %487 = getelementptr inbounds ptr, ptr %12, i64 %485
  %488 = load ptr, ptr %487, align 8
  call void %486(ptr %488)
  %489 = add nuw nsw i64 %485, 1
  %490 = icmp eq i64 %489, 6
  br i1 %490, label %447, label %484

491:
  %492 = getelementptr inbounds i8, ptr %370, i64 136
  %493 = load ptr, ptr %492, align 8
  %494 = load ptr, ptr %361, align 8
  %495 = call ptr %493(ptr %494, ptr %9, i64 1, ptr null)
  %496 = icmp eq ptr %495, null
  br i1 %496, label %501, label %497

497:
  %498 = getelementptr inbounds i8, ptr %370, i64 56
  %499 = load ptr, ptr %498, align 8
  call void %499(ptr %495)
  %500 = load ptr, ptr %9, align 8
  br label %509

501:
  %502 = load ptr, ptr %369, align 8
  %503 = load ptr, ptr %360, align 8
  %504 = load ptr, ptr %9, align 8
  %505 = icmp eq ptr %502, %503
  br i1 %505, label %506, label %509

506:
  %507 = getelementptr inbounds i8, ptr %370, i64 56
  %508 = load ptr, ptr %507, align 8
  call void %508(ptr %504)
  br label %509

509:
  %510 = phi ptr [ null, %506 ], [ %504, %501 ], [ %500, %497 ], [ %400, %447 ]
  br label %511

511:
  %512 = phi ptr [ %510, %509 ], [ null, %420 ]
  br label %513

513:
  %514 = phi ptr [ %378, %373 ], [ %512, %511 ]
  %515 = getelementptr inbounds ptr, ptr %3, i64 %365
  store ptr %514, ptr %515, align 8
  %516 = icmp eq ptr %514, null
  br i1 %516, label %533, label %517

517:
  %518 = add nsw i64 %365, 1
  %519 = load i64, ptr %345, align 8
  %520 = add nsw i64 %519, %27
  %521 = icmp slt i64 %518, %520
  br i1 %521, label %364, label %533

522:
  %523 = icmp eq i32 %123, 0
  br i1 %523, label %524, label %679

524:
  %525 = phi ptr [ %143, %338 ], [ null, %522 ], [ %143, %305 ], [ null, %119 ]
  %526 = phi ptr [ %270, %338 ], [ null, %522 ], [ %270, %305 ], [ null, %119 ]
  %527 = phi ptr [ %142, %338 ], [ %121, %522 ], [ %142, %305 ], [ %121, %119 ]
  %528 = phi ptr [ %141, %338 ], [ %120, %522 ], [ %141, %305 ], [ %120, %119 ]
  %529 = getelementptr inbounds i8, ptr %17, i64 224
  %530 = load ptr, ptr %529, align 8
  %531 = getelementptr inbounds i8, ptr %17, i64 48
  %532 = load ptr, ptr %531, align 8
  call void %532(ptr %530)
  br label %679

533:
  %534 = phi i64 [ %365, %386 ], [ %27, %344 ], [ %365, %513 ], [ %518, %517 ]
  %535 = load i64, ptr %345, align 8
  %536 = add nsw i64 %535, %27
  %537 = icmp eq i64 %534, %536
  br i1 %537, label %538, label %679

538:
  %539 = getelementptr inbounds i8, ptr %1, i64 120
  %540 = load i64, ptr %539, align 8
  %541 = getelementptr inbounds ptr, ptr %3, i64 %540
  %542 = load ptr, ptr %541, align 8
  %543 = getelementptr inbounds i8, ptr %1, i64 128
  %544 = load i64, ptr %543, align 8
  %545 = icmp eq i64 %544, 0
  br i1 %545, label %582, label %546

546:
  store ptr %542, ptr %8, align 8
  %547 = load ptr, ptr %16, align 8
  %548 = getelementptr inbounds i8, ptr %547, i64 184
  %549 = load ptr, ptr %548, align 8
  %550 = getelementptr inbounds i8, ptr %16, i64 288
  %551 = load ptr, ptr %550, align 8
  %552 = getelementptr inbounds i8, ptr %551, i64 24
  %553 = load ptr, ptr %552, align 8
  %554 = load ptr, ptr %553, align 8
  %555 = call i64 %549(ptr %554)
  %556 = add nsw i64 %555, %544
  %557 = getelementptr inbounds i8, ptr %16, i64 360
  %558 = load i64, ptr %557, align 8
  %559 = icmp slt i64 %556, %558
  br i1 %559, label %570, label %560

560:
  %561 = getelementptr inbounds i8, ptr %547, i64 136
  %562 = load ptr, ptr %561, align 8
  %563 = getelementptr inbounds i8, ptr %16, i64 312
  %564 = load ptr, ptr %563, align 8
  %565 = call ptr %562(ptr %564, ptr %8, i64 1, ptr null)
  %566 = icmp eq ptr %565, null
  br i1 %566, label %575, label %567

567:
  %568 = getelementptr inbounds i8, ptr %547, i64 56
  %569 = load ptr, ptr %568, align 8
  call void %569(ptr %565)
  br label %582

570:
  %571 = getelementptr inbounds i8, ptr %547, i64 176
  %572 = load ptr, ptr %571, align 8
  %573 = call ptr %572(i64 %556)
  %574 = icmp eq ptr %573, null
  br i1 %574, label %575, label %576

575:
  br label %679

576:
  %577 = getelementptr inbounds i8, ptr %547, i64 8
  %578 = load ptr, ptr %577, align 8
  %579 = load ptr, ptr %550, align 8
  %580 = call i32 %578(ptr %579, i64 0, ptr %573)
  %581 = icmp eq i32 %580, 0
  br i1 %581, label %582, label %679

582:
  %583 = getelementptr inbounds i8, ptr %1, i64 32
  %584 = load ptr, ptr %583, align 8
  %585 = icmp eq ptr %584, null
  br i1 %585, label %659, label %586

586:
  %587 = load ptr, ptr %2, align 8
  %588 = load ptr, ptr %3, align 8
  %589 = load ptr, ptr %16, align 8
  %590 = getelementptr inbounds i8, ptr %589, i64 88
  %591 = load ptr, ptr %590, align 8
  %592 = getelementptr inbounds i8, ptr %16, i64 24
  %593 = load ptr, ptr %592, align 8
  %594 = call ptr %591(ptr %593, i64 0)
  %595 = icmp eq ptr %594, null
  br i1 %595, label %679, label %596

596:
  %597 = getelementptr inbounds i8, ptr %16, i64 40
  %598 = load i64, ptr %597, align 8
  store i64 %598, ptr %6, align 16
  %599 = getelementptr inbounds i8, ptr %6, i64 8
  %600 = getelementptr inbounds i8, ptr %16, i64 64
  %601 = load i64, ptr %600, align 8
  store i64 %601, ptr %599, align 8
  %602 = getelementptr inbounds i8, ptr %6, i64 16
  %603 = getelementptr inbounds i8, ptr %16, i64 72
  %604 = load i64, ptr %603, align 8
  store i64 %604, ptr %602, align 16
  %605 = getelementptr inbounds i8, ptr %6, i64 24
  %606 = getelementptr inbounds i8, ptr %16, i64 48
  %607 = load i64, ptr %606, align 8
  store i64 %607, ptr %605, align 8
  %608 = getelementptr inbounds i8, ptr %6, i64 32
  %609 = getelementptr inbounds i8, ptr %16, i64 120
  %610 = load i64, ptr %609, align 8
  store i64 %610, ptr %608, align 16
  %611 = getelementptr inbounds i8, ptr %6, i64 40
  %612 = getelementptr inbounds i8, ptr %16, i64 128
  %613 = load i64, ptr %612, align 8
  store i64 %613, ptr %611, align 8
  %614 = getelementptr inbounds i8, ptr %6, i64 48
  %615 = getelementptr inbounds i8, ptr %16, i64 136
  %616 = load i64, ptr %615, align 8
  store i64 %616, ptr %614, align 16
  %617 = getelementptr inbounds i8, ptr %6, i64 56
  %618 = getelementptr inbounds i8, ptr %16, i64 144
  %619 = load i64, ptr %618, align 8
  store i64 %619, ptr %617, align 8
  store ptr %587, ptr %7, align 16
  %620 = getelementptr inbounds i8, ptr %7, i64 8
  store ptr %588, ptr %620, align 8
  %621 = getelementptr inbounds i8, ptr %7, i64 16
  store ptr %542, ptr %621, align 16
  %622 = getelementptr inbounds i8, ptr %7, i64 24
  store ptr %339, ptr %622, align 8
  %623 = getelementptr inbounds i8, ptr %7, i64 32
  %624 = getelementptr inbounds i8, ptr %589, i64 240
  %625 = load ptr, ptr %624, align 8
  store ptr %625, ptr %623, align 16
  %626 = getelementptr inbounds i8, ptr %7, i64 40
  store ptr %625, ptr %626, align 8
  %627 = getelementptr inbounds i8, ptr %7, i64 48
  %628 = getelementptr inbounds i8, ptr %589, i64 224
  %629 = load ptr, ptr %628, align 8
  store ptr %629, ptr %627, align 16
  %630 = getelementptr inbounds i8, ptr %7, i64 56
  %631 = getelementptr inbounds i8, ptr %589, i64 256
  %632 = load ptr, ptr %631, align 8
  store ptr %632, ptr %630, align 8
  %633 = getelementptr inbounds i8, ptr %589, i64 48
  br label %637

634:
  %635 = getelementptr inbounds i8, ptr %1, i64 40
  %636 = getelementptr inbounds i8, ptr %16, i64 80
  br label %648

637:
  %638 = phi i64 [ 0, %596 ], [ %645, %637 ]
  %639 = load ptr, ptr %633, align 8
  %640 = getelementptr inbounds ptr, ptr %7, i64 %638
  %641 = load ptr, ptr %640, align 8
  call void %639(ptr %641)
  %642 = getelementptr inbounds i64, ptr %6, i64 %638
  %643 = load i64, ptr %642, align 8
  %644 = getelementptr inbounds i8, ptr %594, i64 %643
  store ptr %641, ptr %644, align 8
  %645 = add nuw nsw i64 %638, 1
  %646 = icmp eq i64 %645, 8
  br i1 %646, label %634, label %637

647:
  br label %665

648:
  %649 = phi i64 [ 0, %634 ], [ %657, %648 ]
  %650 = load ptr, ptr %633, align 8
  %651 = getelementptr inbounds ptr, ptr %635, i64 %649
  %652 = load ptr, ptr %651, align 8
  call void %650(ptr %652)
  %653 = getelementptr inbounds i64, ptr %636, i64 %649
  %654 = load i64, ptr %653, align 8
  %655 = load ptr, ptr %651, align 8
  %656 = getelementptr inbounds i8, ptr %594, i64 %654
  store ptr %655, ptr %656, align 8
  %657 = add nuw nsw i64 %649, 1
  %658 = icmp eq i64 %657, 5
  br i1 %658, label %647, label %648

659:
  %660 = getelementptr inbounds i8, ptr %17, i64 88
  %661 = load ptr, ptr %660, align 8
  %662 = getelementptr inbounds i8, ptr %16, i64 8
  %663 = load ptr, ptr %662, align 8
  %664 = call ptr %661(ptr %663, i64 0)
  br label %665

665:
  %666 = phi ptr [ %664, %659 ], [ %594, %647 ]
  %667 = icmp ne ptr %666, null
  %668 = icmp ne ptr %542, null
  %669 = select i1 %667, i1 %668, i1 false
  br i1 %669, label %670, label %679

670:
  %671 = load ptr, ptr %583, align 8
  %672 = icmp eq ptr %671, null
  br i1 %672, label %673, label %679

673:
  %674 = getelementptr inbounds i8, ptr %17, i64 48
  %675 = load ptr, ptr %674, align 8
  call void %675(ptr %542)
  %676 = getelementptr inbounds i8, ptr %16, i64 32
  %677 = load i64, ptr %676, align 8
  %678 = getelementptr inbounds i8, ptr %666, i64 %677
  store ptr %542, ptr %678, align 8
  br label %679

679:
  %680 = phi ptr [ %141, %665 ], [ %141, %673 ], [ %141, %670 ], [ %141, %586 ], [ %528, %524 ], [ %141, %575 ], [ %141, %533 ], [ %141, %576 ], [ %120, %522 ], [ %141, %261 ], [ %120, %133 ], [ %141, %171 ], [ null, %40 ]
  %681 = phi ptr [ %142, %665 ], [ %142, %673 ], [ %142, %670 ], [ %142, %586 ], [ %527, %524 ], [ %142, %575 ], [ %142, %533 ], [ %142, %576 ], [ %121, %522 ], [ %142, %261 ], [ %121, %133 ], [ %142, %171 ], [ null, %40 ]
  %682 = phi ptr [ %270, %665 ], [ %270, %673 ], [ %270, %670 ], [ %270, %586 ], [ %526, %524 ], [ %270, %575 ], [ %270, %533 ], [ %270, %576 ], [ null, %522 ], [ null, %261 ], [ null, %133 ], [ null, %171 ], [ null, %40 ]
  %683 = phi ptr [ %143, %665 ], [ %143, %673 ], [ %143, %670 ], [ %143, %586 ], [ %525, %524 ], [ %143, %575 ], [ %143, %533 ], [ %143, %576 ], [ null, %522 ], [ %143, %261 ], [ null, %133 ], [ %143, %171 ], [ null, %40 ]
  %684 = phi i64 [ %534, %665 ], [ %534, %673 ], [ %534, %670 ], [ %534, %586 ], [ %27, %524 ], [ %534, %575 ], [ %534, %533 ], [ %534, %576 ], [ %27, %522 ], [ %27, %261 ], [ %27, %133 ], [ %27, %171 ], [ %27, %40 ]
  %685 = phi ptr [ %666, %665 ], [ %666, %673 ], [ %666, %670 ], [ null, %586 ], [ %530, %524 ], [ null, %575 ], [ null, %533 ], [ null, %576 ], [ null, %522 ], [ null, %261 ], [ null, %133 ], [ null, %171 ], [ null, %40 ]
  %686 = icmp sgt i64 %684, 0
  br i1 %686, label %687, label %696

687:
  %688 = getelementptr inbounds i8, ptr %17, i64 56
  br label %689

689:
  %690 = phi i64 [ %684, %687 ], [ %692, %689 ]
  %691 = load ptr, ptr %688, align 8
  %692 = add nsw i64 %690, -1
  %693 = getelementptr inbounds ptr, ptr %3, i64 %692
  %694 = load ptr, ptr %693, align 8
  call void %691(ptr %694)
  %695 = icmp samesign ugt i64 %690, 1
  br i1 %695, label %689, label %696

696:
  %697 = icmp eq ptr %680, null
  br i1 %697, label %701, label %698

698:
  %699 = getelementptr inbounds i8, ptr %17, i64 56
  %700 = load ptr, ptr %699, align 8
  call void %700(ptr %680)
  br label %701

701:
  %702 = icmp eq ptr %681, null
  br i1 %702, label %706, label %703

703:
  %704 = getelementptr inbounds i8, ptr %17, i64 56
  %705 = load ptr, ptr %704, align 8
  call void %705(ptr %681)
  br label %706

706:
  %707 = icmp eq ptr %683, null
  br i1 %707, label %711, label %708

708:
  %709 = getelementptr inbounds i8, ptr %17, i64 56
  %710 = load ptr, ptr %709, align 8
  call void %710(ptr %683)
  br label %711

711:
  %712 = icmp eq ptr %682, null
  br i1 %712, label %716, label %713

713:
  %714 = getelementptr inbounds i8, ptr %17, i64 56
  %715 = load ptr, ptr %714, align 8
  call void %715(ptr %682)
  br label %716

716:
  ret ptr %685
}
