import { newId } from '@automation/database'
import type { PerKey } from '@automation/engine'
import t from 'tap'
import { createHarness, onOwnDatabase } from './fixtures/harness.js'

/** A text is cut at each of these lengths somewhere. */
const cutAt = [40, 60, 64, 80, 120, 200, 255, 256, 500, 1_000]
const badTexts = [
  '',
  '\0',
  'a\0b',
  '\ud83d',
  'x\ude00y',
  '\ude00\ud83d',
  '😀'.repeat(1_000),
  ...cutAt.map((length) => `${'a'.repeat(length - 1)}😀 and more`),
  ...cutAt.map((length) => `${'😀'.repeat(length - 1)}😀 and more`),
]

const key = '{{text}}'
const memories: (PerKey | undefined)[] = [
  undefined,
  { key, atMost: { runs: 1, per: '7d' } },
  { key, atLeast: { events: 2, within: '1h' } },
  { key, whileRunning: 'queue' },
  { key, whileRunning: 'replace' },
  { key, collect: { for: '1s' } },
]
const actions = [
  {
    type: 'CREATE_TASK',
    config: { title: '{{text}}', description: '{{text | truncate:60}}{{text | json}}' },
  },
  { type: 'EMIT_EVENT', config: { eventType: 'DEAL_LOST', data: { text: '{{text}}' } } },
  {
    type: 'SEND_WEBHOOK',
    config: { url: 'http://{{text}}/{{text | urlencode}}', body: { '{{text}}': '{{text}}' } },
    continueOnError: true,
  },
  {
    type: 'WAIT',
    config: { duration: '1s', for: { eventType: 'DEAL_WON', match: { text: '{{text}}' }, then: 'go_on' } },
  },
  { type: 'CREATE_TASK', config: { title: '{{waited.text}}{{waited.more}}' } },
]

t.test('events with any text are done, and their executions end, whatever is made of it', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const { own, database } = harness
  for (const perKey of memories) await harness.createRule(actions, undefined, perKey)
  const texts = badTexts.flatMap((text) => [text, text])
  // Not by the inbox: a stored event may hold what Postgres refuses once it reads it.
  const plant = (events: { id: string; workspaceId: string; type: string; data: object }[]) => {
    const columns = (['id', 'workspaceId', 'type'] as const).map((name) => events.map((event) => event[name]))
    const data = events.map((event) => JSON.stringify(event.data))
    return database.run(
      'plant_events',
      `INSERT INTO events (id, workspace_id, type, data) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::json[])`,
      [...columns, data],
    )
  }
  const begun = texts.map((text) => ({ ...harness.newRow(), data: { text, [text]: { [text]: [text] } } }))
  await plant(begun)
  harness.startWorker()
  harness.startSweeper()
  for (const { id } of begun) await harness.untilDone(id)
  const ending = badTexts.map((text) => ({
    ...harness.newRow(),
    id: newId(),
    type: 'DEAL_WON',
    data: { text, [text]: text.repeat(17_000 / (text.length + 1)), more: text },
  }))
  await plant(ending)
  for (const { id } of ending) await harness.untilDone(id)
  while ((await own.execution.count({ where: { finishedAt: null } })) > 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await own.event.count({ where: { quarantined: true } }), 0)
  t.equal(await own.event.count({ where: { doneAt: null } }), 0)
  const refused = { contains: 'could not be stored' }
  t.equal(await own.execution.count({ where: { error: refused } }), 0)
  const [read] = await database.system.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) FROM executions, json_array_elements(results) AS result
    WHERE result ->> 'action' = 'CREATE_TASK' OR suppression ->> 'key' = ''`
  t.ok(Number(read?.count) > texts.length, 'Postgres reads all that was stored')
})
