import { isWorkspaceBusy } from '@automation/access'
import { firstIdOf, newId } from '@automation/database'
import {
  type ClaimedGuard,
  changeRules,
  checkGuard,
  claimGuards,
  saveRules,
  setGuard,
} from '@automation/rules'
import t, { type Test } from 'tap'
import { startGuards } from '../src/repair/guards.js'
import { createHarness, type Harness, log } from './fixtures/harness.js'

const before = [{ type: 'CREATE_TASK', config: { title: 'Before' } }]
const promoted = [{ type: 'CREATE_TASK', config: { title: 'Promoted' } }]
const hourMs = 3_600_000

/** A rule whose second version is watched. */
async function createGuarded(
  { own, workspaceId, createRule }: Harness,
  limits: { maxRunsPerHour?: number; maxFailureRate?: number },
  endsInMs = hourMs,
): Promise<string> {
  const ruleId = await createRule(promoted)
  await own.rule.update({ where: { id: ruleId }, data: { version: 2 } })
  const { name, description, trigger } = await own.rule.findFirstOrThrow({ where: { id: ruleId } })
  await own.ruleVersion.deleteMany({ where: { ruleId } })
  const fields = { ruleId, workspaceId, name, description, trigger, conditions: [], createdBy: 'user:tests' }
  await own.ruleVersion.createMany({
    data: [
      { ...fields, version: 1, actions: before },
      { ...fields, version: 2, actions: promoted },
    ],
  })
  const endsAt = new Date(Date.now() + endsInMs)
  const longAgo = new Date(Date.now() - 60_000)
  await own.ruleGuard.create({
    data: { ruleId, workspaceId, version: 2, previousVersion: 1, endsAt, checkedAt: longAgo, ...limits },
  })
  return ruleId
}

async function storeRuns(
  { own, workspaceId }: Harness,
  ruleId: string,
  count: number,
  fields: { failed?: boolean; ruleVersion?: number; ageMs?: number; acceptedAgeMs?: number } = {},
): Promise<void> {
  const { failed = false, ruleVersion = 2, ageMs = 1_000, acceptedAgeMs = ageMs } = fields
  const startedAt = new Date(Date.now() - ageMs)
  await own.execution.createMany({
    data: Array.from({ length: count }, () => ({
      id: idAt(acceptedAgeMs),
      workspaceId,
      eventId: newId(),
      eventType: 'LEAD_CREATED',
      ruleId,
      ruleVersion,
      status: failed ? ('failed' as const) : ('succeeded' as const),
      results: [],
      startedAt,
      finishedAt: startedAt,
    })),
  })
}

function idAt(ageMs: number): string {
  return firstIdOf(Date.now() - ageMs).slice(0, 13) + newId().slice(13)
}

/** An event that no worker has evaluated yet. */
async function storeWaiting({ own, workspaceId }: Harness, ageMs: number): Promise<string> {
  const [id, acceptedAt] = [idAt(ageMs), new Date(Date.now() - ageMs)]
  await own.event.create({ data: { id, workspaceId, type: 'LEAD_CREATED', data: {}, acceptedAt } })
  return id
}

async function check({ database, own }: Harness, ruleId: string) {
  await own.ruleGuard.updateMany({ where: { ruleId }, data: { checkedAt: new Date(Date.now() - 60_000) } })
  const guards = await claimGuards(database, 1_000)
  const guard = guards.find((one) => one.ruleId === ruleId)
  return guard && checkGuard(database, guard)
}

const readRule = ({ own }: Harness, id: string) => own.rule.findFirst({ where: { id } })
const readGuard = ({ own }: Harness, ruleId: string) => own.ruleGuard.findUnique({ where: { ruleId } })
const readEntries = ({ own }: Harness, subject: string) =>
  own.auditEntry.findMany({ where: { subject, action: 'rule.rolled_back' } })

async function hasNotTripped(t: Test, harness: Harness, ruleId: string) {
  t.equal(await check(harness, ruleId), undefined)
  t.match(await readRule(harness, ruleId), { version: 2, actions: promoted })
}

