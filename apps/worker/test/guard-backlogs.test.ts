import { findOldestUndone } from '@automation/ledger'
import { type ClaimedGuard, checkGuard, claimGuards, setGuard } from '@automation/rules'
import t from 'tap'
import { startGuards } from '../src/repair/guards.js'
import {
  before,
  check,
  createGuarded,
  hasNotTripped,
  hourMs,
  readEntries,
  readRule,
  storeRuns,
  storeWaiting,
  untilBack,
} from './fixtures/guarded.js'
import { createHarness, log } from './fixtures/harness.js'

t.test(
  'a backlog from long before the promotion counts, when it is evaluated with the promoted version',
  async (t) => {
    const harness = await createHarness(t)
    const { own, workspaceId } = harness
    const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
    await own.ruleGuard.delete({ where: { ruleId } })
    await storeWaiting(harness, 3 * hourMs)
    for (let n = 0; n < 4; n++) await storeWaiting(harness, 2 * hourMs)
    const oldestUndone = await findOldestUndone(harness.database.readsOf(workspaceId))
    const limits = { for: '1h', maxRunsPerHour: 4 }
    await own.$transaction((transaction) =>
      setGuard(transaction, { id: ruleId, workspaceId, version: 2 }, 1, limits, oldestUndone),
    )
    const loop = startGuards(harness.database, log)
    t.teardown(() => loop.stop())
    harness.startSweeper()
    const worker = harness.startWorker()
    await worker.ready()
    await untilBack(harness, ruleId)
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

t.test('a backlog counts below any number of newer runs of the previous version', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await createGuarded(harness, { maxRunsPerHour: 3 })
  await harness.own.ruleGuard.update({
    where: { ruleId },
    data: { startedAt: new Date(Date.now() - hourMs), oldestAt: new Date(Date.now() - 3 * hourMs) },
  })
  await storeRuns(harness, ruleId, 10_001, { ruleVersion: 1 })
  await storeRuns(harness, ruleId, 4, { acceptedAgeMs: 2 * hourMs })
  t.match(await check(harness, ruleId), { reason: 'runs', runs: 4 })
})
