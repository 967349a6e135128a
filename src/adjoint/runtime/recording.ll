; Made from recording.c by `make native`; its SHA-256 is 539d4e4701e83bd6f0b37c7de8d89ae927f25579adc327d1f2b3d5a526c29477
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
  %6 = getelementptr inbounds i8, ptr %1, i64 16
  %7 = load i64, ptr %6, align 8
  %8 = getelementptr inbounds i8, ptr %0, i64 64
  %9 = load i64, ptr %8, align 8
  %10 = icmp eq i64 %7, %9
  br i1 %10, label %17, label %11

11:
  %12 = getelementptr inbounds i8, ptr %5, i64 48
  %13 = load ptr, ptr %12, align 8
  %14 = getelementptr inbounds i8, ptr %5, i64 208
  %15 = load ptr, ptr %14, align 8
   call void %13(ptr %15)
  %16 = load ptr, ptr %14, align 8
  br label %514

17:
  %18 = getelementptr inbounds i8, ptr %5, i64 64
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %0, i64 56
  %21 = load i64, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %0, i64 104
  %23 = load i64, ptr %22, align 8
  %24 = add nsw i64 %23, %21
  %25 = shl i64 %24, 3
  %26 = call ptr %19(i64 %25)
  %27 = icmp eq ptr %26, null
  br i1 %27, label %28, label %32

28:
  %29 = getelementptr inbounds i8, ptr %5, i64 80
  %30 = load ptr, ptr %29, align 8
  %31 = call ptr %30()
  br label %514

32:
  %33 = getelementptr inbounds i8, ptr %1, i64 24
  %34 = load ptr, ptr %33, align 8
  %35 = load i64, ptr %8, align 8
  %36 = icmp sgt i64 %35, 0
  br i1 %36, label %37, label %39

37:
  %38 = getelementptr inbounds i8, ptr %5, i64 48
  br label %271

39:
  %40 = phi i64 [ 0, %32 ], [ %277, %271 ]
  %41 = load i64, ptr %20, align 8
  %42 = icmp sgt i64 %41, 0
  br i1 %42, label %43, label %227

43:
  %44 = getelementptr inbounds i8, ptr %0, i64 48
  %45 = load ptr, ptr %44, align 8
  %46 = load ptr, ptr %4, align 8
  %47 = getelementptr inbounds i8, ptr %0, i64 40
  %48 = getelementptr inbounds i8, ptr %46, i64 312
  %49 = getelementptr inbounds i8, ptr %46, i64 208
  %50 = getelementptr inbounds i8, ptr %46, i64 272
  %51 = getelementptr inbounds i8, ptr %46, i64 296
  %52 = getelementptr inbounds i8, ptr %46, i64 304
  %53 = getelementptr inbounds i8, ptr %46, i64 288
  %54 = getelementptr inbounds i8, ptr %46, i64 264
  %55 = getelementptr inbounds i8, ptr %46, i64 232
  %56 = getelementptr inbounds i8, ptr %46, i64 32
  %57 = getelementptr inbounds i8, ptr %46, i64 40
  %58 = getelementptr inbounds i8, ptr %46, i64 280
  %59 = getelementptr inbounds i8, ptr %46, i64 48
  br label %60

60:
  %61 = phi i64 [ %40, %43 ], [ %222, %221 ]
  %62 = phi ptr [ %45, %43 ], [ %223, %221 ]
  %63 = phi i64 [ 0, %43 ], [ %224, %221 ]
  %64 = load ptr, ptr %47, align 8
  %65 = mul nuw nsw i64 %63, 88
  %66 = getelementptr inbounds i8, ptr %64, i64 %65
  %67 = getelementptr inbounds ptr, ptr %26, i64 %63
  %68 = load ptr, ptr %67, align 8
  %69 = load i64, ptr %48, align 8
  %70 = getelementptr inbounds i8, ptr %68, i64 %69
  %71 = load ptr, ptr %70, align 8
  %72 = icmp eq ptr %71, null
  br i1 %72, label %280, label %73

73:
  %74 = load ptr, ptr %49, align 8
  %75 = icmp eq ptr %71, %74
  %76 = getelementptr inbounds i8, ptr %66, i64 40
  %77 = load i64, ptr %76, align 8
  %78 = icmp ne i64 %77, 0
  %79 = xor i1 %75, %78
  br i1 %79, label %80, label %280

80:
  %81 = load ptr, ptr %66, align 8
  %82 = icmp eq ptr %81, null
  br i1 %82, label %88, label %83

83:
  %84 = load i64, ptr %50, align 8
  %85 = getelementptr inbounds i8, ptr %68, i64 %84
  %86 = load ptr, ptr %85, align 8
  %87 = icmp eq ptr %86, %81
  br i1 %87, label %88, label %280

88:
  %89 = getelementptr inbounds i8, ptr %66, i64 8
  %90 = load ptr, ptr %89, align 8
  %91 = icmp eq ptr %90, null
  br i1 %91, label %97, label %92

92:
  %93 = load i64, ptr %51, align 8
  %94 = getelementptr inbounds i8, ptr %68, i64 %93
  %95 = load ptr, ptr %94, align 8
  %96 = icmp eq ptr %95, %90
  br i1 %96, label %97, label %280

97:
  %98 = getelementptr inbounds i8, ptr %66, i64 16
  %99 = load ptr, ptr %98, align 8
  %100 = icmp eq ptr %99, null
  br i1 %100, label %106, label %101

101:
  %102 = load i64, ptr %52, align 8
  %103 = getelementptr inbounds i8, ptr %68, i64 %102
  %104 = load ptr, ptr %103, align 8
  %105 = icmp eq ptr %104, %99
  br i1 %105, label %106, label %280

106:
  %107 = load i64, ptr %53, align 8
  %108 = getelementptr inbounds i8, ptr %68, i64 %107
  %109 = load ptr, ptr %108, align 8
  %110 = getelementptr inbounds i8, ptr %66, i64 48
  %111 = load i64, ptr %110, align 8
  switch i64 %111, label %117 [
    i64 0, label %178
    i64 1, label %112
    i64 2, label %112
  ]

112:
  %113 = icmp eq ptr %109, %74
  %114 = icmp ne i64 %111, 1
  %115 = xor i1 %113, %114
  %116 = zext i1 %115 to i32
  br label %175

117:
  %118 = getelementptr inbounds i8, ptr %66, i64 32
  %119 = load ptr, ptr %118, align 8
  %120 = icmp eq ptr %119, null
  br i1 %120, label %128, label %121

121:
  %122 = icmp eq ptr %109, null
  br i1 %122, label %280, label %123

123:
  %124 = load i64, ptr %54, align 8
  %125 = getelementptr inbounds i8, ptr %109, i64 %124
  %126 = load ptr, ptr %125, align 8
  %127 = icmp eq ptr %126, %119
  br i1 %127, label %128, label %280

128:
  %129 = icmp eq i64 %111, 5
  br i1 %129, label %133, label %130

130:
  %131 = load ptr, ptr %55, align 8
  %132 = icmp eq ptr %119, %131
  br i1 %132, label %133, label %164

133:
  %134 = load ptr, ptr %57, align 8
  %135 = call double %134(ptr %109)
  %136 = load i64, ptr %110, align 8
  %137 = icmp eq i64 %136, 5
  br i1 %137, label %138, label %152

138:
  %139 = fcmp une double %135, 0.000000e+00
  br i1 %139, label %145, label %140

140:
  %141 = fdiv double 1.000000e+00, %135
  %142 = fcmp olt double %141, 0.000000e+00
  %143 = fcmp une double %135, 1.000000e+00
  %144 = and i1 %143, %142
  br i1 %144, label %149, label %280

145:
  %146 = fcmp une double %135, 1.000000e+00
  %147 = fcmp une double %135, -1.000000e+00
  %148 = and i1 %146, %147
  br i1 %148, label %149, label %280

149:
  %150 = fcmp une double %135, 2.000000e+00
  %151 = zext i1 %150 to i32
  br label %175

152:
  %153 = load ptr, ptr %57, align 8
  %154 = getelementptr inbounds i8, ptr %66, i64 24
  %155 = load ptr, ptr %154, align 8
  %156 = call double %153(ptr %155)
  %157 = fcmp oeq double %156, %135
  br i1 %157, label %158, label %280

158:
  %159 = fcmp une double %135, 0.000000e+00
  %160 = fdiv double 1.000000e+00, %135
  %161 = fcmp ogt double %160, 0.000000e+00
  %162 = or i1 %159, %161
  %163 = zext i1 %162 to i32
  br label %175

164:
  %165 = getelementptr inbounds i8, ptr %66, i64 24
  %166 = load ptr, ptr %165, align 8
  %167 = icmp eq ptr %109, %166
  br i1 %167, label %178, label %168

168:
  %169 = icmp eq ptr %109, null
  %170 = icmp eq ptr %109, %74
  %171 = or i1 %169, %170
  br i1 %171, label %280, label %172

172:
  %173 = load ptr, ptr %56, align 8
  %174 = call i32 %173(ptr %109, ptr %166, i32 2)
  br label %175

175:
  %176 = phi i32 [ %163, %158 ], [ %116, %112 ], [ %151, %149 ], [ %174, %172 ]
  %177 = icmp slt i32 %176, 1
  br i1 %177, label %269, label %178

178:
  %179 = getelementptr inbounds i8, ptr %66, i64 56
  %180 = load i64, ptr %179, align 8
  %181 = icmp slt i64 %180, 0
  br i1 %181, label %221, label %182

182:
  %183 = load i64, ptr %58, align 8
  %184 = getelementptr inbounds i8, ptr %68, i64 %183
  %185 = load ptr, ptr %184, align 8
  %186 = icmp eq ptr %185, null
  br i1 %186, label %280, label %187

187:
  %188 = getelementptr inbounds i8, ptr %185, i64 16
  %189 = load i64, ptr %188, align 8
  %190 = icmp eq i64 %189, %180
  br i1 %190, label %191, label %280

191:
  %192 = icmp eq i64 %180, 0
  br i1 %192, label %221, label %193

193:
  %194 = phi i64 [ %216, %215 ], [ %61, %191 ]
  %195 = phi i64 [ %217, %215 ], [ %180, %191 ]
  %196 = phi i64 [ %218, %215 ], [ %61, %191 ]
  %197 = phi ptr [ %203, %215 ], [ %62, %191 ]
  %198 = phi i64 [ %219, %215 ], [ 0, %191 ]
  %199 = shl nsw i64 %198, 3
  %200 = getelementptr inbounds i8, ptr %185, i64 %199
  %201 = getelementptr inbounds i8, ptr %200, i64 24
  %202 = load ptr, ptr %201, align 8
  %203 = getelementptr inbounds i8, ptr %197, i64 8
  %204 = load i64, ptr %197, align 8
  %205 = icmp slt i64 %204, %196
  br i1 %205, label %206, label %210

206:
  %207 = getelementptr inbounds ptr, ptr %26, i64 %204
  %208 = load ptr, ptr %207, align 8
  %209 = icmp eq ptr %208, %202
  br i1 %209, label %215, label %280

210:
  %211 = load ptr, ptr %59, align 8
   call void %211(ptr %202)
  %212 = add nsw i64 %194, 1
  %213 = getelementptr inbounds ptr, ptr %26, i64 %194
  store ptr %202, ptr %213, align 8
  %214 = load i64, ptr %179, align 8
  br label %215

215:
  %216 = phi i64 [ %194, %206 ], [ %212, %210 ]
  %217 = phi i64 [ %195, %206 ], [ %214, %210 ]
  %218 = phi i64 [ %196, %206 ], [ %212, %210 ]
  %219 = add nuw nsw i64 %198, 1
  %220 = icmp slt i64 %219, %217
  br i1 %220, label %193, label %221

221:
  %222 = phi i64 [ %61, %178 ], [ %61, %191 ], [ %216, %215 ]
  %223 = phi ptr [ %62, %178 ], [ %62, %191 ], [ %203, %215 ]
  %224 = add nuw nsw i64 %63, 1
  %225 = load i64, ptr %20, align 8
  %226 = icmp slt i64 %224, %225
  br i1 %226, label %60, label %227

