import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { firstIdOf, newId } from '@automation/database'
import { makeTemporaryDirectory } from '@automation/launcher'
import t from 'tap'
import { startProductWithTargets } from '../fixtures/product-with-targets.js'

const running = await startProductWithTargets({ workers: 0, isFine: async () => true })
const { product, call, database, workspaceId } = running
const { path: directory, remove } = await makeTemporaryDirectory()
t.teardown(async () => {
  await running.stop()
  await remove()
})
const tables = database.forWorkspace(workspaceId)
const rules = '/api/automation-rules'
const definition = (title: string) => ({
  name: 'Watched',
  trigger: 'LEAD_CREATED',
  actions: [{ type: 'CREATE_TASK', config: { title } }],
})

/** A rule with a promoted version that was executed more often than its guard allows. */
async function createCrossed(): Promise<string> {
  const { body: rule } = await call('POST', rules, definition('Before'))
  await call('PUT', `${rules}/${rule.id}/draft`, definition('Promoted'))
  const guard = { for: '1h', maxRunsPerHour: 1 }
  const { status } = await call('POST', `${rules}/${rule.id}/draft/promote`, { guard })
  if (status !== 200) throw new Error(`The draft was not promoted: ${status}`)
  const startedAt = new Date()
  await tables.execution.createMany({
    data: [1, 2].map(() => ({
      ...{ id: firstIdOf(Number(startedAt)).slice(0, 13) + newId().slice(13), workspaceId, eventId: newId() },
      ...{ eventType: 'LEAD_CREATED', handlerId: rule.id, ruleVersion: 2, status: 'succeeded' as const },
      ...{ results: [], startedAt, finishedAt: startedAt },
    })),
  })
  return rule.id
}

/** A worker that ends like `kill -9` at the n-th write of a rollback: kill-in-rollback.ts. */
function killAt(statement: number, report: string): Record<string, string> {
  const preload = new URL('../fixtures/kill-in-rollback.js', import.meta.url).href
  return {
    KILL_AT: String(statement),
    KILL_REPORT: report,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`,
  }
}

async function readState(ruleId: string) {
  const [rule, guard, entries, events] = await Promise.all([
    tables.rule.findUniqueOrThrow({ where: { id: ruleId } }),
    tables.ruleGuard.findUniqueOrThrow({ where: { ruleId } }),
    tables.auditEntry.count({ where: { subject: ruleId, action: 'rule.rolled_back' } }),
    tables.event.count({ where: { type: 'rule.rolled_back' } }),
  ])
  return { version: rule.version, hasTripped: guard.trippedAt !== null, entries, events }
}

const watching = { version: 2, hasTripped: false, entries: 0, events: 0 }
const rolledBack = { version: 3, hasTripped: true, entries: 1, events: 1 }

t.test('workers that are killed at each write of a rollback roll back once, with one entry', async (t) => {
  const subscription = { id: newId(), url: 'https://example.com/', description: '' }
  await tables.subscription.create({
    data: { ...subscription, workspaceId, eventTypes: ['rule.rolled_back'] },
  })
  const ruleId = await createCrossed()
  const report = `${directory}/statements`
  await writeFile(report, '')
  const readReport = async () => (await readFile(report, 'utf8')).split('\n').filter((line) => line !== '')
  let kills = 0
  for (let isCommitted = false; !isCommitted; ) {
    const worker = await product.startWorker(killAt(kills + 1, report))
    const { signal } = await worker.exited
    t.equal(signal, 'SIGKILL')
    const lines = await readReport()
    t.equal(lines.length, ++kills, lines.at(-1) ?? '')
    // The last one is killed when it knows that its transaction is committed.
    isCommitted = lines.at(-1) === 'after COMMIT'
    t.strictSame(await readState(ruleId), isCommitted ? rolledBack : watching, `after ${lines.at(-1)}`)
  }
  t.ok(kills > 6, `${kills} workers were killed`)
  const worker = await product.startWorker()
  const other = await createCrossed()
  while ((await readState(other)).version === 2) await pause(50)
  t.strictSame({ ...(await readState(ruleId)), events: 1 }, rolledBack, 'a living worker does nothing more')
  t.equal((await readState(other)).events, 2)
  await worker.stop()
})
