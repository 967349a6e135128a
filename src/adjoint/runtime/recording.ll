; Made from recording.c by `make native`; its SHA-256 is fa8e26a4e98cbaa140081bceacd0d8567f3093ca8133b79f7592e5dd731a04b7
define ptr @$filled() #0 {
  %1 = alloca ptr, align 8
  store volatile ptr inttoptr (i64 6547123219833032162 to ptr), ptr %1, align 8
  %2 = load volatile ptr, ptr %1, align 8
  ret ptr %2
}
define ptr @$match(ptr %0, ptr %1) #0 {
  %3 = alloca [8 x ptr], align 16
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
  br label %619

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
  br label %619

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
  %48 = getelementptr inbounds i8, ptr %46, i64 352
  %49 = getelementptr inbounds i8, ptr %46, i64 224
  %50 = getelementptr inbounds i8, ptr %46, i64 312
  %51 = getelementptr inbounds i8, ptr %46, i64 336
  %52 = getelementptr inbounds i8, ptr %46, i64 344
  %53 = getelementptr inbounds i8, ptr %46, i64 328
  %54 = getelementptr inbounds i8, ptr %46, i64 304
  %55 = getelementptr inbounds i8, ptr %46, i64 248
  %56 = getelementptr inbounds i8, ptr %46, i64 32
  %57 = getelementptr inbounds i8, ptr %46, i64 40
  %58 = getelementptr inbounds i8, ptr %46, i64 320
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
  br i1 %270, label %280, label %603

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
  br label %603

287:
  %288 = getelementptr inbounds i8, ptr %5, i64 16
  %289 = load ptr, ptr %288, align 8
  %290 = call ptr %289(i64 8)
  %291 = icmp eq ptr %290, null
  br i1 %291, label %603, label %292

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
  %355 = icmp ne ptr %354, null
  %356 = icmp sgt i64 %351, 0
  %357 = and i1 %356, %355
  br i1 %357, label %358, label %386

358:
  %359 = getelementptr inbounds i8, ptr %0, i64 40
  %360 = getelementptr inbounds i8, ptr %352, i64 328
  %361 = getelementptr inbounds i8, ptr %352, i64 48
  %362 = getelementptr inbounds i8, ptr %352, i64 8
  br label %363

363:
  %364 = phi i64 [ 0, %358 ], [ %384, %382 ]
  %365 = phi i64 [ 0, %358 ], [ %383, %382 ]
  %366 = load ptr, ptr %359, align 8
  %367 = mul nuw nsw i64 %364, 88
  %368 = getelementptr inbounds i8, ptr %366, i64 %367
  %369 = getelementptr inbounds i8, ptr %368, i64 48
  %370 = load i64, ptr %369, align 8
  %371 = icmp eq i64 %370, 5
  br i1 %371, label %372, label %382

372:
  %373 = getelementptr inbounds ptr, ptr %26, i64 %364
  %374 = load ptr, ptr %373, align 8
  %375 = load i64, ptr %360, align 8
  %376 = getelementptr inbounds i8, ptr %374, i64 %375
  %377 = load ptr, ptr %376, align 8
  %378 = load ptr, ptr %361, align 8
   call void %378(ptr %377)
  %379 = load ptr, ptr %362, align 8
  %380 = add nsw i64 %365, 1
  %381 = call i32 %379(ptr %354, i64 %365, ptr %377)
  br label %382

382:
  %383 = phi i64 [ %380, %372 ], [ %365, %363 ]
  %384 = add nuw nsw i64 %364, 1
  %385 = icmp slt i64 %383, %351
  br i1 %385, label %363, label %386

386:
  store ptr %354, ptr %349, align 16
  %387 = getelementptr inbounds i8, ptr %3, i64 24
  %388 = load i64, ptr %350, align 8
  %389 = load ptr, ptr %4, align 8
  %390 = load ptr, ptr %389, align 8
  %391 = call ptr %390(i64 %388)
  %392 = icmp ne ptr %391, null
  %393 = icmp sgt i64 %388, 0
  %394 = and i1 %393, %392
  br i1 %394, label %395, label %419