227:
  %228 = phi i64 [ %40, %39 ], [ %222, %221 ]
  %229 = phi i64 [ %41, %39 ], [ %225, %221 ]
  %230 = getelementptr inbounds ptr, ptr %26, i64 %229
  %231 = load i64, ptr %22, align 8
  %232 = icmp sgt i64 %231, 0
  br i1 %232, label %237, label %233

233:
  %234 = icmp slt i64 %229, 1
  br i1 %234, label %287, label %235

235:
  %236 = add nsw i64 %231, -1
  br label %242

237:
  %238 = phi i64 [ %240, %237 ], [ 0, %227 ]
  %239 = getelementptr inbounds ptr, ptr %230, i64 %238
  store ptr null, ptr %239, align 8
  %240 = add nuw nsw i64 %238, 1
  %241 = icmp eq i64 %240, %231
  br i1 %241, label %233, label %237

242:
  %243 = phi i64 [ 0, %235 ], [ %267, %264 ]
  %244 = getelementptr inbounds ptr, ptr %26, i64 %243
  %245 = load ptr, ptr %244, align 8
  %246 = ptrtoint ptr %245 to i64
  %247 = lshr i64 %246, 4
  %248 = mul i64 %247, -7046029254386353131
  %249 = lshr i64 %248, 32
  %250 = and i64 %249, %236
  %251 = getelementptr inbounds ptr, ptr %230, i64 %250
  %252 = load ptr, ptr %251, align 8
  %253 = icmp eq ptr %252, null
  br i1 %253, label %264, label %254

254:
  %255 = phi ptr [ %262, %258 ], [ %252, %242 ]
  %256 = phi i64 [ %260, %258 ], [ %250, %242 ]
  %257 = icmp eq ptr %255, %245
  br i1 %257, label %280, label %258

258:
  %259 = add nsw i64 %256, 1
  %260 = and i64 %259, %236
  %261 = getelementptr inbounds ptr, ptr %230, i64 %260
  %262 = load ptr, ptr %261, align 8
  %263 = icmp eq ptr %262, null
  br i1 %263, label %264, label %254

264:
  %265 = phi i64 [ %250, %242 ], [ %260, %258 ]
  %266 = getelementptr inbounds ptr, ptr %230, i64 %265
  store ptr %245, ptr %266, align 8
  %267 = add nuw nsw i64 %243, 1
  %268 = icmp eq i64 %267, %229
  br i1 %268, label %287, label %242

269:
  %270 = icmp eq i32 %176, 0
  br i1 %270, label %280, label %498

271:
  %272 = phi i64 [ 0, %37 ], [ %277, %271 ]
  %273 = getelementptr inbounds ptr, ptr %34, i64 %272
  %274 = load ptr, ptr %273, align 8
  %275 = getelementptr inbounds ptr, ptr %26, i64 %272
  store ptr %274, ptr %275, align 8
  %276 = load ptr, ptr %38, align 8
   call void %276(ptr %274)
  %277 = add nuw nsw i64 %272, 1
  %278 = load i64, ptr %8, align 8
  %279 = icmp slt i64 %277, %278
  br i1 %279, label %271, label %39

280:
  %281 = phi i64 [ %194, %206 ], [ %61, %269 ], [ %228, %254 ], [ %61, %101 ], [ %61, %60 ], [ %61, %83 ], [ %61, %73 ], [ %61, %92 ], [ %61, %182 ], [ %61, %187 ], [ %61, %121 ], [ %61, %123 ], [ %61, %140 ], [ %61, %145 ], [ %61, %152 ], [ %61, %168 ]
  %282 = getelementptr inbounds i8, ptr %5, i64 48
  %283 = load ptr, ptr %282, align 8
  %284 = getelementptr inbounds i8, ptr %5, i64 208
  %285 = load ptr, ptr %284, align 8
   call void %283(ptr %285)
  %286 = load ptr, ptr %284, align 8
  br label %498

287:
  %288 = getelementptr inbounds i8, ptr %5, i64 16
  %289 = load ptr, ptr %288, align 8
  %290 = call ptr %289(i64 5)
  %291 = icmp eq ptr %290, null
  br i1 %291, label %498, label %292

292:
  %293 = load i64, ptr %20, align 8
  %294 = load ptr, ptr %4, align 8
  %295 = load ptr, ptr %294, align 8
  %296 = call ptr %295(i64 %293)
  %297 = icmp ne ptr %296, null
  %298 = icmp sgt i64 %293, 0
  %299 = and i1 %298, %297
  br i1 %299, label %300, label %313

300:
  %301 = getelementptr inbounds i8, ptr %294, i64 48
  %302 = getelementptr inbounds i8, ptr %294, i64 8
  br label %303

303:
  %304 = phi i64 [ 0, %300 ], [ %309, %303 ]
  %305 = load ptr, ptr %301, align 8
  %306 = getelementptr inbounds ptr, ptr %26, i64 %304
  %307 = load ptr, ptr %306, align 8
   call void %305(ptr %307)
  %308 = load ptr, ptr %302, align 8
  %309 = add nuw nsw i64 %304, 1
  %310 = load ptr, ptr %306, align 8
  %311 = call i32 %308(ptr %296, i64 %304, ptr %310)
  %312 = icmp eq i64 %309, %293
  br i1 %312, label %313, label %303

313:
  store ptr %296, ptr %3, align 16
  %314 = getelementptr inbounds i8, ptr %3, i64 8
  %315 = getelementptr inbounds i8, ptr %0, i64 72
  %316 = load i64, ptr %315, align 8
  %317 = load ptr, ptr %4, align 8
  %318 = load ptr, ptr %317, align 8
  %319 = call ptr %318(i64 %316)
  %320 = icmp ne ptr %319, null
  %321 = icmp sgt i64 %316, 0
  %322 = and i1 %321, %320
  br i1 %322, label %323, label %348

323:
  %324 = getelementptr inbounds i8, ptr %0, i64 40
  %325 = getelementptr inbounds i8, ptr %317, i64 48
  %326 = getelementptr inbounds i8, ptr %317, i64 8
  br label %327

327:
  %328 = phi i64 [ 0, %323 ], [ %345, %344 ]
  %329 = phi i64 [ 0, %323 ], [ %346, %344 ]
  %330 = load ptr, ptr %324, align 8
  %331 = mul nuw nsw i64 %329, 88
  %332 = getelementptr inbounds i8, ptr %330, i64 %331
  %333 = getelementptr inbounds i8, ptr %332, i64 64
  %334 = load i64, ptr %333, align 8
  %335 = icmp eq i64 %334, 0
  br i1 %335, label %344, label %336

336:
  %337 = load ptr, ptr %325, align 8
  %338 = getelementptr inbounds ptr, ptr %26, i64 %329
  %339 = load ptr, ptr %338, align 8
   call void %337(ptr %339)
  %340 = load ptr, ptr %326, align 8
  %341 = add nsw i64 %328, 1
  %342 = load ptr, ptr %338, align 8
  %343 = call i32 %340(ptr %319, i64 %328, ptr %342)
  br label %344

344:
  %345 = phi i64 [ %341, %336 ], [ %328, %327 ]
  %346 = add nuw nsw i64 %329, 1
  %347 = icmp slt i64 %345, %316
  br i1 %347, label %327, label %348

348:
  store ptr %319, ptr %314, align 8
  %349 = getelementptr inbounds i8, ptr %3, i64 16
  %350 = getelementptr inbounds i8, ptr %0, i64 80
  %351 = load i64, ptr %350, align 8
  %352 = load ptr, ptr %4, align 8
  %353 = load ptr, ptr %352, align 8
  %354 = call ptr %353(i64 %351)
  %355 = icmp eq ptr %354, null
  %356 = icmp slt i64 %351, 1
  %357 = or i1 %356, %355
  br i1 %357, label %402, label %358

358:
  %359 = getelementptr inbounds i8, ptr %0, i64 40
  %360 = getelementptr inbounds i8, ptr %352, i64 288
  %361 = getelementptr inbounds i8, ptr %352, i64 16
  %362 = getelementptr inbounds i8, ptr %352, i64 48
  %363 = getelementptr inbounds i8, ptr %352, i64 24
  %364 = getelementptr inbounds i8, ptr %352, i64 8
  br label %365

365:
  %366 = phi i64 [ 0, %358 ], [ %399, %398 ]
  %367 = phi i64 [ 0, %358 ], [ %400, %398 ]
  %368 = load ptr, ptr %359, align 8
  %369 = mul nuw nsw i64 %367, 88
  %370 = getelementptr inbounds i8, ptr %368, i64 %369
  %371 = getelementptr inbounds i8, ptr %370, i64 48
  %372 = load i64, ptr %371, align 8
  %373 = icmp eq i64 %372, 5
  br i1 %373, label %374, label %398

374:
  %375 = getelementptr inbounds ptr, ptr %26, i64 %367
  %376 = load ptr, ptr %375, align 8
  %377 = load i64, ptr %360, align 8
  %378 = getelementptr inbounds i8, ptr %376, i64 %377
  %379 = load ptr, ptr %378, align 8
  %380 = load ptr, ptr %361, align 8
  %381 = call ptr %380(i64 2)
  %382 = icmp eq ptr %381, null
  br i1 %382, label %383, label %386

383:
  %384 = getelementptr inbounds i8, ptr %352, i64 56
  %385 = load ptr, ptr %384, align 8
   call void %385(ptr %354)
  br label %402

386:
  %387 = load ptr, ptr %362, align 8
  %388 = load ptr, ptr %375, align 8
   call void %387(ptr %388)
  %389 = load ptr, ptr %363, align 8
  %390 = load ptr, ptr %375, align 8
  %391 = call i32 %389(ptr %381, i64 1, ptr %390)
  %392 = load ptr, ptr %362, align 8
   call void %392(ptr %379)
  %393 = load ptr, ptr %363, align 8
  %394 = call i32 %393(ptr %381, i64 0, ptr %379)
  %395 = load ptr, ptr %364, align 8
  %396 = add nsw i64 %366, 1
  %397 = call i32 %395(ptr %354, i64 %366, ptr %381)
  br label %398

398:
  %399 = phi i64 [ %366, %365 ], [ %396, %386 ]
  %400 = add nuw nsw i64 %367, 1
  %401 = icmp slt i64 %399, %351
  br i1 %401, label %365, label %402

402:
  %403 = phi ptr [ null, %383 ], [ %354, %348 ], [ %354, %398 ]
  store ptr %403, ptr %349, align 16
  %404 = getelementptr inbounds i8, ptr %3, i64 24
  %405 = getelementptr inbounds i8, ptr %0, i64 88
  %406 = load i64, ptr %405, align 8
  %407 = load ptr, ptr %4, align 8
  %408 = load ptr, ptr %407, align 8
  %409 = call ptr %408(i64 %406)
  %410 = icmp ne ptr %409, null
  %411 = icmp sgt i64 %406, 0
  %412 = and i1 %411, %410
  br i1 %412, label %413, label %438

413:
  %414 = getelementptr inbounds i8, ptr %0, i64 40
  %415 = getelementptr inbounds i8, ptr %407, i64 48
  %416 = getelementptr inbounds i8, ptr %407, i64 8
  br label %417

417:
  %418 = phi i64 [ 0, %413 ], [ %435, %434 ]
  %419 = phi i64 [ 0, %413 ], [ %436, %434 ]
  %420 = load ptr, ptr %414, align 8
  %421 = mul nuw nsw i64 %419, 88
  %422 = getelementptr inbounds i8, ptr %420, i64 %421
  %423 = getelementptr inbounds i8, ptr %422, i64 72
  %424 = load i64, ptr %423, align 8
  %425 = icmp eq i64 %424, 0
  br i1 %425, label %434, label %426

426:
  %427 = load ptr, ptr %415, align 8
  %428 = getelementptr inbounds ptr, ptr %26, i64 %419
  %429 = load ptr, ptr %428, align 8
   call void %427(ptr %429)
  %430 = load ptr, ptr %416, align 8
  %431 = add nsw i64 %418, 1
  %432 = load ptr, ptr %428, align 8
  %433 = call i32 %430(ptr %409, i64 %418, ptr %432)
  br label %434

434:
  %435 = phi i64 [ %431, %426 ], [ %418, %417 ]
  %436 = add nuw nsw i64 %419, 1
  %437 = icmp slt i64 %435, %406
  br i1 %437, label %417, label %438

