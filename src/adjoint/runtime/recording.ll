; Made from recording.c by `make native`; its SHA-256 is dc9471f26a6df59774e5f8f938df6b2caf246d333be815d3df29d6e6636e6164
define ptr @$filled() #0 {
  %1 = alloca ptr, align 8
  store volatile ptr inttoptr (i64 6547123219833032162 to ptr), ptr %1, align 8
  %2 = load volatile ptr, ptr %1, align 8
  ret ptr %2
}
define ptr @$match(ptr %0, ptr %1) #0 {
  %3 = alloca [7 x ptr], align 16
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
  %14 = getelementptr inbounds i8, ptr %5, i64 224
  %15 = load ptr, ptr %14, align 8
   call void %13(ptr %15)
  %16 = load ptr, ptr %14, align 8
  br label %607

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
  br label %607

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
  %48 = getelementptr inbounds i8, ptr %46, i64 344
  %49 = getelementptr inbounds i8, ptr %46, i64 224
  %50 = getelementptr inbounds i8, ptr %46, i64 304
  %51 = getelementptr inbounds i8, ptr %46, i64 328
  %52 = getelementptr inbounds i8, ptr %46, i64 336
  %53 = getelementptr inbounds i8, ptr %46, i64 320
  %54 = getelementptr inbounds i8, ptr %46, i64 296
  %55 = getelementptr inbounds i8, ptr %46, i64 248
  %56 = getelementptr inbounds i8, ptr %46, i64 32
  %57 = getelementptr inbounds i8, ptr %46, i64 40
  %58 = getelementptr inbounds i8, ptr %46, i64 312
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
  br i1 %270, label %280, label %591

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
  %284 = getelementptr inbounds i8, ptr %5, i64 224
  %285 = load ptr, ptr %284, align 8
   call void %283(ptr %285)
  %286 = load ptr, ptr %284, align 8
  br label %591

287:
  %288 = getelementptr inbounds i8, ptr %5, i64 16
  %289 = load ptr, ptr %288, align 8
  %290 = call ptr %289(i64 7)
  %291 = icmp eq ptr %290, null
  br i1 %291, label %591, label %292

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
  %360 = getelementptr inbounds i8, ptr %352, i64 320
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
  %450 = getelementptr inbounds i8, ptr %442, i64 320
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
  %477 = getelementptr inbounds i8, ptr %3, i64 40
  store ptr null, ptr %477, align 8
  %478 = getelementptr inbounds i8, ptr %3, i64 48
  %479 = icmp eq ptr %319, null
  br i1 %479, label %539, label %480

480:
  %481 = load ptr, ptr %4, align 8
  %482 = load ptr, ptr %481, align 8
  %483 = load i64, ptr %315, align 8
  %484 = call ptr %482(i64 %483)
  %485 = icmp eq ptr %484, null
  br i1 %485, label %537, label %486

486:
  %487 = getelementptr inbounds i8, ptr %319, i64 24
  %488 = getelementptr inbounds i8, ptr %481, i64 344
  %489 = getelementptr inbounds i8, ptr %481, i64 296
  %490 = getelementptr inbounds i8, ptr %481, i64 280
  %491 = getelementptr inbounds i8, ptr %481, i64 376
  %492 = getelementptr inbounds i8, ptr %481, i64 288
  %493 = getelementptr inbounds i8, ptr %481, i64 48
  %494 = getelementptr inbounds i8, ptr %481, i64 8
  %495 = load i64, ptr %315, align 8
  %496 = icmp sgt i64 %495, 0
  br i1 %496, label %497, label %537

497:
  %498 = phi i64 [ %527, %523 ], [ 0, %486 ]
  %499 = load ptr, ptr %487, align 8
  %500 = getelementptr inbounds ptr, ptr %499, i64 %498
  %501 = load ptr, ptr %500, align 8
  %502 = load i64, ptr %488, align 8
  %503 = getelementptr inbounds i8, ptr %501, i64 %502
  %504 = load ptr, ptr %503, align 8
  %505 = load i64, ptr %489, align 8
  %506 = getelementptr inbounds i8, ptr %504, i64 %505
  %507 = load ptr, ptr %506, align 8
  %508 = load ptr, ptr %490, align 8
  %509 = icmp eq ptr %507, %508
  br i1 %509, label %510, label %518

