; Made from recording.c by `make native`; its SHA-256 is 651241fcee7106249ef1a6a7a7bc98d3784bd30c8a054969fce9e0fab139839b
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
  br label %621

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
  br label %621

32:
  %33 = getelementptr inbounds i8, ptr %1, i64 24
  %34 = load ptr, ptr %33, align 8
  %35 = load i64, ptr %8, align 8
  %36 = icmp sgt i64 %35, 0
  br i1 %36, label %37, label %39

37:
  %38 = getelementptr inbounds i8, ptr %5, i64 48
  br label %273

39:
  %40 = phi i64 [ 0, %32 ], [ %279, %273 ]
  %41 = load i64, ptr %20, align 8
  %42 = icmp sgt i64 %41, 0
  br i1 %42, label %43, label %229

43:
  %44 = getelementptr inbounds i8, ptr %0, i64 48
  %45 = load ptr, ptr %44, align 8
  %46 = load ptr, ptr %4, align 8
  %47 = getelementptr inbounds i8, ptr %0, i64 40
  %48 = getelementptr inbounds i8, ptr %46, i64 360
  %49 = getelementptr inbounds i8, ptr %46, i64 224
  %50 = getelementptr inbounds i8, ptr %46, i64 320
  %51 = getelementptr inbounds i8, ptr %46, i64 344
  %52 = getelementptr inbounds i8, ptr %46, i64 352
  %53 = getelementptr inbounds i8, ptr %46, i64 336
  %54 = getelementptr inbounds i8, ptr %46, i64 304
  %55 = getelementptr inbounds i8, ptr %46, i64 248
  %56 = getelementptr inbounds i8, ptr %46, i64 32
  %57 = getelementptr inbounds i8, ptr %46, i64 40
  %58 = getelementptr inbounds i8, ptr %46, i64 328
  %59 = getelementptr inbounds i8, ptr %46, i64 312
  %60 = getelementptr inbounds i8, ptr %46, i64 48
  br label %61

61:
  %62 = phi i64 [ %40, %43 ], [ %224, %223 ]
  %63 = phi ptr [ %45, %43 ], [ %225, %223 ]
  %64 = phi i64 [ 0, %43 ], [ %226, %223 ]
  %65 = load ptr, ptr %47, align 8
  %66 = mul nuw nsw i64 %64, 88
  %67 = getelementptr inbounds i8, ptr %65, i64 %66
  %68 = getelementptr inbounds ptr, ptr %26, i64 %64
  %69 = load ptr, ptr %68, align 8
  %70 = load i64, ptr %48, align 8
  %71 = getelementptr inbounds i8, ptr %69, i64 %70
  %72 = load ptr, ptr %71, align 8
  %73 = icmp eq ptr %72, null
  br i1 %73, label %282, label %74

74:
  %75 = load ptr, ptr %49, align 8
  %76 = icmp eq ptr %72, %75
  %77 = getelementptr inbounds i8, ptr %67, i64 40
  %78 = load i64, ptr %77, align 8
  %79 = icmp ne i64 %78, 0
  %80 = xor i1 %76, %79
  br i1 %80, label %81, label %282

81:
  %82 = load ptr, ptr %67, align 8
  %83 = icmp eq ptr %82, null
  br i1 %83, label %89, label %84

84:
  %85 = load i64, ptr %50, align 8
  %86 = getelementptr inbounds i8, ptr %69, i64 %85
  %87 = load ptr, ptr %86, align 8
  %88 = icmp eq ptr %87, %82
  br i1 %88, label %89, label %282

89:
  %90 = getelementptr inbounds i8, ptr %67, i64 8
  %91 = load ptr, ptr %90, align 8
  %92 = icmp eq ptr %91, null
  br i1 %92, label %98, label %93

93:
  %94 = load i64, ptr %51, align 8
  %95 = getelementptr inbounds i8, ptr %69, i64 %94
  %96 = load ptr, ptr %95, align 8
  %97 = icmp eq ptr %96, %91
  br i1 %97, label %98, label %282

98:
  %99 = getelementptr inbounds i8, ptr %67, i64 16
  %100 = load ptr, ptr %99, align 8
  %101 = icmp eq ptr %100, null
  br i1 %101, label %107, label %102

102:
  %103 = load i64, ptr %52, align 8
  %104 = getelementptr inbounds i8, ptr %69, i64 %103
  %105 = load ptr, ptr %104, align 8
  %106 = icmp eq ptr %105, %100
  br i1 %106, label %107, label %282

107:
  %108 = load i64, ptr %53, align 8
  %109 = getelementptr inbounds i8, ptr %69, i64 %108
  %110 = load ptr, ptr %109, align 8
  %111 = getelementptr inbounds i8, ptr %67, i64 48
  %112 = load i64, ptr %111, align 8
  switch i64 %112, label %118 [
    i64 0, label %179
    i64 1, label %113
    i64 2, label %113
  ]

113:
  %114 = icmp eq ptr %110, %75
  %115 = icmp ne i64 %112, 1
  %116 = xor i1 %114, %115
  %117 = zext i1 %116 to i32
  br label %176

118:
  %119 = getelementptr inbounds i8, ptr %67, i64 32
  %120 = load ptr, ptr %119, align 8
  %121 = icmp eq ptr %120, null
  br i1 %121, label %129, label %122

122:
  %123 = icmp eq ptr %110, null
  br i1 %123, label %282, label %124

124:
  %125 = load i64, ptr %54, align 8
  %126 = getelementptr inbounds i8, ptr %110, i64 %125
  %127 = load ptr, ptr %126, align 8
  %128 = icmp eq ptr %127, %120
  br i1 %128, label %129, label %282