438:
  store ptr %409, ptr %404, align 8
  %439 = getelementptr inbounds i8, ptr %3, i64 32
  %440 = getelementptr inbounds i8, ptr %0, i64 96
  %441 = load i64, ptr %440, align 8
  %442 = load ptr, ptr %4, align 8
  %443 = load ptr, ptr %442, align 8
  %444 = call ptr %443(i64 %441)
  %445 = icmp eq ptr %444, null
  %446 = icmp slt i64 %441, 1
  %447 = or i1 %446, %445
  br i1 %447, label %476, label %448

448:
  %449 = getelementptr inbounds i8, ptr %0, i64 40
  %450 = getelementptr inbounds i8, ptr %442, i64 288
  %451 = getelementptr inbounds i8, ptr %442, i64 48
  %452 = getelementptr inbounds i8, ptr %442, i64 8
  br label %453

453:
  %454 = phi i64 [ 0, %448 ], [ %473, %472 ]
  %455 = phi i64 [ 0, %448 ], [ %474, %472 ]
  %456 = load ptr, ptr %449, align 8
  %457 = mul nuw nsw i64 %455, 88
  %458 = getelementptr inbounds i8, ptr %456, i64 %457
  %459 = getelementptr inbounds i8, ptr %458, i64 80
  %460 = load i64, ptr %459, align 8
  %461 = icmp eq i64 %460, 0
  br i1 %461, label %472, label %462

462:
  %463 = getelementptr inbounds ptr, ptr %26, i64 %455
  %464 = load ptr, ptr %463, align 8
  %465 = load i64, ptr %450, align 8
  %466 = getelementptr inbounds i8, ptr %464, i64 %465
  %467 = load ptr, ptr %466, align 8
  %468 = load ptr, ptr %451, align 8
   call void %468(ptr %467)
  %469 = load ptr, ptr %452, align 8
  %470 = add nsw i64 %454, 1
  %471 = call i32 %469(ptr %444, i64 %454, ptr %467)
  br label %472

472:
  %473 = phi i64 [ %454, %453 ], [ %470, %462 ]
  %474 = add nuw nsw i64 %455, 1
  %475 = icmp slt i64 %473, %441
  br i1 %475, label %453, label %476

476:
  store ptr %444, ptr %439, align 16
  %477 = getelementptr inbounds i8, ptr %5, i64 24
  br label %479

478:
  br i1 %485, label %493, label %496

479:
  %480 = phi i64 [ 0, %476 ], [ %491, %490 ]
  %481 = phi i1 [ false, %476 ], [ %485, %490 ]
  %482 = getelementptr inbounds ptr, ptr %3, i64 %480
  %483 = load ptr, ptr %482, align 8
  %484 = icmp eq ptr %483, null
  %485 = or i1 %481, %484
  %486 = icmp eq ptr %483, null
  br i1 %486, label %490, label %487

487:
  %488 = load ptr, ptr %477, align 8
  %489 = call i32 %488(ptr %290, i64 %480, ptr %483)
  br label %490

490:
  %491 = add nuw nsw i64 %480, 1
  %492 = icmp eq i64 %491, 5
  br i1 %492, label %478, label %479

493:
  %494 = getelementptr inbounds i8, ptr %5, i64 56
  %495 = load ptr, ptr %494, align 8
   call void %495(ptr %290)
  br label %496

496:
  %497 = phi ptr [ %290, %478 ], [ null, %493 ]
  br label %498

498:
  %499 = phi i64 [ %228, %496 ], [ %228, %287 ], [ %281, %280 ], [ %61, %269 ]
  %500 = phi ptr [ %497, %496 ], [ null, %287 ], [ %286, %280 ], [ null, %269 ]
  %501 = icmp sgt i64 %499, 0
  br i1 %501, label %502, label %511

502:
  %503 = getelementptr inbounds i8, ptr %5, i64 56
  br label %504

504:
  %505 = phi i64 [ %499, %502 ], [ %507, %504 ]
  %506 = load ptr, ptr %503, align 8
  %507 = add nsw i64 %505, -1
  %508 = getelementptr inbounds ptr, ptr %26, i64 %507
  %509 = load ptr, ptr %508, align 8
   call void %506(ptr %509)
  %510 = icmp samesign ugt i64 %505, 1
  br i1 %510, label %504, label %511

511:
  %512 = getelementptr inbounds i8, ptr %5, i64 72
  %513 = load ptr, ptr %512, align 8
   call void %513(ptr %26)
  br label %514

514:
  %515 = phi ptr [ %16, %11 ], [ %500, %511 ], [ %31, %28 ]
  ret ptr %515
}
define ptr @$below(ptr %0, ptr %1) #0 {
  %3 = getelementptr inbounds i8, ptr %0, i64 32
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %4, align 8
  %6 = call ptr %5(i64 0)
  %7 = load ptr, ptr %4, align 8
  %8 = call ptr %7(i64 0)
  %9 = getelementptr inbounds i8, ptr %4, i64 96
  %10 = load ptr, ptr %9, align 8
  %11 = call ptr %10(ptr null)
  %12 = icmp ne ptr %6, null
  %13 = icmp ne ptr %8, null
  %14 = select i1 %12, i1 %13, i1 false
  %15 = icmp ne ptr %11, null
  %16 = select i1 %14, i1 %15, i1 false
  br i1 %16, label %17, label %46

17:
  %18 = getelementptr inbounds i8, ptr %4, i64 112
  %19 = load ptr, ptr %18, align 8
  %20 = call i32 %19(ptr %11, ptr %1)
  %21 = icmp slt i32 %20, 0
  br i1 %21, label %133, label %22

22:
  %23 = getelementptr inbounds i8, ptr %4, i64 120
  %24 = load ptr, ptr %23, align 8
  %25 = call i32 %24(ptr %8, ptr %1)
  %26 = icmp slt i32 %25, 0
  br i1 %26, label %133, label %27

27:
  %28 = getelementptr inbounds i8, ptr %8, i64 16
  %29 = getelementptr inbounds i8, ptr %8, i64 24
  %30 = getelementptr inbounds i8, ptr %4, i64 272
  %31 = getelementptr inbounds i8, ptr %4, i64 280
  %32 = getelementptr inbounds i8, ptr %0, i64 48
  %33 = getelementptr inbounds i8, ptr %0, i64 56
  %34 = getelementptr inbounds i8, ptr %4, i64 120
  %35 = getelementptr inbounds i8, ptr %0, i64 40
  %36 = getelementptr inbounds i8, ptr %4, i64 304
  %37 = getelementptr inbounds i8, ptr %4, i64 216
  %38 = getelementptr inbounds i8, ptr %4, i64 224
  %39 = getelementptr inbounds i8, ptr %4, i64 128
  %40 = getelementptr inbounds i8, ptr %4, i64 104
  %41 = getelementptr inbounds i8, ptr %4, i64 112
  br label %42

42:
  %43 = phi i64 [ 0, %27 ], [ %90, %88 ]
  %44 = load i64, ptr %28, align 8
  %45 = icmp slt i64 %43, %44
  br i1 %45, label %47, label %133

46:
  br i1 %13, label %133, label %137

47:
  %48 = load ptr, ptr %29, align 8
  %49 = getelementptr inbounds ptr, ptr %48, i64 %43
  %50 = load ptr, ptr %49, align 8
  %51 = load i64, ptr %30, align 8
  %52 = getelementptr inbounds i8, ptr %50, i64 %51
  %53 = load ptr, ptr %52, align 8
  %54 = load i64, ptr %31, align 8
  %55 = getelementptr inbounds i8, ptr %50, i64 %54
  %56 = load ptr, ptr %55, align 8
  %57 = load i64, ptr %32, align 8
  %58 = icmp sgt i64 %57, 0
  br i1 %58, label %66, label %59

59:
  %60 = phi i32 [ 0, %47 ], [ %79, %77 ]
  %61 = getelementptr inbounds i8, ptr %56, i64 16
  %62 = load ptr, ptr %35, align 8
  %63 = icmp eq ptr %53, %62
  %64 = icmp ne i32 %60, 0
  %65 = select i1 %63, i1 true, i1 %64
  br i1 %65, label %88, label %84

66:
  %67 = phi i64 [ %78, %77 ], [ %57, %47 ]
  %68 = phi i64 [ %80, %77 ], [ 0, %47 ]
  %69 = getelementptr inbounds ptr, ptr %33, i64 %68
  %70 = load ptr, ptr %69, align 8
  %71 = icmp eq ptr %70, %53
  br i1 %71, label %72, label %77

72:
  %73 = load ptr, ptr %34, align 8
  %74 = call i32 %73(ptr %6, ptr %50)
  %75 = lshr i32 %74, 31
  %76 = load i64, ptr %32, align 8
  br label %77

77:
  %78 = phi i64 [ %76, %72 ], [ %67, %66 ]
  %79 = phi i32 [ %75, %72 ], [ 0, %66 ]
  %80 = add nuw nsw i64 %68, 1
  %81 = icmp slt i64 %80, %78
  %82 = icmp eq i32 %79, 0
  %83 = select i1 %81, i1 %82, i1 false
  br i1 %83, label %66, label %59

84:
  %85 = phi i64 [ %128, %126 ], [ 0, %59 ]
  %86 = load i64, ptr %61, align 8
  %87 = icmp slt i64 %85, %86
  br i1 %87, label %92, label %88

88:
  %89 = phi i32 [ %60, %59 ], [ %127, %126 ], [ 0, %84 ]
  %90 = add nuw nsw i64 %43, 1
  %91 = icmp eq i32 %89, 0
  br i1 %91, label %42, label %46

92:
  %93 = shl nsw i64 %85, 3
  %94 = getelementptr inbounds i8, ptr %56, i64 %93
  %95 = getelementptr inbounds i8, ptr %94, i64 24
  %96 = load ptr, ptr %95, align 8
  %97 = load i64, ptr %36, align 8
  %98 = getelementptr inbounds i8, ptr %96, i64 %97
  %99 = load ptr, ptr %98, align 8
  %100 = load ptr, ptr %37, align 8
  %101 = icmp eq ptr %99, %100
  br i1 %101, label %112, label %102

102:
  %103 = load ptr, ptr %38, align 8
  %104 = icmp eq ptr %99, %103
  br i1 %104, label %126, label %105

105:
  %106 = load ptr, ptr %39, align 8
  %107 = call i32 %106(ptr %99)
  %108 = freeze i32 %107
  %109 = icmp sgt i32 %108, 0
  br i1 %109, label %112, label %110

110:
  %111 = icmp eq i32 %108, 0
  br i1 %111, label %126, label %46

112:
  %113 = load ptr, ptr %40, align 8
  %114 = call i32 %113(ptr %11, ptr %96)
  %115 = icmp slt i32 %114, 0
  br i1 %115, label %46, label %116

116:
  %117 = icmp eq i32 %114, 0
  br i1 %117, label %118, label %126

118:
  %119 = load ptr, ptr %41, align 8
  %120 = call i32 %119(ptr %11, ptr %96)
  %121 = icmp slt i32 %120, 0
  br i1 %121, label %46, label %122

122:
  %123 = load ptr, ptr %34, align 8
  %124 = call i32 %123(ptr %8, ptr %96)
  %125 = lshr i32 %124, 31
  br label %126

126:
  %127 = phi i32 [ %125, %122 ], [ 0, %116 ], [ 0, %102 ], [ 0, %110 ]
  %128 = add nuw nsw i64 %85, 1
  %129 = load ptr, ptr %35, align 8
  %130 = icmp eq ptr %53, %129
  %131 = icmp ne i32 %127, 0
  %132 = select i1 %130, i1 true, i1 %131
  br i1 %132, label %88, label %84

133:
  %134 = phi i1 [ true, %46 ], [ true, %17 ], [ true, %22 ], [ false, %42 ]
  %135 = getelementptr inbounds i8, ptr %4, i64 56
  %136 = load ptr, ptr %135, align 8
   call void %136(ptr %8)
  br label %137

137:
  %138 = phi i1 [ %134, %133 ], [ true, %46 ]
  br i1 %15, label %139, label %142

139:
  %140 = getelementptr inbounds i8, ptr %4, i64 56
  %141 = load ptr, ptr %140, align 8
   call void %141(ptr %11)
  br label %142

