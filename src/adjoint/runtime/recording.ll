; Made from recording.c by `make native`; its SHA-256 is ab752be9185462cfa7f93ab93400f8ce83e3a5066fe1abe3701ac216970e143b
define ptr @$filled() #0 {
  %1 = alloca ptr, align 8
  store volatile ptr inttoptr (i64 6547123219833032162 to ptr), ptr %1, align 8
  %2 = load volatile ptr, ptr %1, align 8
  ret ptr %2
}
define ptr @$match(ptr %0, ptr %1) #0 {
  %3 = alloca [5 x ptr], align 16
  %4 = getelementptr inbounds i8, ptr %0, i64 32
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds i8, ptr %0, i64 56
  %7 = load i64, ptr %6, align 8
  %8 = alloca ptr, i64 %7, align 16
  %9 = getelementptr inbounds i8, ptr %1, i64 16
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds i8, ptr %0, i64 64
  %12 = load i64, ptr %11, align 8
  %13 = icmp eq i64 %10, %12
  br i1 %13, label %20, label %14

14:
  %15 = getelementptr inbounds i8, ptr %5, i64 48
  %16 = load ptr, ptr %15, align 8
  %17 = getelementptr inbounds i8, ptr %5, i64 112
  %18 = load ptr, ptr %17, align 8
   call void %16(ptr %18)
  %19 = load ptr, ptr %17, align 8
  br label %464

20:
  %21 = getelementptr inbounds i8, ptr %1, i64 24
  %22 = load ptr, ptr %21, align 8
  %23 = icmp sgt i64 %10, 0
  br i1 %23, label %24, label %28

24:
  %25 = getelementptr inbounds i8, ptr %5, i64 48
  br label %227

26:
  %27 = load i64, ptr %6, align 8
  br label %28

28:
  %29 = phi i64 [ %7, %20 ], [ %27, %26 ]
  %30 = phi i64 [ 0, %20 ], [ %233, %26 ]
  %31 = icmp sgt i64 %29, 0
  br i1 %31, label %32, label %219

32:
  %33 = getelementptr inbounds i8, ptr %0, i64 48
  %34 = load ptr, ptr %33, align 8
  %35 = load ptr, ptr %4, align 8
  %36 = getelementptr inbounds i8, ptr %0, i64 40
  %37 = getelementptr inbounds i8, ptr %35, i64 200
  %38 = getelementptr inbounds i8, ptr %35, i64 112
  %39 = getelementptr inbounds i8, ptr %35, i64 160
  %40 = getelementptr inbounds i8, ptr %35, i64 184
  %41 = getelementptr inbounds i8, ptr %35, i64 192
  %42 = getelementptr inbounds i8, ptr %35, i64 176
  %43 = getelementptr inbounds i8, ptr %35, i64 152
  %44 = getelementptr inbounds i8, ptr %35, i64 128
  %45 = getelementptr inbounds i8, ptr %35, i64 32
  %46 = getelementptr inbounds i8, ptr %35, i64 40
  %47 = getelementptr inbounds i8, ptr %35, i64 168
  %48 = getelementptr inbounds i8, ptr %35, i64 48
  br label %49

49:
  %50 = phi i64 [ %30, %32 ], [ %214, %213 ]
  %51 = phi ptr [ %34, %32 ], [ %215, %213 ]
  %52 = phi i64 [ 0, %32 ], [ %216, %213 ]
  %53 = load ptr, ptr %36, align 8
  %54 = mul nuw nsw i64 %52, 88
  %55 = getelementptr inbounds i8, ptr %53, i64 %54
  %56 = getelementptr inbounds ptr, ptr %8, i64 %52
  %57 = load ptr, ptr %56, align 8
  %58 = load i64, ptr %37, align 8
  %59 = getelementptr inbounds i8, ptr %57, i64 %58
  %60 = load ptr, ptr %59, align 8
  %61 = icmp eq ptr %60, null
  br i1 %61, label %236, label %62

62:
  %63 = load ptr, ptr %38, align 8
  %64 = icmp eq ptr %60, %63
  %65 = getelementptr inbounds i8, ptr %55, i64 40
  %66 = load i64, ptr %65, align 8
  %67 = icmp ne i64 %66, 0
  %68 = xor i1 %64, %67
  br i1 %68, label %69, label %236

69:
  %70 = load ptr, ptr %55, align 8
  %71 = icmp eq ptr %70, null
  br i1 %71, label %77, label %72

72:
  %73 = load i64, ptr %39, align 8
  %74 = getelementptr inbounds i8, ptr %57, i64 %73
  %75 = load ptr, ptr %74, align 8
  %76 = icmp eq ptr %75, %70
  br i1 %76, label %77, label %236

77:
  %78 = getelementptr inbounds i8, ptr %55, i64 8
  %79 = load ptr, ptr %78, align 8
  %80 = icmp eq ptr %79, null
  br i1 %80, label %86, label %81

81:
  %82 = load i64, ptr %40, align 8
  %83 = getelementptr inbounds i8, ptr %57, i64 %82
  %84 = load ptr, ptr %83, align 8
  %85 = icmp eq ptr %84, %79
  br i1 %85, label %86, label %236

