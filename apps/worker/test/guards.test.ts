import { isWorkspaceBusy } from '@automation/access'
import { newId } from '@automation/database'
import { changeRules, checkGuard, saveRules } from '@automation/rules'
import t from 'tap'
import { startGuards } from '../src/repair/guards.js'
import {
  before,
  check,
  createGuarded,
  hasNotTripped,
  hourMs,
  promoted,
  readEntries,
  readGuard,
  readRule,
  storeRuns,
  untilBack,
} from './fixtures/guarded.js'
import { createHarness, log, onOwnDatabase } from './fixtures/harness.js'

t.test('more runs than allowed restore the previous version, once', async (t) => {
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
  const events = await harness.own.event.findMany({
    where: { addresseeKind: 'subscription', addresseeId: subscription.id },
  })
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

t.test('a greater share of failures restores the previous version, from five runs on', async (t) => {
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

t.test('of many checks at once one restores the previous version', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, ruleId, 4)
  const guard = {
    ...{ ruleId, workspaceId: harness.workspaceId, createdBy: null, version: 2, previousVersion: 1 },
    ...{ maxRunsPerHour: 3, maxFailureRate: null, isSuspended: false, isOver: false },
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

t.test('an edit ends the guard', async (t) => {
  const harness = await createHarness(t)
  const { database, workspaceId } = harness
  const edited = await createGuarded(harness, { maxRunsPerHour: 3 })
  await storeRuns(harness, edited, 4)
  const administrator = { database, workspaceId, actor: 'user:tests' }
  await changeRules(administrator, async (transaction) => {
    const found = await transaction.rule.findUniqueOrThrow({ where: { id: edited } })
    await saveRules(transaction, administrator, [{ found, fields: { name: 'Edited' } }])
    return { result: undefined, entry: { action: 'rule.updated', subject: edited } }
  })
  t.equal(await readGuard(harness, edited), null)
})

t.test('a new place in the group ends neither guard nor attention, and stays after a rollback', async (t) => {
  const harness = await createHarness(t)
  const { database, workspaceId, own } = harness
  const moved = await createGuarded(harness, { maxRunsPerHour: 3 })
  await own.rule.update({ where: { id: moved }, data: { group: 'routing', order: 10 } })
  await own.ruleVersion.updateMany({ where: { ruleId: moved }, data: { group: 'routing', order: 10 } })
  const attention = { attentionReason: 'work_budget', attentionAt: new Date() }
  await own.ruleCounters.upsert({
    where: { ruleId: moved },
    create: { ruleId: moved, workspaceId, ...attention },
    update: attention,
  })
  await storeRuns(harness, moved, 2)
  const administrator = { database, workspaceId, actor: 'user:tests' }
  await changeRules(administrator, async (transaction) => {
    const found = await transaction.rule.findUniqueOrThrow({ where: { id: moved } })
    await saveRules(transaction, administrator, [{ found, fields: { order: 20 } }])
    return { result: undefined, entry: { action: 'rule.updated', subject: moved } }
  })
  t.match(await own.ruleCounters.findFirst({ where: { ruleId: moved } }), { attentionReason: 'work_budget' })
  await storeRuns(harness, moved, 2, { ruleVersion: 3 })
  t.match(await check(harness, moved), { reason: 'runs', runs: 4 })
  t.match(await readRule(harness, moved), { version: 4, actions: before, group: 'routing', order: 20 })
  t.match(await readGuard(harness, moved), { version: 2, restoredVersion: 4, tripReason: 'runs' })
})

t.test('a guard and an edit at once: what the user wrote stays', async (t) => {
  const harness = await createHarness(t)
  const { database, workspaceId } = harness
  const administrator = { database, workspaceId, actor: 'user:tests' }
  for (let round = 0; round < 10; round++) {
    const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
    await storeRuns(harness, ruleId, 4)
    await Promise.all([
      // A guard waits 0.3 s for an edit, and is checked again later.
      check(harness, ruleId).catch((error) => {
        if (!isWorkspaceBusy(error)) throw error
      }),
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

t.test('the event that crosses the limit brings the previous version back at the next check', async (t) => {
  const harness = await createHarness(t)
  const checked: string[] = []
  const run = harness.database.run.bind(harness.database)
  harness.database.run = (async (...of: Parameters<typeof run>) => {
    const rows = await run<{ ruleId: string }>(...of)
    if (of[0] === 'claim_guards') checked.push(...rows.map(({ ruleId }) => ruleId))
    return rows
  }) as typeof run
  const worker = harness.startWorker()
  await worker.ready()
  const loops = [startGuards(harness.database, log), startGuards(harness.database, log)]
  t.teardown(() => Promise.all(loops.map((loop) => loop.stop())))
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 2 })
  for (let n = 0; n < 3; n++) await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  const before = checked.filter((id) => id === ruleId).length
  await untilBack(harness, ruleId)
  const checks = checked.filter((id) => id === ruleId).length - before
  t.ok(checks <= 2, `${checks} checks: of one each second, the first may have begun before the event`)
  t.equal((await readEntries(harness, ruleId)).length, 1)
  await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  const tasks = await harness.own.task.findMany({ where: { ruleId }, orderBy: { id: 'asc' } })
  t.strictSame(tasks.map(({ title }) => title).sort(), ['Before', 'Promoted', 'Promoted', 'Promoted'])
})

t.test('a workspace whose change takes long does not hold up the guards of others', async (t) => {
  const [locked, other] = [await createHarness(t), await createHarness(t)]
  const { promise: isEnded, end } = createGate()
  const change = locked.own.$transaction(async (transaction) => {
    await transaction.$executeRaw`
        SELECT 1 FROM workspaces WHERE id = ${locked.workspaceId}::uuid FOR NO KEY UPDATE`
    await isEnded
  })
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
  await untilBack(other, ruleId)
  t.match(await readRule(locked, held[0] as string), { version: 2 }, 'the lock is still held')
  end()
  await change
  // The checks are tried again.
  for (const id of held) await untilBack(locked, id)
})

t.test(
  'guards that take long to check keep none of another creator from being claimed or checked',
  async (t) => {
    const environment = await onOwnDatabase()
    const [slow, other] = [await createHarness(t, environment), await createHarness(t, environment)]
    const slowRules: string[] = []
    for (let n = 0; n < 3; n++) {
      const each = n === 0 ? slow : await createHarness(t, environment)
      const { own, workspaceId } = each
      await own.workspace.update({ where: { id: workspaceId }, data: { createdBy: 'many' } })
      for (let m = 0; m < 20; m++) slowRules.push(await createGuarded(each, { maxRunsPerHour: 3 }))
    }
    const ruleId = await createGuarded(other, { maxRunsPerHour: 3 })
    const { promise: isEnded, end } = createGate()
    const { database } = other
    const run = database.run.bind(database)
    let checks = 0
    let [slowChecks, most] = [0, 0]
    const checkedThrice = new Promise<void>((resolve) => {
      database.run = (async (...of: Parameters<typeof run>) => {
        if (of[0] !== 'count_runs') return run(...of)
        const isSlow = (of[2] as unknown[]).some((value) => slowRules.includes(value as string))
        if (isSlow) {
          most = Math.max(most, ++slowChecks)
          await isEnded
          slowChecks--
        } else if (++checks === 3) resolve()
        return run(...of)
      }) as typeof run
    })
    const loop = startGuards(database, log)
    t.teardown(() => loop.stop())
    await checkedThrice
    t.equal(most, 2, 'they have two of the three places')
    end()
    await storeRuns(other, ruleId, 4)
    await untilBack(other, ruleId)
  },
)

function createGate() {
  let end = () => {}
  const promise = new Promise<void>((resolve) => {
    end = resolve
  })
  return { promise, end: () => end() }
}