142:
  %143 = and i1 %12, %138
  br i1 %143, label %144, label %147

144:
  %145 = getelementptr inbounds i8, ptr %4, i64 56
  %146 = load ptr, ptr %145, align 8
   call void %146(ptr %6)
  br label %147

147:
  %148 = select i1 %138, ptr null, ptr %6
  ret ptr %148
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
  %13 = getelementptr inbounds i8, ptr %6, i64 136
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %6, i64 248
  %16 = load ptr, ptr %15, align 8
  %17 = call ptr %14(ptr %16, ptr %1, i64 %2, ptr %3)
  br label %83

18:
  %19 = getelementptr inbounds i8, ptr %6, i64 88
  %20 = load ptr, ptr %19, align 8
  %21 = call ptr %20(ptr %0, i64 0)
  %22 = icmp eq ptr %21, null
  br i1 %22, label %83, label %23

23:
  %24 = icmp eq i64 %7, 8
  %25 = getelementptr inbounds i8, ptr %1, i64 56
  %26 = getelementptr inbounds i8, ptr %6, i64 208
  %27 = select i1 %24, ptr %25, ptr %26
  %28 = load ptr, ptr %27, align 8
  %29 = getelementptr inbounds i8, ptr %6, i64 48
  br label %76

30:
  %31 = load ptr, ptr %29, align 8
   call void %31(ptr %28)
  %32 = load ptr, ptr %29, align 8
  %33 = getelementptr inbounds i8, ptr %6, i64 240
  %34 = load ptr, ptr %33, align 8
   call void %32(ptr %34)
  %35 = getelementptr inbounds i8, ptr %6, i64 272
  %36 = load i64, ptr %35, align 8
  %37 = load ptr, ptr %1, align 8
  %38 = getelementptr inbounds i8, ptr %21, i64 %36
  store ptr %37, ptr %38, align 8
  %39 = getelementptr inbounds i8, ptr %6, i64 280
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %1, i64 8
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %21, i64 %40
  store ptr %42, ptr %43, align 8
  %44 = getelementptr inbounds i8, ptr %6, i64 288
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %1, i64 16
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %21, i64 %45
  store ptr %47, ptr %48, align 8
  %49 = getelementptr inbounds i8, ptr %6, i64 296
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %1, i64 24
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %21, i64 %50
  store ptr %52, ptr %53, align 8
  %54 = getelementptr inbounds i8, ptr %6, i64 320
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr inbounds i8, ptr %1, i64 32
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds i8, ptr %21, i64 %55
  store ptr %57, ptr %58, align 8
  %59 = getelementptr inbounds i8, ptr %6, i64 328
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr inbounds i8, ptr %1, i64 40
  %62 = load ptr, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %21, i64 %60
  store ptr %62, ptr %63, align 8
  %64 = getelementptr inbounds i8, ptr %6, i64 304
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %1, i64 48
  %67 = load ptr, ptr %66, align 8
  %68 = getelementptr inbounds i8, ptr %21, i64 %65
  store ptr %67, ptr %68, align 8
  %69 = getelementptr inbounds i8, ptr %6, i64 312
  %70 = load i64, ptr %69, align 8
  %71 = getelementptr inbounds i8, ptr %21, i64 %70
  store ptr %28, ptr %71, align 8
  %72 = getelementptr inbounds i8, ptr %6, i64 336
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
  br i1 %14, label %131, label %15

15:
  %16 = getelementptr inbounds i8, ptr %8, i64 184
  %17 = load ptr, ptr %16, align 8
  %18 = getelementptr inbounds i8, ptr %17, i64 16
  %19 = load i64, ptr %18, align 8
  %20 = icmp eq i64 %19, 0
  br i1 %20, label %21, label %131

21:
  %22 = getelementptr inbounds i8, ptr %9, i64 144
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds i8, ptr %8, i64 88
  %25 = load ptr, ptr %24, align 8
  %26 = call i32 %23(ptr %25, ptr null, ptr %6)
  %27 = icmp slt i32 %26, 0
  br i1 %27, label %143, label %28

28:
  %29 = getelementptr inbounds i8, ptr %9, i64 56
  %30 = load ptr, ptr %29, align 8
  %31 = load ptr, ptr %6, align 8
  call void %30(ptr %31)
  %32 = load ptr, ptr %6, align 8
  %33 = getelementptr inbounds i8, ptr %9, i64 208
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %32, %34
  br i1 %35, label %36, label %131

36:
  %37 = load ptr, ptr %22, align 8
  %38 = getelementptr inbounds i8, ptr %8, i64 80
  %39 = load ptr, ptr %38, align 8
  %40 = call i32 %37(ptr %39, ptr null, ptr %5)
  %41 = icmp slt i32 %40, 0
  br i1 %41, label %143, label %42

42:
  %43 = load ptr, ptr %5, align 8
  %44 = getelementptr inbounds i8, ptr %8, i64 104
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %43, i64 %45
  %47 = load ptr, ptr %46, align 8
  %48 = load ptr, ptr %8, align 8
  %49 = getelementptr inbounds i8, ptr %48, i64 264
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %47, i64 %50
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %48, i64 208
  %54 = load ptr, ptr %53, align 8
  %55 = icmp eq ptr %47, %54
  br i1 %55, label %73, label %56

56:
  %57 = getelementptr inbounds i8, ptr %8, i64 120
  %58 = load ptr, ptr %57, align 8
  %59 = icmp eq ptr %52, %58
  br i1 %59, label %73, label %60

60:
  %61 = getelementptr inbounds i8, ptr %8, i64 128
  %62 = load ptr, ptr %61, align 8
  %63 = icmp eq ptr %52, %62
  br i1 %63, label %64, label %73

64:
  %65 = getelementptr inbounds i8, ptr %8, i64 176
  %66 = load i64, ptr %65, align 8
  %67 = getelementptr inbounds i8, ptr %47, i64 %66
  %68 = load ptr, ptr %67, align 8
  %69 = getelementptr inbounds i8, ptr %48, i64 216
  %70 = load ptr, ptr %69, align 8
  %71 = icmp eq ptr %68, %70
  %72 = select i1 %71, i64 3, i64 2
  br label %73

73:
  %74 = phi i64 [ %72, %64 ], [ 0, %42 ], [ 1, %56 ], [ 4, %60 ]
  %75 = getelementptr inbounds i8, ptr %8, i64 96
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr inbounds i8, ptr %43, i64 %76
  %78 = load ptr, ptr %77, align 8
  %79 = getelementptr inbounds i8, ptr %8, i64 192
  %80 = load ptr, ptr %79, align 8
  %81 = getelementptr inbounds i8, ptr %80, i64 24
  %82 = load ptr, ptr %81, align 8
  %83 = load ptr, ptr %82, align 8
  %84 = load ptr, ptr %10, align 8
  %85 = load i64, ptr %84, align 8
  %86 = icmp sgt i64 %85, 0
  br i1 %86, label %87, label %131

87:
  %88 = phi i64 [ %128, %127 ], [ %85, %73 ]
  %89 = phi i64 [ %129, %127 ], [ 0, %73 ]
  %90 = getelementptr inbounds ptr, ptr %12, i64 %89
  %91 = load ptr, ptr %90, align 8
  %92 = getelementptr inbounds i8, ptr %91, i64 48
  %93 = load i64, ptr %92, align 8
  %94 = icmp eq i64 %93, %2
  br i1 %94, label %95, label %127

95:
  %96 = getelementptr inbounds i8, ptr %91, i64 32
  %97 = load i64, ptr %96, align 8
  %98 = icmp eq i64 %97, %74
  br i1 %98, label %99, label %127

99:
  %100 = getelementptr inbounds i8, ptr %91, i64 8
  %101 = load ptr, ptr %100, align 8
  %102 = icmp eq ptr %101, %78
  br i1 %102, label %103, label %127

103:
  %104 = load ptr, ptr %91, align 8
  %105 = icmp eq ptr %104, %83
  br i1 %105, label %106, label %127

106:
  %107 = call fastcc i32 @$are_of(ptr %8, ptr %91, ptr %1, ptr %4)
  %108 = icmp slt i32 %107, 0
  br i1 %108, label %136, label %109

109:
  %110 = icmp eq i32 %107, 0
  br i1 %110, label %111, label %114

111:
  %112 = load ptr, ptr %10, align 8
  %113 = load i64, ptr %112, align 8
  br label %127

114:
  %115 = icmp eq i64 %89, 0
  br i1 %115, label %120, label %116

116:
  %117 = getelementptr inbounds ptr, ptr %12, i64 %89
  %118 = getelementptr i8, ptr %117, i64 -8
  %119 = load ptr, ptr %118, align 8
  store ptr %119, ptr %117, align 8
  store ptr %91, ptr %118, align 8
  br label %120

120:
  %121 = load ptr, ptr %10, align 8
  %122 = getelementptr inbounds i8, ptr %121, i64 8
  %123 = load i64, ptr %122, align 8
  %124 = add nsw i64 %123, 1
  store i64 %124, ptr %122, align 8
  %125 = load ptr, ptr %5, align 8
  %126 = call fastcc ptr @$recorded(ptr %7, ptr %91, ptr %1, ptr %4, ptr %125)
  br label %136

127:
  %128 = phi i64 [ %113, %111 ], [ %88, %87 ], [ %88, %103 ], [ %88, %99 ], [ %88, %95 ]
  %129 = add nuw nsw i64 %89, 1
  %130 = icmp slt i64 %129, %128
  br i1 %130, label %87, label %131

131:
  %132 = getelementptr inbounds i8, ptr %9, i64 208
  %133 = load ptr, ptr %132, align 8
  %134 = getelementptr inbounds i8, ptr %9, i64 48
  %135 = load ptr, ptr %134, align 8
  call void %135(ptr %133)
  br label %136

136:
  %137 = phi ptr [ %133, %131 ], [ %126, %120 ], [ null, %106 ]
  %138 = load ptr, ptr %5, align 8
  %139 = icmp eq ptr %138, null
  br i1 %139, label %143, label %140

140:
  %141 = getelementptr inbounds i8, ptr %9, i64 56
  %142 = load ptr, ptr %141, align 8
  call void %142(ptr %138)
  br label %143

143:
  %144 = phi ptr [ null, %21 ], [ null, %36 ], [ %137, %140 ], [ %137, %136 ]
  ret ptr %144
}
define internal fastcc i32 @$are_of(ptr %0, ptr %1, ptr %2, ptr %3) #0 {
  %5 = getelementptr inbounds i8, ptr %1, i64 48
  %6 = load i64, ptr %5, align 8
  %7 = icmp sgt i64 %6, 0
  br i1 %7, label %8, label %228

8:
  %9 = load ptr, ptr %0, align 8
  %10 = getelementptr inbounds i8, ptr %1, i64 88
  %11 = getelementptr inbounds i8, ptr %9, i64 264
  %12 = getelementptr inbounds i8, ptr %9, i64 232
  %13 = getelementptr inbounds i8, ptr %9, i64 40
  %14 = getelementptr inbounds i8, ptr %0, i64 8
  %15 = getelementptr inbounds i8, ptr %0, i64 16
  %16 = getelementptr inbounds i8, ptr %0, i64 24
  %17 = getelementptr inbounds i8, ptr %0, i64 40
  %18 = getelementptr inbounds i8, ptr %0, i64 48
  %19 = getelementptr inbounds i8, ptr %0, i64 56
  %20 = getelementptr inbounds i8, ptr %0, i64 32
  %21 = getelementptr inbounds i8, ptr %0, i64 64
  %22 = getelementptr inbounds i8, ptr %9, i64 312
  %23 = getelementptr inbounds i8, ptr %9, i64 296
  %24 = getelementptr inbounds i8, ptr %9, i64 304
  %25 = getelementptr inbounds i8, ptr %9, i64 208
  %26 = getelementptr inbounds i8, ptr %9, i64 272
  %27 = getelementptr inbounds i8, ptr %0, i64 248
  %28 = getelementptr inbounds i8, ptr %9, i64 32
  br label %29