t.test('more runs than allowed restore the version before, once', async (t) => {
  const harness = await createHarness(t)
  const subscription = { id: newId(), url: 'https://example.com/', description: '' }
  await harness.own.subscription.create({
    data: { ...subscription, workspaceId: harness.workspaceId, eventTypes: ['rule.rolled_back'] },
  })
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, ruleId, 3)
  await hasNotTripped(t, harness, ruleId)
  await storeRuns(harness, ruleId, 1)
  t.match(await check(harness, ruleId), { reason: 'runs', runs: 4, maxRunsPerHour: 3 })
  t.match(await readRule(harness, ruleId), { version: 3, actions: before, isActive: true })
  t.match(await readGuard(harness, ruleId), {
    trippedAt: Date,
    tripReason: 'runs',
    restoredVersion: 3,
    version: 2,
  })
  t.match(await readEntries(harness, ruleId), [
    { actor: 'system:guard', details: { from: 2, to: 1, version: 3, reason: 'runs', runs: 4 } },
  ])
  const events = await harness.own.event.findMany({ where: { subscriptionId: subscription.id } })
  t.match(events, [{ type: 'rule.rolled_back', data: { ruleId, reason: 'runs' } }])
  t.equal(await check(harness, ruleId), undefined, 'it does not trip again')
})

t.test('runs of another version, and those of an hour ago, do not count', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3, maxFailureRate: 0 })
  await storeRuns(harness, ruleId, 9, { ruleVersion: 1, failed: true })
  await storeRuns(harness, ruleId, 9, { ageMs: hourMs + 60_000, failed: true })
  await hasNotTripped(t, harness, ruleId)
})

t.test('a greater share of failures restores the version before, from five runs on', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxFailureRate: 0.5 })
  await storeRuns(harness, ruleId, 4, { failed: true })
  await hasNotTripped(t, harness, ruleId)
  await storeRuns(harness, ruleId, 4)
  await hasNotTripped(t, harness, ruleId)
  await storeRuns(harness, ruleId, 1, { failed: true })
  t.match(await check(harness, ruleId), { reason: 'failures', failed: 5, finished: 9 })
  t.match(await readRule(harness, ruleId), { version: 3, actions: before })
})

t.test('a guard whose time is over is removed, unless its limit was crossed before', async (t) => {
  const harness = await createHarness(t)
  const quiet = await createGuarded(harness, { maxRunsPerHour: 3 }, -1)
  await hasNotTripped(t, harness, quiet)
  t.equal(await readGuard(harness, quiet), null)
  const crossed = await createGuarded(harness, { maxRunsPerHour: 3 }, -1)
  await storeRuns(harness, crossed, 4)
  t.match(await check(harness, crossed), { reason: 'runs' })
})

t.test('of many checks at once one restores the version before', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, ruleId, 4)
  const guard = {
    ...{ ruleId, workspaceId: harness.workspaceId, version: 2, previousVersion: 1 },
    ...{ maxRunsPerHour: 3, maxFailureRate: null, isOver: false },
    ...{ startedAt: new Date(), countedFrom: null },
  }
  const checkOrLeave = () =>
    checkGuard(harness.database, guard).catch((error: unknown) => {
      // It waits for the others for a moment only.
      if (!isWorkspaceBusy(error)) throw error
      return undefined
    })
  const crossings = await Promise.all(Array.from({ length: 8 }, checkOrLeave))
  t.equal(crossings.filter((one) => one !== undefined).length, 1)
  t.equal((await readEntries(harness, ruleId)).length, 1)
  t.equal((await readRule(harness, ruleId))?.version, 3)
})