395:
  %396 = getelementptr inbounds i8, ptr %0, i64 40
  %397 = getelementptr inbounds i8, ptr %389, i64 48
  %398 = getelementptr inbounds i8, ptr %389, i64 8
  br label %399

399:
  %400 = phi i64 [ 0, %395 ], [ %417, %415 ]
  %401 = phi i64 [ 0, %395 ], [ %416, %415 ]
  %402 = load ptr, ptr %396, align 8
  %403 = mul nuw nsw i64 %400, 88
  %404 = getelementptr inbounds i8, ptr %402, i64 %403
  %405 = getelementptr inbounds i8, ptr %404, i64 48
  %406 = load i64, ptr %405, align 8
  %407 = icmp eq i64 %406, 5
  br i1 %407, label %408, label %415

408:
  %409 = getelementptr inbounds ptr, ptr %26, i64 %400
  %410 = load ptr, ptr %409, align 8
  %411 = load ptr, ptr %397, align 8
   call void %411(ptr %410)
  %412 = load ptr, ptr %398, align 8
  %413 = add nsw i64 %401, 1
  %414 = call i32 %412(ptr %391, i64 %401, ptr %410)
  br label %415

415:
  %416 = phi i64 [ %413, %408 ], [ %401, %399 ]
  %417 = add nuw nsw i64 %400, 1
  %418 = icmp slt i64 %416, %388
  br i1 %418, label %399, label %419

419:
  store ptr %391, ptr %387, align 8
  %420 = getelementptr inbounds i8, ptr %3, i64 32
  %421 = getelementptr inbounds i8, ptr %0, i64 88
  %422 = load i64, ptr %421, align 8
  %423 = load ptr, ptr %4, align 8
  %424 = load ptr, ptr %423, align 8
  %425 = call ptr %424(i64 %422)
  %426 = icmp ne ptr %425, null
  %427 = icmp sgt i64 %422, 0
  %428 = and i1 %427, %426
  br i1 %428, label %429, label %454

429:
  %430 = getelementptr inbounds i8, ptr %0, i64 40
  %431 = getelementptr inbounds i8, ptr %423, i64 48
  %432 = getelementptr inbounds i8, ptr %423, i64 8
  br label %433

433:
  %434 = phi i64 [ 0, %429 ], [ %451, %450 ]
  %435 = phi i64 [ 0, %429 ], [ %452, %450 ]
  %436 = load ptr, ptr %430, align 8
  %437 = mul nuw nsw i64 %435, 88
  %438 = getelementptr inbounds i8, ptr %436, i64 %437
  %439 = getelementptr inbounds i8, ptr %438, i64 72
  %440 = load i64, ptr %439, align 8
  %441 = icmp eq i64 %440, 0
  br i1 %441, label %450, label %442

442:
  %443 = load ptr, ptr %431, align 8
  %444 = getelementptr inbounds ptr, ptr %26, i64 %435
  %445 = load ptr, ptr %444, align 8
   call void %443(ptr %445)
  %446 = load ptr, ptr %432, align 8
  %447 = add nsw i64 %434, 1
  %448 = load ptr, ptr %444, align 8
  %449 = call i32 %446(ptr %425, i64 %434, ptr %448)
  br label %450

450:
  %451 = phi i64 [ %447, %442 ], [ %434, %433 ]
  %452 = add nuw nsw i64 %435, 1
  %453 = icmp slt i64 %451, %422
  br i1 %453, label %433, label %454

454:
  store ptr %425, ptr %420, align 16
  %455 = getelementptr inbounds i8, ptr %3, i64 40
  %456 = getelementptr inbounds i8, ptr %0, i64 96
  %457 = load i64, ptr %456, align 8
  %458 = load ptr, ptr %4, align 8
  %459 = load ptr, ptr %458, align 8
  %460 = call ptr %459(i64 %457)
  %461 = icmp ne ptr %460, null
  %462 = icmp sgt i64 %457, 0
  %463 = and i1 %462, %461
  br i1 %463, label %464, label %492