129:
  %130 = icmp eq i64 %112, 5
  br i1 %130, label %134, label %131

131:
  %132 = load ptr, ptr %55, align 8
  %133 = icmp eq ptr %120, %132
  br i1 %133, label %134, label %165

134:
  %135 = load ptr, ptr %57, align 8
  %136 = call double %135(ptr %110)
  %137 = load i64, ptr %111, align 8
  %138 = icmp eq i64 %137, 5
  br i1 %138, label %139, label %153

139:
  %140 = fcmp une double %136, 0.000000e+00
  br i1 %140, label %146, label %141

141:
  %142 = fdiv double 1.000000e+00, %136
  %143 = fcmp olt double %142, 0.000000e+00
  %144 = fcmp une double %136, 1.000000e+00
  %145 = and i1 %144, %143
  br i1 %145, label %150, label %282

146:
  %147 = fcmp une double %136, 1.000000e+00
  %148 = fcmp une double %136, -1.000000e+00
  %149 = and i1 %147, %148
  br i1 %149, label %150, label %282

150:
  %151 = fcmp une double %136, 2.000000e+00
  %152 = zext i1 %151 to i32
  br label %176

153:
  %154 = load ptr, ptr %57, align 8
  %155 = getelementptr inbounds i8, ptr %67, i64 24
  %156 = load ptr, ptr %155, align 8
  %157 = call double %154(ptr %156)
  %158 = fcmp oeq double %157, %136
  br i1 %158, label %159, label %282

159:
  %160 = fcmp une double %136, 0.000000e+00
  %161 = fdiv double 1.000000e+00, %136
  %162 = fcmp ogt double %161, 0.000000e+00
  %163 = or i1 %160, %162
  %164 = zext i1 %163 to i32
  br label %176

165:
  %166 = getelementptr inbounds i8, ptr %67, i64 24
  %167 = load ptr, ptr %166, align 8
  %168 = icmp eq ptr %110, %167
  br i1 %168, label %179, label %169

169:
  %170 = icmp eq ptr %110, null
  %171 = icmp eq ptr %110, %75
  %172 = or i1 %170, %171
  br i1 %172, label %282, label %173

173:
  %174 = load ptr, ptr %56, align 8
  %175 = call i32 %174(ptr %110, ptr %167, i32 2)
  br label %176

176:
  %177 = phi i32 [ %164, %159 ], [ %117, %113 ], [ %152, %150 ], [ %175, %173 ]
  %178 = icmp slt i32 %177, 1
  br i1 %178, label %271, label %179

179:
  %180 = getelementptr inbounds i8, ptr %67, i64 56
  %181 = load i64, ptr %180, align 8
  %182 = icmp slt i64 %181, 0
  br i1 %182, label %223, label %183

183:
  %184 = load i64, ptr %58, align 8
  %185 = getelementptr inbounds i8, ptr %69, i64 %184
  %186 = load ptr, ptr %185, align 8
  %187 = icmp eq ptr %186, null
  br i1 %187, label %282, label %188

188:
  %189 = getelementptr inbounds i8, ptr %186, i64 16
  %190 = load i64, ptr %189, align 8
  %191 = icmp eq i64 %190, %181
  br i1 %191, label %192, label %282

192:
  %193 = icmp eq i64 %181, 0
  br i1 %193, label %223, label %194

194:
  %195 = phi i64 [ %218, %217 ], [ %62, %192 ]
  %196 = phi i64 [ %219, %217 ], [ %181, %192 ]
  %197 = phi i64 [ %220, %217 ], [ %62, %192 ]
  %198 = phi ptr [ %205, %217 ], [ %63, %192 ]
  %199 = phi i64 [ %221, %217 ], [ 0, %192 ]
  %200 = load i64, ptr %59, align 8
  %201 = shl nsw i64 %199, 3
  %202 = getelementptr i8, ptr %186, i64 %200
  %203 = getelementptr i8, ptr %202, i64 %201
  %204 = load ptr, ptr %203, align 8
  %205 = getelementptr inbounds i8, ptr %198, i64 8
  %206 = load i64, ptr %198, align 8
  %207 = icmp slt i64 %206, %197
  br i1 %207, label %208, label %212

208:
  %209 = getelementptr inbounds ptr, ptr %26, i64 %206
  %210 = load ptr, ptr %209, align 8
  %211 = icmp eq ptr %210, %204
  br i1 %211, label %217, label %282

212:
  %213 = load ptr, ptr %60, align 8
   call void %213(ptr %204)
  %214 = add nsw i64 %195, 1
  %215 = getelementptr inbounds ptr, ptr %26, i64 %195
  store ptr %204, ptr %215, align 8
  %216 = load i64, ptr %180, align 8
  br label %217

217:
  %218 = phi i64 [ %195, %208 ], [ %214, %212 ]
  %219 = phi i64 [ %196, %208 ], [ %216, %212 ]
  %220 = phi i64 [ %197, %208 ], [ %214, %212 ]
  %221 = add nuw nsw i64 %199, 1
  %222 = icmp slt i64 %221, %219
  br i1 %222, label %194, label %223

223:
  %224 = phi i64 [ %62, %179 ], [ %62, %192 ], [ %218, %217 ]
  %225 = phi ptr [ %63, %179 ], [ %63, %192 ], [ %205, %217 ]
  %226 = add nuw nsw i64 %64, 1
  %227 = load i64, ptr %20, align 8
  %228 = icmp slt i64 %226, %227
  br i1 %228, label %61, label %229

