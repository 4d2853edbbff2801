import { setTimeout } from 'node:timers/promises'
import { createSubscription, deleteSubscription, updateSubscription } from '@automation/access'
import {
  type Database,
  executionIdOf,
  newId,
  openPatiently,
  type WorkspaceTransaction,
} from '@automation/database'
import {
  type Addressee,
  type ExecutionRecord,
  finishEvents,
  noteStored,
  type RecordableExecution,
  recordSteps,
} from '@automation/ledger'
import { changeRules, deleteRules, importRules, pauseRules, saveRules } from '@automation/rules'
import t, { type Test } from 'tap'
import { createHarness, databaseUrl, type Harness } from './fixtures/harness.js'

const administratorOf = ({ database, workspaceId }: Harness) => ({ database, workspaceId, actor: 'test' })

function saveFields(harness: Harness, ruleId: string, fields: { isActive: boolean } | { mode: string }) {
  const administrator = administratorOf(harness)
  return changeRules(administrator, async (transaction) => {
    const found = await transaction.rule.findUniqueOrThrow({ where: { id: ruleId } })
    await saveRules(transaction, administrator, [{ found, fields }])
    return { result: undefined, entry: { action: 'rule.updated' as const, subject: ruleId } }
  })
}

function deleteRule(harness: Harness, ruleId: string) {
  return changeRules(administratorOf(harness), async (transaction) => {
    const result = await deleteRules(transaction, harness.workspaceId, [ruleId])
    return { result, entry: { action: 'rule.deleted' as const, subject: ruleId } }
  })
}

async function pauseRule({ database, own, workspaceId }: Harness, ruleId: string): Promise<void> {
  await own.ruleCounters.update({ where: { ruleId }, data: { attentionReason: 'worker_crashes' } })
  await pauseRules(database, workspaceId, [ruleId])
}

/** One import switches all rules of the workspace off. */
async function importAll(harness: Harness): Promise<void> {
  const rules = await harness.own.rule.findMany()
  const file = {
    rules: rules.map(({ name, trigger, actions }) => {
      return { name, trigger, conditions: [], actions, isActive: false }
    }),
  } as never as Parameters<typeof importRules>[1]
  await importRules(administratorOf(harness), file, { prune: false }, (planned) => {
    if (!('plan' in planned)) throw new Error(JSON.stringify(planned))
    return planned.plan
  })
}

async function subscribe(harness: Harness): Promise<string> {
  const fields = { url: 'https://example.com/hooks', eventTypes: ['execution.failed' as const] }
  return (await createSubscription(administratorOf(harness), harness.sealer, fields)).id
}

interface Way {
  create(harness: Harness): Promise<string>
  kind: Addressee['kind']
  stop(harness: Harness, id: string): Promise<unknown>
}

const ofRule = { create: (harness: Harness) => harness.createRule([]), kind: 'rule' as const }
const ofSubscription = { create: subscribe, kind: 'subscription' as const }
const ways: Record<string, Way> = {
  'a PUT': { ...ofRule, stop: (harness, id) => saveFields(harness, id, { isActive: false }) },
  'a PUT of a rule with a schedule': {
    ...ofRule,
    kind: 'tick',
    stop: (harness, id) => saveFields(harness, id, { isActive: false }),
  },
  'a PUT that makes it a shadow': {
    ...ofRule,
    stop: (harness, id) => saveFields(harness, id, { mode: 'shadow' }),
  },
  'its deletion': { ...ofRule, stop: deleteRule },
  'its pause': { ...ofRule, stop: pauseRule },
  'an import': { ...ofRule, stop: importAll },
  'a switch-off of its subscription': {
    ...ofSubscription,
    stop: (harness, id) => updateSubscription(administratorOf(harness), id, { isActive: false }),
  },
  'a deletion of its subscription': {
    ...ofSubscription,
    stop: (harness, id) => deleteSubscription(administratorOf(harness), id),
  },
}