464:
  %465 = getelementptr inbounds i8, ptr %0, i64 40
  %466 = getelementptr inbounds i8, ptr %458, i64 328
  %467 = getelementptr inbounds i8, ptr %458, i64 48
  %468 = getelementptr inbounds i8, ptr %458, i64 8
  br label %469

469:
  %470 = phi i64 [ 0, %464 ], [ %490, %488 ]
  %471 = phi i64 [ 0, %464 ], [ %489, %488 ]
  %472 = load ptr, ptr %465, align 8
  %473 = mul nuw nsw i64 %470, 88
  %474 = getelementptr inbounds i8, ptr %472, i64 %473
  %475 = getelementptr inbounds i8, ptr %474, i64 80
  %476 = load i64, ptr %475, align 8
  %477 = icmp eq i64 %476, 0
  br i1 %477, label %488, label %478

478:
  %479 = getelementptr inbounds ptr, ptr %26, i64 %470
  %480 = load ptr, ptr %479, align 8
  %481 = load i64, ptr %466, align 8
  %482 = getelementptr inbounds i8, ptr %480, i64 %481
  %483 = load ptr, ptr %482, align 8
  %484 = load ptr, ptr %467, align 8
   call void %484(ptr %483)
  %485 = load ptr, ptr %468, align 8
  %486 = add nsw i64 %471, 1
  %487 = call i32 %485(ptr %460, i64 %471, ptr %483)
  br label %488

488:
  %489 = phi i64 [ %486, %478 ], [ %471, %469 ]
  %490 = add nuw nsw i64 %470, 1
  %491 = icmp slt i64 %489, %457
  br i1 %491, label %469, label %492

492:
  store ptr %460, ptr %455, align 8
  %493 = getelementptr inbounds i8, ptr %3, i64 48
  store ptr null, ptr %493, align 16
  %494 = getelementptr inbounds i8, ptr %3, i64 56
  %495 = icmp eq ptr %319, null
  br i1 %495, label %555, label %496

496:
  %497 = load ptr, ptr %4, align 8
  %498 = load ptr, ptr %497, align 8
  %499 = load i64, ptr %315, align 8
  %500 = call ptr %498(i64 %499)
  %501 = icmp eq ptr %500, null
  br i1 %501, label %553, label %502

502:
  %503 = getelementptr inbounds i8, ptr %319, i64 24
  %504 = getelementptr inbounds i8, ptr %497, i64 352
  %505 = getelementptr inbounds i8, ptr %497, i64 304
  %506 = getelementptr inbounds i8, ptr %497, i64 280
  %507 = getelementptr inbounds i8, ptr %497, i64 384
  %508 = getelementptr inbounds i8, ptr %497, i64 288
  %509 = getelementptr inbounds i8, ptr %497, i64 48
  %510 = getelementptr inbounds i8, ptr %497, i64 8
  %511 = load i64, ptr %315, align 8
  %512 = icmp sgt i64 %511, 0
  br i1 %512, label %513, label %553

513:
  %514 = phi i64 [ %543, %539 ], [ 0, %502 ]
  %515 = load ptr, ptr %503, align 8
  %516 = getelementptr inbounds ptr, ptr %515, i64 %514
  %517 = load ptr, ptr %516, align 8
  %518 = load i64, ptr %504, align 8
  %519 = getelementptr inbounds i8, ptr %517, i64 %518
  %520 = load ptr, ptr %519, align 8
  %521 = load i64, ptr %505, align 8
  %522 = getelementptr inbounds i8, ptr %520, i64 %521
  %523 = load ptr, ptr %522, align 8
  %524 = load ptr, ptr %506, align 8
  %525 = icmp eq ptr %523, %524
  br i1 %525, label %526, label %534