229:
  %230 = phi i64 [ %40, %39 ], [ %224, %223 ]
  %231 = phi i64 [ %41, %39 ], [ %227, %223 ]
  %232 = getelementptr inbounds ptr, ptr %26, i64 %231
  %233 = load i64, ptr %22, align 8
  %234 = icmp sgt i64 %233, 0
  br i1 %234, label %239, label %235

235:
  %236 = icmp slt i64 %231, 1
  br i1 %236, label %289, label %237

237:
  %238 = add nsw i64 %233, -1
  br label %244

239:
  %240 = phi i64 [ %242, %239 ], [ 0, %229 ]
  %241 = getelementptr inbounds ptr, ptr %232, i64 %240
  store ptr null, ptr %241, align 8
  %242 = add nuw nsw i64 %240, 1
  %243 = icmp eq i64 %242, %233
  br i1 %243, label %235, label %239

244:
  %245 = phi i64 [ 0, %237 ], [ %269, %266 ]
  %246 = getelementptr inbounds ptr, ptr %26, i64 %245
  %247 = load ptr, ptr %246, align 8
  %248 = ptrtoint ptr %247 to i64
  %249 = lshr i64 %248, 4
  %250 = mul i64 %249, -7046029254386353131
  %251 = lshr i64 %250, 32
  %252 = and i64 %251, %238
  %253 = getelementptr inbounds ptr, ptr %232, i64 %252
  %254 = load ptr, ptr %253, align 8
  %255 = icmp eq ptr %254, null
  br i1 %255, label %266, label %256

256:
  %257 = phi ptr [ %264, %260 ], [ %254, %244 ]
  %258 = phi i64 [ %262, %260 ], [ %252, %244 ]
  %259 = icmp eq ptr %257, %247
  br i1 %259, label %282, label %260

260:
  %261 = add nsw i64 %258, 1
  %262 = and i64 %261, %238
  %263 = getelementptr inbounds ptr, ptr %232, i64 %262
  %264 = load ptr, ptr %263, align 8
  %265 = icmp eq ptr %264, null
  br i1 %265, label %266, label %256

266:
  %267 = phi i64 [ %252, %244 ], [ %262, %260 ]
  %268 = getelementptr inbounds ptr, ptr %232, i64 %267
  store ptr %247, ptr %268, align 8
  %269 = add nuw nsw i64 %245, 1
  %270 = icmp eq i64 %269, %231
  br i1 %270, label %289, label %244

271:
  %272 = icmp eq i32 %177, 0
  br i1 %272, label %282, label %605

273:
  %274 = phi i64 [ 0, %37 ], [ %279, %273 ]
  %275 = getelementptr inbounds ptr, ptr %34, i64 %274
  %276 = load ptr, ptr %275, align 8
  %277 = getelementptr inbounds ptr, ptr %26, i64 %274
  store ptr %276, ptr %277, align 8
  %278 = load ptr, ptr %38, align 8
   call void %278(ptr %276)
  %279 = add nuw nsw i64 %274, 1
  %280 = load i64, ptr %8, align 8
  %281 = icmp slt i64 %279, %280
  br i1 %281, label %273, label %39

282:
  %283 = phi i64 [ %195, %208 ], [ %62, %271 ], [ %230, %256 ], [ %62, %102 ], [ %62, %61 ], [ %62, %84 ], [ %62, %74 ], [ %62, %93 ], [ %62, %183 ], [ %62, %188 ], [ %62, %122 ], [ %62, %124 ], [ %62, %141 ], [ %62, %146 ], [ %62, %153 ], [ %62, %169 ]
  %284 = getelementptr inbounds i8, ptr %5, i64 48
  %285 = load ptr, ptr %284, align 8
  %286 = getelementptr inbounds i8, ptr %5, i64 224
  %287 = load ptr, ptr %286, align 8
   call void %285(ptr %287)
  %288 = load ptr, ptr %286, align 8
  br label %605

289:
  %290 = getelementptr inbounds i8, ptr %5, i64 16
  %291 = load ptr, ptr %290, align 8
  %292 = call ptr %291(i64 8)
  %293 = icmp eq ptr %292, null
  br i1 %293, label %605, label %294

294:
  %295 = load i64, ptr %20, align 8
  %296 = load ptr, ptr %4, align 8
  %297 = load ptr, ptr %296, align 8
  %298 = call ptr %297(i64 %295)
  %299 = icmp ne ptr %298, null
  %300 = icmp sgt i64 %295, 0
  %301 = and i1 %300, %299
  br i1 %301, label %302, label %315

302:
  %303 = getelementptr inbounds i8, ptr %296, i64 48
  %304 = getelementptr inbounds i8, ptr %296, i64 8
  br label %305

305:
  %306 = phi i64 [ 0, %302 ], [ %311, %305 ]
  %307 = load ptr, ptr %303, align 8
  %308 = getelementptr inbounds ptr, ptr %26, i64 %306
  %309 = load ptr, ptr %308, align 8
   call void %307(ptr %309)
  %310 = load ptr, ptr %304, align 8
  %311 = add nuw nsw i64 %306, 1
  %312 = load ptr, ptr %308, align 8
  %313 = call i32 %310(ptr %298, i64 %306, ptr %312)
  %314 = icmp eq i64 %311, %295
  br i1 %314, label %315, label %305