/** An execution that a worker has begun, and that waits for a month. */
async function begin(
  harness: Harness,
  { kind }: Pick<Way, 'kind'>,
  ruleId: string,
): Promise<RecordableExecution> {
  const addressee = kind === 'rule' ? null : { kind, id: ruleId }
  const row = harness.newRow()
  await harness.own.event.create({
    data: {
      ...row,
      ...(addressee && { addresseeKind: kind, addresseeId: ruleId, type: 'execution.failed' }),
    },
  })
  const loaded = { depth: 0, rootId: null, rulesVersion: 0, autoPauseAfter: null, createdBy: null }
  const event = { ...row, ...loaded, addressee, acceptedAt: Date.now(), heapBytes: 2 }
  const record: ExecutionRecord = {
    id: executionIdOf(event, ruleId),
    handlerId: ruleId,
    ruleVersion: 1,
    status: 'waiting',
    error: null,
    results: [{ action: 'WAIT', status: 'scheduled' }],
    startedAt: new Date(),
    finishedAt: null,
    dueAt: new Date(Date.now() + 30 * 86_400_000),
    lease: null,
    awaitsSlot: false,
    interruptions: 0,
    reopened: 0,
    attention: null,
  }
  return { record, event, tasks: [], emitted: [] }
}

async function finish(database: Database, execution: RecordableExecution) {
  const { event } = execution
  const outcome = { event, ruleSetId: null, rulesVersion: 1, executions: [execution] }
  noteStored((await finishEvents(database, [outcome])).rows, [execution])
}

/** The ways in which an execution comes to wait. */
const recordings = {
  finishEvents: async (_harness: Harness, execution: RecordableExecution) => (database: Database) =>
    finish(database, execution),
  recordSteps: async ({ database }: Harness, execution: RecordableExecution) => {
    const { record } = execution
    const paused = { ...record }
    const lease = newId()
    Object.assign(record, { status: 'running', lease, dueAt: null })
    await finish(database, execution)
    Object.assign(record, paused)
    return async (database: Database) =>
      noteStored((await recordSteps(database, [{ execution, lease }])).rows, [execution])
  },
}