86:
  %87 = getelementptr inbounds i8, ptr %55, i64 16
  %88 = load ptr, ptr %87, align 8
  %89 = icmp eq ptr %88, null
  br i1 %89, label %95, label %90

90:
  %91 = load i64, ptr %41, align 8
  %92 = getelementptr inbounds i8, ptr %57, i64 %91
  %93 = load ptr, ptr %92, align 8
  %94 = icmp eq ptr %93, %88
  br i1 %94, label %95, label %236

95:
  %96 = load i64, ptr %42, align 8
  %97 = getelementptr inbounds i8, ptr %57, i64 %96
  %98 = load ptr, ptr %97, align 8
  %99 = getelementptr inbounds i8, ptr %55, i64 48
  %100 = load i64, ptr %99, align 8
  switch i64 %100, label %106 [
    i64 0, label %170
    i64 1, label %101
    i64 2, label %101
  ]

101:
  %102 = icmp eq ptr %98, %63
  %103 = icmp ne i64 %100, 1
  %104 = xor i1 %102, %103
  %105 = zext i1 %104 to i32
  br label %164

106:
  %107 = getelementptr inbounds i8, ptr %55, i64 32
  %108 = load ptr, ptr %107, align 8
  %109 = icmp eq ptr %108, null
  br i1 %109, label %117, label %110

110:
  %111 = icmp eq ptr %98, null
  br i1 %111, label %167, label %112

112:
  %113 = load i64, ptr %43, align 8
  %114 = getelementptr inbounds i8, ptr %98, i64 %113
  %115 = load ptr, ptr %114, align 8
  %116 = icmp eq ptr %115, %108
  br i1 %116, label %117, label %167

117:
  %118 = icmp eq i64 %100, 5
  br i1 %118, label %122, label %119

119:
  %120 = load ptr, ptr %44, align 8
  %121 = icmp eq ptr %108, %120
  br i1 %121, label %122, label %153

122:
  %123 = load ptr, ptr %46, align 8
  %124 = call double %123(ptr %98)
  %125 = load i64, ptr %99, align 8
  %126 = icmp eq i64 %125, 5
  br i1 %126, label %127, label %141

127:
  %128 = fcmp une double %124, 0.000000e+00
  br i1 %128, label %134, label %129

129:
  %130 = fdiv double 1.000000e+00, %124
  %131 = fcmp olt double %130, 0.000000e+00
  %132 = fcmp une double %124, 1.000000e+00
  %133 = and i1 %132, %131
  br i1 %133, label %138, label %167

134:
  %135 = fcmp une double %124, 1.000000e+00
  %136 = fcmp une double %124, -1.000000e+00
  %137 = and i1 %135, %136
  br i1 %137, label %138, label %167

138:
  %139 = fcmp une double %124, 2.000000e+00
  %140 = zext i1 %139 to i32
  br label %164

141:
  %142 = load ptr, ptr %46, align 8
  %143 = getelementptr inbounds i8, ptr %55, i64 24
  %144 = load ptr, ptr %143, align 8
  %145 = call double %142(ptr %144)
  %146 = fcmp oeq double %145, %124
  br i1 %146, label %147, label %167

147:
  %148 = fcmp une double %124, 0.000000e+00
  %149 = fdiv double 1.000000e+00, %124
  %150 = fcmp ogt double %149, 0.000000e+00
  %151 = or i1 %148, %150
  %152 = zext i1 %151 to i32
  br label %164

153:
  %154 = getelementptr inbounds i8, ptr %55, i64 24
  %155 = load ptr, ptr %154, align 8
  %156 = icmp eq ptr %98, %155
  br i1 %156, label %170, label %157

157:
  %158 = icmp eq ptr %98, null
  %159 = icmp eq ptr %98, %63
  %160 = or i1 %158, %159
  br i1 %160, label %167, label %161

161:
  %162 = load ptr, ptr %45, align 8
  %163 = call i32 %162(ptr %98, ptr %155, i32 2)
  br label %164

164:
  %165 = phi i32 [ %152, %147 ], [ %105, %101 ], [ %140, %138 ], [ %163, %161 ]
  %166 = icmp slt i32 %165, 1
  br i1 %166, label %167, label %170

167:
  %168 = phi i32 [ %165, %164 ], [ 0, %110 ], [ 0, %112 ], [ 0, %129 ], [ 0, %134 ], [ 0, %141 ], [ 0, %157 ]
  %169 = sext i32 %168 to i64
  br label %223

170:
  %171 = getelementptr inbounds i8, ptr %55, i64 56
  %172 = load i64, ptr %171, align 8
  %173 = icmp slt i64 %172, 0
  br i1 %173, label %213, label %174

174:
  %175 = load i64, ptr %47, align 8
  %176 = getelementptr inbounds i8, ptr %57, i64 %175
  %177 = load ptr, ptr %176, align 8
  %178 = icmp eq ptr %177, null
  br i1 %178, label %236, label %179

179:
  %180 = getelementptr inbounds i8, ptr %177, i64 16
  %181 = load i64, ptr %180, align 8
  %182 = icmp eq i64 %181, %172
  br i1 %182, label %183, label %236

183:
  %184 = icmp eq i64 %172, 0
  br i1 %184, label %213, label %185