315:
  store ptr %298, ptr %3, align 16
  %316 = getelementptr inbounds i8, ptr %3, i64 8
  %317 = getelementptr inbounds i8, ptr %0, i64 72
  %318 = load i64, ptr %317, align 8
  %319 = load ptr, ptr %4, align 8
  %320 = load ptr, ptr %319, align 8
  %321 = call ptr %320(i64 %318)
  %322 = icmp ne ptr %321, null
  %323 = icmp sgt i64 %318, 0
  %324 = and i1 %323, %322
  br i1 %324, label %325, label %350

325:
  %326 = getelementptr inbounds i8, ptr %0, i64 40
  %327 = getelementptr inbounds i8, ptr %319, i64 48
  %328 = getelementptr inbounds i8, ptr %319, i64 8
  br label %329

329:
  %330 = phi i64 [ 0, %325 ], [ %347, %346 ]
  %331 = phi i64 [ 0, %325 ], [ %348, %346 ]
  %332 = load ptr, ptr %326, align 8
  %333 = mul nuw nsw i64 %331, 88
  %334 = getelementptr inbounds i8, ptr %332, i64 %333
  %335 = getelementptr inbounds i8, ptr %334, i64 64
  %336 = load i64, ptr %335, align 8
  %337 = icmp eq i64 %336, 0
  br i1 %337, label %346, label %338

338:
  %339 = load ptr, ptr %327, align 8
  %340 = getelementptr inbounds ptr, ptr %26, i64 %331
  %341 = load ptr, ptr %340, align 8
   call void %339(ptr %341)
  %342 = load ptr, ptr %328, align 8
  %343 = add nsw i64 %330, 1
  %344 = load ptr, ptr %340, align 8
  %345 = call i32 %342(ptr %321, i64 %330, ptr %344)
  br label %346

346:
  %347 = phi i64 [ %343, %338 ], [ %330, %329 ]
  %348 = add nuw nsw i64 %331, 1
  %349 = icmp slt i64 %347, %318
  br i1 %349, label %329, label %350

350:
  store ptr %321, ptr %316, align 8
  %351 = getelementptr inbounds i8, ptr %3, i64 16
  %352 = getelementptr inbounds i8, ptr %0, i64 80
  %353 = load i64, ptr %352, align 8
  %354 = load ptr, ptr %4, align 8
  %355 = load ptr, ptr %354, align 8
  %356 = call ptr %355(i64 %353)
  %357 = icmp ne ptr %356, null
  %358 = icmp sgt i64 %353, 0
  %359 = and i1 %358, %357
  br i1 %359, label %360, label %388

360:
  %361 = getelementptr inbounds i8, ptr %0, i64 40
  %362 = getelementptr inbounds i8, ptr %354, i64 336
  %363 = getelementptr inbounds i8, ptr %354, i64 48
  %364 = getelementptr inbounds i8, ptr %354, i64 8
  br label %365

365:
  %366 = phi i64 [ 0, %360 ], [ %386, %384 ]
  %367 = phi i64 [ 0, %360 ], [ %385, %384 ]
  %368 = load ptr, ptr %361, align 8
  %369 = mul nuw nsw i64 %366, 88
  %370 = getelementptr inbounds i8, ptr %368, i64 %369
  %371 = getelementptr inbounds i8, ptr %370, i64 48
  %372 = load i64, ptr %371, align 8
  %373 = icmp eq i64 %372, 5
  br i1 %373, label %374, label %384

374:
  %375 = getelementptr inbounds ptr, ptr %26, i64 %366
  %376 = load ptr, ptr %375, align 8
  %377 = load i64, ptr %362, align 8
  %378 = getelementptr inbounds i8, ptr %376, i64 %377
  %379 = load ptr, ptr %378, align 8
  %380 = load ptr, ptr %363, align 8
   call void %380(ptr %379)
  %381 = load ptr, ptr %364, align 8
  %382 = add nsw i64 %367, 1
  %383 = call i32 %381(ptr %356, i64 %367, ptr %379)
  br label %384

384:
  %385 = phi i64 [ %382, %374 ], [ %367, %365 ]
  %386 = add nuw nsw i64 %366, 1
  %387 = icmp slt i64 %385, %353
  br i1 %387, label %365, label %388

388:
  store ptr %356, ptr %351, align 16
  %389 = getelementptr inbounds i8, ptr %3, i64 24
  %390 = load i64, ptr %352, align 8
  %391 = load ptr, ptr %4, align 8
  %392 = load ptr, ptr %391, align 8
  %393 = call ptr %392(i64 %390)
  %394 = icmp ne ptr %393, null
  %395 = icmp sgt i64 %390, 0
  %396 = and i1 %395, %394
  br i1 %396, label %397, label %421

397:
  %398 = getelementptr inbounds i8, ptr %0, i64 40
  %399 = getelementptr inbounds i8, ptr %391, i64 48
  %400 = getelementptr inbounds i8, ptr %391, i64 8
  br label %401

401:
  %402 = phi i64 [ 0, %397 ], [ %419, %417 ]
  %403 = phi i64 [ 0, %397 ], [ %418, %417 ]
  %404 = load ptr, ptr %398, align 8
  %405 = mul nuw nsw i64 %402, 88
  %406 = getelementptr inbounds i8, ptr %404, i64 %405
  %407 = getelementptr inbounds i8, ptr %406, i64 48
  %408 = load i64, ptr %407, align 8
  %409 = icmp eq i64 %408, 5
  br i1 %409, label %410, label %417

410:
  %411 = getelementptr inbounds ptr, ptr %26, i64 %402
  %412 = load ptr, ptr %411, align 8
  %413 = load ptr, ptr %399, align 8
   call void %413(ptr %412)
  %414 = load ptr, ptr %400, align 8
  %415 = add nsw i64 %403, 1
  %416 = call i32 %414(ptr %393, i64 %403, ptr %412)
  br label %417

