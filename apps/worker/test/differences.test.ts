import { newId } from '@automation/database'
import { defaultWorkLimits } from '@automation/engine'
import {
  activeVersionOf,
  askForDifference,
  type Compared,
  claimBacktest,
  createBacktest,
  definitionToTest,
  deleteDraft,
  deleteRules,
  findBacktest,
  findDifference,
  promoteDraft,
  saveDraft,
  saveRules,
} from '@automation/rules'
import t, { type Test } from 'tap'
import { computeSlice } from '../src/backtests/compute-slice.js'
import { createHarness, type Harness, onOwnDatabase } from './fixtures/harness.js'

const limits = { workLimits: defaultWorkLimits, retentionDays: 0 }
/** A part has several slices. */
const slice = { events: 300, ms: 60_000 }
const task = { type: 'CREATE_TASK', config: { title: 'Task {{score}}' } }
const above = (value: number) => [{ field: 'score', operator: 'greater_than', value }]

interface Drafted extends Harness {
  ruleId: string
  administrator: { database: Harness['database']; workspaceId: string; actor: string }
}

/** A workspace with a rule and its draft of an hour ago. Nothing else waits that could be claimed here. */
async function createDrafted(t: Test, variables?: { DATABASE_URL: string }): Promise<Drafted> {
  const harness = await createHarness(t, variables ?? (await onOwnDatabase()))
  const ruleId = await harness.createRule([task])
  const { database, workspaceId } = harness
  const administrator = { database, workspaceId, actor: 'user:tests' }
  const drafted = { ...harness, ruleId, administrator }
  await save(drafted, 50)
  return drafted
}

async function save(drafted: Drafted, score: number): Promise<void> {
  const { own, ruleId, administrator } = drafted
  const rule = await own.rule.findUniqueOrThrow({ where: { id: ruleId } })
  const definition = { name: 'Draft', description: '', trigger: 'LEAD_CREATED', conditions: above(score) }
  await own.$transaction((transaction) =>
    saveDraft(
      transaction as never,
      administrator,
      rule as never,
      { ...definition, actions: [task] } as never,
    ),
  )
  await own.ruleDraft.updateMany({ data: { savedAt: new Date(Date.now() - 3_600_000) } })
}

async function readCompared({ own, ruleId }: Drafted): Promise<Compared> {
  const draft = await own.ruleDraft.findUniqueOrThrow({ where: { ruleId } })
  const version = { ruleId, version: draft.baseVersion }
  const active = await own.ruleVersion.findUniqueOrThrow({ where: { ruleId_version: version } })
  const { id: draftId, savedAt: since } = draft
  return { ruleId, draftId, since, active: activeVersionOf(active), draft: definitionToTest(draft) }
}

async function storeEvents({ own, newRow }: Harness, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    ...newRow(),
    data: { score: index % 100 },
    doneAt: new Date(),
  }))
  await own.event.createMany({ data: rows })
}

async function ask(drafted: Drafted) {
  return askForDifference(drafted.administrator, await readCompared(drafted), 0)
}

async function claim({ database }: Harness) {
  const claimed = await claimBacktest(database)
  if (claimed === undefined) throw new Error('Nothing waits')
  return claimed
}

/** Computes what waits. @param loseLease before each slice: its worker dies, and another one computes it */
async function compute(drafted: Drafted, loseLease = false): Promise<number> {
  const { own, database } = drafted
  for (let slices = 0; ; slices++) {
    const claimed = await claimBacktest(database)
    if (claimed === undefined) return slices
    if (loseLease) {
      await own.backtest.updateMany({ where: { lease: claimed.lease }, data: { leaseUntil: new Date(0) } })
      await computeSlice(database, await claim(drafted), limits, { slice })
    }
    await computeSlice(database, claimed, limits, { slice })
    await own.backtest.updateMany({ data: { leaseUntil: null } })
  }
}

/** The pause between two parts is over. */
const pass = ({ own }: Harness) =>
  own.backtest.updateMany({
    where: { status: 'done' },
    data: { finishedAt: new Date(Date.now() - 61_000) },
  })