185:
  %186 = phi i64 [ %208, %207 ], [ %50, %183 ]
  %187 = phi i64 [ %209, %207 ], [ %172, %183 ]
  %188 = phi i64 [ %210, %207 ], [ %50, %183 ]
  %189 = phi ptr [ %195, %207 ], [ %51, %183 ]
  %190 = phi i64 [ %211, %207 ], [ 0, %183 ]
  %191 = shl nsw i64 %190, 3
  %192 = getelementptr inbounds i8, ptr %177, i64 %191
  %193 = getelementptr inbounds i8, ptr %192, i64 24
  %194 = load ptr, ptr %193, align 8
  %195 = getelementptr inbounds i8, ptr %189, i64 8
  %196 = load i64, ptr %189, align 8
  %197 = icmp slt i64 %196, %188
  br i1 %197, label %198, label %202

198:
  %199 = getelementptr inbounds ptr, ptr %8, i64 %196
  %200 = load ptr, ptr %199, align 8
  %201 = icmp eq ptr %200, %194
  br i1 %201, label %207, label %236

202:
  %203 = load ptr, ptr %48, align 8
   call void %203(ptr %194)
  %204 = add nsw i64 %186, 1
  %205 = getelementptr inbounds ptr, ptr %8, i64 %186
  store ptr %194, ptr %205, align 8
  %206 = load i64, ptr %171, align 8
  br label %207

207:
  %208 = phi i64 [ %186, %198 ], [ %204, %202 ]
  %209 = phi i64 [ %187, %198 ], [ %206, %202 ]
  %210 = phi i64 [ %188, %198 ], [ %204, %202 ]
  %211 = add nuw nsw i64 %190, 1
  %212 = icmp slt i64 %211, %209
  br i1 %212, label %185, label %213

213:
  %214 = phi i64 [ %50, %170 ], [ %50, %183 ], [ %208, %207 ]
  %215 = phi ptr [ %51, %170 ], [ %51, %183 ], [ %195, %207 ]
  %216 = add nuw nsw i64 %52, 1
  %217 = load i64, ptr %6, align 8
  %218 = icmp slt i64 %216, %217
  br i1 %218, label %49, label %219

219:
  %220 = phi i64 [ %30, %28 ], [ %214, %213 ]
  %221 = call fastcc i32 @$are_different(ptr %8, ptr %4)
  %222 = zext nneg i32 %221 to i64
  br label %223

223:
  %224 = phi i64 [ %220, %219 ], [ %50, %167 ]
  %225 = phi i64 [ %222, %219 ], [ %169, %167 ]
  %226 = icmp eq i64 %225, 0
  br i1 %226, label %236, label %243

227:
  %228 = phi i64 [ 0, %24 ], [ %233, %227 ]
  %229 = getelementptr inbounds ptr, ptr %22, i64 %228
  %230 = load ptr, ptr %229, align 8
  %231 = getelementptr inbounds ptr, ptr %8, i64 %228
  store ptr %230, ptr %231, align 8
  %232 = load ptr, ptr %25, align 8
   call void %232(ptr %230)
  %233 = add nuw nsw i64 %228, 1
  %234 = load i64, ptr %11, align 8
  %235 = icmp slt i64 %233, %234
  br i1 %235, label %227, label %26

236:
  %237 = phi i64 [ %224, %223 ], [ %186, %198 ], [ %50, %90 ], [ %50, %49 ], [ %50, %72 ], [ %50, %62 ], [ %50, %81 ], [ %50, %174 ], [ %50, %179 ]
  %238 = getelementptr inbounds i8, ptr %5, i64 48
  %239 = load ptr, ptr %238, align 8
  %240 = getelementptr inbounds i8, ptr %5, i64 112
  %241 = load ptr, ptr %240, align 8
   call void %239(ptr %241)
  %242 = load ptr, ptr %240, align 8
  br label %451

243:
  %244 = icmp sgt i64 %225, 0
  br i1 %244, label %245, label %451

245:
  %246 = getelementptr inbounds i8, ptr %5, i64 16
  %247 = load ptr, ptr %246, align 8
  %248 = call ptr %247(i64 5)
  %249 = icmp eq ptr %248, null
  br i1 %249, label %451, label %250

250:
  %251 = load i64, ptr %6, align 8
  %252 = load ptr, ptr %4, align 8
  %253 = load ptr, ptr %252, align 8
  %254 = call ptr %253(i64 %251)
  %255 = icmp ne ptr %254, null
  %256 = icmp sgt i64 %251, 0
  %257 = and i1 %256, %255
  br i1 %257, label %258, label %270

258:
  %259 = getelementptr inbounds i8, ptr %252, i64 48
  %260 = getelementptr inbounds i8, ptr %252, i64 8
  br label %261

261:
  %262 = phi i64 [ 0, %258 ], [ %267, %261 ]
  %263 = load ptr, ptr %259, align 8
  %264 = getelementptr inbounds ptr, ptr %8, i64 %262
  %265 = load ptr, ptr %264, align 8
   call void %263(ptr %265)
  %266 = load ptr, ptr %260, align 8
  %267 = add nuw nsw i64 %262, 1
  %268 = call i32 %266(ptr %254, i64 %262, ptr %265)
  %269 = icmp eq i64 %267, %251
  br i1 %269, label %270, label %261