526:
  %527 = load i64, ptr %507, align 8
  %528 = getelementptr inbounds i8, ptr %520, i64 %527
  %529 = load ptr, ptr %528, align 8
  %530 = icmp eq ptr %529, null
  br i1 %530, label %546, label %531

531:
  %532 = getelementptr inbounds i8, ptr %529, i64 %521
  %533 = load ptr, ptr %532, align 8
  br label %534

534:
  %535 = phi ptr [ %533, %531 ], [ %523, %513 ]
  %536 = phi ptr [ %529, %531 ], [ %520, %513 ]
  %537 = load ptr, ptr %508, align 8
  %538 = icmp eq ptr %535, %537
  br i1 %538, label %539, label %546

539:
  %540 = load ptr, ptr %509, align 8
   call void %540(ptr %536)
  %541 = load ptr, ptr %510, align 8
  %542 = call i32 %541(ptr %500, i64 %514, ptr %536)
  %543 = add nuw nsw i64 %514, 1
  %544 = load i64, ptr %315, align 8
  %545 = icmp slt i64 %543, %544
  br i1 %545, label %513, label %553

546:
  %547 = getelementptr inbounds i8, ptr %497, i64 56
  %548 = load ptr, ptr %547, align 8
   call void %548(ptr %500)
  %549 = load ptr, ptr %509, align 8
  %550 = getelementptr inbounds i8, ptr %497, i64 224
  %551 = load ptr, ptr %550, align 8
   call void %549(ptr %551)
  %552 = load ptr, ptr %550, align 8
  br label %553

553:
  %554 = phi ptr [ %552, %546 ], [ null, %496 ], [ %500, %502 ], [ %500, %539 ]
  store ptr %554, ptr %493, align 16
  br label %555

555:
  %556 = load ptr, ptr %4, align 8
  %557 = getelementptr inbounds i8, ptr %0, i64 112
  %558 = load ptr, ptr %557, align 8
  %559 = load i64, ptr %558, align 8
  %560 = icmp sgt i64 %559, -1
  br i1 %560, label %561, label %576

561:
  %562 = load i64, ptr %20, align 8
  %563 = call i64 @llvm.smax.i64(i64 %562, i64 0)
  br label %564

564:
  %565 = phi i64 [ 0, %561 ], [ %575, %567 ]
  %566 = icmp eq i64 %565, %563
  br i1 %566, label %576, label %567

567:
  %568 = getelementptr inbounds ptr, ptr %26, i64 %565
  %569 = load ptr, ptr %568, align 8
  %570 = load i64, ptr %569, align 8
  %571 = add nsw i64 %570, -1
  %572 = getelementptr inbounds i64, ptr %558, i64 %565
  %573 = load i64, ptr %572, align 8
  %574 = icmp eq i64 %571, %573
  %575 = add nuw i64 %565, 1
  br i1 %574, label %564, label %576

576:
  %577 = phi i64 [ 240, %555 ], [ 240, %567 ], [ 232, %564 ]
  %578 = getelementptr inbounds i8, ptr %556, i64 %577
  %579 = load ptr, ptr %578, align 8
  %580 = getelementptr inbounds i8, ptr %556, i64 48
  %581 = load ptr, ptr %580, align 8
   call void %581(ptr %579)
  store ptr %579, ptr %494, align 8
  %582 = getelementptr inbounds i8, ptr %5, i64 24
  br label %584

583:
  br i1 %590, label %598, label %601

584:
  %585 = phi i64 [ 0, %576 ], [ %596, %595 ]
  %586 = phi i1 [ false, %576 ], [ %590, %595 ]
  %587 = getelementptr inbounds ptr, ptr %3, i64 %585
  %588 = load ptr, ptr %587, align 8
  %589 = icmp eq ptr %588, null
  %590 = or i1 %586, %589
  %591 = icmp eq ptr %588, null
  br i1 %591, label %595, label %592

