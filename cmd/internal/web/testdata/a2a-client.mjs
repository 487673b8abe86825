// An independent A2A client against a running lean-ctx serve:
//   node a2a-client.mjs http://127.0.0.1:7337 TOKEN
// It prints a line for each step and ends with 1 at the first that is wrong.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import assert from 'node:assert/strict'

const require = createRequire(process.cwd() + '/')
const { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory, DefaultAgentCardResolver } =
  await import(pathToFileURL(require.resolve('@a2a-js/sdk/client')))
const { Role, TaskState } = await import(pathToFileURL(require.resolve('@a2a-js/sdk')))

const [base, token] = process.argv.slice(2)
const fetchImpl = (url, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set('Authorization', 'Bearer ' + token)
  return fetch(url, { ...init, headers })
}
const message = (text, more = {}) => ({
  message: { messageId: crypto.randomUUID(), role: Role.ROLE_USER, contextId: '', taskId: '', extensions: [], referenceTaskIds: [], metadata: {},
    parts: [{ content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: {} }], ...more },
  configuration: { returnImmediately: true, acceptedOutputModes: ['text/plain'] }, metadata: {}, tenant: '',
})
// How an agent of the project acts: by the operations.
const operation = async (tool, action, args) => {
  const r = await fetchImpl(`${base}/api/${tool}/${action}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(args) })
  assert.equal(r.status, 200, await r.clone().text())
  return (await r.json()).result
}
const rejects = async (promise, words) => {
  await assert.rejects(promise, e => { console.log('   refused:', e.constructor.name, e.message); return words.test(e.constructor.name + ' ' + e.message + ' ' + e.code) })
}

for (const [name, Transport] of [['JSONRPC', JsonRpcTransportFactory], ['HTTP+JSON', RestTransportFactory]]) {
  console.log(name)
  const factory = new ClientFactory({ ...ClientFactoryOptions.default, transports: [new Transport({ fetchImpl })], preferredTransports: [name], cardResolver: new DefaultAgentCardResolver({ fetchImpl }) })
  const client = await factory.createFromUrl(base)
  console.log(' card')
  const sent = await client.sendMessage(message('Fix auth middleware\nIt drops the token.'))
  const task = sent.payload ? sent.payload.value : sent
  assert.equal(task.status.state, TaskState.TASK_STATE_SUBMITTED)
  assert.ok(task.id && task.contextId)
  console.log(' send', task.id)

  let got = await client.getTask({ id: task.id, tenant: '' })
  assert.equal(got.id, task.id)
  assert.match(got.history[0].parts[0].content.value, /drops the token/)
  console.log(' get')
  await rejects(client.getTask({ id: 't-000000', tenant: '' }), /TaskNotFound/i)

  const seen = []
  const stream = client.sendMessageStream(message('Add rate limiting'))
  let id
  for await (const event of stream) {
    const p = event.payload ?? event
    seen.push(p.$case)
    if (p.$case === 'task') {
      id = p.value.id
      void (async () => {
        await operation('task', 'update', { task_id: id, state: 'Working', message: 'begun' })
        await operation('task', 'update', { task_id: id, state: 'Completed', message: 'done', artifact: 'the patch' })
      })()
    }
  }
  assert.equal(seen[0], 'task')
  assert.ok(seen.includes('statusUpdate') && seen.includes('artifactUpdate'), seen.join())
  assert.equal(seen.at(-1), 'statusUpdate')
  got = await client.getTask({ id, tenant: '' })
  assert.equal(got.status.state, TaskState.TASK_STATE_COMPLETED)
  assert.equal(got.artifacts[0].parts[0].content.value, 'the patch')
  console.log(' stream', seen.join(' '))
  await rejects(client.sendMessage(message('more', { taskId: id })), /UnsupportedOperation/i)

  const asked = client.sendMessage({ ...message('Deploy it'), configuration: { returnImmediately: false, acceptedOutputModes: [] } })
  let waiting
  while (!waiting) {
    waiting = (await operation('task', 'list', { state: 'open' })).tasks.find(t => t.title === 'Deploy it' && t.state === 'Created')
  }
  await operation('task', 'update', { task_id: waiting.id, state: 'InputRequired', message: 'which cluster?' })
  const blocked = await asked
  const held = blocked.payload ? blocked.payload.value : blocked
  assert.equal(held.status.state, TaskState.TASK_STATE_INPUT_REQUIRED)
  const answered = await client.sendMessage(message('the small one', { taskId: held.id, contextId: held.contextId }))
  assert.equal((answered.payload ? answered.payload.value : answered).status.state, TaskState.TASK_STATE_WORKING)
  console.log(' send and wait, answer')

  const child = await client.sendMessage(message('And write the docs', { contextId: held.contextId }))
  assert.equal((child.payload ? child.payload.value : child).contextId, held.contextId)
  const page = await client.listTasks({ tenant: '', contextId: held.contextId, status: 0, pageSize: 1, pageToken: '' })
  assert.equal(page.totalSize, 2)
  assert.equal(page.tasks.length, 1)
  const rest = await client.listTasks({ tenant: '', contextId: held.contextId, status: 0, pageSize: 1, pageToken: page.nextPageToken })
  assert.notEqual(rest.tasks[0].id, page.tasks[0].id)
  assert.equal(rest.nextPageToken, '')
  console.log(' list')

  const canceled = await client.cancelTask({ id: task.id, tenant: '', metadata: {} })
  assert.equal(canceled.status.state, TaskState.TASK_STATE_CANCELED)
  await rejects(client.cancelTask({ id: task.id, tenant: '', metadata: {} }), /TaskNotCancelable/i)
  console.log(' cancel, cancel again')
}
console.log('ok')
