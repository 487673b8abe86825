// Writes golden.json beside the tiny models: texts, their ids as transformers.js
// gives them, and their vectors as ONNX Runtime gives them. Run by hand:
//
//   npm i --no-save onnxruntime-node@1.21.0 @huggingface/transformers@3.8.0
//   node golden.mjs ../testdata/tiny-bert
//
// Node finds the packages in the folder it is started from when this file is
// copied there.
import { readFileSync, writeFileSync } from 'node:fs'
import ort from 'onnxruntime-node'
import { PreTrainedTokenizer } from '@huggingface/transformers'

const dir = process.argv[2]
const read = name => JSON.parse(readFileSync(`${dir}/${name}`, 'utf8'))
const tokenizer = new PreTrainedTokenizer(read('tokenizer.json'), {
  tokenizer_class: 'BertTokenizer', do_lower_case: true, model_max_length: 128,
  cls_token: '[CLS]', sep_token: '[SEP]', pad_token: '[PAD]', unk_token: '[UNK]', mask_token: '[MASK]',
})
const texts = [
  'bread',
  'How do I bake bread at home?',
  'the doctor treats sick people',
  'DEPLOY the Server: release-day, today!',
  'database_table rows/query #12',
  'Café, café, cafe\u0301; crème brûlée',
  'мир, МИР й ё',
  '数据库 東京タワー',
  '🚀 deploy 👩‍👩‍👧‍👦 ✅',
  'zero\u200bwidth so\u00adft\ttab\nline',
  'words that nobody knows here',
  'programs crashing, crashed, releaser z12',
  'x'.repeat(120) + ' bug',
  'the program crashes with an error because of a bug in the code today '.repeat(14),
]

// transformers.js cuts the mark at the end off too, which the tokenizers that
// models are trained with do not.
const encode = text => {
  const ids = Array.from(tokenizer(text, { return_tensor: false }).input_ids)
  return ids.length > 128 ? [...ids.slice(0, 127), ids.at(-1)] : ids
}
const rows = texts.map(text => ({ text, ids: encode(text) }))
for (const [field, file] of [['float', 'model.onnx'], ['eight_bits', 'model_quantized.onnx']]) {
  const session = await ort.InferenceSession.create(`${dir}/onnx/${file}`, { intraOpNumThreads: 1 })
  for (const row of rows) {
    const n = row.ids.length
    const tensor = f => new ort.Tensor('int64', BigInt64Array.from(row.ids, f), [1, n])
    const out = await session.run({ input_ids: tensor(BigInt), attention_mask: tensor(() => 1n), token_type_ids: tensor(() => 0n) })
    const { data, dims } = out.last_hidden_state
    const mean = new Float64Array(dims[2])
    data.forEach((x, i) => { mean[i % dims[2]] += x / n })
    const length = Math.hypot(...mean)
    row[field] = Array.from(mean, x => Number((x / length).toFixed(7)))
  }
}
writeFileSync(`${dir}/golden.json`, '[\n' + rows.map(r => JSON.stringify(r)).join(',\n') + '\n]\n')