417:
  %418 = phi i64 [ %415, %410 ], [ %403, %401 ]
  %419 = add nuw nsw i64 %402, 1
  %420 = icmp slt i64 %418, %390
  br i1 %420, label %401, label %421

421:
  store ptr %393, ptr %389, align 8
  %422 = getelementptr inbounds i8, ptr %3, i64 32
  %423 = getelementptr inbounds i8, ptr %0, i64 88
  %424 = load i64, ptr %423, align 8
  %425 = load ptr, ptr %4, align 8
  %426 = load ptr, ptr %425, align 8
  %427 = call ptr %426(i64 %424)
  %428 = icmp ne ptr %427, null
  %429 = icmp sgt i64 %424, 0
  %430 = and i1 %429, %428
  br i1 %430, label %431, label %456

431:
  %432 = getelementptr inbounds i8, ptr %0, i64 40
  %433 = getelementptr inbounds i8, ptr %425, i64 48
  %434 = getelementptr inbounds i8, ptr %425, i64 8
  br label %435

435:
  %436 = phi i64 [ 0, %431 ], [ %453, %452 ]
  %437 = phi i64 [ 0, %431 ], [ %454, %452 ]
  %438 = load ptr, ptr %432, align 8
  %439 = mul nuw nsw i64 %437, 88
  %440 = getelementptr inbounds i8, ptr %438, i64 %439
  %441 = getelementptr inbounds i8, ptr %440, i64 72
  %442 = load i64, ptr %441, align 8
  %443 = icmp eq i64 %442, 0
  br i1 %443, label %452, label %444

444:
  %445 = load ptr, ptr %433, align 8
  %446 = getelementptr inbounds ptr, ptr %26, i64 %437
  %447 = load ptr, ptr %446, align 8
   call void %445(ptr %447)
  %448 = load ptr, ptr %434, align 8
  %449 = add nsw i64 %436, 1
  %450 = load ptr, ptr %446, align 8
  %451 = call i32 %448(ptr %427, i64 %436, ptr %450)
  br label %452

452:
  %453 = phi i64 [ %449, %444 ], [ %436, %435 ]
  %454 = add nuw nsw i64 %437, 1
  %455 = icmp slt i64 %453, %424
  br i1 %455, label %435, label %456

456:
  store ptr %427, ptr %422, align 16
  %457 = getelementptr inbounds i8, ptr %3, i64 40
  %458 = getelementptr inbounds i8, ptr %0, i64 96
  %459 = load i64, ptr %458, align 8
  %460 = load ptr, ptr %4, align 8
  %461 = load ptr, ptr %460, align 8
  %462 = call ptr %461(i64 %459)
  %463 = icmp ne ptr %462, null
  %464 = icmp sgt i64 %459, 0
  %465 = and i1 %464, %463
  br i1 %465, label %466, label %494

466:
  %467 = getelementptr inbounds i8, ptr %0, i64 40
  %468 = getelementptr inbounds i8, ptr %460, i64 336
  %469 = getelementptr inbounds i8, ptr %460, i64 48
  %470 = getelementptr inbounds i8, ptr %460, i64 8
  br label %471

471:
  %472 = phi i64 [ 0, %466 ], [ %492, %490 ]
  %473 = phi i64 [ 0, %466 ], [ %491, %490 ]
  %474 = load ptr, ptr %467, align 8
  %475 = mul nuw nsw i64 %472, 88
  %476 = getelementptr inbounds i8, ptr %474, i64 %475
  %477 = getelementptr inbounds i8, ptr %476, i64 80
  %478 = load i64, ptr %477, align 8
  %479 = icmp eq i64 %478, 0
  br i1 %479, label %490, label %480

480:
  %481 = getelementptr inbounds ptr, ptr %26, i64 %472
  %482 = load ptr, ptr %481, align 8
  %483 = load i64, ptr %468, align 8
  %484 = getelementptr inbounds i8, ptr %482, i64 %483
  %485 = load ptr, ptr %484, align 8
  %486 = load ptr, ptr %469, align 8
   call void %486(ptr %485)
  %487 = load ptr, ptr %470, align 8
  %488 = add nsw i64 %473, 1
  %489 = call i32 %487(ptr %462, i64 %473, ptr %485)
  br label %490

490:
  %491 = phi i64 [ %488, %480 ], [ %473, %471 ]
  %492 = add nuw nsw i64 %472, 1
  %493 = icmp slt i64 %491, %459
  br i1 %493, label %471, label %494

494:
  store ptr %462, ptr %457, align 8
  %495 = getelementptr inbounds i8, ptr %3, i64 48
  store ptr null, ptr %495, align 16
  %496 = getelementptr inbounds i8, ptr %3, i64 56
  %497 = icmp eq ptr %321, null
  br i1 %497, label %557, label %498

498:
  %499 = load ptr, ptr %4, align 8
  %500 = load ptr, ptr %499, align 8
  %501 = load i64, ptr %317, align 8
  %502 = call ptr %500(i64 %501)
  %503 = icmp eq ptr %502, null
  br i1 %503, label %555, label %504

504:
  %505 = getelementptr inbounds i8, ptr %321, i64 24
  %506 = getelementptr inbounds i8, ptr %499, i64 360
  %507 = getelementptr inbounds i8, ptr %499, i64 304
  %508 = getelementptr inbounds i8, ptr %499, i64 280
  %509 = getelementptr inbounds i8, ptr %499, i64 392
  %510 = getelementptr inbounds i8, ptr %499, i64 288
  %511 = getelementptr inbounds i8, ptr %499, i64 48
  %512 = getelementptr inbounds i8, ptr %499, i64 8
  %513 = load i64, ptr %317, align 8
  %514 = icmp sgt i64 %513, 0
  br i1 %514, label %515, label %555