t.test('an edit ends the guard, also one that an API of the version before made', async (t) => {
  const harness = await createHarness(t)
  const { database, workspaceId, own } = harness
  const edited = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, edited, 4)
  const administrator = { database, workspaceId, actor: 'user:tests' }
  await changeRules(administrator, async (transaction) => {
    const found = await transaction.rule.findUniqueOrThrow({ where: { id: edited } })
    await saveRules(transaction, administrator, [{ found, fields: { name: 'Edited' } }])
    return { result: undefined, entry: { action: 'rule.updated', subject: edited } }
  })
  t.equal(await readGuard(harness, edited), null)
  const older = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, older, 4)
  await own.rule.update({ where: { id: older }, data: { version: 3, name: 'Edited' } })
  t.equal(await check(harness, older), undefined)
  t.match(await readRule(harness, older), { version: 3, name: 'Edited', actions: promoted })
  t.equal(await readGuard(harness, older), null)
})

t.test('a guard and an edit at once: what the user wrote stays', async (t) => {
  const harness = await createHarness(t)
  const { database, workspaceId } = harness
  const administrator = { database, workspaceId, actor: 'user:tests' }
  for (let round = 0; round < 10; round++) {
    const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
    await storeRuns(harness, ruleId, 4)
    await Promise.all([
      check(harness, ruleId),
      changeRules(administrator, async (transaction) => {
        const found = await transaction.rule.findUniqueOrThrow({ where: { id: ruleId } })
        await saveRules(transaction, administrator, [{ found, fields: { description: 'Edited' } }])
        return { result: undefined, entry: { action: 'rule.updated', subject: ruleId } }
      }),
    ])
    const isRolledBack = (await readEntries(harness, ruleId)).length === 1
    t.match(await readRule(harness, ruleId), {
      description: 'Edited',
      version: isRolledBack ? 4 : 3,
      actions: isRolledBack ? before : promoted,
    })
    t.equal(await readGuard(harness, ruleId), null)
  }
})

t.test('a rule that was switched off gets its version back, and stays off', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, ruleId, 4)
  await harness.own.rule.update({ where: { id: ruleId }, data: { isActive: false } })
  t.match(await check(harness, ruleId), { reason: 'runs' })
  t.match(await readRule(harness, ruleId), { version: 3, actions: before, isActive: false })
})

t.test('a rule whose version before cannot be restored is switched off', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, ruleId, 4)
  await harness.own.ruleVersion.deleteMany({ where: { ruleId, version: 1 } })
  t.match(await check(harness, ruleId), { reason: 'runs' })
  t.match(await readRule(harness, ruleId), { version: 2, actions: promoted, isActive: false })
  t.match(await readGuard(harness, ruleId), { tripReason: 'runs', restoredVersion: 2 })
  t.match(await readEntries(harness, ruleId), [{ details: { from: 2, to: null, version: 2 } }])
})

t.test('the guard of a deleted rule is gone with it', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await harness.own.rule.delete({ where: { id: ruleId } })
  t.equal(await readGuard(harness, ruleId), null)
})

t.test(
  'a backlog from long before the promotion counts, when it is judged with the promoted version',
  async (t) => {
    const harness = await createHarness(t)
    const { own, workspaceId } = harness
    const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
    await own.ruleGuard.delete({ where: { ruleId } })
    await storeWaiting(harness, 3 * hourMs)
    for (let n = 0; n < 4; n++) await storeWaiting(harness, 2 * hourMs)
    await own.$transaction((transaction) =>
      setGuard(transaction, { id: ruleId, workspaceId, version: 2 }, 1, { for: '1h', maxRunsPerHour: 4 }),
    )
    const loop = startGuards(harness.database, log)
    t.teardown(() => loop.stop())
    harness.startSweeper()
    const worker = harness.startWorker()
    await worker.ready()
    const startedAt = performance.now()
    while ((await readRule(harness, ruleId))?.version === 2 && performance.now() - startedAt < 20_000);
    t.match(await readRule(harness, ruleId), { version: 3, actions: before })
    t.match(await readEntries(harness, ruleId), [{ details: { reason: 'runs', runs: 5 } }])
  },
)