592:
  %593 = load ptr, ptr %582, align 8
  %594 = call i32 %593(ptr %290, i64 %585, ptr %588)
  br label %595

595:
  %596 = add nuw nsw i64 %585, 1
  %597 = icmp eq i64 %596, 8
  br i1 %597, label %583, label %584

598:
  %599 = getelementptr inbounds i8, ptr %5, i64 56
  %600 = load ptr, ptr %599, align 8
   call void %600(ptr %290)
  br label %601

601:
  %602 = phi ptr [ %290, %583 ], [ null, %598 ]
  br label %603

603:
  %604 = phi i64 [ %228, %601 ], [ %228, %287 ], [ %281, %280 ], [ %61, %269 ]
  %605 = phi ptr [ %602, %601 ], [ null, %287 ], [ %286, %280 ], [ null, %269 ]
  %606 = icmp sgt i64 %604, 0
  br i1 %606, label %607, label %616

607:
  %608 = getelementptr inbounds i8, ptr %5, i64 56
  br label %609

609:
  %610 = phi i64 [ %604, %607 ], [ %612, %609 ]
  %611 = load ptr, ptr %608, align 8
  %612 = add nsw i64 %610, -1
  %613 = getelementptr inbounds ptr, ptr %26, i64 %612
  %614 = load ptr, ptr %613, align 8
   call void %611(ptr %614)
  %615 = icmp samesign ugt i64 %610, 1
  br i1 %615, label %609, label %616

616:
  %617 = getelementptr inbounds i8, ptr %5, i64 72
  %618 = load ptr, ptr %617, align 8
   call void %618(ptr %26)
  br label %619

619:
  %620 = phi ptr [ %16, %11 ], [ %605, %616 ], [ %31, %28 ]
  ret ptr %620
}
define ptr @$store(ptr %0, ptr %1, i64 %2) #0 {
  %4 = getelementptr inbounds i8, ptr %0, i64 32
  %5 = load ptr, ptr %4, align 8
  %6 = load ptr, ptr %1, align 8
  %7 = getelementptr inbounds i8, ptr %1, i64 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds i8, ptr %1, i64 16
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds i8, ptr %1, i64 24
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds i8, ptr %5, i64 232
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %0, i64 48
  %16 = load i64, ptr %15, align 8
  %17 = icmp sgt i64 %16, 0
  br i1 %17, label %18, label %28

18:
  %19 = getelementptr inbounds i8, ptr %12, i64 24
  %20 = load ptr, ptr %19, align 8
  %21 = getelementptr inbounds i8, ptr %5, i64 304
  %22 = load i64, ptr %21, align 8
  %23 = getelementptr inbounds i8, ptr %5, i64 288
  %24 = load ptr, ptr %23, align 8
  %25 = getelementptr inbounds i8, ptr %5, i64 240
  br label %43

26:
  %27 = icmp eq ptr %58, %14
  br i1 %27, label %28, label %129

28:
  %29 = phi ptr [ %58, %26 ], [ %14, %3 ]
  %30 = getelementptr inbounds i8, ptr %0, i64 56
  %31 = getelementptr inbounds i8, ptr %6, i64 24
  %32 = getelementptr inbounds i8, ptr %12, i64 24
  %33 = getelementptr inbounds i8, ptr %5, i64 352
  %34 = getelementptr inbounds i8, ptr %5, i64 224
  %35 = getelementptr inbounds i8, ptr %5, i64 304
  %36 = getelementptr inbounds i8, ptr %5, i64 280
  %37 = getelementptr inbounds i8, ptr %5, i64 88
  %38 = getelementptr inbounds i8, ptr %5, i64 48
  %39 = getelementptr inbounds i8, ptr %5, i64 384
  %40 = getelementptr inbounds i8, ptr %5, i64 320
  %41 = getelementptr inbounds i8, ptr %5, i64 296
  %42 = getelementptr inbounds i8, ptr %5, i64 56
  br label %61