270:
  store ptr %254, ptr %3, align 16
  %271 = getelementptr inbounds i8, ptr %3, i64 8
  %272 = getelementptr inbounds i8, ptr %0, i64 72
  %273 = load i64, ptr %272, align 8
  %274 = load ptr, ptr %4, align 8
  %275 = load ptr, ptr %274, align 8
  %276 = call ptr %275(i64 %273)
  %277 = icmp ne ptr %276, null
  %278 = icmp sgt i64 %273, 0
  %279 = and i1 %278, %277
  br i1 %279, label %280, label %304

280:
  %281 = getelementptr inbounds i8, ptr %0, i64 40
  %282 = getelementptr inbounds i8, ptr %274, i64 48
  %283 = getelementptr inbounds i8, ptr %274, i64 8
  br label %284

284:
  %285 = phi i64 [ 0, %280 ], [ %301, %300 ]
  %286 = phi i64 [ 0, %280 ], [ %302, %300 ]
  %287 = load ptr, ptr %281, align 8
  %288 = mul nuw nsw i64 %286, 88
  %289 = getelementptr inbounds i8, ptr %287, i64 %288
  %290 = getelementptr inbounds i8, ptr %289, i64 64
  %291 = load i64, ptr %290, align 8
  %292 = icmp eq i64 %291, 0
  br i1 %292, label %300, label %293

293:
  %294 = load ptr, ptr %282, align 8
  %295 = getelementptr inbounds ptr, ptr %8, i64 %286
  %296 = load ptr, ptr %295, align 8
   call void %294(ptr %296)
  %297 = load ptr, ptr %283, align 8
  %298 = add nsw i64 %285, 1
  %299 = call i32 %297(ptr %276, i64 %285, ptr %296)
  br label %300

300:
  %301 = phi i64 [ %298, %293 ], [ %285, %284 ]
  %302 = add nuw nsw i64 %286, 1
  %303 = icmp slt i64 %301, %273
  br i1 %303, label %284, label %304

304:
  store ptr %276, ptr %271, align 8
  %305 = getelementptr inbounds i8, ptr %3, i64 16
  %306 = getelementptr inbounds i8, ptr %0, i64 80
  %307 = load i64, ptr %306, align 8
  %308 = load ptr, ptr %4, align 8
  %309 = load ptr, ptr %308, align 8
  %310 = call ptr %309(i64 %307)
  %311 = icmp eq ptr %310, null
  %312 = icmp slt i64 %307, 1
  %313 = or i1 %312, %311
  br i1 %313, label %356, label %314

314:
  %315 = getelementptr inbounds i8, ptr %0, i64 40
  %316 = getelementptr inbounds i8, ptr %308, i64 176
  %317 = getelementptr inbounds i8, ptr %308, i64 16
  %318 = getelementptr inbounds i8, ptr %308, i64 48
  %319 = getelementptr inbounds i8, ptr %308, i64 24
  %320 = getelementptr inbounds i8, ptr %308, i64 8
  br label %321

321:
  %322 = phi i64 [ 0, %314 ], [ %353, %352 ]
  %323 = phi i64 [ 0, %314 ], [ %354, %352 ]
  %324 = load ptr, ptr %315, align 8
  %325 = mul nuw nsw i64 %323, 88
  %326 = getelementptr inbounds i8, ptr %324, i64 %325
  %327 = getelementptr inbounds i8, ptr %326, i64 48
  %328 = load i64, ptr %327, align 8
  %329 = icmp eq i64 %328, 5
  br i1 %329, label %330, label %352

330:
  %331 = getelementptr inbounds ptr, ptr %8, i64 %323
  %332 = load ptr, ptr %331, align 8
  %333 = load i64, ptr %316, align 8
  %334 = getelementptr inbounds i8, ptr %332, i64 %333
  %335 = load ptr, ptr %334, align 8
  %336 = load ptr, ptr %317, align 8
  %337 = call ptr %336(i64 2)
  %338 = icmp eq ptr %337, null
  br i1 %338, label %339, label %342

339:
  %340 = getelementptr inbounds i8, ptr %308, i64 56
  %341 = load ptr, ptr %340, align 8
   call void %341(ptr %310)
  br label %356

342:
  %343 = load ptr, ptr %318, align 8
   call void %343(ptr %332)
  %344 = load ptr, ptr %319, align 8
  %345 = call i32 %344(ptr %337, i64 1, ptr %332)
  %346 = load ptr, ptr %318, align 8
   call void %346(ptr %335)
  %347 = load ptr, ptr %319, align 8
  %348 = call i32 %347(ptr %337, i64 0, ptr %335)
  %349 = load ptr, ptr %320, align 8
  %350 = add nsw i64 %322, 1
  %351 = call i32 %349(ptr %310, i64 %322, ptr %337)
  br label %352

352:
  %353 = phi i64 [ %322, %321 ], [ %350, %342 ]
  %354 = add nuw nsw i64 %323, 1
  %355 = icmp slt i64 %353, %307
  br i1 %355, label %321, label %356