510:
  %511 = load i64, ptr %491, align 8
  %512 = getelementptr inbounds i8, ptr %504, i64 %511
  %513 = load ptr, ptr %512, align 8
  %514 = icmp eq ptr %513, null
  br i1 %514, label %530, label %515

515:
  %516 = getelementptr inbounds i8, ptr %513, i64 %505
  %517 = load ptr, ptr %516, align 8
  br label %518

518:
  %519 = phi ptr [ %517, %515 ], [ %507, %497 ]
  %520 = phi ptr [ %513, %515 ], [ %504, %497 ]
  %521 = load ptr, ptr %492, align 8
  %522 = icmp eq ptr %519, %521
  br i1 %522, label %523, label %530

523:
  %524 = load ptr, ptr %493, align 8
   call void %524(ptr %520)
  %525 = load ptr, ptr %494, align 8
  %526 = call i32 %525(ptr %484, i64 %498, ptr %520)
  %527 = add nuw nsw i64 %498, 1
  %528 = load i64, ptr %315, align 8
  %529 = icmp slt i64 %527, %528
  br i1 %529, label %497, label %537

530:
  %531 = getelementptr inbounds i8, ptr %481, i64 56
  %532 = load ptr, ptr %531, align 8
   call void %532(ptr %484)
  %533 = load ptr, ptr %493, align 8
  %534 = getelementptr inbounds i8, ptr %481, i64 224
  %535 = load ptr, ptr %534, align 8
   call void %533(ptr %535)
  %536 = load ptr, ptr %534, align 8
  br label %537

537:
  %538 = phi ptr [ %536, %530 ], [ null, %480 ], [ %484, %486 ], [ %484, %523 ]
  store ptr %538, ptr %477, align 8
  br label %539

539:
  %540 = load ptr, ptr %4, align 8
  %541 = getelementptr inbounds i8, ptr %0, i64 112
  %542 = load ptr, ptr %541, align 8
  %543 = load i64, ptr %542, align 8
  %544 = icmp sgt i64 %543, -1
  br i1 %544, label %545, label %564

545:
  %546 = load i64, ptr %20, align 8
  %547 = call i64 @llvm.smax.i64(i64 %546, i64 0)
  br label %548

548:
  %549 = phi i64 [ 0, %545 ], [ %563, %551 ]
  %550 = icmp eq i64 %549, %547
  br i1 %550, label %564, label %551

551:
  %552 = getelementptr inbounds ptr, ptr %26, i64 %549
  %553 = load ptr, ptr %552, align 8
  %554 = load i64, ptr %553, align 8
  %555 = add nsw i64 %554, -1
  %556 = load i64, ptr %8, align 8
  %557 = icmp slt i64 %549, %556
  %558 = sext i1 %557 to i64
  %559 = add i64 %555, %558
  %560 = getelementptr inbounds i64, ptr %542, i64 %549
  %561 = load i64, ptr %560, align 8
  %562 = icmp eq i64 %559, %561
  %563 = add nuw i64 %549, 1
  br i1 %562, label %548, label %564

564:
  %565 = phi i64 [ 240, %539 ], [ 240, %551 ], [ 232, %548 ]
  %566 = getelementptr inbounds i8, ptr %540, i64 %565
  %567 = load ptr, ptr %566, align 8
  %568 = getelementptr inbounds i8, ptr %540, i64 48
  %569 = load ptr, ptr %568, align 8
   call void %569(ptr %567)
  store ptr %567, ptr %478, align 16
  %570 = getelementptr inbounds i8, ptr %5, i64 24
  br label %572

571:
  br i1 %578, label %586, label %589

572:
  %573 = phi i64 [ 0, %564 ], [ %584, %583 ]
  %574 = phi i1 [ false, %564 ], [ %578, %583 ]
  %575 = getelementptr inbounds ptr, ptr %3, i64 %573
  %576 = load ptr, ptr %575, align 8
  %577 = icmp eq ptr %576, null
  %578 = or i1 %574, %577
  %579 = icmp eq ptr %576, null
  br i1 %579, label %583, label %580

580:
  %581 = load ptr, ptr %570, align 8
  %582 = call i32 %581(ptr %290, i64 %573, ptr %576)
  br label %583

583:
  %584 = add nuw nsw i64 %573, 1
  %585 = icmp eq i64 %584, 7
  br i1 %585, label %571, label %572

586:
  %587 = getelementptr inbounds i8, ptr %5, i64 56
  %588 = load ptr, ptr %587, align 8
   call void %588(ptr %290)
  br label %589