29:
  %30 = phi i64 [ 0, %8 ], [ %224, %223 ]
  %31 = phi i64 [ 0, %8 ], [ %225, %223 ]
  %32 = load ptr, ptr %10, align 8
  %33 = mul nuw nsw i64 %31, 40
  %34 = getelementptr inbounds i8, ptr %32, i64 %33
  %35 = getelementptr inbounds ptr, ptr %2, i64 %31
  %36 = load ptr, ptr %35, align 8
  %37 = load i64, ptr %34, align 8
  switch i64 %37, label %182 [
    i64 0, label %38
    i64 1, label %38
    i64 2, label %145
    i64 3, label %145
  ]

38:
  %39 = load ptr, ptr %0, align 8
  %40 = getelementptr inbounds i8, ptr %39, i64 264
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds i8, ptr %36, i64 %41
  %43 = load ptr, ptr %42, align 8
  %44 = load ptr, ptr %14, align 8
  %45 = icmp eq ptr %43, %44
  br i1 %45, label %85, label %46

46:
  %47 = load ptr, ptr %15, align 8
  %48 = icmp eq ptr %43, %47
  br i1 %48, label %85, label %49

49:
  %50 = load ptr, ptr %16, align 8
  %51 = icmp eq ptr %43, %50
  br i1 %51, label %52, label %228

52:
  %53 = load i64, ptr %17, align 8
  %54 = getelementptr inbounds i8, ptr %36, i64 %53
  %55 = load ptr, ptr %54, align 8
  %56 = load i64, ptr %18, align 8
  %57 = getelementptr inbounds i8, ptr %36, i64 %56
  %58 = load ptr, ptr %57, align 8
  %59 = icmp ne ptr %55, null
  %60 = icmp ne ptr %58, null
  %61 = select i1 %59, i1 %60, i1 false
  br i1 %61, label %62, label %228

62:
  %63 = load i64, ptr %19, align 8
  %64 = getelementptr inbounds i8, ptr %58, i64 %63
  %65 = load ptr, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %39, i64 208
  %67 = load ptr, ptr %66, align 8
  %68 = icmp eq ptr %65, %67
  br i1 %68, label %69, label %228

69:
  %70 = getelementptr inbounds i8, ptr %55, i64 %41
  %71 = load ptr, ptr %70, align 8
  %72 = icmp eq ptr %71, %44
  %73 = icmp eq ptr %71, %47
  %74 = or i1 %72, %73
  br i1 %74, label %75, label %228

75:
  %76 = load i64, ptr %20, align 8
  %77 = getelementptr inbounds i8, ptr %55, i64 %76
  %78 = load ptr, ptr %77, align 8
  %79 = icmp eq ptr %78, null
  br i1 %79, label %228, label %80

80:
  %81 = load i64, ptr %21, align 8
  %82 = getelementptr inbounds i8, ptr %36, i64 %81
  %83 = load ptr, ptr %82, align 8
  %84 = icmp eq ptr %78, %83
  br i1 %84, label %85, label %228

85:
  %86 = phi i64 [ 32, %38 ], [ 32, %46 ], [ 72, %80 ]
  %87 = getelementptr inbounds i8, ptr %0, i64 %86
  %88 = load i64, ptr %87, align 8
  %89 = getelementptr inbounds i8, ptr %36, i64 %88
  %90 = load ptr, ptr %89, align 8
  %91 = icmp eq ptr %90, null
  br i1 %91, label %228, label %92

92:
  %93 = icmp eq i64 %37, 1
  br i1 %93, label %94, label %100

94:
  %95 = getelementptr inbounds i8, ptr %34, i64 32
  %96 = load i64, ptr %95, align 8
  %97 = getelementptr inbounds ptr, ptr %3, i64 %96
  %98 = load ptr, ptr %97, align 8
  %99 = icmp eq ptr %98, %90
  br i1 %99, label %223, label %228

100:
  %101 = load i64, ptr %22, align 8
  %102 = getelementptr inbounds i8, ptr %90, i64 %101
  %103 = load ptr, ptr %102, align 8
  %104 = load i64, ptr %23, align 8
  %105 = getelementptr inbounds i8, ptr %90, i64 %104
  %106 = load ptr, ptr %105, align 8
  %107 = getelementptr inbounds i8, ptr %34, i64 8
  %108 = load ptr, ptr %107, align 8
  %109 = icmp eq ptr %106, %108
  br i1 %109, label %110, label %228

110:
  %111 = load i64, ptr %24, align 8
  %112 = getelementptr inbounds i8, ptr %90, i64 %111
  %113 = load ptr, ptr %112, align 8
  %114 = getelementptr inbounds i8, ptr %34, i64 16
  %115 = load ptr, ptr %114, align 8
  %116 = icmp ne ptr %113, %115
  %117 = icmp eq ptr %103, null
  %118 = select i1 %116, i1 true, i1 %117
  br i1 %118, label %228, label %119

119:
  %120 = load ptr, ptr %25, align 8
  %121 = icmp eq ptr %103, %120
  %122 = zext i1 %121 to i64
  %123 = getelementptr inbounds i8, ptr %34, i64 24
  %124 = load i64, ptr %123, align 8
  %125 = icmp eq i64 %124, %122
  br i1 %125, label %126, label %228

126:
  %127 = load i64, ptr %26, align 8
  %128 = getelementptr inbounds i8, ptr %90, i64 %127
  %129 = load ptr, ptr %128, align 8
  %130 = load ptr, ptr %27, align 8
  %131 = icmp eq ptr %129, %130
  br i1 %131, label %228, label %132

132:
  %133 = icmp sgt i64 %30, 0
  br i1 %133, label %137, label %142

134:
  %135 = add nuw nsw i64 %138, 1
  %136 = icmp eq i64 %135, %30
  br i1 %136, label %142, label %137

137:
  %138 = phi i64 [ %135, %134 ], [ 0, %132 ]
  %139 = getelementptr inbounds ptr, ptr %3, i64 %138
  %140 = load ptr, ptr %139, align 8
  %141 = icmp eq ptr %140, %90
  br i1 %141, label %228, label %134

142:
  %143 = add nsw i64 %30, 1
  %144 = getelementptr inbounds ptr, ptr %3, i64 %30
  store ptr %90, ptr %144, align 8
  br label %223

145:
  %146 = load i64, ptr %11, align 8
  %147 = getelementptr inbounds i8, ptr %36, i64 %146
  %148 = load ptr, ptr %147, align 8
  %149 = load ptr, ptr %12, align 8
  %150 = icmp eq ptr %148, %149
  br i1 %150, label %151, label %228

151:
  %152 = icmp eq i64 %37, 2
  br i1 %152, label %153, label %169

153:
  %154 = getelementptr inbounds i8, ptr %34, i64 8
  %155 = load ptr, ptr %154, align 8
  %156 = load ptr, ptr %13, align 8
  %157 = call double %156(ptr %36)
  %158 = load ptr, ptr %13, align 8
  %159 = call double %158(ptr %155)
  %160 = fcmp oeq double %157, %159
  br i1 %160, label %161, label %228

161:
  %162 = fcmp une double %157, 0.000000e+00
  br i1 %162, label %169, label %163

163:
  %164 = fdiv double 1.000000e+00, %157
  %165 = fcmp ogt double %164, 0.000000e+00
  %166 = fdiv double 1.000000e+00, %159
  %167 = fcmp ogt double %166, 0.000000e+00
  %168 = xor i1 %165, %167
  br i1 %168, label %228, label %169

169:
  %170 = load ptr, ptr %13, align 8
  %171 = call double %170(ptr %36)
  %172 = load i64, ptr %34, align 8
  %173 = icmp eq i64 %172, 3
  br i1 %173, label %174, label %223

174:
  %175 = fcmp oeq double %171, 0.000000e+00
  %176 = fcmp oeq double %171, 1.000000e+00
  %177 = or i1 %175, %176
  %178 = fcmp oeq double %171, -1.000000e+00
  %179 = or i1 %178, %177
  %180 = fcmp oeq double %171, 2.000000e+00
  %181 = or i1 %180, %179
  br i1 %181, label %228, label %223

182:
  %183 = getelementptr inbounds i8, ptr %34, i64 8
  %184 = load ptr, ptr %183, align 8
  %185 = icmp eq ptr %36, %184
  br i1 %185, label %223, label %186

186:
  %187 = load i64, ptr %11, align 8
  %188 = getelementptr inbounds i8, ptr %36, i64 %187
  %189 = load ptr, ptr %188, align 8
  %190 = getelementptr inbounds i8, ptr %184, i64 %187
  %191 = load ptr, ptr %190, align 8
  %192 = icmp eq ptr %189, %191
  br i1 %192, label %193, label %228

193:
  %194 = icmp eq i64 %37, 4
  br i1 %194, label %195, label %219

195:
  %196 = getelementptr inbounds i8, ptr %36, i64 16
  %197 = load i64, ptr %196, align 8
  %198 = getelementptr inbounds i8, ptr %184, i64 16
  %199 = load i64, ptr %198, align 8
  %200 = icmp eq i64 %197, %199
  br i1 %200, label %201, label %228

201:
  %202 = icmp sgt i64 %197, 0
  br i1 %202, label %206, label %219

203:
  %204 = add nuw nsw i64 %207, 1
  %205 = icmp eq i64 %204, %197
  br i1 %205, label %219, label %206

206:
  %207 = phi i64 [ %204, %203 ], [ 0, %201 ]
  %208 = shl nsw i64 %207, 3
  %209 = add nuw nsw i64 %208, 24
  %210 = getelementptr inbounds i8, ptr %36, i64 %209
  %211 = load ptr, ptr %210, align 8
  %212 = getelementptr inbounds i8, ptr %211, i64 %187
  %213 = load ptr, ptr %212, align 8
  %214 = getelementptr inbounds i8, ptr %184, i64 %209
  %215 = load ptr, ptr %214, align 8
  %216 = getelementptr inbounds i8, ptr %215, i64 %187
  %217 = load ptr, ptr %216, align 8
  %218 = icmp eq ptr %213, %217
  br i1 %218, label %203, label %228

219:
  %220 = load ptr, ptr %28, align 8
  %221 = call i32 %220(ptr %36, ptr %184, i32 2)
  %222 = icmp sgt i32 %221, 0
  br i1 %222, label %223, label %228

223:
  %224 = phi i64 [ %30, %94 ], [ %143, %142 ], [ %30, %174 ], [ %30, %182 ], [ %30, %169 ], [ %30, %219 ]
  %225 = add nuw nsw i64 %31, 1
  %226 = load i64, ptr %5, align 8
  %227 = icmp slt i64 %225, %226
  br i1 %227, label %29, label %228

228:
  %229 = phi i32 [ 0, %137 ], [ 1, %4 ], [ 0, %206 ], [ 0, %62 ], [ 0, %52 ], [ 0, %49 ], [ 0, %75 ], [ 0, %94 ], [ 0, %195 ], [ 0, %119 ], [ 0, %126 ], [ 0, %110 ], [ 0, %69 ], [ 0, %100 ], [ 0, %85 ], [ 0, %153 ], [ 0, %174 ], [ 1, %223 ], [ 0, %186 ], [ 0, %145 ], [ 0, %163 ], [ %221, %219 ], [ 0, %80 ]
  ret i32 %229
}
define internal fastcc ptr @$recorded(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4) #0 {
  %6 = alloca ptr, align 8
  %7 = alloca ptr, align 8
  %8 = alloca [5 x ptr], align 16
  %9 = alloca [5 x ptr], align 16
  %10 = alloca [6 x ptr], align 16
  %11 = alloca [5 x ptr], align 16
  %12 = alloca [5 x ptr], align 16
  %13 = alloca [2 x ptr], align 16
  %14 = load ptr, ptr %0, align 8
  %15 = load ptr, ptr %14, align 8
  %16 = getelementptr inbounds i8, ptr %14, i64 104
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds i8, ptr %4, i64 %17
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %14, i64 112
  %21 = load i64, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %4, i64 %21
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds i8, ptr %1, i64 56
  %25 = load i64, ptr %24, align 8
  %26 = icmp sgt i64 %25, 0
  br i1 %26, label %27, label %32

27:
  %28 = getelementptr inbounds i8, ptr %15, i64 48
  br label %260

29:
  %30 = load ptr, ptr %0, align 8
  %31 = load ptr, ptr %30, align 8
  br label %32

