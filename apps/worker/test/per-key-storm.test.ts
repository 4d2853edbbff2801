import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf, openPatiently } from '@automation/database'
import { auditLedger } from '@automation/ledger'
import t, { type Test } from 'tap'
import { createHarness, databaseUrl } from './fixtures/harness.js'

const isLong = process.env.TEST_LONG === '1'
const [eventCount, keyCount, faultCount] = isLong ? [1_500, 30, 60] : [240, 8, 10]
const perMs = 1_000
const runs = 2

/** Draws numbers from a seed: xorshift. */
function createDraw(seed: number) {
  let state = seed | 1
  return (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/** A server that notes which calls of a key overlap. */
async function startServer(t: Test, draw: (below: number) => number) {
  const inProgress = new Map<string, number>()
  const state = { overlaps: 0 }
  const server = createServer((request, response) => {
    const key = request.url ?? ''
    const before = inProgress.get(key) ?? 0
    if (before > 0) state.overlaps++
    inProgress.set(key, before + 1)
    request.resume()
    setTimeout(() => {
      inProgress.set(key, (inProgress.get(key) ?? 1) - 1)
      response.end()
    }, draw(15))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { port: (server.address() as AddressInfo).port, state }
}

t.test(
  'under faults no window is exceeded, no key starves, and no two executions of a key are in progress at once',
  async (t) => {
    const seed = Number(process.env.TEST_SEED ?? 20_261_127)
    t.comment(`seed ${seed}`)
    const draw = createDraw(seed)
    const harness = await createHarness(t)
    const { workspaceId, createRule, newEvent, inbox } = harness
    const { port, state } = await startServer(t, draw)
    const key = '{{k}}'
    const task = { type: 'CREATE_TASK', config: { title: '{{k}}' } }
    const call = { type: 'SEND_WEBHOOK', config: { url: `http://127.0.0.1:${port}/{{k}}` } }
    const most = await createRule([task], undefined, { key, atMost: { runs, per: '1s' } })
    const least = await createRule([task], undefined, { key, atLeast: { events: 3, within: '1h' } })
    const queue = await createRule([call, task], undefined, { key, whileRunning: 'queue' })
    for (let count = 0; count < 3; count++) harness.startWorker()
    harness.startSweeper()

    const attacker = openPatiently(databaseUrl, 2)
    t.teardown(() => attacker.close())
    let isOver = false
    let faults = 0
    const attack = async () => {
      while (!isOver && faults < faultCount) {
        await delay(60 + draw(120))
        faults++
        if (draw(3) === 0) await harness.forget()
        // What a worker does at this moment is undone, or its response is lost.
        else
          await attacker.run(
            'attack',
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3 AND query NOT LIKE '%pg_terminate%'`,
            [],
          )
      }
    }
    const attacking = attack()
    const events: { id: string; k: number }[] = []
    for (let index = 0; index < eventCount; index++) {
      const k = draw(keyCount)
      const event = { ...newEvent(), data: { k } }
      for (;;) {
        const isAccepted = await inbox.accept(event).then(
          () => true,
          () => false,
        )
        if (
          isAccepted ||
          (await attacker.forWorkspace(workspaceId).event.findUnique({ where: { id: event.id } }))
        )
          break
      }
      events.push({ id: event.id, k })
      if (draw(4) === 0) await delay(draw(40))
    }
    await attacking
    isOver = true

    const read = attacker.forWorkspace(workspaceId)
    for (;;) {
      const [undone, unfinished] = [
        await read.event.count({ where: { doneAt: null } }),
        await read.execution.count({ where: { finishedAt: null } }),
      ]
      if (undone + unfinished === 0) break
      await delay(100)
    }
    const accepted = new Map(
      (await read.event.findMany({ select: { id: true, acceptedAt: true } })).map((row) => [
        row.id,
        row.acceptedAt.getTime(),
      ]),
    )
    const executions = new Map((await read.execution.findMany()).map((row) => [row.id, row]))
    t.equal(accepted.size, eventCount)
    t.equal(executions.size, 3 * eventCount)
    const statusOf = (event: { id: string }, ruleId: string) =>
      executions.get(executionIdOf({ ...event, addressee: null }, ruleId))?.status

    const lefts: number[] = []
    for (let k = 0; k < keyCount; k++) {
      const ofKey = events.filter((event) => event.k === k)
      const at = (event: { id: string }) => accepted.get(event.id) ?? 0
      const granted = ofKey.filter((event) => statusOf(event, most) === 'succeeded').map(at)
      const excess = (times: number[]) =>
        times.some((start) => times.filter((time) => time >= start && time < start + perMs).length > runs)
      t.notOk(excess(granted), `no window of key ${k} has more than ${runs} executions`)
      const refused = ofKey.filter((event) => statusOf(event, most) === 'suppressed').map(at)
      t.equal(granted.length + refused.length, ofKey.length)
      t.ok(
        refused.every((time) => excess([...granted, time])),
        `no event of key ${k} was refused without need`,
      )
      const counted = ofKey.filter((event) => statusOf(event, least) === 'succeeded').length
      const left = await read.keyClaim.count({
        where: { isCounted: true, ruleId: least, eventId: { in: ofKey.map(({ id }) => id) } },
      })
      t.equal(3 * counted + left, ofKey.length, `each event of key ${k} counts once`)
      lefts.push(left)
      t.ok(
        ofKey.every((event) => statusOf(event, queue) === 'succeeded'),
        `the queue of key ${k} is empty`,
      )
    }
    t.equal(state.overlaps, 0, 'no two calls of a key were in progress at once')
    for (const ruleId of [most, least, queue]) {
      const succeeded = [...executions.values()].filter(
        (row) => row.handlerId === ruleId && row.status === 'succeeded',
      ).length
      const counters = await read.ruleCounters.findFirstOrThrow({ where: { ruleId } })
      t.equal(Number(counters.successCount), succeeded)
      t.equal(await read.task.count({ where: { ruleId } }), succeeded)
    }
    const now = Date.now()
    const request = { workspaceId, from: now - 3_600_000, to: now + 60_000, keptSince: 0, budgetMs: 5_000 }
    t.strictSame((await auditLedger(attacker, request)).faults, [])

    // Events that were recorded out of order may be left although they are enough: those that each lacked were accepted after it. The next events
    // of the key complete them.
    const completeLeft = async (k: number, count: number) => {
      for (let left = count; ; left -= 2) {
        const event = { ...newEvent(), data: { k } }
        await inbox.accept(event)
        await harness.untilDone(event.id)
        const { status } = await read.execution.findUniqueOrThrow({
          where: { id: executionIdOf(event, least) },
        })
        t.equal(status, left >= 2 ? 'succeeded' : 'suppressed', `key ${k} had ${left} events left`)
        if (left < 2) break
      }
    }
    for (const [k, left] of lefts.entries()) await completeLeft(k, left)
  },
)