t.test('a backlog that builds up after the promotion counts, for an hour after it is gone', async (t) => {
  const harness = await createHarness(t)
  const { own } = harness
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await own.ruleGuard.update({ where: { ruleId }, data: { startedAt: new Date(Date.now() - 9 * hourMs) } })
  await storeRuns(harness, ruleId, 4, { acceptedAgeMs: 4 * hourMs })
  await hasNotTripped(t, harness, ruleId)
  const claim = async (oldestUndone: Date | null) => {
    await own.ruleGuard.updateMany({ data: { checkedAt: new Date(Date.now() - 60_000) } })
    const guards = await claimGuards(harness.database, 1_000, oldestUndone)
    return guards.find((one) => one.ruleId === ruleId) as ClaimedGuard
  }
  /** As if the present window had begun so long ago. */
  const age = (ms: number) =>
    own.ruleGuard.update({ where: { ruleId }, data: { windowAt: new Date(Date.now() - ms) } })
  const oldest = new Date(Date.now() - 5 * hourMs)
  t.same((await claim(oldest)).countedFrom, oldest)
  t.same((await claim(new Date())).countedFrom, oldest)
  await age(hourMs + 1_000)
  const guard = await claim(null)
  t.same(guard.countedFrom, oldest, 'the window before counts')
  t.match(await checkGuard(harness.database, guard), { reason: 'runs', runs: 4 })
  await own.ruleGuard.update({ where: { ruleId }, data: { trippedAt: null } })
  await age(hourMs + 1_000)
  t.equal((await claim(null)).countedFrom, null)
})

t.test('the event that crosses the limit brings the version before back within 5 s', async (t) => {
  const harness = await createHarness(t)
  const worker = harness.startWorker()
  await worker.ready()
  const loops = [startGuards(harness.database, log), startGuards(harness.database, log)]
  t.teardown(() => Promise.all(loops.map((loop) => loop.stop())))
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 2 })
  for (let n = 0; n < 3; n++) await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  const crossedAt = performance.now()
  while ((await readRule(harness, ruleId))?.version === 2 && performance.now() - crossedAt < 20_000);
  const tookMs = performance.now() - crossedAt
  t.ok(tookMs < 5_000, `it took ${Math.round(tookMs)} ms`)
  t.equal((await readEntries(harness, ruleId)).length, 1)
  await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  const tasks = await harness.own.task.findMany({ where: { ruleId }, orderBy: { id: 'asc' } })
  t.strictSame(tasks.map(({ title }) => title).sort(), ['Before', 'Promoted', 'Promoted', 'Promoted'])
})

t.test('a workspace whose change takes long does not hold up the guards of others', async (t) => {
  const [locked, other] = [await createHarness(t), await createHarness(t)]
  const { promise: isEnded, end } = createGate()
  const change = locked.own.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`
        SELECT 1 FROM workspaces WHERE id = ${locked.workspaceId}::uuid FOR NO KEY UPDATE`
      await isEnded
    },
    { timeout: 60_000 },
  )
  const held: string[] = []
  for (let n = 0; n < 20; n++) {
    const ruleId = await createGuarded(locked, { maxRunsPerHour: 3 })
    await storeRuns(locked, ruleId, 4)
    held.push(ruleId)
  }
  const ruleId = await createGuarded(other, { maxRunsPerHour: 3 })
  await storeRuns(other, ruleId, 4)
  await other.own.ruleGuard.update({ where: { ruleId }, data: { checkedAt: new Date() } })
  const loop = startGuards(other.database, log)
  t.teardown(() => loop.stop())
  const startedAt = performance.now()
  while ((await readRule(other, ruleId))?.version === 2 && performance.now() - startedAt < 20_000);
  const tookMs = performance.now() - startedAt
  t.ok(tookMs < 5_000, `it took ${Math.round(tookMs)} ms`)
  t.match(await readRule(locked, held[0] as string), { version: 2 }, 'the lock is still held')
  end()
  await change
  const freedAt = performance.now()
  const count = () => locked.own.rule.count({ where: { id: { in: held }, version: 3 } })
  while ((await count()) < held.length && performance.now() - freedAt < 30_000);
  t.equal(await count(), held.length, 'the checks were tried again')
})

function createGate() {
  let end = () => {}
  const promise = new Promise<void>((resolve) => {
    end = resolve
  })
  return { promise, end: () => end() }
}
