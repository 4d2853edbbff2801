import { readFile, writeFile } from 'node:fs/promises'
import { pingType, ServiceEventType, serviceEventSchemas } from '@automation/access'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { reportSilence } from '@automation/rules'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { recordingsFile } from '../src/openapi/examples.js'
import { mint, startApi } from './fixtures/api.js'
import { Recorder, type Recordings } from './fixtures/recordings/recorder.js'
import * as story from './fixtures/recordings/story.js'
import { createResolver } from './fixtures/security/operations.js'
import { startWorker } from './fixtures/worker.js'

// npm run openapi reads apps/api/recordings.json. This test writes it with --write (npm run examples), and otherwise compares it.
// Ids, times and counts differ from run to run. An example that differs in nothing else stays as it is, so a second run changes nothing.

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())
const ada = `ada-${newId()}`
const token = await mint(ada)

async function record(): Promise<Recordings> {
  let workspace: string | undefined
  const recorder = new Recorder(({ method, path, ...question }) =>
    api.call(method, path, { token, workspace, ...question }),
  )
  const home = await api.makeWorkspace()
  await home.database.member.create({ data: { workspaceId: home.id, userId: ada, role: 'admin' } })
  workspace = home.id
  const { id } = await recorder.record<{ id: string }>('POST /api/developer/v1/workspaces', {
    body: { name: 'Acme' },
  })
  workspace = id
  const subscription = await story.subscribe(recorder, ServiceEventType.enum)
  const named = await story.tellOfRules(recorder)
  const event = await story.tellOfEvents(recorder, named.rule)
  await story.tellOfHistory(recorder, event, named.rule)
  await story.tellOfRollouts(recorder, named.rule)
  const { execution } = api.app.database.forWorkspace(id)
  await story.tellOfDecisions(recorder)
  await story.tellOfFailures(recorder, id, (executionId) =>
    execution.update({ where: { id: executionId }, data: { status: 'running', lease: newId() } }),
  )
  await tellOfSilence(recorder, id, named.rule)
  await story.tellOfWebhooks(recorder, id)
  await story.tellOfAccess(recorder, id)
  await story.tidyUp(recorder, named)
  await story.endSubscription(recorder, subscription)
  const sent = await api.app.database
    .forWorkspace(id)
    .event.findMany({ where: { addresseeKind: 'subscription' }, orderBy: { id: 'asc' } })
  for (const { type, acceptedAt, data } of sent)
    recorder.recordWebhook(type, { type, timestamp: acceptedAt.toISOString(), data })
  return recorder.finish()
}

/** A rule falls silent, and is heard again. */
async function tellOfSilence(recorder: Recorder, workspaceId: string, ruleId: string): Promise<void> {
  const path = { id: ruleId }
  await recorder.read('PATCH /api/automation-rules/{id}', {
    path,
    body: { expectEvery: '24h', isActive: true },
  })
  const { countedFrom } = await api.app.database
    .forWorkspace(workspaceId)
    .ruleSilence.findUniqueOrThrow({ where: { ruleId } })
  for (const wasSilent of [false, true]) {
    const silence = { ruleId, workspaceId, createdBy: null, wasSilent, countedFrom, lastMatchAt: new Date() }
    if (!(await reportSilence(api.app.database, silence))) throw new Error('Nothing was reported')
  }
}

const recorded = await record()
let committed = JSON.parse(await readFile(recordingsFile, 'utf8')) as Recordings
if (process.argv.includes('--write')) {
  committed = keepWhatIsSame(committed, recorded)
  await writeFile(recordingsFile, `${JSON.stringify(committed, null, 2)}\n`)
}

t.test(
  'the examples of the document are what the API says today: npm run examples renews them',
  async (t) => {
    for (const part of ['operations', 'webhooks'] as const) {
      t.strictSame(Object.keys(committed[part]), Object.keys(recorded[part]))
      for (const [name, recording] of Object.entries(recorded[part]))
        t.strictSame(maskValues(committed[part][name]), maskValues(recording), name)
    }
  },
)

t.test(
  'each operation has an example of its request and of each success, which fit its schemas',
  async (t) => {
    const document = JSON.parse(JSON.stringify(api.app.swagger())) as Document
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
    ajv.addSchema({ ...document, $id: 'document' })
    const resolve = createResolver(document)
    const check = (content: Content | undefined, name: string) => {
      if (content === undefined) return
      const { schema, example } = content['application/json']
      t.not(example, undefined, `${name} has an example`)
      const validate = ajv.compile({ $ref: `document${schema.$ref}` })
      t.ok(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`)
      t.ok(resolve(schema.$ref), name)
    }
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { requestBody, responses }] of Object.entries(methods)) {
        check(requestBody?.content, `${method} ${path}`)
        for (const [status, { content }] of Object.entries(responses))
          if (status < '300') check(content, `${method} ${path} ${status}`)
      }
    for (const [type, { post }] of Object.entries(document.webhooks)) check(post?.requestBody?.content, type)
  },
)

t.test('each type of event of the service is sent as its schema says', async (t) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  t.strictSame(Object.keys(recorded.webhooks).sort(), [...ServiceEventType.enum, pingType].sort())
  for (const [type, body] of Object.entries(recorded.webhooks) as [
    keyof typeof serviceEventSchemas,
    object,
  ][]) {
    const validate = ajv.compile({ ...serviceEventSchemas[type], additionalProperties: false })
    t.ok(validate((body as { data: object }).data), `${type}: ${ajv.errorsText(validate.errors)}`)
  }
})

type Content = { 'application/json': { schema: { $ref: string }; example?: unknown } }
interface Operation {
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post?: Operation }>
}

function keepWhatIsSame(before: Recordings, now: Recordings): Recordings {
  const keep = <Value>(old: Record<string, Value>, all: Record<string, Value>) =>
    Object.fromEntries(
      Object.entries(all).map(([name, value]) => {
        const isSame = JSON.stringify(maskValues(old[name])) === JSON.stringify(maskValues(value))
        return [name, isSame ? (old[name] as Value) : value]
      }),
    )
  return {
    operations: keep(before.operations, now.operations),
    webhooks: keep(before.webhooks, now.webhooks),
  }
}

/** Without figures, also those within texts, such as ids and times, and without the release of the time zones, which is that of Node. */
function maskValues(value: unknown): unknown {
  if (typeof value === 'number') return 0
  if (typeof value === 'string') return value.replace(/^\d{4}[a-z]$|\d+/g, '0')
  if (Array.isArray(value)) return value.map(maskValues)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).map(([key, part]) => [maskValues(key), maskValues(part)])
}