356:
  %357 = phi ptr [ null, %339 ], [ %310, %304 ], [ %310, %352 ]
  store ptr %357, ptr %305, align 16
  %358 = getelementptr inbounds i8, ptr %3, i64 24
  %359 = getelementptr inbounds i8, ptr %0, i64 88
  %360 = load i64, ptr %359, align 8
  %361 = load ptr, ptr %4, align 8
  %362 = load ptr, ptr %361, align 8
  %363 = call ptr %362(i64 %360)
  %364 = icmp ne ptr %363, null
  %365 = icmp sgt i64 %360, 0
  %366 = and i1 %365, %364
  br i1 %366, label %367, label %391

367:
  %368 = getelementptr inbounds i8, ptr %0, i64 40
  %369 = getelementptr inbounds i8, ptr %361, i64 48
  %370 = getelementptr inbounds i8, ptr %361, i64 8
  br label %371

371:
  %372 = phi i64 [ 0, %367 ], [ %388, %387 ]
  %373 = phi i64 [ 0, %367 ], [ %389, %387 ]
  %374 = load ptr, ptr %368, align 8
  %375 = mul nuw nsw i64 %373, 88
  %376 = getelementptr inbounds i8, ptr %374, i64 %375
  %377 = getelementptr inbounds i8, ptr %376, i64 72
  %378 = load i64, ptr %377, align 8
  %379 = icmp eq i64 %378, 0
  br i1 %379, label %387, label %380

380:
  %381 = load ptr, ptr %369, align 8
  %382 = getelementptr inbounds ptr, ptr %8, i64 %373
  %383 = load ptr, ptr %382, align 8
   call void %381(ptr %383)
  %384 = load ptr, ptr %370, align 8
  %385 = add nsw i64 %372, 1
  %386 = call i32 %384(ptr %363, i64 %372, ptr %383)
  br label %387

387:
  %388 = phi i64 [ %385, %380 ], [ %372, %371 ]
  %389 = add nuw nsw i64 %373, 1
  %390 = icmp slt i64 %388, %360
  br i1 %390, label %371, label %391

391:
  store ptr %363, ptr %358, align 8
  %392 = getelementptr inbounds i8, ptr %3, i64 32
  %393 = getelementptr inbounds i8, ptr %0, i64 96
  %394 = load i64, ptr %393, align 8
  %395 = load ptr, ptr %4, align 8
  %396 = load ptr, ptr %395, align 8
  %397 = call ptr %396(i64 %394)
  %398 = icmp eq ptr %397, null
  %399 = icmp slt i64 %394, 1
  %400 = or i1 %399, %398
  br i1 %400, label %429, label %401

401:
  %402 = getelementptr inbounds i8, ptr %0, i64 40
  %403 = getelementptr inbounds i8, ptr %395, i64 176
  %404 = getelementptr inbounds i8, ptr %395, i64 48
  %405 = getelementptr inbounds i8, ptr %395, i64 8
  br label %406

406:
  %407 = phi i64 [ 0, %401 ], [ %426, %425 ]
  %408 = phi i64 [ 0, %401 ], [ %427, %425 ]
  %409 = load ptr, ptr %402, align 8
  %410 = mul nuw nsw i64 %408, 88
  %411 = getelementptr inbounds i8, ptr %409, i64 %410
  %412 = getelementptr inbounds i8, ptr %411, i64 80
  %413 = load i64, ptr %412, align 8
  %414 = icmp eq i64 %413, 0
  br i1 %414, label %425, label %415

415:
  %416 = getelementptr inbounds ptr, ptr %8, i64 %408
  %417 = load ptr, ptr %416, align 8
  %418 = load i64, ptr %403, align 8
  %419 = getelementptr inbounds i8, ptr %417, i64 %418
  %420 = load ptr, ptr %419, align 8
  %421 = load ptr, ptr %404, align 8
   call void %421(ptr %420)
  %422 = load ptr, ptr %405, align 8
  %423 = add nsw i64 %407, 1
  %424 = call i32 %422(ptr %397, i64 %407, ptr %420)
  br label %425

425:
  %426 = phi i64 [ %407, %406 ], [ %423, %415 ]
  %427 = add nuw nsw i64 %408, 1
  %428 = icmp slt i64 %426, %394
  br i1 %428, label %406, label %429

429:
  store ptr %397, ptr %392, align 16
  %430 = getelementptr inbounds i8, ptr %5, i64 24
  br label %432

431:
  br i1 %438, label %446, label %449

432:
  %433 = phi i64 [ 0, %429 ], [ %444, %443 ]
  %434 = phi i1 [ false, %429 ], [ %438, %443 ]
  %435 = getelementptr inbounds ptr, ptr %3, i64 %433
  %436 = load ptr, ptr %435, align 8
  %437 = icmp eq ptr %436, null
  %438 = or i1 %434, %437
  %439 = icmp eq ptr %436, null
  br i1 %439, label %443, label %440

440:
  %441 = load ptr, ptr %430, align 8
  %442 = call i32 %441(ptr %248, i64 %433, ptr %436)
  br label %443

443:
  %444 = add nuw nsw i64 %433, 1
  %445 = icmp eq i64 %444, 5
  br i1 %445, label %431, label %432