43:
  %44 = phi ptr [ %14, %18 ], [ %58, %57 ]
  %45 = phi i64 [ 0, %18 ], [ %59, %57 ]
  %46 = getelementptr inbounds ptr, ptr %20, i64 %45
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %47, i64 %22
  %49 = load ptr, ptr %48, align 8
  %50 = icmp eq ptr %49, %24
  br i1 %50, label %51, label %55

51:
  %52 = getelementptr inbounds i8, ptr %47, i64 48
  %53 = load ptr, ptr %52, align 8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %57, label %55

55:
  %56 = load ptr, ptr %25, align 8
  br label %57

57:
  %58 = phi ptr [ %56, %55 ], [ %44, %51 ]
  %59 = add nuw nsw i64 %45, 1
  %60 = icmp eq i64 %59, %16
  br i1 %60, label %26, label %43

61:
  %62 = phi i64 [ 0, %28 ], [ %126, %125 ]
  %63 = load i64, ptr %15, align 8
  %64 = icmp slt i64 %62, %63
  br i1 %64, label %65, label %129

65:
  %66 = mul nuw nsw i64 %62, 24
  %67 = getelementptr inbounds i8, ptr %30, i64 %66
  %68 = load i64, ptr %67, align 8
  %69 = load ptr, ptr %31, align 8
  %70 = getelementptr inbounds ptr, ptr %69, i64 %68
  %71 = load ptr, ptr %70, align 8
  %72 = load ptr, ptr %32, align 8
  %73 = getelementptr inbounds ptr, ptr %72, i64 %62
  %74 = load ptr, ptr %73, align 8
  %75 = load i64, ptr %33, align 8
  %76 = getelementptr inbounds i8, ptr %71, i64 %75
  %77 = load ptr, ptr %76, align 8
  %78 = icmp eq ptr %77, null
  br i1 %78, label %125, label %79

79:
  %80 = load ptr, ptr %34, align 8
  %81 = icmp eq ptr %77, %80
  %82 = getelementptr inbounds i8, ptr %67, i64 8
  %83 = load i64, ptr %82, align 8
  %84 = icmp eq i64 %83, 0
  br i1 %81, label %92, label %85

85:
  br i1 %84, label %86, label %125

86:
  %87 = load i64, ptr %35, align 8
  %88 = getelementptr inbounds i8, ptr %77, i64 %87
  %89 = load ptr, ptr %88, align 8
  %90 = load ptr, ptr %36, align 8
  %91 = icmp eq ptr %89, %90
  br i1 %91, label %102, label %125

92:
  br i1 %84, label %102, label %93

93:
  %94 = load ptr, ptr %37, align 8
  %95 = load ptr, ptr %36, align 8
  %96 = call ptr %94(ptr %95, i64 0)
  %97 = icmp eq ptr %96, null
  br i1 %97, label %209, label %98

98:
  %99 = load ptr, ptr %38, align 8
   call void %99(ptr %74)
  %100 = load i64, ptr %39, align 8
  %101 = getelementptr inbounds i8, ptr %96, i64 %100
  store ptr %74, ptr %101, align 8
  br label %104

102:
  %103 = load ptr, ptr %38, align 8
   call void %103(ptr %74)
  br label %104

104:
  %105 = phi ptr [ %96, %98 ], [ %74, %102 ]
  %106 = load i64, ptr %33, align 8
  %107 = getelementptr inbounds i8, ptr %71, i64 %106
  store ptr %105, ptr %107, align 8
  %108 = getelementptr inbounds i8, ptr %67, i64 16
  %109 = load i64, ptr %108, align 8
  %110 = icmp eq i64 %109, 0
  br i1 %110, label %122, label %111