32:
  %33 = phi ptr [ %31, %29 ], [ %15, %5 ]
  %34 = phi ptr [ %30, %29 ], [ %14, %5 ]
  %35 = getelementptr inbounds i8, ptr %1, i64 40
  %36 = load i64, ptr %35, align 8
  %37 = icmp eq i64 %36, 0
  br i1 %37, label %138, label %38

38:
  %39 = getelementptr inbounds i8, ptr %33, i64 136
  %40 = load ptr, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %34, i64 208
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %0, i64 16
  %44 = call ptr %40(ptr %42, ptr %43, i64 1, ptr null)
  %45 = icmp eq ptr %44, null
  %46 = getelementptr inbounds i8, ptr %33, i64 152
  %47 = getelementptr inbounds i8, ptr %0, i64 24
  %48 = getelementptr inbounds i8, ptr %0, i64 8
  %49 = getelementptr inbounds i8, ptr %33, i64 56
  %50 = getelementptr inbounds i8, ptr %33, i64 160
  %51 = getelementptr inbounds i8, ptr %33, i64 176
  %52 = getelementptr inbounds i8, ptr %33, i64 168
  br i1 %45, label %561, label %56

53:
  %54 = icmp eq i32 %121, 0
  %55 = select i1 %124, i1 %54, i1 false
  br i1 %55, label %56, label %126

56:
  %57 = phi ptr [ %122, %53 ], [ %44, %38 ]
  %58 = phi ptr [ %119, %53 ], [ null, %38 ]
  %59 = load ptr, ptr %46, align 8
  %60 = call ptr %59(ptr %57)
  %61 = load ptr, ptr %0, align 8
  %62 = load ptr, ptr %61, align 8
  %63 = load i64, ptr %47, align 8
  %64 = icmp eq i64 %63, 0
  br i1 %64, label %104, label %65

65:
  %66 = load ptr, ptr %48, align 8
  %67 = getelementptr inbounds i8, ptr %66, i64 16
  %68 = load i64, ptr %67, align 8
  %69 = inttoptr i64 %68 to ptr
  %70 = icmp eq ptr %60, %69
  br i1 %70, label %104, label %71

71:
  %72 = getelementptr inbounds i8, ptr %62, i64 192
  %73 = load ptr, ptr %72, align 8
  %74 = getelementptr inbounds i8, ptr %61, i64 256
  %75 = load ptr, ptr %74, align 8
  %76 = call ptr %73(ptr %60, ptr %75)
  %77 = icmp eq ptr %76, null
  br i1 %77, label %115, label %78

78:
  %79 = getelementptr inbounds i8, ptr %62, i64 200
  %80 = load ptr, ptr %79, align 8
  %81 = getelementptr inbounds i8, ptr %61, i64 264
  %82 = load ptr, ptr %81, align 8
  %83 = call i64 %80(ptr %76, ptr %82, i64 0, i64 9223372036854775807, i32 -1)
  %84 = getelementptr inbounds i8, ptr %62, i64 56
  %85 = load ptr, ptr %84, align 8
   call void %85(ptr %76)
  %86 = icmp eq i64 %83, 0
  br i1 %86, label %90, label %87

87:
  %88 = icmp sgt i64 %83, -1
  %89 = load ptr, ptr %49, align 8
   call void %89(ptr %60)
  br i1 %88, label %112, label %117

90:
  %91 = load ptr, ptr %48, align 8
  %92 = getelementptr inbounds i8, ptr %91, i64 16
  %93 = load i64, ptr %92, align 8
  %94 = icmp eq i64 %93, 0
  br i1 %94, label %98, label %95

95:
  %96 = load ptr, ptr %84, align 8
  %97 = inttoptr i64 %93 to ptr
   call void %96(ptr %97)
  br label %98

98:
  %99 = getelementptr inbounds i8, ptr %62, i64 48
  %100 = load ptr, ptr %99, align 8
   call void %100(ptr %60)
  %101 = ptrtoint ptr %60 to i64
  %102 = load ptr, ptr %48, align 8
  %103 = getelementptr inbounds i8, ptr %102, i64 16
  store i64 %101, ptr %103, align 8
  br label %104

104:
  %105 = load ptr, ptr %51, align 8
  %106 = load ptr, ptr %52, align 8
  %107 = call i32 %106(ptr %57)
  %108 = sext i32 %107 to i64
  %109 = call ptr %105(i64 %108)
  %110 = icmp eq ptr %109, null
  %111 = select i1 %110, i32 -1, i32 1
  br label %117

112:
  %113 = load ptr, ptr %50, align 8
  %114 = call ptr %113(ptr %57)
  br label %117

115:
  %116 = load ptr, ptr %49, align 8
   call void %116(ptr %60)
  br label %117

117:
  %118 = phi ptr [ %60, %104 ], [ null, %115 ], [ null, %112 ], [ null, %87 ]
  %119 = phi ptr [ %109, %104 ], [ %58, %115 ], [ %58, %112 ], [ %58, %87 ]
  %120 = phi i1 [ true, %104 ], [ true, %115 ], [ false, %112 ], [ true, %87 ]
  %121 = phi i32 [ %111, %104 ], [ -1, %115 ], [ 0, %112 ], [ -1, %87 ]
  %122 = phi ptr [ null, %104 ], [ null, %115 ], [ %114, %112 ], [ null, %87 ]
  %123 = load ptr, ptr %49, align 8
   call void %123(ptr %57)
  %124 = icmp ne ptr %122, null
  %125 = select i1 %120, i1 true, i1 %124
  br i1 %125, label %53, label %488

126:
  %127 = icmp slt i32 %121, 1
  br i1 %127, label %486, label %128

128:
  %129 = load i64, ptr %35, align 8
  %130 = icmp eq i64 %129, 4
  br i1 %130, label %131, label %138

131:
  store ptr %19, ptr %13, align 16
  %132 = getelementptr inbounds i8, ptr %13, i64 8
  store ptr %118, ptr %132, align 8
  %133 = load ptr, ptr %39, align 8
  %134 = getelementptr inbounds i8, ptr %34, i64 216
  %135 = load ptr, ptr %134, align 8
  %136 = call ptr %133(ptr %135, ptr %13, i64 2, ptr null)
  %137 = icmp eq ptr %136, null
  br i1 %137, label %561, label %138

138:
  %139 = phi ptr [ null, %32 ], [ %118, %131 ], [ %118, %128 ]
  %140 = phi ptr [ null, %32 ], [ %119, %131 ], [ %119, %128 ]
  %141 = phi ptr [ null, %32 ], [ %136, %131 ], [ null, %128 ]
  %142 = getelementptr inbounds i8, ptr %1, i64 16
  %143 = load ptr, ptr %142, align 8
  %144 = icmp eq ptr %143, null
  br i1 %144, label %267, label %145

145:
  %146 = getelementptr inbounds i8, ptr %1, i64 32
  %147 = load i64, ptr %146, align 8
  switch i64 %147, label %148 [
    i64 3, label %151
    i64 0, label %151
    i64 1, label %153
  ]

148:
  %149 = getelementptr inbounds i8, ptr %33, i64 208
  %150 = load ptr, ptr %149, align 8
  br label %151

151:
  %152 = phi ptr [ %139, %145 ], [ %139, %145 ], [ %150, %148 ]
  switch i64 %147, label %156 [
    i64 3, label %159
    i64 0, label %159
    i64 1, label %153
  ]

153:
  %154 = phi ptr [ %152, %151 ], [ %19, %145 ]
  %155 = getelementptr inbounds i8, ptr %33, i64 208
  br label %164

156:
  %157 = getelementptr inbounds i8, ptr %33, i64 240
  %158 = load ptr, ptr %157, align 8
  br label %159

159:
  %160 = phi ptr [ %158, %156 ], [ %140, %151 ], [ %140, %151 ]
  %161 = and i64 %147, -2
  %162 = icmp eq i64 %161, 2
  %163 = getelementptr inbounds i8, ptr %33, i64 208
  br i1 %162, label %169, label %164

164:
  %165 = phi ptr [ %155, %153 ], [ %163, %159 ]
  %166 = phi ptr [ %23, %153 ], [ %160, %159 ]
  %167 = phi ptr [ %154, %153 ], [ %152, %159 ]
  %168 = load ptr, ptr %165, align 8
  br label %169

169:
  %170 = phi ptr [ %163, %159 ], [ %165, %164 ]
  %171 = phi ptr [ %160, %159 ], [ %166, %164 ]
  %172 = phi ptr [ %152, %159 ], [ %167, %164 ]
  %173 = phi ptr [ %19, %159 ], [ %168, %164 ]
  %174 = load ptr, ptr %34, align 8
  %175 = getelementptr inbounds i8, ptr %174, i64 88
  %176 = load ptr, ptr %175, align 8
  %177 = getelementptr inbounds i8, ptr %34, i64 128
  %178 = load ptr, ptr %177, align 8
  %179 = call ptr %176(ptr %178, i64 0)
  %180 = icmp eq ptr %179, null
  br i1 %180, label %561, label %181

181:
  store ptr %143, ptr %12, align 16
  %182 = getelementptr inbounds i8, ptr %12, i64 8
  store ptr %172, ptr %182, align 8
  %183 = getelementptr inbounds i8, ptr %12, i64 16
  store ptr %171, ptr %183, align 16
  %184 = getelementptr inbounds i8, ptr %12, i64 24
  store ptr %173, ptr %184, align 8
  %185 = getelementptr inbounds i8, ptr %12, i64 32
  %186 = getelementptr inbounds i8, ptr %174, i64 224
  %187 = load ptr, ptr %186, align 8
  store ptr %187, ptr %185, align 16
  %188 = getelementptr inbounds i8, ptr %174, i64 48
  br label %189

189:
  %190 = phi i64 [ 0, %181 ], [ %194, %189 ]
  %191 = load ptr, ptr %188, align 8
  %192 = getelementptr inbounds ptr, ptr %12, i64 %190
  %193 = load ptr, ptr %192, align 8
  call void %191(ptr %193)
  %194 = add nuw nsw i64 %190, 1
  %195 = icmp eq i64 %194, 5
  br i1 %195, label %196, label %189

196:
  %197 = getelementptr inbounds i8, ptr %34, i64 144
  %198 = load i64, ptr %197, align 8
  %199 = getelementptr inbounds i8, ptr %179, i64 %198
  store ptr %143, ptr %199, align 8
  %200 = getelementptr inbounds i8, ptr %34, i64 152
  %201 = load i64, ptr %200, align 8
  %202 = getelementptr inbounds i8, ptr %179, i64 %201
  store ptr %172, ptr %202, align 8
  %203 = getelementptr inbounds i8, ptr %34, i64 160
  %204 = load i64, ptr %203, align 8
  %205 = getelementptr inbounds i8, ptr %179, i64 %204
  store ptr %171, ptr %205, align 8
  %206 = getelementptr inbounds i8, ptr %34, i64 168
  %207 = load i64, ptr %206, align 8
  %208 = getelementptr inbounds i8, ptr %179, i64 %207
  store ptr %173, ptr %208, align 8
  %209 = getelementptr inbounds i8, ptr %34, i64 176
  %210 = load i64, ptr %209, align 8
  %211 = load ptr, ptr %186, align 8
  %212 = getelementptr inbounds i8, ptr %179, i64 %210
  store ptr %211, ptr %212, align 8
  %213 = getelementptr inbounds i8, ptr %1, i64 24
  %214 = load ptr, ptr %213, align 8
  %215 = icmp eq ptr %214, null
  br i1 %215, label %267, label %216

216:
  %217 = load ptr, ptr %170, align 8
  %218 = getelementptr inbounds i8, ptr %33, i64 240
  %219 = load ptr, ptr %218, align 8
  %220 = load ptr, ptr %34, align 8
  %221 = getelementptr inbounds i8, ptr %220, i64 88
  %222 = load ptr, ptr %221, align 8
  %223 = load ptr, ptr %177, align 8
  %224 = call ptr %222(ptr %223, i64 0)
  %225 = icmp eq ptr %224, null
  br i1 %225, label %253, label %226