515:
  %516 = phi i64 [ %545, %541 ], [ 0, %504 ]
  %517 = load ptr, ptr %505, align 8
  %518 = getelementptr inbounds ptr, ptr %517, i64 %516
  %519 = load ptr, ptr %518, align 8
  %520 = load i64, ptr %506, align 8
  %521 = getelementptr inbounds i8, ptr %519, i64 %520
  %522 = load ptr, ptr %521, align 8
  %523 = load i64, ptr %507, align 8
  %524 = getelementptr inbounds i8, ptr %522, i64 %523
  %525 = load ptr, ptr %524, align 8
  %526 = load ptr, ptr %508, align 8
  %527 = icmp eq ptr %525, %526
  br i1 %527, label %528, label %536

528:
  %529 = load i64, ptr %509, align 8
  %530 = getelementptr inbounds i8, ptr %522, i64 %529
  %531 = load ptr, ptr %530, align 8
  %532 = icmp eq ptr %531, null
  br i1 %532, label %548, label %533

533:
  %534 = getelementptr inbounds i8, ptr %531, i64 %523
  %535 = load ptr, ptr %534, align 8
  br label %536

536:
  %537 = phi ptr [ %535, %533 ], [ %525, %515 ]
  %538 = phi ptr [ %531, %533 ], [ %522, %515 ]
  %539 = load ptr, ptr %510, align 8
  %540 = icmp eq ptr %537, %539
  br i1 %540, label %541, label %548

541:
  %542 = load ptr, ptr %511, align 8
   call void %542(ptr %538)
  %543 = load ptr, ptr %512, align 8
  %544 = call i32 %543(ptr %502, i64 %516, ptr %538)
  %545 = add nuw nsw i64 %516, 1
  %546 = load i64, ptr %317, align 8
  %547 = icmp slt i64 %545, %546
  br i1 %547, label %515, label %555

548:
  %549 = getelementptr inbounds i8, ptr %499, i64 56
  %550 = load ptr, ptr %549, align 8
   call void %550(ptr %502)
  %551 = load ptr, ptr %511, align 8
  %552 = getelementptr inbounds i8, ptr %499, i64 224
  %553 = load ptr, ptr %552, align 8
   call void %551(ptr %553)
  %554 = load ptr, ptr %552, align 8
  br label %555

555:
  %556 = phi ptr [ %554, %548 ], [ null, %498 ], [ %502, %504 ], [ %502, %541 ]
  store ptr %556, ptr %495, align 16
  br label %557

557:
  %558 = load ptr, ptr %4, align 8
  %559 = getelementptr inbounds i8, ptr %0, i64 112
  %560 = load ptr, ptr %559, align 8
  %561 = load i64, ptr %560, align 8
  %562 = icmp sgt i64 %561, -1
  br i1 %562, label %563, label %578

563:
  %564 = load i64, ptr %20, align 8
  %565 = call i64 @llvm.smax.i64(i64 %564, i64 0)
  br label %566

566:
  %567 = phi i64 [ 0, %563 ], [ %577, %569 ]
  %568 = icmp eq i64 %567, %565
  br i1 %568, label %578, label %569

569:
  %570 = getelementptr inbounds ptr, ptr %26, i64 %567
  %571 = load ptr, ptr %570, align 8
  %572 = load i64, ptr %571, align 8
  %573 = add nsw i64 %572, -1
  %574 = getelementptr inbounds i64, ptr %560, i64 %567
  %575 = load i64, ptr %574, align 8
  %576 = icmp eq i64 %573, %575
  %577 = add nuw i64 %567, 1
  br i1 %576, label %566, label %578

578:
  %579 = phi i64 [ 240, %557 ], [ 240, %569 ], [ 232, %566 ]
  %580 = getelementptr inbounds i8, ptr %558, i64 %579
  %581 = load ptr, ptr %580, align 8
  %582 = getelementptr inbounds i8, ptr %558, i64 48
  %583 = load ptr, ptr %582, align 8
   call void %583(ptr %581)
  store ptr %581, ptr %496, align 8
  %584 = getelementptr inbounds i8, ptr %5, i64 24
  br label %586

585:
  br i1 %592, label %600, label %603

586:
  %587 = phi i64 [ 0, %578 ], [ %598, %597 ]
  %588 = phi i1 [ false, %578 ], [ %592, %597 ]
  %589 = getelementptr inbounds ptr, ptr %3, i64 %587
  %590 = load ptr, ptr %589, align 8
  %591 = icmp eq ptr %590, null
  %592 = or i1 %588, %591
  %593 = icmp eq ptr %590, null
  br i1 %593, label %597, label %594

594:
  %595 = load ptr, ptr %584, align 8
  %596 = call i32 %595(ptr %292, i64 %587, ptr %590)
  br label %597

597:
  %598 = add nuw nsw i64 %587, 1
  %599 = icmp eq i64 %598, 8
  br i1 %599, label %585, label %586

600:
  %601 = getelementptr inbounds i8, ptr %5, i64 56
  %602 = load ptr, ptr %601, align 8
   call void %602(ptr %292)
  br label %603

603:
  %604 = phi ptr [ %292, %585 ], [ null, %600 ]
  br label %605

