import { executionIdOf, firstIdOf, newId } from '@automation/database'
import { areSilencesDue, lookAtSilences } from '@automation/ledger'
import { changeRules, reportSilence, saveRules } from '@automation/rules'
import t from 'tap'
import { startSilences } from '../src/repair/silences.js'
import { createHarness, type Harness, log, onOwnDatabase } from './fixtures/harness.js'

const types = ['rule.silent', 'rule.heard']
const minuteMs = 60_000

/** A rule that should match at least every hour, and a subscription to its silence. */
async function openExpecting(harness: Harness): Promise<string> {
  const { own, workspaceId } = harness
  const subscription = { id: newId(), workspaceId, url: 'https://example.com/', description: '' }
  await own.subscription.create({ data: { ...subscription, eventTypes: types } })
  const ruleId = await harness.createRule([])
  await save(harness, ruleId, { expectEvery: '1h' })
  return ruleId
}

function save(harness: Harness, ruleId: string, fields: { expectEvery?: string | null; isActive?: boolean }) {
  const { database, workspaceId } = harness
  const administrator = { database, workspaceId, actor: 'test' }
  return changeRules(administrator, async (transaction) => {
    const found = await transaction.rule.findUniqueOrThrow({ where: { id: ruleId } })
    await saveRules(transaction, administrator, [{ found, fields }])
    return { result: undefined, entry: { action: 'rule.updated' as const, subject: ruleId } }
  })
}

/** Time passes, in which a worker looked every ten seconds. */
async function pass({ own }: Harness, ruleId: string, ms: number): Promise<void> {
  const { countedFrom } = await own.ruleSilence.findUniqueOrThrow({ where: { ruleId } })
  await own.ruleSilence.update({
    where: { ruleId },
    data: { countedFrom: new Date(countedFrom.getTime() - ms), checkedAt: new Date(Date.now() - 10_000) },
  })
}

/** What a worker does every ten seconds. */
async function look({ database }: Harness, ruleId: string): Promise<void> {
  for (const silence of (await lookAtSilences(database, 500)).silences)
    if (silence.ruleId === ruleId) await reportSilence(database, silence)
}

async function match(harness: Harness, ruleId: string, acceptedAt: Date, fields: object = {}): Promise<void> {
  const { own, workspaceId } = harness
  const event = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {}, acceptedAt, doneAt: acceptedAt }
  await own.event.create({ data: event })
  const id = executionIdOf({ id: event.id, addressee: null }, ruleId)
  const row = {
    id,
    workspaceId,
    eventId: event.id,
    eventType: event.type,
    handlerId: ruleId,
    ruleVersion: 1,
    results: [],
  }
  const ended = { status: 'succeeded', startedAt: acceptedAt, finishedAt: acceptedAt } as const
  await own.execution.create({ data: { ...row, ...ended, ...fields } })
}

async function told({ own }: Harness): Promise<string[]> {
  const events = await own.event.findMany({ where: { type: { in: types } }, orderBy: { id: 'asc' } })
  return events.map(({ type }) => type)
}

const ago = (ms: number) => new Date(Date.now() - ms)

t.test(
  'a rule that matches nothing for its time is reported once, and once when it is heard again',
  async (t) => {
    const harness = await createHarness(t)
    const ruleId = await openExpecting(harness)
    await pass(harness, ruleId, 59 * minuteMs)
    await look(harness, ruleId)
    t.strictSame(await told(harness), [], 'not yet')
    await pass(harness, ruleId, 2 * minuteMs)
    await look(harness, ruleId)
    await pass(harness, ruleId, minuteMs)
    await look(harness, ruleId)
    t.strictSame(await told(harness), ['rule.silent'])
    t.match(await harness.own.event.findFirst({ where: { type: 'rule.silent' } }), {
      data: { ruleId, name: 'Rule', expectEvery: '1h', lastMatchAt: null, at: String },
    })
    await match(harness, ruleId, ago(minuteMs))
    await pass(harness, ruleId, 0)
    await look(harness, ruleId)
    await pass(harness, ruleId, 0)
    await look(harness, ruleId)
    t.strictSame(await told(harness), ['rule.silent', 'rule.heard'])
    t.match(await harness.own.ruleSilence.findUnique({ where: { ruleId } }), { silentAt: null })
    await pass(harness, ruleId, 0)
    t.equal(await harness.own.ruleVersion.count({ where: { ruleId } }), 1, 'it made no version')
  },
)

t.test('any execution that an event began is a sign of life, but not one by hand', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await openExpecting(harness)
  await pass(harness, ruleId, 61 * minuteMs)
  await match(harness, ruleId, ago(30 * minuteMs), { status: 'failed', error: 'No' })
  await look(harness, ruleId)
  t.strictSame(await told(harness), [])

  const other = await createHarness(t)
  const silent = await openExpecting(other)
  await pass(other, silent, 61 * minuteMs)
  const eventId = newId()
  const { own, workspaceId } = other
  const event = {
    id: eventId,
    workspaceId,
    type: 'LEAD_CREATED',
    data: {},
    addresseeKind: 'rule' as const,
    addresseeId: silent,
    doneAt: new Date(),
  }
  await own.event.create({ data: event })
  const byHand = {
    id: eventId,
    workspaceId,
    eventId,
    eventType: event.type,
    handlerId: silent,
    ruleVersion: 1,
  }
  await own.execution.create({ data: { ...byHand, status: 'succeeded', results: [], startedAt: new Date() } })
  await look(other, silent)
  t.strictSame(await told(other), ['rule.silent'])
})