t.test('a difference in parts, whose workers die, equals a backtest from scratch to the byte', async (t) => {
  const drafted = await createDrafted(t)
  const { own, administrator } = drafted
  const parts: number[] = []
  for (const events of [1_000, 0, 700, 1]) {
    await storeEvents(drafted, events)
    await ask(drafted)
    parts.push(await compute(drafted, true))
    await pass(drafted)
  }
  t.ok((parts[0] as number) > 2, `slices of the parts: ${parts}`)
  const compared = await readCompared(drafted)
  const found = await findDifference(own, compared)
  if (!found?.report) throw new Error('There is no report')
  const { computedAt, ...report } = found.report
  t.type(computedAt, 'string')
  const { ruleId, since, active, draft } = compared
  const subject = {
    ruleId,
    ...(active && { active }),
    draft,
    from: since.getTime(),
    to: Date.parse(report.to),
  }
  const { id } = await createBacktest(administrator, { subject, historyFrom: null, pace: 'full' })
  await compute(drafted)
  const whole = (await findBacktest(own, id))?.report
  t.match(whole, { scanned: 1_701, isComplete: true, difference: { same: 833, added: 0, removed: 868 } })
  t.equal(JSON.stringify(report), JSON.stringify(whole))
})

t.test(
  'a slice of a draft that has changed stores nothing, and the next report is about the new one',
  async (t) => {
    const drafted = await createDrafted(t)
    const { own, database } = drafted
    await storeEvents(drafted, 1_000)
    await ask(drafted)
    const first = await claim(drafted)
    await computeSlice(database, first, limits, { slice })
    t.match(await ask(drafted), { isUnfinished: true, report: { scanned: 300, isComplete: false } })
    const second = await claim(drafted)
    await save(drafted, 90)
    t.equal(await computeSlice(database, second, limits, { slice }), undefined)
    t.match(await ask(drafted), { isUnfinished: true, report: null }, 'it begins at once, and from the start')
    await compute(drafted)
    t.match(await ask(drafted), { report: { scanned: 1_000, draft: { matched: 90 }, isComplete: true } })
    t.equal(await own.backtest.count(), 1)
  },
)

t.test(
  'a draft that is deleted or promoted, and a rule that is changed or deleted, end a slice',
  async (t) => {
    const ends: Record<string, (drafted: Drafted, transaction: never) => Promise<unknown>> = {
      deleted: ({ ruleId }, transaction) => deleteDraft(transaction, ruleId),
      promoted: async ({ own, ruleId, administrator }, transaction) => {
        const rule = await own.rule.findUniqueOrThrow({ where: { id: ruleId } })
        const draft = await own.ruleDraft.findUniqueOrThrow({ where: { ruleId } })
        return promoteDraft(transaction, administrator, rule as never, draft, undefined, null)
      },
      'rule changed': async ({ own, ruleId, administrator }, transaction) => {
        const found = await own.rule.findUniqueOrThrow({ where: { id: ruleId } })
        return saveRules(transaction, administrator, [{ found: found as never, fields: { name: 'Other' } }])
      },
      'rule deleted': ({ ruleId, workspaceId }, transaction) =>
        deleteRules(transaction, workspaceId, [ruleId]),
    }
    for (const [name, end] of Object.entries(ends)) {
      const drafted = await createDrafted(t)
      const { own, database } = drafted
      await storeEvents(drafted, 10)
      const compared = await readCompared(drafted)
      await ask(drafted)
      const claimed = await claim(drafted)
      await own.$transaction((transaction) => end(drafted, transaction as never))
      t.equal(await computeSlice(database, claimed, limits), undefined, name)
      t.match(
        await own.backtest.findMany(),
        [{ status: 'cancelled', subject: {}, state: null, report: null, lease: null }],
        name,
      )
      if (name === 'rule changed') continue
      t.match(await askForDifference(drafted.administrator, compared, 0), { isUnfinished: false }, name)
      t.equal(
        await claimBacktest(database),
        undefined,
        `${name}: who has read it before does not begin it again`,
      )
    }
  },
)

t.test('a workspace that is deleted takes its differences along, also in a slice', async (t) => {
  const drafted = await createDrafted(t)
  const { database, workspaceId, administrator } = drafted
  await storeEvents(drafted, 10)
  const compared = await readCompared(drafted)
  await ask(drafted)
  const claimed = await claim(drafted)
  await database.system.event.deleteMany({ where: { workspaceId } })
  await database.system.workspace.delete({ where: { id: workspaceId } })
  t.equal(await computeSlice(database, claimed, limits), undefined)
  t.equal(await askForDifference(administrator, compared, 0), undefined)
})