605:
  %606 = phi i64 [ %230, %603 ], [ %230, %289 ], [ %283, %282 ], [ %62, %271 ]
  %607 = phi ptr [ %604, %603 ], [ null, %289 ], [ %288, %282 ], [ null, %271 ]
  %608 = icmp sgt i64 %606, 0
  br i1 %608, label %609, label %618

609:
  %610 = getelementptr inbounds i8, ptr %5, i64 56
  br label %611

611:
  %612 = phi i64 [ %606, %609 ], [ %614, %611 ]
  %613 = load ptr, ptr %610, align 8
  %614 = add nsw i64 %612, -1
  %615 = getelementptr inbounds ptr, ptr %26, i64 %614
  %616 = load ptr, ptr %615, align 8
   call void %613(ptr %616)
  %617 = icmp samesign ugt i64 %612, 1
  br i1 %617, label %611, label %618

618:
  %619 = getelementptr inbounds i8, ptr %5, i64 72
  %620 = load ptr, ptr %619, align 8
   call void %620(ptr %26)
  br label %621

621:
  %622 = phi ptr [ %16, %11 ], [ %607, %618 ], [ %31, %28 ]
  ret ptr %622
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
  %33 = getelementptr inbounds i8, ptr %5, i64 360
  %34 = getelementptr inbounds i8, ptr %5, i64 224
  %35 = getelementptr inbounds i8, ptr %5, i64 304
  %36 = getelementptr inbounds i8, ptr %5, i64 280
  %37 = getelementptr inbounds i8, ptr %5, i64 88
  %38 = getelementptr inbounds i8, ptr %5, i64 48
  %39 = getelementptr inbounds i8, ptr %5, i64 392
  %40 = getelementptr inbounds i8, ptr %5, i64 328
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
  %145 = getelementptr inbounds i8, ptr %139, i64 336
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
  %172 = getelementptr inbounds i8, ptr %5, i64 360
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
  br i1 %16, label %17, label %47

17:
  %18 = getelementptr inbounds i8, ptr %4, i64 112
  %19 = load ptr, ptr %18, align 8
  %20 = call i32 %19(ptr %11, ptr %1)
  %21 = icmp slt i32 %20, 0
  br i1 %21, label %135, label %22

22:
  %23 = getelementptr inbounds i8, ptr %4, i64 120
  %24 = load ptr, ptr %23, align 8
  %25 = call i32 %24(ptr %8, ptr %1)
  %26 = icmp slt i32 %25, 0
  br i1 %26, label %135, label %27

27:
  %28 = getelementptr inbounds i8, ptr %8, i64 16
  %29 = getelementptr inbounds i8, ptr %8, i64 24
  %30 = getelementptr inbounds i8, ptr %4, i64 320
  %31 = getelementptr inbounds i8, ptr %4, i64 328
  %32 = getelementptr inbounds i8, ptr %0, i64 48
  %33 = getelementptr inbounds i8, ptr %0, i64 56
  %34 = getelementptr inbounds i8, ptr %4, i64 120
  %35 = getelementptr inbounds i8, ptr %0, i64 40
  %36 = getelementptr inbounds i8, ptr %4, i64 312
  %37 = getelementptr inbounds i8, ptr %4, i64 352
  %38 = getelementptr inbounds i8, ptr %4, i64 232
  %39 = getelementptr inbounds i8, ptr %4, i64 240
  %40 = getelementptr inbounds i8, ptr %4, i64 128
  %41 = getelementptr inbounds i8, ptr %4, i64 104
  %42 = getelementptr inbounds i8, ptr %4, i64 112
  br label %43

43:
  %44 = phi i64 [ 0, %27 ], [ %91, %89 ]
  %45 = load i64, ptr %28, align 8
  %46 = icmp slt i64 %44, %45
  br i1 %46, label %48, label %135

47:
  br i1 %13, label %135, label %139

48:
  %49 = load ptr, ptr %29, align 8
  %50 = getelementptr inbounds ptr, ptr %49, i64 %44
  %51 = load ptr, ptr %50, align 8
  %52 = load i64, ptr %30, align 8
  %53 = getelementptr inbounds i8, ptr %51, i64 %52
  %54 = load ptr, ptr %53, align 8
  %55 = load i64, ptr %31, align 8
  %56 = getelementptr inbounds i8, ptr %51, i64 %55
  %57 = load ptr, ptr %56, align 8
  %58 = load i64, ptr %32, align 8
  %59 = icmp sgt i64 %58, 0
  br i1 %59, label %67, label %60

60:
  %61 = phi i32 [ 0, %48 ], [ %80, %78 ]
  %62 = getelementptr inbounds i8, ptr %57, i64 16
  %63 = load ptr, ptr %35, align 8
  %64 = icmp eq ptr %54, %63
  %65 = icmp ne i32 %61, 0
  %66 = select i1 %64, i1 true, i1 %65
  br i1 %66, label %89, label %85

67:
  %68 = phi i64 [ %79, %78 ], [ %58, %48 ]
  %69 = phi i64 [ %81, %78 ], [ 0, %48 ]
  %70 = getelementptr inbounds ptr, ptr %33, i64 %69
  %71 = load ptr, ptr %70, align 8
  %72 = icmp eq ptr %71, %54
  br i1 %72, label %73, label %78

73:
  %74 = load ptr, ptr %34, align 8
  %75 = call i32 %74(ptr %6, ptr %51)
  %76 = lshr i32 %75, 31
  %77 = load i64, ptr %32, align 8
  br label %78

78:
  %79 = phi i64 [ %77, %73 ], [ %68, %67 ]
  %80 = phi i32 [ %76, %73 ], [ 0, %67 ]
  %81 = add nuw nsw i64 %69, 1
  %82 = icmp slt i64 %81, %79
  %83 = icmp eq i32 %80, 0
  %84 = select i1 %82, i1 %83, i1 false
  br i1 %84, label %67, label %60

