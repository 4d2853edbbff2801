import { newId, type Prisma } from '@automation/database'
import { defaultWorkLimits, type PerKey } from '@automation/engine'
import { claimBacktest, findBacktest } from '@automation/rules'
import t from 'tap'
import { computeSlice } from '../src/backtests/compute-slice.js'
import { createHarness, type Execution, type Harness } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: '{{k}}' } }
const waitFor = (duration: string) => ({ type: 'WAIT', config: { duration } })
const rules: { perKey: PerKey; actions: object[] }[] = [
  { perKey: { key: '{{k}}', atMost: { runs: 2, per: '1h' } }, actions: [task] },
  {
    perKey: { key: '{{k}}', atLeast: { events: 3, within: '1h' }, atMost: { runs: 2, per: '1h' } },
    actions: [task],
  },
  { perKey: { key: '{{k}}', collect: { for: '1h', max: 3 } }, actions: [task] },
  { perKey: { key: '{{k}}', whileRunning: 'skip' }, actions: [waitFor('1h')] },
  { perKey: { key: '{{k}}', whileRunning: 'replace' }, actions: [waitFor('1h')] },
  { perKey: { key: '{{pair}}', whileRunning: 'skip' }, actions: [waitFor('1s')] },
]

/** The rule beside the same one without limits: what that one has more was suppressed. */
async function runBacktest(
  { database, own, workspaceId }: Harness,
  ruleId: string,
  { perKey, actions }: (typeof rules)[number],
  range: { from: number; to: number },
) {
  const draft = { trigger: 'LEAD_CREATED', conditions: [], actions }
  const subject = { ruleId, active: { version: 1, definition: { ...draft, perKey } }, draft, ...range }
  const id = newId()
  await own.backtest.create({
    data: {
      id,
      workspaceId,
      ruleId,
      subject: subject as unknown as Prisma.InputJsonObject,
      rangeFrom: new Date(range.from),
      rangeTo: new Date(range.to),
      pace: 'full',
      createdBy: 'cli:test',
    },
  })
  const limits = { workLimits: defaultWorkLimits, retentionDays: 0 }
  for (;;) {
    const claimed = await claimBacktest(database)
    if (claimed?.id !== id) throw new Error(`Claimed ${claimed?.id} and not ${id}`)
    await computeSlice(database, claimed, limits, { slice: { events: 7, ms: 60_000 } })
    const stored = await findBacktest(own, id)
    if (stored?.status === 'done') return stored.report
  }
}

t.test('a backtest of a rule with perKey says of each event what is recorded', async (t) => {
  const harness = await createHarness(t)
  const ids: string[] = []
  for (const { perKey, actions } of rules) ids.push(await harness.createRule(actions, undefined, perKey))
  harness.startWorker()
  const post = async (data: object) => {
    const event = { ...harness.newEvent(), data }
    await harness.inbox.accept(event)
    await harness.untilDone(event.id)
    return event
  }
  const paired = ids.at(-1) as string
  for (let count = 0; count < 18; count++) {
    await post({ k: (count * count) % 3, pair: count })
    if (count % 6 !== 5) continue
    // One comes while an execution of its key is in progress, and one after its end.
    await post({ k: 0, pair: `of ${count}` })
    const { id } = await post({ k: 1, pair: `of ${count}` })
    const [held] = await harness.own.execution.findMany({
      where: { handlerId: paired, eventId: { lt: id } },
      orderBy: { id: 'desc' },
      take: 1,
    })
    await harness.untilStatus(held?.id ?? '', 'succeeded')
    await post({ k: 2, pair: `of ${count}` })
  }
  const events = await harness.own.event.findMany({ orderBy: [{ acceptedAt: 'asc' }, { id: 'asc' }] })
  const [first, middle, last] = [events[0], events[9], events.at(-1)].map(
    (row) => row?.acceptedAt.getTime() ?? 0,
  )
  const to = (last as number) + 1
  for (const [index, rule] of rules.entries()) {
    const stored = await harness.own.execution.findMany({ where: { handlerId: ids[index] as string } })
    const recorded = new Map(stored.map((row): [string, Execution] => [row.eventId, row]))
    for (const from of [first as number, middle as number]) {
      const ranged = events.filter(({ acceptedAt }) => acceptedAt.getTime() >= from)
      const isSuppressed = ({ id }: { id: string }) => recorded.get(id)?.status === 'suppressed'
      const suppressed = ranged.filter(isSuppressed).map(({ id }) => id)
      const report = await runBacktest(harness, ids[index] as string, rule, { from, to })
      const name = `${JSON.stringify(rule.perKey)} from ${from}`
      t.match(
        report?.active,
        { matched: ranged.length - suppressed.length, suppressed: suppressed.length, notJudged: 0 },
        name,
      )
      t.match(report?.scanned, ranged.length, name)
      t.strictSame(report?.examples.added, suppressed.slice(-20).reverse(), name)
      const isReplaced = ({ id }: { id: string }) => recorded.get(id)?.status === 'cancelled'
      t.equal(report?.active?.replaced, ranged.filter(isReplaced).length, name)
      t.ok(
        suppressed.length > 0 || rule.perKey.whileRunning === 'replace',
        `${suppressed.length} of ${ranged.length}`,
      )
    }
  }
})