226:
  store ptr %214, ptr %11, align 16
  %227 = getelementptr inbounds i8, ptr %11, i64 8
  store ptr %217, ptr %227, align 8
  %228 = getelementptr inbounds i8, ptr %11, i64 16
  store ptr %219, ptr %228, align 16
  %229 = getelementptr inbounds i8, ptr %11, i64 24
  store ptr %179, ptr %229, align 8
  %230 = getelementptr inbounds i8, ptr %11, i64 32
  %231 = getelementptr inbounds i8, ptr %220, i64 224
  %232 = load ptr, ptr %231, align 8
  store ptr %232, ptr %230, align 16
  %233 = getelementptr inbounds i8, ptr %220, i64 48
  br label %246

234:
  %235 = load i64, ptr %197, align 8
  %236 = getelementptr inbounds i8, ptr %224, i64 %235
  store ptr %214, ptr %236, align 8
  %237 = load i64, ptr %200, align 8
  %238 = getelementptr inbounds i8, ptr %224, i64 %237
  store ptr %217, ptr %238, align 8
  %239 = load i64, ptr %203, align 8
  %240 = getelementptr inbounds i8, ptr %224, i64 %239
  store ptr %219, ptr %240, align 8
  %241 = load i64, ptr %206, align 8
  %242 = getelementptr inbounds i8, ptr %224, i64 %241
  store ptr %179, ptr %242, align 8
  %243 = load i64, ptr %209, align 8
  %244 = load ptr, ptr %231, align 8
  %245 = getelementptr inbounds i8, ptr %224, i64 %243
  store ptr %244, ptr %245, align 8
  br label %253

246:
  %247 = phi i64 [ 0, %226 ], [ %251, %246 ]
  %248 = load ptr, ptr %233, align 8
  %249 = getelementptr inbounds ptr, ptr %11, i64 %247
  %250 = load ptr, ptr %249, align 8
  call void %248(ptr %250)
  %251 = add nuw nsw i64 %247, 1
  %252 = icmp eq i64 %251, 5
  br i1 %252, label %234, label %246

253:
  %254 = load ptr, ptr %213, align 8
  %255 = icmp eq ptr %254, null
  br i1 %255, label %259, label %256

256:
  %257 = getelementptr inbounds i8, ptr %33, i64 56
  %258 = load ptr, ptr %257, align 8
  call void %258(ptr %179)
  br label %259

259:
  br i1 %225, label %561, label %267

260:
  %261 = phi i64 [ 0, %27 ], [ %265, %260 ]
  %262 = load ptr, ptr %28, align 8
  %263 = getelementptr inbounds ptr, ptr %3, i64 %261
  %264 = load ptr, ptr %263, align 8
   call void %262(ptr %264)
  %265 = add nuw nsw i64 %261, 1
  %266 = icmp eq i64 %265, %25
  br i1 %266, label %29, label %260

267:
  %268 = phi ptr [ null, %138 ], [ %224, %259 ], [ %179, %196 ]
  %269 = getelementptr inbounds i8, ptr %1, i64 64
  %270 = load i64, ptr %269, align 8
  %271 = icmp eq i64 %270, 0
  br i1 %271, label %272, label %308

272:
  %273 = getelementptr inbounds i8, ptr %1, i64 72
  %274 = load i64, ptr %273, align 8
  %275 = getelementptr inbounds ptr, ptr %3, i64 %274
  %276 = load ptr, ptr %275, align 8
  %277 = load ptr, ptr %14, align 8
  %278 = getelementptr inbounds i8, ptr %277, i64 320
  %279 = load i64, ptr %278, align 8
  %280 = getelementptr inbounds i8, ptr %276, i64 %279
  %281 = load ptr, ptr %280, align 8
  %282 = getelementptr inbounds i8, ptr %277, i64 208
  %283 = load ptr, ptr %282, align 8
  %284 = icmp eq ptr %281, %283
  br i1 %284, label %285, label %300

285:
  %286 = getelementptr inbounds i8, ptr %277, i64 328
  %287 = load i64, ptr %286, align 8
  %288 = getelementptr inbounds i8, ptr %276, i64 %287
  %289 = load ptr, ptr %288, align 8
  %290 = getelementptr inbounds i8, ptr %277, i64 48
  %291 = load ptr, ptr %290, align 8
  call void %291(ptr %139)
  %292 = load ptr, ptr %290, align 8
  call void %292(ptr %140)
  %293 = load i64, ptr %278, align 8
  %294 = getelementptr inbounds i8, ptr %276, i64 %293
  store ptr %139, ptr %294, align 8
  %295 = load i64, ptr %286, align 8
  %296 = getelementptr inbounds i8, ptr %276, i64 %295
  store ptr %140, ptr %296, align 8
  %297 = getelementptr inbounds i8, ptr %277, i64 56
  %298 = load ptr, ptr %297, align 8
  call void %298(ptr %281)
  %299 = load ptr, ptr %297, align 8
  call void %299(ptr %289)
  br label %308

300:
  %301 = getelementptr inbounds i8, ptr %277, i64 264
  %302 = load i64, ptr %301, align 8
  %303 = getelementptr inbounds i8, ptr %281, i64 %302
  %304 = load ptr, ptr %303, align 8
  %305 = getelementptr inbounds i8, ptr %14, i64 128
  %306 = load ptr, ptr %305, align 8
  %307 = icmp eq ptr %304, %306
  br i1 %307, label %488, label %308

308:
  %309 = getelementptr inbounds i8, ptr %1, i64 64
  %310 = getelementptr inbounds i8, ptr %1, i64 96
  %311 = getelementptr inbounds i8, ptr %8, i64 8
  %312 = getelementptr inbounds i8, ptr %8, i64 16
  %313 = getelementptr inbounds i8, ptr %8, i64 24
  %314 = getelementptr inbounds i8, ptr %8, i64 32
  %315 = getelementptr inbounds i8, ptr %9, i64 8
  %316 = getelementptr inbounds i8, ptr %9, i64 16
  %317 = getelementptr inbounds i8, ptr %9, i64 24
  %318 = getelementptr inbounds i8, ptr %9, i64 32
  %319 = getelementptr inbounds i8, ptr %10, i64 8
  %320 = getelementptr inbounds i8, ptr %10, i64 16
  %321 = getelementptr inbounds i8, ptr %10, i64 24
  %322 = getelementptr inbounds i8, ptr %10, i64 32
  %323 = getelementptr inbounds i8, ptr %10, i64 40
  %324 = getelementptr inbounds i8, ptr %14, i64 232
  %325 = getelementptr inbounds i8, ptr %14, i64 240
  %326 = load i64, ptr %309, align 8
  %327 = icmp sgt i64 %326, 0
  br i1 %327, label %328, label %497

328:
  %329 = phi i64 [ %482, %481 ], [ %25, %308 ]
  %330 = load ptr, ptr %310, align 8
  %331 = sub nsw i64 %329, %25
  %332 = shl nsw i64 %331, 6
  %333 = getelementptr inbounds i8, ptr %330, i64 %332
  %334 = load ptr, ptr %14, align 8
  %335 = load ptr, ptr %333, align 8
  %336 = icmp eq ptr %335, null
  br i1 %336, label %337, label %343

337:
  %338 = getelementptr inbounds i8, ptr %334, i64 48
  %339 = load ptr, ptr %338, align 8
  %340 = getelementptr inbounds i8, ptr %333, i64 8
  %341 = load ptr, ptr %340, align 8
  call void %339(ptr %341)
  %342 = load ptr, ptr %340, align 8
  br label %477

343:
  %344 = getelementptr inbounds i8, ptr %334, i64 16
  %345 = load ptr, ptr %344, align 8
  %346 = getelementptr inbounds i8, ptr %333, i64 32
  %347 = load i64, ptr %346, align 8
  %348 = call ptr %345(i64 %347)
  %349 = icmp eq ptr %348, null
  br i1 %349, label %350, label %352

350:
  %351 = getelementptr inbounds ptr, ptr %3, i64 %329
  store ptr null, ptr %351, align 8
  br label %497

352:
  %353 = load i64, ptr %346, align 8
  %354 = icmp sgt i64 %353, 0
  br i1 %354, label %355, label %359

355:
  %356 = getelementptr inbounds i8, ptr %334, i64 48
  %357 = getelementptr inbounds i8, ptr %333, i64 56
  %358 = getelementptr inbounds i8, ptr %334, i64 24
  br label %366

359:
  %360 = getelementptr inbounds i8, ptr %334, i64 88
  %361 = load ptr, ptr %360, align 8
  %362 = getelementptr inbounds i8, ptr %334, i64 256
  %363 = load ptr, ptr %362, align 8
  %364 = call ptr %361(ptr %363, i64 0)
  store ptr %364, ptr %7, align 8
  %365 = icmp eq ptr %364, null
  br i1 %365, label %384, label %387

366:
  %367 = phi i64 [ 0, %355 ], [ %381, %366 ]
  %368 = load ptr, ptr %356, align 8
  %369 = load ptr, ptr %357, align 8
  %370 = getelementptr inbounds i64, ptr %369, i64 %367
  %371 = load i64, ptr %370, align 8
  %372 = getelementptr inbounds ptr, ptr %3, i64 %371
  %373 = load ptr, ptr %372, align 8
  call void %368(ptr %373)
  %374 = load ptr, ptr %358, align 8
  %375 = load ptr, ptr %357, align 8
  %376 = getelementptr inbounds i64, ptr %375, i64 %367
  %377 = load i64, ptr %376, align 8
  %378 = getelementptr inbounds ptr, ptr %3, i64 %377
  %379 = load ptr, ptr %378, align 8
  %380 = call i32 %374(ptr %348, i64 %367, ptr %379)
  %381 = add nuw nsw i64 %367, 1
  %382 = load i64, ptr %346, align 8
  %383 = icmp slt i64 %381, %382
  br i1 %383, label %366, label %359

384:
  %385 = getelementptr inbounds i8, ptr %334, i64 56
  %386 = load ptr, ptr %385, align 8
  call void %386(ptr %348)
  br label %475

387:
  %388 = getelementptr inbounds i8, ptr %334, i64 208
  %389 = load ptr, ptr %388, align 8
  store ptr %389, ptr %8, align 16
  store ptr %19, ptr %311, align 8
  store ptr %268, ptr %312, align 16
  store ptr %139, ptr %313, align 8
  store ptr %141, ptr %314, align 16
  %390 = getelementptr inbounds i8, ptr %334, i64 240
  %391 = load ptr, ptr %390, align 8
  store ptr %391, ptr %9, align 16
  store ptr %23, ptr %315, align 8
  store ptr %391, ptr %316, align 16
  store ptr %140, ptr %317, align 8
  store ptr %140, ptr %318, align 16
  %392 = getelementptr inbounds i8, ptr %333, i64 40
  %393 = load i64, ptr %392, align 8
  %394 = getelementptr inbounds ptr, ptr %8, i64 %393
  %395 = load ptr, ptr %394, align 8
  %396 = getelementptr inbounds ptr, ptr %9, i64 %393
  %397 = load ptr, ptr %396, align 8
  %398 = load ptr, ptr %333, align 8
  store ptr %398, ptr %10, align 16
  %399 = getelementptr inbounds i8, ptr %333, i64 48
  %400 = load i64, ptr %399, align 8
  %401 = icmp slt i64 %400, 0
  %402 = getelementptr inbounds i8, ptr %333, i64 8
  %403 = getelementptr inbounds ptr, ptr %2, i64 %400
  %404 = select i1 %401, ptr %402, ptr %403
  %405 = load ptr, ptr %404, align 8
  store ptr %405, ptr %319, align 8
  %406 = getelementptr inbounds i8, ptr %333, i64 16
  %407 = load ptr, ptr %406, align 8
  store ptr %407, ptr %320, align 16
  %408 = getelementptr inbounds i8, ptr %333, i64 24
  %409 = load ptr, ptr %408, align 8
  store ptr %409, ptr %321, align 8
  store ptr %395, ptr %322, align 16
  store ptr %397, ptr %323, align 8
  %410 = getelementptr inbounds i8, ptr %334, i64 48
  br label %448