85:
  %86 = phi i64 [ %130, %128 ], [ 0, %60 ]
  %87 = load i64, ptr %62, align 8
  %88 = icmp slt i64 %86, %87
  br i1 %88, label %93, label %89

89:
  %90 = phi i32 [ %61, %60 ], [ %129, %128 ], [ 0, %85 ]
  %91 = add nuw nsw i64 %44, 1
  %92 = icmp eq i32 %90, 0
  br i1 %92, label %43, label %47

93:
  %94 = load i64, ptr %36, align 8
  %95 = shl nsw i64 %86, 3
  %96 = getelementptr i8, ptr %57, i64 %94
  %97 = getelementptr i8, ptr %96, i64 %95
  %98 = load ptr, ptr %97, align 8
  %99 = load i64, ptr %37, align 8
  %100 = getelementptr inbounds i8, ptr %98, i64 %99
  %101 = load ptr, ptr %100, align 8
  %102 = load ptr, ptr %38, align 8
  %103 = icmp eq ptr %101, %102
  br i1 %103, label %114, label %104

104:
  %105 = load ptr, ptr %39, align 8
  %106 = icmp eq ptr %101, %105
  br i1 %106, label %128, label %107

107:
  %108 = load ptr, ptr %40, align 8
  %109 = call i32 %108(ptr %101)
  %110 = freeze i32 %109
  %111 = icmp sgt i32 %110, 0
  br i1 %111, label %114, label %112

112:
  %113 = icmp eq i32 %110, 0
  br i1 %113, label %128, label %47

114:
  %115 = load ptr, ptr %41, align 8
  %116 = call i32 %115(ptr %11, ptr %98)
  %117 = icmp slt i32 %116, 0
  br i1 %117, label %47, label %118

118:
  %119 = icmp eq i32 %116, 0
  br i1 %119, label %120, label %128

120:
  %121 = load ptr, ptr %42, align 8
  %122 = call i32 %121(ptr %11, ptr %98)
  %123 = icmp slt i32 %122, 0
  br i1 %123, label %47, label %124

124:
  %125 = load ptr, ptr %34, align 8
  %126 = call i32 %125(ptr %8, ptr %98)
  %127 = lshr i32 %126, 31
  br label %128

128:
  %129 = phi i32 [ %127, %124 ], [ 0, %118 ], [ 0, %104 ], [ 0, %112 ]
  %130 = add nuw nsw i64 %86, 1
  %131 = load ptr, ptr %35, align 8
  %132 = icmp eq ptr %54, %131
  %133 = icmp ne i32 %129, 0
  %134 = select i1 %132, i1 true, i1 %133
  br i1 %134, label %89, label %85

135:
  %136 = phi i1 [ true, %47 ], [ true, %17 ], [ true, %22 ], [ false, %43 ]
  %137 = getelementptr inbounds i8, ptr %4, i64 56
  %138 = load ptr, ptr %137, align 8
   call void %138(ptr %8)
  br label %139

139:
  %140 = phi i1 [ %136, %135 ], [ true, %47 ]
  br i1 %15, label %141, label %144

141:
  %142 = getelementptr inbounds i8, ptr %4, i64 56
  %143 = load ptr, ptr %142, align 8
   call void %143(ptr %11)
  br label %144

144:
  %145 = and i1 %12, %140
  br i1 %145, label %146, label %149

146:
  %147 = getelementptr inbounds i8, ptr %4, i64 56
  %148 = load ptr, ptr %147, align 8
   call void %148(ptr %6)
  br label %149

149:
  %150 = select i1 %140, ptr null, ptr %6
  ret ptr %150
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
  %35 = getelementptr inbounds i8, ptr %6, i64 320
  %36 = load i64, ptr %35, align 8
  %37 = load ptr, ptr %1, align 8
  %38 = getelementptr inbounds i8, ptr %21, i64 %36
  store ptr %37, ptr %38, align 8
  %39 = getelementptr inbounds i8, ptr %6, i64 328
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %1, i64 8
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %21, i64 %40
  store ptr %42, ptr %43, align 8
  %44 = getelementptr inbounds i8, ptr %6, i64 336
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %1, i64 16
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %21, i64 %45
  store ptr %47, ptr %48, align 8
  %49 = getelementptr inbounds i8, ptr %6, i64 344
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %1, i64 24
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds i8, ptr %21, i64 %50
  store ptr %52, ptr %53, align 8
  %54 = getelementptr inbounds i8, ptr %6, i64 368
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr inbounds i8, ptr %1, i64 32
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds i8, ptr %21, i64 %55
  store ptr %57, ptr %58, align 8
  %59 = getelementptr inbounds i8, ptr %6, i64 376
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr inbounds i8, ptr %1, i64 40
  %62 = load ptr, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %21, i64 %60
  store ptr %62, ptr %63, align 8
  %64 = getelementptr inbounds i8, ptr %6, i64 352
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %1, i64 48
  %67 = load ptr, ptr %66, align 8
  %68 = getelementptr inbounds i8, ptr %21, i64 %65
  store ptr %67, ptr %68, align 8
  %69 = getelementptr inbounds i8, ptr %6, i64 360
  %70 = load i64, ptr %69, align 8
  %71 = getelementptr inbounds i8, ptr %21, i64 %70
  store ptr %28, ptr %71, align 8
  %72 = getelementptr inbounds i8, ptr %6, i64 384
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