t.test('who asks at the same time begins a difference once, and continues it once', async (t) => {
  const drafted = await createDrafted(t)
  const { own } = drafted
  for (const events of [10, 5]) {
    await storeEvents(drafted, events)
    const asked = await Promise.all(Array.from({ length: 8 }, () => ask(drafted)))
    t.equal(new Set(asked.map((one) => one?.id)).size, 1)
    t.equal(await own.backtest.count(), 1)
    t.equal(await compute(drafted), 1)
    await pass(drafted)
  }
  t.match(await findDifference(own, await readCompared(drafted)), { report: { scanned: 15 } })
})

t.test(
  'a difference takes turns with the backtests of its workspace, and its workspace with others',
  async (t) => {
    const shared = await onOwnDatabase()
    const [drafted, other] = [await createDrafted(t, shared), await createDrafted(t, shared)]
    const { administrator, own } = drafted
    const { draft, since } = await readCompared(drafted)
    const subject = { draft, from: since.getTime(), to: Date.now() }
    await createBacktest(administrator, { subject, historyFrom: null, pace: 'full' })
    await claim(drafted)
    await own.backtest.updateMany({ data: { lease: null, leaseUntil: null } })
    await ask(other)
    await ask(drafted)
    t.equal((await claim(drafted)).workspaceId, other.workspaceId)
    // The workspace changes its draft, and asks again and again: that wins it no turn.
    const turns: string[] = []
    for (let turn = 0; turn < 4; turn++) {
      await save(drafted, turn)
      await ask(drafted)
      await other.own.backtest.updateMany({ data: { lease: null, leaseUntil: null } })
      const claimed = await claim(drafted)
      turns.push(
        `${claimed.workspaceId === drafted.workspaceId ? 'own' : 'other'} ${claimed.subject.active !== undefined}`,
      )
      await drafted.own.backtest.updateMany({ data: { lease: null, leaseUntil: null } })
    }
    t.strictSame(turns, ['own true', 'other true', 'own false', 'other true'])
  },
)

t.test('a workspace keeps a hundred differences: what waits, and what was computed last', async (t) => {
  const drafted = await createDrafted(t)
  const { own, workspaceId } = drafted
  const row = (index: number) => ({
    ...{
      id: newId(),
      workspaceId,
      ruleId: newId(),
      kind: 'draft',
      subject: {},
      pace: 'gentle',
      createdBy: 'x',
    },
    ...{ rangeFrom: new Date(0), rangeTo: new Date(1), status: 'done' as const },
    finishedAt: new Date(Date.now() - index * 1_000),
  })
  const done = Array.from({ length: 100 }, (_, index) => row(index + 1))
  await own.backtest.createMany({ data: done })
  t.match(await ask(drafted), { isUnfinished: true })
  const kept = async () => new Set((await own.backtest.findMany()).map(({ id }) => id))
  t.equal((await kept()).size, 100)
  t.notOk((await kept()).has(done.at(-1)?.id ?? ''), 'the one that was computed longest ago is gone')

  await own.backtest.updateMany({ data: { status: 'waiting', finishedAt: null, leaseUntil: new Date(8e12) } })
  const next = { ...drafted, ruleId: await drafted.createRule([task]) }
  await save(next, 50)
  t.equal(await ask(next), undefined, 'a hundred wait: it begins when somebody asks later')
  t.equal((await kept()).size, 100)
  t.ok((await kept()).has(done[0]?.id ?? ''))
})

t.test('a draft that is older than what retention keeps says from when on its report is', async (t) => {
  const drafted = await createDrafted(t)
  await drafted.own.ruleDraft.updateMany({ data: { savedAt: new Date(Date.now() - 3 * 86_400_000) } })
  await storeEvents(drafted, 3)
  await askForDifference(drafted.administrator, await readCompared(drafted), 1)
  await compute(drafted)
  const { report } = (await ask(drafted)) ?? {}
  t.match(report, { scanned: 3, notes: [/^Retention removed the events before/] })
  const age = Date.now() - Date.parse(report?.historyFrom ?? '')
  t.ok(Math.abs(age - 86_400_000) < 60_000, `${age}`)
})