446:
  %447 = getelementptr inbounds i8, ptr %5, i64 56
  %448 = load ptr, ptr %447, align 8
   call void %448(ptr %248)
  br label %449

449:
  %450 = phi ptr [ %248, %431 ], [ null, %446 ]
  br label %451

451:
  %452 = phi i64 [ %224, %449 ], [ %224, %245 ], [ %224, %243 ], [ %237, %236 ]
  %453 = phi ptr [ %450, %449 ], [ null, %245 ], [ null, %243 ], [ %242, %236 ]
  %454 = icmp sgt i64 %452, 0
  br i1 %454, label %455, label %464

455:
  %456 = getelementptr inbounds i8, ptr %5, i64 56
  br label %457

457:
  %458 = phi i64 [ %452, %455 ], [ %460, %457 ]
  %459 = load ptr, ptr %456, align 8
  %460 = add nsw i64 %458, -1
  %461 = getelementptr inbounds ptr, ptr %8, i64 %460
  %462 = load ptr, ptr %461, align 8
   call void %459(ptr %462)
  %463 = icmp samesign ugt i64 %458, 1
  br i1 %463, label %457, label %464

464:
  %465 = phi ptr [ %19, %14 ], [ %453, %451 ], [ %453, %457 ]
  ret ptr %465
}
define ptr @$below(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %0, i64 32
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %4, align 8
  %6 = call ptr %5(i64 0)
  %7 = load ptr, ptr %4, align 8
  %8 = call ptr %7(i64 0)
  %9 = getelementptr inbounds i8, ptr %4, i64 72
  %10 = load ptr, ptr %9, align 8
  %11 = call ptr %10(ptr null)
  %12 = icmp ne ptr %6, null
  %13 = icmp ne ptr %8, null
  %14 = select i1 %12, i1 %13, i1 false
  %15 = icmp ne ptr %11, null
  %16 = select i1 %14, i1 %15, i1 false
  br i1 %16, label %17, label %44

17:
  %18 = getelementptr inbounds i8, ptr %4, i64 88
  %19 = load ptr, ptr %18, align 8
  %20 = call i32 %19(ptr %11, ptr %1)
  %21 = icmp slt i32 %20, 0
  br i1 %21, label %121, label %22

22:
  %23 = getelementptr inbounds i8, ptr %4, i64 96
  %24 = load ptr, ptr %23, align 8
  %25 = call i32 %24(ptr %8, ptr %1)
  %26 = icmp slt i32 %25, 0
  br i1 %26, label %121, label %27

27:
  %28 = getelementptr inbounds i8, ptr %8, i64 16
  %29 = getelementptr inbounds i8, ptr %8, i64 24
  %30 = getelementptr inbounds i8, ptr %4, i64 160
  %31 = getelementptr inbounds i8, ptr %4, i64 168
  %32 = getelementptr inbounds i8, ptr %0, i64 48
  %33 = getelementptr inbounds i8, ptr %0, i64 56
  %34 = getelementptr inbounds i8, ptr %4, i64 96
  %35 = getelementptr inbounds i8, ptr %0, i64 40
  %36 = getelementptr inbounds i8, ptr %4, i64 192
  %37 = getelementptr inbounds i8, ptr %4, i64 120
  %38 = getelementptr inbounds i8, ptr %4, i64 80
  %39 = getelementptr inbounds i8, ptr %4, i64 88
  br label %40

40:
  %41 = phi i64 [ 0, %27 ], [ %88, %86 ]
  %42 = load i64, ptr %28, align 8
  %43 = icmp slt i64 %41, %42
  br i1 %43, label %45, label %121

44:
  br i1 %13, label %121, label %125

45:
  %46 = load ptr, ptr %29, align 8
  %47 = getelementptr inbounds ptr, ptr %46, i64 %41
  %48 = load ptr, ptr %47, align 8
  %49 = load i64, ptr %30, align 8
  %50 = getelementptr inbounds i8, ptr %48, i64 %49
  %51 = load ptr, ptr %50, align 8
  %52 = load i64, ptr %31, align 8
  %53 = getelementptr inbounds i8, ptr %48, i64 %52
  %54 = load ptr, ptr %53, align 8
  %55 = load i64, ptr %32, align 8
  %56 = icmp sgt i64 %55, 0
  br i1 %56, label %64, label %57

57:
  %58 = phi i32 [ 0, %45 ], [ %77, %75 ]
  %59 = getelementptr inbounds i8, ptr %54, i64 16
  %60 = load ptr, ptr %35, align 8
  %61 = icmp eq ptr %51, %60
  %62 = icmp ne i32 %58, 0
  %63 = select i1 %61, i1 true, i1 %62
  br i1 %63, label %86, label %82

64:
  %65 = phi i64 [ %76, %75 ], [ %55, %45 ]
  %66 = phi i64 [ %78, %75 ], [ 0, %45 ]
  %67 = getelementptr inbounds ptr, ptr %33, i64 %66
  %68 = load ptr, ptr %67, align 8
  %69 = icmp eq ptr %68, %51
  br i1 %69, label %70, label %75

70:
  %71 = load ptr, ptr %34, align 8
  %72 = call i32 %71(ptr %6, ptr %48)
  %73 = lshr i32 %72, 31
  %74 = load i64, ptr %32, align 8
  br label %75

75:
  %76 = phi i64 [ %74, %70 ], [ %65, %64 ]
  %77 = phi i32 [ %73, %70 ], [ 0, %64 ]
  %78 = add nuw nsw i64 %66, 1
  %79 = icmp slt i64 %78, %76
  %80 = icmp eq i32 %77, 0
  %81 = select i1 %79, i1 %80, i1 false
  br i1 %81, label %64, label %57

82:
  %83 = phi i64 [ %116, %114 ], [ 0, %57 ]
  %84 = load i64, ptr %59, align 8
  %85 = icmp slt i64 %83, %84
  br i1 %85, label %90, label %86

86:
  %87 = phi i32 [ %58, %57 ], [ %115, %114 ], [ 0, %82 ]
  %88 = add nuw nsw i64 %41, 1
  %89 = icmp eq i32 %87, 0
  br i1 %89, label %40, label %44

90:
  %91 = shl nsw i64 %83, 3
  %92 = getelementptr inbounds i8, ptr %54, i64 %91
  %93 = getelementptr inbounds i8, ptr %92, i64 24
  %94 = load ptr, ptr %93, align 8
  %95 = load i64, ptr %36, align 8
  %96 = getelementptr inbounds i8, ptr %94, i64 %95
  %97 = load ptr, ptr %96, align 8
  %98 = load ptr, ptr %37, align 8
  %99 = icmp eq ptr %97, %98
  br i1 %99, label %100, label %114

100:
  %101 = load ptr, ptr %38, align 8
  %102 = call i32 %101(ptr %11, ptr %94)
  %103 = icmp slt i32 %102, 0
  br i1 %103, label %44, label %104

104:
  %105 = icmp eq i32 %102, 0
  br i1 %105, label %106, label %114

106:
  %107 = load ptr, ptr %39, align 8
  %108 = call i32 %107(ptr %11, ptr %94)
  %109 = icmp slt i32 %108, 0
  br i1 %109, label %44, label %110

110:
  %111 = load ptr, ptr %34, align 8
  %112 = call i32 %111(ptr %8, ptr %94)
  %113 = lshr i32 %112, 31
  br label %114

114:
  %115 = phi i32 [ 0, %90 ], [ %113, %110 ], [ 0, %104 ]
  %116 = add nuw nsw i64 %83, 1
  %117 = load ptr, ptr %35, align 8
  %118 = icmp eq ptr %51, %117
  %119 = icmp ne i32 %115, 0
  %120 = select i1 %118, i1 true, i1 %119
  br i1 %120, label %86, label %82

121:
  %122 = phi i1 [ true, %44 ], [ true, %17 ], [ true, %22 ], [ false, %40 ]
  %123 = getelementptr inbounds i8, ptr %4, i64 56
  %124 = load ptr, ptr %123, align 8
   call void %124(ptr %8)
  br label %125

125:
  %126 = phi i1 [ %122, %121 ], [ true, %44 ]
  br i1 %15, label %127, label %130

127:
  %128 = getelementptr inbounds i8, ptr %4, i64 56
  %129 = load ptr, ptr %128, align 8
   call void %129(ptr %11)
  br label %130

130:
  %131 = and i1 %12, %126
  br i1 %131, label %132, label %135

132:
  %133 = getelementptr inbounds i8, ptr %4, i64 56
  %134 = load ptr, ptr %133, align 8
   call void %134(ptr %6)
  br label %135

135:
  %136 = select i1 %126, ptr null, ptr %6
  ret ptr %136
}
define ptr @$make(ptr %0, ptr %1, i64 %2, ptr %3) #0 {
  %5 = alloca ptr, align 8
  store volatile ptr inttoptr (i64 6547123219833032162 to ptr), ptr %5, align 8
  %6 = load volatile ptr, ptr %5, align 8
  %7 = and i64 %2, 9223372036854775807
  %8 = icmp ne ptr %3, null
  %9 = add nsw i64 %7, -9
  %10 = icmp ult i64 %9, -2
  %11 = select i1 %8, i1 true, i1 %10
  br i1 %11, label %12, label %18

