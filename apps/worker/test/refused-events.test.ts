import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import type { PerKey } from '@automation/engine'
import { createClaimRemoval, lookAtSilences, maxRefusals, noteRefusal } from '@automation/ledger'
import t, { type Test } from 'tap'
import { createHarness, type Harness, onOwnDatabase } from './fixtures/harness.js'

const task = [{ type: 'CREATE_TASK', config: { title: 'Call {{text}}' } }]
/** The 256th character has two units. */
const long = `${'a'.repeat(255)}😀 and more`

async function post({ newEvent, inbox, own }: Harness, text: string, type?: string) {
  const event = { ...newEvent(type), data: { text } }
  await inbox.accept(event)
  for (let looks = 0; looks < 400; looks++) {
    if ((await own.event.findUniqueOrThrow({ where: { id: event.id } })).doneAt) return event
    await delay(20)
  }
  throw new Error('The event is not done after 8 s')
}

const memories: Record<string, PerKey> = {
  'at most': { key: '{{text}}', atMost: { runs: 1, per: '7d' } },
  'at least': { key: '{{text}}', atLeast: { events: 3, within: '1h' } },
  collect: { key: '{{text}}', collect: { for: '1h' } },
  skip: { key: '{{text}}', whileRunning: 'skip' },
}

for (const [name, perKey] of Object.entries(memories))
  t.test(`a key that is cut within a pair of surrogates suppresses as any other: ${name}`, async (t) => {
    const harness = await createHarness(t)
    harness.startWorker()
    const wait = { type: 'WAIT', config: { duration: '1d' } }
    const ruleId = await harness.createRule([...task, wait], undefined, perKey)
    const innocent = await harness.createRule(task)
    const [first, second] = [await post(harness, long), await post(harness, long)]
    const execution = await harness.own.execution.findUniqueOrThrow({
      where: { id: executionIdOf(name === 'at least' ? first : second, ruleId) },
    })
    t.match(execution, { status: 'suppressed', suppression: { key: `${'a'.repeat(255)}😀…` } })
    for (const event of [first, second])
      await harness.untilStatus(executionIdOf(event, innocent), 'succeeded')
  })

/** Makes Postgres raise this error for each execution of DEAL_LOST. @returns how often it did, and a function that ends it */
async function refuse(t: Test, { database: { system } }: Harness, code: string) {
  await system.$executeRaw`CREATE SEQUENCE refusals_made`
  await system.$executeRawUnsafe(`
    CREATE FUNCTION refuse_execution() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      PERFORM nextval('refusals_made');
      RAISE EXCEPTION 'refused' USING ERRCODE = '${code}';
    END $body$`)
  await system.$executeRaw`
    CREATE TRIGGER refused BEFORE INSERT ON executions FOR EACH ROW WHEN (NEW.event_type = 'DEAL_LOST') EXECUTE FUNCTION refuse_execution()`
  const accept = () => system.$executeRaw`DROP TRIGGER IF EXISTS refused ON executions`
  t.teardown(accept)
  const count = async () => {
    const [row] = await system.$queryRaw<{ made: bigint }[]>`
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS made FROM refusals_made`
    return Number(row?.made)
  }
  return { accept, count }
}

t.test('an event whose outcome is refused five times is quarantined, and holds up nothing', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const { own, database, inbox } = harness
  const { count } = await refuse(t, harness, '23514')
  const lost = await harness.createRule(task, 'DEAL_LOST', memories['at most'])
  const waiting = await harness.createRule([
    {
      type: 'WAIT',
      config: {
        duration: '1s',
        for: { eventType: 'DEAL_LOST', match: { 'deal.id': '{{text}}' }, then: 'go_on' },
      },
    },
  ])
  await own.ruleSilence.create({
    data: {
      ruleId: lost,
      workspaceId: harness.workspaceId,
      seconds: 60,
      countedFrom: new Date(Date.now() - 3_600_000),
      checkedAt: new Date(Date.now() - 10_000),
    },
  })
  const refused = { ...harness.newEvent('DEAL_LOST'), data: { text: 'a' } }
  const beside = { ...harness.newEvent(), data: { text: 'a' } }
  await inbox.acceptAll([refused, beside])
  harness.startWorker()
  harness.startSweeper()
  await harness.untilStatus(executionIdOf(beside, waiting), 'succeeded')
  t.match(await harness.untilDone(refused.id), {
    quarantined: true,
    quarantineReason: 'What it caused could not be stored, in 5 attempts: the database refused it',
    refusals: maxRefusals,
    crashes: 0,
    ruleSetId: null,
  })
  t.equal(await own.execution.count({ where: { eventId: refused.id } }), 0)
  t.equal(await own.task.count(), 0)
  // Once more, if its first commit was also that of the event beside it: then each is recorded by itself.
  const extra = (await count()) - 3 * maxRefusals
  t.ok(extra === 0 || extra === 1, `as it is, without its tasks, and failed: five times each, and ${extra}`)
  const { silences } = await lookAtSilences(database, 10)
  t.match(silences, [{ ruleId: lost, wasSilent: false }], 'its rule is silent, and says so')
  t.equal(await noteRefusal(database, refused.id, 'late'), 'done')
})

t.test('a quarantined event may be tried again: nothing of its key was claimed', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const { accept } = await refuse(t, harness, '22P02')
  const ruleId = await harness.createRule(task, 'DEAL_LOST', memories['at most'])
  harness.startWorker()
  harness.startSweeper()
  const first = await post(harness, 'a', 'DEAL_LOST')
  t.match(await harness.untilDone(first.id), { quarantined: true })
  await accept()
  const second = await post(harness, 'a', 'DEAL_LOST')
  await harness.untilStatus(executionIdOf(second, ruleId), 'succeeded')
  const third = await post(harness, 'a', 'DEAL_LOST')
  await harness.untilStatus(executionIdOf(third, ruleId), 'suppressed')
})

for (const [what, code] of [
  ['its disk is full', '53100'],
  ['it is being shut down', '57P01'],
  ['it is too slow', '57014'],
  ['it takes no writes', '25006'],
  ['it has no memory', '53200'],
] as const)
  t.test(`an attempt that Postgres refuses because ${what} does not count`, async (t) => {
    const harness = await createHarness(t, await onOwnDatabase())
    const { accept, count } = await refuse(t, harness, code)
    const ruleId = await harness.createRule(task, 'DEAL_LOST')
    harness.startWorker()
    harness.startSweeper()
    const event = harness.newEvent('DEAL_LOST')
    await harness.inbox.accept(event)
    while ((await count()) <= maxRefusals) await delay(20)
    t.match(await harness.own.event.findUnique({ where: { id: event.id } }), { refusals: 0, doneAt: null })
    await accept()
    await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
  })

t.test('claims of all workspaces are removed beside an event that is quarantined', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const { database, own } = harness
  await refuse(t, harness, '22P02')
  await harness.createRule(task, 'DEAL_LOST')
  const ruleId = await harness.createRule(task, undefined, memories['at most'])
  harness.startWorker()
  harness.startSweeper()
  const refused = await post(harness, 'a', 'DEAL_LOST')
  t.match(await harness.untilDone(refused.id), { quarantined: true })
  await post(harness, 'a')
  await own.keyClaim.updateMany({ data: { expiresAt: new Date(Date.now() - 7_200_000) } })
  t.equal(await own.keyClaim.count({ where: { ruleId } }), 1)
  const { removed } = await database.system.$transaction((transaction) =>
    createClaimRemoval(Date.now())(transaction, 10),
  )
  t.equal(removed, 1)
})