/** A session of Postgres whose transaction the test ends: others come meanwhile. */
async function openSession(t: Test, begin: (transaction: WorkspaceTransaction) => Promise<unknown>) {
  const database = openPatiently(databaseUrl, 2)
  t.teardown(() => database.close())
  let end = () => {}
  const isOver = new Promise<void>((resolve) => {
    end = resolve
  })
  let ended: Promise<void> = isOver
  await new Promise<void>((hasBegun, fail) => {
    ended = database.system.$transaction(async (transaction) => {
      await begin(transaction as WorkspaceTransaction)
      hasBegun()
      await isOver
    })
    ended.catch(fail)
  })
  return {
    /** Resolves when another session waits for a lock, or when this work has ended. */
    async untilLockedOrOver(work: Promise<unknown>): Promise<void> {
      let isDone = false
      void work.finally(() => {
        isDone = true
      })
      for (let locked = 0; !isDone && locked === 0; ) {
        locked = await database.system.$executeRaw`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        await setTimeout(10)
      }
    },
    async commit(): Promise<void> {
      end()
      await ended
    },
  }
}

const rounds = process.env.TEST_LONG ? 50 : 15
const waits = { status: { in: ['waiting' as const, 'retrying' as const] } }

for (const [title, way] of Object.entries(ways))
  for (const [statement, prepare] of Object.entries(recordings)) {
    t.test(`${statement} is begun, ${title} comes meanwhile: nothing waits behind it`, async (t) => {
      const harness = await createHarness(t)
      const id = await way.create(harness)
      const execution = await begin(harness, way, id)
      const record = await prepare(harness, execution)
      const session = await openSession(t, (transaction) => {
        const run = (_name: string, text: string, values: unknown[]) =>
          transaction.$queryRawUnsafe(text, ...values)
        return record({ ...harness.database, run } as Database)
      })
      const stopping = way.stop(harness, id)
      await session.untilLockedOrOver(stopping)
      await session.commit()
      await stopping
      t.equal(await harness.own.execution.count({ where: waits }), 0)
      t.match(await harness.own.execution.findUnique({ where: { id: execution.record.id } }), {
        status: 'cancelled',
        dueAt: null,
        finishedAt: Date,
      })
    })

    t.test(`${title} is begun, ${statement} comes meanwhile: nothing waits behind it`, async (t) => {
      const harness = await createHarness(t)
      const id = await way.create(harness)
      const execution = await begin(harness, way, id)
      const record = await prepare(harness, execution)
      // A change writes its audit entry last.
      const session = await openSession(
        t,
        (transaction) => transaction.$executeRaw`LOCK TABLE audit_entries IN EXCLUSIVE MODE`,
      )
      const stopping = way.stop(harness, id)
      await session.untilLockedOrOver(stopping)
      const recording = record(harness.database)
      await Promise.race([recording, setTimeout(300)])
      await session.commit()
      await Promise.all([stopping, recording])
      t.equal(await harness.own.execution.count({ where: waits }), 0)
      t.match(execution.record, { status: 'cancelled', dueAt: null, finishedAt: Date })
    })
  }

t.test('in the moment of the switch-off a steady stream of events leaves nothing that waits', async (t) => {
  const harness = await createHarness(t)
  const wait = { type: 'WAIT', config: { duration: '30d' } }
  const ruleId = await harness.createRule([wait, { type: 'CREATE_TASK', config: { title: 'Late' } }])
  harness.startWorker()
  const left: number[] = []
  for (let round = 0; round < rounds; round++) {
    await harness.trigger(ruleId)
    const events = Array.from({ length: 4 }, async (_, index) => {
      await setTimeout(index * 3)
      const event = harness.newEvent()
      await harness.inbox.accept(event)
      return event.id
    })
    await setTimeout(round % 12)
    await saveFields(harness, ruleId, { isActive: false })
    for (const id of await Promise.all(events)) await harness.untilDone(id)
    const count = await harness.own.execution.count({ where: waits })
    if (count > 0) left.push(round)
    await harness.own.execution.updateMany({ where: waits, data: { status: 'cancelled', dueAt: null } })
    await saveFields(harness, ruleId, { isActive: true })
  }
  t.strictSame(left, [], 'rounds in which something waited')
})

t.test(
  'an execution that another session holds at the moment of the switch-off is cancelled afterwards',
  async (t) => {
    const harness = await createHarness(t)
    for (const [title, way] of Object.entries({
      rule: ways['a PUT'],
      subscription: ways['a switch-off of its subscription'],
    })) {
      if (way === undefined) continue
      const id = await way.create(harness)
      const executions = [await begin(harness, way, id), await begin(harness, way, id)]
      for (const execution of executions) await finish(harness.database, execution)
      const session = await openSession(
        t,
        (transaction) =>
          transaction.$executeRaw`SELECT 1 FROM executions WHERE id = ${executions[0]?.record.id}::uuid FOR UPDATE`,
      )
      await way.stop(harness, id)
      t.equal(await harness.own.execution.count({ where: { ...waits, handlerId: id } }), 1, title)
      harness.startSweeper()
      await setTimeout(300)
      await session.commit()
      while ((await harness.own.cancellation.count()) > 0) await setTimeout(20)
      t.equal(await harness.own.execution.count({ where: { ...waits, handlerId: id } }), 0, title)
    }
  },
)

t.test('commits of executions that wait or end, and changes of their rules, never deadlock', async (t) => {
  const harness = await createHarness(t)
  const ruleIds = await Promise.all(Array.from({ length: 12 }, () => harness.createRule([])))
  const administrator = administratorOf(harness)
  const shuffle = <Item>(items: Item[]) => [...items].sort(() => Math.random() - 0.5)
  const shuffled = () => shuffle(ruleIds)
  const endsAt = performance.now() + 3_000
  let finished = 0
  let changed = 0

  const finishMany = async () => {
    while (performance.now() < endsAt) {
      const executions: RecordableExecution[] = []
      for (const ruleId of shuffled().slice(0, 6)) {
        const execution = await begin(harness, ofRule, ruleId)
        if (Math.random() < 0.5)
          Object.assign(execution.record, {
            status: 'failed',
            error: 'x',
            dueAt: null,
            finishedAt: new Date(),
          })
        executions.push(execution)
      }
      const outcomes = executions.map((execution) => {
        return { event: execution.event, ruleSetId: null, rulesVersion: 1, executions: [execution] }
      })
      await finishEvents(harness.database, outcomes)
      finished += outcomes.length
    }
  }
  const changeMany = async () => {
    while (performance.now() < endsAt) {
      const change = changeRules(administrator, async (transaction) => {
        const rules = await transaction.rule.findMany({ where: { id: { in: shuffled().slice(0, 8) } } })
        const changes = rules.map((found) => {
          return { found, fields: { isActive: !found.isActive, description: newId() } }
        })
        await saveRules(transaction, administrator, shuffle(changes))
        return { result: undefined, entry: { action: 'rule.updated' as const, subject: 'x' } }
      })
      await change.catch((error) => {
        if (!/still being cancelled/.test(error.message)) throw error
      })
      await pauseRules(harness.database, harness.workspaceId, shuffled().slice(0, 2))
      changed++
    }
  }
  harness.startSweeper()
  await t.resolves(Promise.all([finishMany(), finishMany(), finishMany(), changeMany()]))
  t.comment(`${finished} executions, ${changed} changes`)
  t.ok(finished > 0 && changed > 0)
})