111:
  %112 = load i64, ptr %40, align 8
  %113 = getelementptr inbounds i8, ptr %71, i64 %112
  %114 = load ptr, ptr %113, align 8
  %115 = load ptr, ptr %38, align 8
  %116 = load ptr, ptr %41, align 8
   call void %115(ptr %116)
  %117 = load i64, ptr %40, align 8
  %118 = load ptr, ptr %41, align 8
  %119 = getelementptr inbounds i8, ptr %71, i64 %117
  store ptr %118, ptr %119, align 8
  %120 = load ptr, ptr %42, align 8
   call void %120(ptr %77)
  %121 = icmp eq ptr %114, null
  br i1 %121, label %125, label %122

122:
  %123 = phi ptr [ %77, %104 ], [ %114, %111 ]
  %124 = load ptr, ptr %42, align 8
   call void %124(ptr %123)
  br label %125

125:
  %126 = add nuw nsw i64 %62, 1
  %127 = load ptr, ptr %13, align 8
  %128 = icmp eq ptr %14, %127
  br i1 %128, label %61, label %129

129:
  %130 = phi ptr [ %58, %26 ], [ %29, %61 ], [ %29, %125 ]
  %131 = getelementptr inbounds i8, ptr %5, i64 240
  %132 = load ptr, ptr %131, align 8
  %133 = icmp eq ptr %130, %132
  br i1 %133, label %206, label %134

134:
  %135 = getelementptr inbounds i8, ptr %10, i64 16
  %136 = load i64, ptr %135, align 8
  %137 = icmp eq i64 %136, 0
  br i1 %137, label %206, label %138

138:
  %139 = load ptr, ptr %4, align 8
  %140 = getelementptr inbounds i8, ptr %139, i64 192
  %141 = getelementptr inbounds i8, ptr %139, i64 128
  %142 = icmp sgt i64 %136, 0
  br i1 %142, label %143, label %169

143:
  %144 = getelementptr inbounds i8, ptr %10, i64 24
  %145 = getelementptr inbounds i8, ptr %139, i64 328
  %146 = getelementptr inbounds i8, ptr %0, i64 40
  %147 = getelementptr inbounds i8, ptr %139, i64 56
  br label %152

148:
  %149 = add nuw nsw i64 %153, 1
  %150 = load i64, ptr %135, align 8
  %151 = icmp slt i64 %149, %150
  br i1 %151, label %152, label %169

152:
  %153 = phi i64 [ 0, %143 ], [ %149, %148 ]
  %154 = load ptr, ptr %140, align 8
  %155 = load ptr, ptr %144, align 8
  %156 = getelementptr inbounds ptr, ptr %155, i64 %153
  %157 = load ptr, ptr %156, align 8
  %158 = load i64, ptr %145, align 8
  %159 = getelementptr inbounds i8, ptr %157, i64 %158
  %160 = load ptr, ptr %159, align 8
  %161 = load ptr, ptr %146, align 8
  %162 = call ptr %154(ptr %160, ptr %161)
  %163 = icmp eq ptr %162, null
  br i1 %163, label %209, label %164

164:
  %165 = load ptr, ptr %141, align 8
  %166 = call i32 %165(ptr %162)
  %167 = load ptr, ptr %147, align 8
   call void %167(ptr %162)
  %168 = icmp eq i32 %166, 0
  br i1 %168, label %148, label %180

169:
  %170 = getelementptr inbounds i8, ptr %8, i64 16
  %171 = getelementptr inbounds i8, ptr %8, i64 24
  %172 = getelementptr inbounds i8, ptr %5, i64 352
  %173 = getelementptr inbounds i8, ptr %5, i64 304
  %174 = getelementptr inbounds i8, ptr %5, i64 280
  %175 = getelementptr inbounds i8, ptr %5, i64 48
  %176 = getelementptr inbounds i8, ptr %5, i64 224
  %177 = getelementptr inbounds i8, ptr %5, i64 56
  %178 = load i64, ptr %170, align 8
  %179 = icmp sgt i64 %178, 0
  br i1 %179, label %182, label %206

180:
  %181 = icmp slt i32 %166, 0
  br i1 %181, label %209, label %206