t.test('time in which no worker looked does not count: a restart raises no alarm', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const ruleId = await openExpecting(harness)
  await pass(harness, ruleId, 50 * minuteMs)
  await harness.own.ruleSilence.update({
    where: { ruleId },
    data: { checkedAt: ago(30 * minuteMs), countedFrom: ago(80 * minuteMs) },
  })
  await look(harness, ruleId)
  t.strictSame(await told(harness), [], '80 minutes, of which nobody worked in 30')
  await pass(harness, ruleId, 10 * minuteMs)
  await look(harness, ruleId)
  t.strictSame(await told(harness), ['rule.silent'])
})

t.test('a backlog older than the time delays the alarm', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await openExpecting(harness)
  await pass(harness, ruleId, 90 * minuteMs)
  const backlog = async ({ own, workspaceId }: Harness, minutes: number, type = 'LEAD_CREATED') => {
    const acceptedAt = ago(minutes * minuteMs)
    const event = { id: firstIdOf(acceptedAt.getTime()).slice(0, 13) + newId().slice(13), workspaceId, type }
    return own.event.create({ data: { ...event, data: {}, acceptedAt } })
  }
  const { id } = await backlog(harness, 40)
  await look(harness, ruleId)
  t.strictSame(await told(harness), [], 'what was accepted 40 minutes ago may match')
  await harness.own.event.update({ where: { id }, data: { doneAt: new Date() } })
  await backlog(harness, 20)
  await backlog(harness, 40, 'LEAD_UPDATED')
  await backlog(await createHarness(t), 40)
  await pass(harness, ruleId, 0)
  await look(harness, ruleId)
  t.strictSame(
    await told(harness),
    ['rule.silent'],
    'what is younger, of another type or workspace delays nothing',
  )
})

t.test('an event that is accepted between two looks delays the alarm, too', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await openExpecting(harness)
  await pass(harness, ruleId, 59 * minuteMs)
  const { database, own, workspaceId } = harness
  const { run } = database
  let looks = 0
  const lookedTwice = new Promise<void>((resolve) => {
    database.run = async (name, text, values) => {
      const rows = await run(name, text, values)
      if (name !== 'look_at_silences') return rows as never
      if (++looks === 2) resolve()
      if (looks > 1) return rows as never
      const acceptedAt = ago(30 * minuteMs)
      const id = firstIdOf(acceptedAt.getTime())
      await own.event.create({ data: { id, workspaceId, type: 'LEAD_CREATED', data: {}, acceptedAt } })
      await pass(harness, ruleId, 2 * minuteMs)
      return rows as never
    }
  })
  const silences = startSilences(database, log, 1)
  await lookedTwice
  await silences.stop()
  t.strictSame(await told(harness), [])
})

t.test(
  'the newest match is the one that was accepted last, whatever the clocks of the APIs say',
  async (t) => {
    const harness = await createHarness(t)
    const ruleId = await openExpecting(harness)
    await pass(harness, ruleId, 90 * minuteMs)
    await match(harness, ruleId, ago(5 * minuteMs))
    await match(harness, ruleId, ago(70 * minuteMs))
    await look(harness, ruleId)
    t.strictSame(await told(harness), [])
  },
)

t.test('a rule that is edited between a look and its report is not silent', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await openExpecting(harness)
  await pass(harness, ruleId, 90 * minuteMs)
  const { silences } = await lookAtSilences(harness.database, 500)
  const silence = silences.find((one) => one.ruleId === ruleId)
  await save(harness, ruleId, { expectEvery: '2h' })
  t.equal(silence && (await reportSilence(harness.database, silence)), false)
  t.strictSame(await told(harness), [])
})

t.test('a rule that is off is not silent, and counts from its activation', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await openExpecting(harness)
  await save(harness, ruleId, { isActive: false })
  await pass(harness, ruleId, 90 * minuteMs)
  await look(harness, ruleId)
  t.strictSame(await told(harness), [])
  await pass(harness, ruleId, 59 * minuteMs)
  await save(harness, ruleId, { isActive: true })
  await pass(harness, ruleId, 59 * minuteMs)
  await look(harness, ruleId)
  t.strictSame(await told(harness), [])
  await pass(harness, ruleId, 2 * minuteMs)
  await look(harness, ruleId)
  t.strictSame(await told(harness), ['rule.silent'])
  await save(harness, ruleId, { isActive: false })
  await pass(harness, ruleId, 0)
  await look(harness, ruleId)
  t.match(await harness.own.ruleSilence.findUnique({ where: { ruleId } }), { silentAt: null })
})

t.test('a rule without expectEvery has no row, and nothing is looked at', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const ruleId = await openExpecting(harness)
  await save(harness, ruleId, { expectEvery: null })
  t.equal(await harness.own.ruleSilence.count(), 0)
  t.equal(await areSilencesDue(harness.database), false)
})

t.test('several workers report a silence once', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const ruleId = await openExpecting(harness)
  await pass(harness, ruleId, 90 * minuteMs)
  const [silence] = (await lookAtSilences(harness.database, 500)).silences
  t.equal(silence?.ruleId, ruleId)
  if (silence)
    t.equal(
      (await Promise.all(Array.from({ length: 4 }, () => reportSilence(harness.database, silence)))).filter(
        Boolean,
      ).length,
      1,
    )
  t.strictSame(await told(harness), ['rule.silent'])
})