12:
  %13 = getelementptr inbounds i8, ptr %6, i64 104
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %6, i64 144
  %16 = load ptr, ptr %15, align 8
  %17 = call ptr %14(ptr %16, ptr %1, i64 %2, ptr %3)
  br label %83

18:
  %19 = getelementptr inbounds i8, ptr %6, i64 64
  %20 = load ptr, ptr %19, align 8
  %21 = call ptr %20(ptr %0, i64 0)
  %22 = icmp eq ptr %21, null
  br i1 %22, label %83, label %23

23:
  %24 = icmp eq i64 %7, 8
  %25 = getelementptr inbounds i8, ptr %1, i64 56
  %26 = getelementptr inbounds i8, ptr %6, i64 112
  %27 = select i1 %24, ptr %25, ptr %26
  %28 = load ptr, ptr %27, align 8
  %29 = getelementptr inbounds i8, ptr %6, i64 48
  br label %76

30:
  %31 = load ptr, ptr %29, align 8
   call void %31(ptr %28)
  %32 = load ptr, ptr %29, align 8
  %33 = getelementptr inbounds i8, ptr %6, i64 136
  %34 = load ptr, ptr %33, align 8
   call void %32(ptr %34)
  %35 = getelementptr inbounds i8, ptr %6, i64 160
  %36 = load i64, ptr %35, align 8
  %37 = load ptr, ptr %1, align 8
  %38 = getelementptr inbounds i8, ptr %21, i64 %36
  store ptr %37, ptr %38, align 8
  %39 = getelementptr inbounds i8, ptr %6, i64 168
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %1, i64 8
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %21, i64 %40
  store ptr %42, ptr %43, align 8
  %44 = getelementptr inbounds i8, ptr %6, i64 176
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %1, i64 16
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %21, i64 %45
  store ptr %47, ptr %48, align 8
  %49 = getelementptr inbounds i8, ptr %6, i64 184
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %1, i64 24
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %21, i64 %50
  store ptr %52, ptr %53, align 8
  %54 = getelementptr inbounds i8, ptr %6, i64 208
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr inbounds i8, ptr %1, i64 32
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds i8, ptr %21, i64 %55
  store ptr %57, ptr %58, align 8
  %59 = getelementptr inbounds i8, ptr %6, i64 216
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr inbounds i8, ptr %1, i64 40
  %62 = load ptr, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %21, i64 %60
  store ptr %62, ptr %63, align 8
  %64 = getelementptr inbounds i8, ptr %6, i64 192
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %1, i64 48
  %67 = load ptr, ptr %66, align 8
  %68 = getelementptr inbounds i8, ptr %21, i64 %65
  store ptr %67, ptr %68, align 8
  %69 = getelementptr inbounds i8, ptr %6, i64 200
  %70 = load i64, ptr %69, align 8
  %71 = getelementptr inbounds i8, ptr %21, i64 %70
  store ptr %28, ptr %71, align 8
  %72 = getelementptr inbounds i8, ptr %6, i64 224
  %73 = load i64, ptr %72, align 8
  %74 = load ptr, ptr %33, align 8
  %75 = getelementptr inbounds i8, ptr %21, i64 %73
  store ptr %74, ptr %75, align 8
  br label %83