182:
  %183 = phi i64 [ %203, %202 ], [ 0, %169 ]
  %184 = load ptr, ptr %171, align 8
  %185 = getelementptr inbounds ptr, ptr %184, i64 %183
  %186 = load ptr, ptr %185, align 8
  %187 = load i64, ptr %172, align 8
  %188 = getelementptr inbounds i8, ptr %186, i64 %187
  %189 = load ptr, ptr %188, align 8
  %190 = load i64, ptr %173, align 8
  %191 = getelementptr inbounds i8, ptr %189, i64 %190
  %192 = load ptr, ptr %191, align 8
  %193 = load ptr, ptr %174, align 8
  %194 = icmp eq ptr %192, %193
  br i1 %194, label %195, label %202

195:
  %196 = load ptr, ptr %175, align 8
  %197 = load ptr, ptr %176, align 8
   call void %196(ptr %197)
  %198 = load i64, ptr %172, align 8
  %199 = load ptr, ptr %176, align 8
  %200 = getelementptr inbounds i8, ptr %186, i64 %198
  store ptr %199, ptr %200, align 8
  %201 = load ptr, ptr %177, align 8
   call void %201(ptr %189)
  br label %202

202:
  %203 = add nuw nsw i64 %183, 1
  %204 = load i64, ptr %170, align 8
  %205 = icmp slt i64 %203, %204
  br i1 %205, label %182, label %206

206:
  %207 = getelementptr inbounds i8, ptr %5, i64 48
  %208 = load ptr, ptr %207, align 8
   call void %208(ptr %130)
  br label %209

209:
  %210 = phi ptr [ %130, %206 ], [ null, %180 ], [ null, %152 ], [ null, %93 ]
  ret ptr %210
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
  %30 = getelementptr inbounds i8, ptr %4, i64 312
  %31 = getelementptr inbounds i8, ptr %4, i64 320
  %32 = getelementptr inbounds i8, ptr %0, i64 48
  %33 = getelementptr inbounds i8, ptr %0, i64 56
  %34 = getelementptr inbounds i8, ptr %4, i64 120
  %35 = getelementptr inbounds i8, ptr %0, i64 40
  %36 = getelementptr inbounds i8, ptr %4, i64 344
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
  %35 = getelementptr inbounds i8, ptr %6, i64 312
  %36 = load i64, ptr %35, align 8
  %37 = load ptr, ptr %1, align 8
  %38 = getelementptr inbounds i8, ptr %21, i64 %36
  store ptr %37, ptr %38, align 8
  %39 = getelementptr inbounds i8, ptr %6, i64 320
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %1, i64 8
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %21, i64 %40
  store ptr %42, ptr %43, align 8
  %44 = getelementptr inbounds i8, ptr %6, i64 328
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %1, i64 16
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %21, i64 %45
  store ptr %47, ptr %48, align 8
  %49 = getelementptr inbounds i8, ptr %6, i64 336
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %1, i64 24
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %21, i64 %50
  store ptr %52, ptr %53, align 8
  %54 = getelementptr inbounds i8, ptr %6, i64 360
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr inbounds i8, ptr %1, i64 32
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds i8, ptr %21, i64 %55
  store ptr %57, ptr %58, align 8
  %59 = getelementptr inbounds i8, ptr %6, i64 368
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr inbounds i8, ptr %1, i64 40
  %62 = load ptr, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %21, i64 %60
  store ptr %62, ptr %63, align 8
  %64 = getelementptr inbounds i8, ptr %6, i64 344
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %1, i64 48
  %67 = load ptr, ptr %66, align 8
  %68 = getelementptr inbounds i8, ptr %21, i64 %65
  store ptr %67, ptr %68, align 8
  %69 = getelementptr inbounds i8, ptr %6, i64 352
  %70 = load i64, ptr %69, align 8
  %71 = getelementptr inbounds i8, ptr %21, i64 %70
  store ptr %28, ptr %71, align 8
  %72 = getelementptr inbounds i8, ptr %6, i64 376
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