589:
  %590 = phi ptr [ %290, %571 ], [ null, %586 ]
  br label %591

591:
  %592 = phi i64 [ %228, %589 ], [ %228, %287 ], [ %281, %280 ], [ %61, %269 ]
  %593 = phi ptr [ %590, %589 ], [ null, %287 ], [ %286, %280 ], [ null, %269 ]
  %594 = icmp sgt i64 %592, 0
  br i1 %594, label %595, label %604

595:
  %596 = getelementptr inbounds i8, ptr %5, i64 56
  br label %597

597:
  %598 = phi i64 [ %592, %595 ], [ %600, %597 ]
  %599 = load ptr, ptr %596, align 8
  %600 = add nsw i64 %598, -1
  %601 = getelementptr inbounds ptr, ptr %26, i64 %600
  %602 = load ptr, ptr %601, align 8
   call void %599(ptr %602)
  %603 = icmp samesign ugt i64 %598, 1
  br i1 %603, label %597, label %604

604:
  %605 = getelementptr inbounds i8, ptr %5, i64 72
  %606 = load ptr, ptr %605, align 8
   call void %606(ptr %26)
  br label %607

607:
  %608 = phi ptr [ %16, %11 ], [ %593, %604 ], [ %31, %28 ]
  ret ptr %608
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
  %30 = getelementptr inbounds i8, ptr %4, i64 304
  %31 = getelementptr inbounds i8, ptr %4, i64 312
  %32 = getelementptr inbounds i8, ptr %0, i64 48
  %33 = getelementptr inbounds i8, ptr %0, i64 56
  %34 = getelementptr inbounds i8, ptr %4, i64 120
  %35 = getelementptr inbounds i8, ptr %0, i64 40
  %36 = getelementptr inbounds i8, ptr %4, i64 336
  %37 = getelementptr inbounds i8, ptr %4, i64 232
  %38 = getelementptr inbounds i8, ptr %4, i64 240
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
  %15 = getelementptr inbounds i8, ptr %6, i64 264
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
  %26 = getelementptr inbounds i8, ptr %6, i64 224
  %27 = select i1 %24, ptr %25, ptr %26
  %28 = load ptr, ptr %27, align 8
  %29 = getelementptr inbounds i8, ptr %6, i64 48
  br label %76

30:
  %31 = load ptr, ptr %29, align 8
   call void %31(ptr %28)
  %32 = load ptr, ptr %29, align 8
  %33 = getelementptr inbounds i8, ptr %6, i64 256
  %34 = load ptr, ptr %33, align 8
   call void %32(ptr %34)
  %35 = getelementptr inbounds i8, ptr %6, i64 304
  %36 = load i64, ptr %35, align 8
  %37 = load ptr, ptr %1, align 8
  %38 = getelementptr inbounds i8, ptr %21, i64 %36
  store ptr %37, ptr %38, align 8
  %39 = getelementptr inbounds i8, ptr %6, i64 312
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %1, i64 8
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %21, i64 %40
  store ptr %42, ptr %43, align 8
  %44 = getelementptr inbounds i8, ptr %6, i64 320
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %1, i64 16
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %21, i64 %45
  store ptr %47, ptr %48, align 8
  %49 = getelementptr inbounds i8, ptr %6, i64 328
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %1, i64 24
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %21, i64 %50
  store ptr %52, ptr %53, align 8
  %54 = getelementptr inbounds i8, ptr %6, i64 352
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr inbounds i8, ptr %1, i64 32
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds i8, ptr %21, i64 %55
  store ptr %57, ptr %58, align 8
  %59 = getelementptr inbounds i8, ptr %6, i64 360
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr inbounds i8, ptr %1, i64 40
  %62 = load ptr, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %21, i64 %60
  store ptr %62, ptr %63, align 8
  %64 = getelementptr inbounds i8, ptr %6, i64 336
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %1, i64 48
  %67 = load ptr, ptr %66, align 8
  %68 = getelementptr inbounds i8, ptr %21, i64 %65
  store ptr %67, ptr %68, align 8
  %69 = getelementptr inbounds i8, ptr %6, i64 344
  %70 = load i64, ptr %69, align 8
  %71 = getelementptr inbounds i8, ptr %21, i64 %70
  store ptr %28, ptr %71, align 8
  %72 = getelementptr inbounds i8, ptr %6, i64 368
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