411:
  %412 = load ptr, ptr %410, align 8
  %413 = load ptr, ptr %388, align 8
  call void %412(ptr %413)
  %414 = load ptr, ptr %410, align 8
  %415 = load ptr, ptr %390, align 8
  call void %414(ptr %415)
  %416 = getelementptr inbounds i8, ptr %334, i64 272
  %417 = load i64, ptr %416, align 8
  %418 = getelementptr inbounds i8, ptr %364, i64 %417
  store ptr %398, ptr %418, align 8
  %419 = getelementptr inbounds i8, ptr %334, i64 280
  %420 = load i64, ptr %419, align 8
  %421 = getelementptr inbounds i8, ptr %364, i64 %420
  store ptr %348, ptr %421, align 8
  %422 = getelementptr inbounds i8, ptr %334, i64 288
  %423 = load i64, ptr %422, align 8
  %424 = getelementptr inbounds i8, ptr %364, i64 %423
  store ptr %405, ptr %424, align 8
  %425 = getelementptr inbounds i8, ptr %334, i64 296
  %426 = load i64, ptr %425, align 8
  %427 = getelementptr inbounds i8, ptr %364, i64 %426
  store ptr %407, ptr %427, align 8
  %428 = getelementptr inbounds i8, ptr %334, i64 304
  %429 = load i64, ptr %428, align 8
  %430 = getelementptr inbounds i8, ptr %364, i64 %429
  store ptr %409, ptr %430, align 8
  %431 = getelementptr inbounds i8, ptr %334, i64 320
  %432 = load i64, ptr %431, align 8
  %433 = getelementptr inbounds i8, ptr %364, i64 %432
  store ptr %395, ptr %433, align 8
  %434 = getelementptr inbounds i8, ptr %334, i64 328
  %435 = load i64, ptr %434, align 8
  %436 = getelementptr inbounds i8, ptr %364, i64 %435
  store ptr %397, ptr %436, align 8
  %437 = getelementptr inbounds i8, ptr %334, i64 312
  %438 = load i64, ptr %437, align 8
  %439 = load ptr, ptr %388, align 8
  %440 = getelementptr inbounds i8, ptr %364, i64 %438
  store ptr %439, ptr %440, align 8
  %441 = getelementptr inbounds i8, ptr %334, i64 336
  %442 = load i64, ptr %441, align 8
  %443 = load ptr, ptr %390, align 8
  %444 = getelementptr inbounds i8, ptr %364, i64 %442
  store ptr %443, ptr %444, align 8
  %445 = load ptr, ptr %333, align 8
  %446 = load ptr, ptr %324, align 8
  %447 = icmp eq ptr %445, %446
  br i1 %447, label %455, label %473

448:
  %449 = phi i64 [ 0, %387 ], [ %453, %448 ]
  %450 = load ptr, ptr %410, align 8
  %451 = getelementptr inbounds ptr, ptr %10, i64 %449
  %452 = load ptr, ptr %451, align 8
  call void %450(ptr %452)
  %453 = add nuw nsw i64 %449, 1
  %454 = icmp eq i64 %453, 6
  br i1 %454, label %411, label %448

455:
  %456 = getelementptr inbounds i8, ptr %334, i64 136
  %457 = load ptr, ptr %456, align 8
  %458 = load ptr, ptr %325, align 8
  %459 = call ptr %457(ptr %458, ptr %7, i64 1, ptr null)
  %460 = icmp eq ptr %459, null
  br i1 %460, label %465, label %461

461:
  %462 = getelementptr inbounds i8, ptr %334, i64 56
  %463 = load ptr, ptr %462, align 8
  call void %463(ptr %459)
  %464 = load ptr, ptr %7, align 8
  br label %473

465:
  %466 = load ptr, ptr %333, align 8
  %467 = load ptr, ptr %324, align 8
  %468 = load ptr, ptr %7, align 8
  %469 = icmp eq ptr %466, %467
  br i1 %469, label %470, label %473

470:
  %471 = getelementptr inbounds i8, ptr %334, i64 56
  %472 = load ptr, ptr %471, align 8
  call void %472(ptr %468)
  br label %473

473:
  %474 = phi ptr [ null, %470 ], [ %468, %465 ], [ %464, %461 ], [ %364, %411 ]
  br label %475

475:
  %476 = phi ptr [ %474, %473 ], [ null, %384 ]
  br label %477

477:
  %478 = phi ptr [ %342, %337 ], [ %476, %475 ]
  %479 = getelementptr inbounds ptr, ptr %3, i64 %329
  store ptr %478, ptr %479, align 8
  %480 = icmp eq ptr %478, null
  br i1 %480, label %497, label %481

481:
  %482 = add nsw i64 %329, 1
  %483 = load i64, ptr %309, align 8
  %484 = add nsw i64 %483, %25
  %485 = icmp slt i64 %482, %484
  br i1 %485, label %328, label %497

486:
  %487 = icmp eq i32 %121, 0
  br i1 %487, label %488, label %561

488:
  %489 = phi ptr [ %141, %300 ], [ null, %486 ], [ null, %117 ]
  %490 = phi ptr [ %268, %300 ], [ null, %486 ], [ null, %117 ]
  %491 = phi ptr [ %140, %300 ], [ %119, %486 ], [ %119, %117 ]
  %492 = phi ptr [ %139, %300 ], [ %118, %486 ], [ %118, %117 ]
  %493 = getelementptr inbounds i8, ptr %15, i64 208
  %494 = load ptr, ptr %493, align 8
  %495 = getelementptr inbounds i8, ptr %15, i64 48
  %496 = load ptr, ptr %495, align 8
  call void %496(ptr %494)
  br label %561

497:
  %498 = phi i64 [ %329, %350 ], [ %25, %308 ], [ %329, %477 ], [ %482, %481 ]
  %499 = load i64, ptr %309, align 8
  %500 = add nsw i64 %499, %25
  %501 = icmp eq i64 %498, %500
  br i1 %501, label %502, label %561

502:
  %503 = getelementptr inbounds i8, ptr %1, i64 72
  %504 = load i64, ptr %503, align 8
  %505 = getelementptr inbounds ptr, ptr %3, i64 %504
  %506 = load ptr, ptr %505, align 8
  %507 = getelementptr inbounds i8, ptr %1, i64 80
  %508 = load i64, ptr %507, align 8
  %509 = icmp eq i64 %508, 0
  br i1 %509, label %546, label %510

510:
  store ptr %506, ptr %6, align 8
  %511 = load ptr, ptr %14, align 8
  %512 = getelementptr inbounds i8, ptr %511, i64 184
  %513 = load ptr, ptr %512, align 8
  %514 = getelementptr inbounds i8, ptr %14, i64 200
  %515 = load ptr, ptr %514, align 8
  %516 = getelementptr inbounds i8, ptr %515, i64 24
  %517 = load ptr, ptr %516, align 8
  %518 = load ptr, ptr %517, align 8
  %519 = call i64 %513(ptr %518)
  %520 = add nsw i64 %519, %508
  %521 = getelementptr inbounds i8, ptr %14, i64 272
  %522 = load i64, ptr %521, align 8
  %523 = icmp slt i64 %520, %522
  br i1 %523, label %534, label %524

524:
  %525 = getelementptr inbounds i8, ptr %511, i64 136
  %526 = load ptr, ptr %525, align 8
  %527 = getelementptr inbounds i8, ptr %14, i64 224
  %528 = load ptr, ptr %527, align 8
  %529 = call ptr %526(ptr %528, ptr %6, i64 1, ptr null)
  %530 = icmp eq ptr %529, null
  br i1 %530, label %539, label %531

531:
  %532 = getelementptr inbounds i8, ptr %511, i64 56
  %533 = load ptr, ptr %532, align 8
  call void %533(ptr %529)
  br label %546

534:
  %535 = getelementptr inbounds i8, ptr %511, i64 176
  %536 = load ptr, ptr %535, align 8
  %537 = call ptr %536(i64 %520)
  %538 = icmp eq ptr %537, null
  br i1 %538, label %539, label %540

539:
  br label %561

540:
  %541 = getelementptr inbounds i8, ptr %511, i64 8
  %542 = load ptr, ptr %541, align 8
  %543 = load ptr, ptr %514, align 8
  %544 = call i32 %542(ptr %543, i64 0, ptr %537)
  %545 = icmp eq i32 %544, 0
  br i1 %545, label %546, label %561

546:
  %547 = getelementptr inbounds i8, ptr %15, i64 88
  %548 = load ptr, ptr %547, align 8
  %549 = getelementptr inbounds i8, ptr %14, i64 8
  %550 = load ptr, ptr %549, align 8
  %551 = call ptr %548(ptr %550, i64 0)
  %552 = icmp ne ptr %551, null
  %553 = icmp ne ptr %506, null
  %554 = select i1 %552, i1 %553, i1 false
  br i1 %554, label %555, label %561

555:
  %556 = getelementptr inbounds i8, ptr %15, i64 48
  %557 = load ptr, ptr %556, align 8
  call void %557(ptr %506)
  %558 = getelementptr inbounds i8, ptr %14, i64 32
  %559 = load i64, ptr %558, align 8
  %560 = getelementptr inbounds i8, ptr %551, i64 %559
  store ptr %506, ptr %560, align 8
  br label %561

561:
  %562 = phi ptr [ %139, %546 ], [ %139, %555 ], [ %139, %539 ], [ %139, %540 ], [ %492, %488 ], [ %139, %497 ], [ %118, %486 ], [ %139, %169 ], [ %118, %131 ], [ %139, %259 ], [ null, %38 ]
  %563 = phi ptr [ %140, %546 ], [ %140, %555 ], [ %140, %539 ], [ %140, %540 ], [ %491, %488 ], [ %140, %497 ], [ %119, %486 ], [ %140, %169 ], [ %119, %131 ], [ %140, %259 ], [ null, %38 ]
  %564 = phi ptr [ %268, %546 ], [ %268, %555 ], [ %268, %539 ], [ %268, %540 ], [ %490, %488 ], [ %268, %497 ], [ null, %486 ], [ null, %169 ], [ null, %131 ], [ null, %259 ], [ null, %38 ]
  %565 = phi ptr [ %141, %546 ], [ %141, %555 ], [ %141, %539 ], [ %141, %540 ], [ %489, %488 ], [ %141, %497 ], [ null, %486 ], [ %141, %169 ], [ null, %131 ], [ %141, %259 ], [ null, %38 ]
  %566 = phi i64 [ %498, %546 ], [ %498, %555 ], [ %498, %539 ], [ %498, %540 ], [ %25, %488 ], [ %498, %497 ], [ %25, %486 ], [ %25, %169 ], [ %25, %131 ], [ %25, %259 ], [ %25, %38 ]
  %567 = phi ptr [ %551, %546 ], [ %551, %555 ], [ null, %539 ], [ null, %540 ], [ %494, %488 ], [ null, %497 ], [ null, %486 ], [ null, %169 ], [ null, %131 ], [ null, %259 ], [ null, %38 ]
  %568 = icmp sgt i64 %566, 0
  br i1 %568, label %569, label %578

569:
  %570 = getelementptr inbounds i8, ptr %15, i64 56
  br label %571

571:
  %572 = phi i64 [ %566, %569 ], [ %574, %571 ]
  %573 = load ptr, ptr %570, align 8
  %574 = add nsw i64 %572, -1
  %575 = getelementptr inbounds ptr, ptr %3, i64 %574
  %576 = load ptr, ptr %575, align 8
  call void %573(ptr %576)
  %577 = icmp samesign ugt i64 %572, 1
  br i1 %577, label %571, label %578

578:
  %579 = icmp eq ptr %562, null
  br i1 %579, label %583, label %580

580:
  %581 = getelementptr inbounds i8, ptr %15, i64 56
  %582 = load ptr, ptr %581, align 8
  call void %582(ptr %562)
  br label %583

583:
  %584 = icmp eq ptr %563, null
  br i1 %584, label %588, label %585

585:
  %586 = getelementptr inbounds i8, ptr %15, i64 56
  %587 = load ptr, ptr %586, align 8
  call void %587(ptr %563)
  br label %588

588:
  %589 = icmp eq ptr %565, null
  br i1 %589, label %593, label %590

590:
  %591 = getelementptr inbounds i8, ptr %15, i64 56
  %592 = load ptr, ptr %591, align 8
  call void %592(ptr %565)
  br label %593

593:
  %594 = icmp eq ptr %564, null
  br i1 %594, label %598, label %595

595:
  %596 = getelementptr inbounds i8, ptr %15, i64 56
  %597 = load ptr, ptr %596, align 8
  call void %597(ptr %564)
  br label %598

598:
  ret ptr %567
}