76:
  %77 = phi i64 [ 0, %23 ], [ %81, %76 ]
  %78 = load ptr, ptr %29, align 8
  %79 = getelementptr inbounds ptr, ptr %1, i64 %77
  %80 = load ptr, ptr %79, align 8
   call void %78(ptr %80)
  %81 = add nuw nsw i64 %77, 1
  %82 = icmp eq i64 %81, 7
  br i1 %82, label %30, label %76

83:
  %84 = phi ptr [ %17, %12 ], [ %21, %30 ], [ null, %18 ]
  ret ptr %84
}
define internal fastcc i32 @$are_different(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %1, i64 72
  %4 = load i64, ptr %3, align 8
  %5 = alloca ptr, i64 %4, align 16
  %6 = icmp sgt i64 %4, 0
  br i1 %6, label %13, label %7

7:
  %8 = getelementptr inbounds i8, ptr %1, i64 24
  %9 = load i64, ptr %8, align 8
  %10 = icmp slt i64 %9, 1
  br i1 %10, label %45, label %11

11:
  %12 = add nsw i64 %4, -1
  br label %18

13:
  %14 = phi i64 [ %16, %13 ], [ 0, %2 ]
  %15 = getelementptr inbounds ptr, ptr %5, i64 %14
  store ptr null, ptr %15, align 8
  %16 = add nuw nsw i64 %14, 1
  %17 = icmp eq i64 %16, %4
  br i1 %17, label %7, label %13

18:
  %19 = phi i64 [ 0, %11 ], [ %43, %40 ]
  %20 = getelementptr inbounds ptr, ptr %0, i64 %19
  %21 = load ptr, ptr %20, align 8
  %22 = ptrtoint ptr %21 to i64
  %23 = lshr i64 %22, 4
  %24 = mul i64 %23, -7046029254386353131
  %25 = lshr i64 %24, 32
  %26 = and i64 %25, %12
  %27 = getelementptr inbounds ptr, ptr %5, i64 %26
  %28 = load ptr, ptr %27, align 8
  %29 = icmp eq ptr %28, null
  br i1 %29, label %40, label %30

30:
  %31 = phi ptr [ %38, %34 ], [ %28, %18 ]
  %32 = phi i64 [ %36, %34 ], [ %26, %18 ]
  %33 = icmp eq ptr %31, %21
  br i1 %33, label %45, label %34

34:
  %35 = add nsw i64 %32, 1
  %36 = and i64 %35, %12
  %37 = getelementptr inbounds ptr, ptr %5, i64 %36
  %38 = load ptr, ptr %37, align 8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %40, label %30

40:
  %41 = phi i64 [ %26, %18 ], [ %36, %34 ]
  %42 = getelementptr inbounds ptr, ptr %5, i64 %41
  store ptr %21, ptr %42, align 8
  %43 = add nuw nsw i64 %19, 1
  %44 = icmp eq i64 %43, %9
  br i1 %44, label %45, label %18

45:
  %46 = phi i32 [ 0, %30 ], [ 1, %7 ], [ 1, %40 ]
  ret i32 %46
}
