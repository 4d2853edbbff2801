import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { evaluatorLimits } from '../../src/evaluation/evaluator.js'
import { type Answer, ruleBody, rules, startApi, type Workspace } from '../fixtures/api.js'
import { startWorker } from '../fixtures/worker.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, {}, { evaluation: evaluatorLimits })
await startWorker(t, api.config, t.testdir())

/** Letters for which an automaton builds a new state at each step. */
const letters = Array.from({ length: 6_000 }, (_, n) => 'ab'[((n * n * 31 + (n >> 3) * 17) % 7) % 2]).join('')
/** A name that differs from others in its last letters alone: to compare two of them takes all of their letters. */
const longName = (n: number) => `${'field'.repeat(11)}${String(n).padStart(5, '0')}`
const wideData = {
  text: letters,
  ...Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [longName(n), n])),
}

const hostileRules = Array.from({ length: 60 }, (_, n) =>
  ruleBody({
    name: `Hostile ${n}`,
    conditions: [
      { field: 'text', operator: 'matches', value: `(?i)a[ab]{${100 + n}}[cd]` },
      ...Array.from({ length: 20 }, (_, m) => ({
        field: `${longName(n)}xy${m}`.slice(-62),
        operator: 'gt',
        value: n,
      })),
    ],
  }),
)

/** Rules that do the same to the same target, each of which looks for many parts of one text. */
const entangled = Array.from({ length: 120 }, (_, n) =>
  ruleBody({
    name: `Entangled ${n}`,
    conditions: [
      {
        any: Array.from({ length: 9 }, (_, m) => ({
          field: 'text',
          operator: 'contains',
          value: `${n}-${m}`,
        })),
      },
      { not: { field: 'text', operator: 'starts_with', value: `x${n}` } },
      { field: 'score', operator: 'gt', value: n },
    ],
    actions: [{ type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello', template: 'hello' } }],
  }),
)

async function create({ call }: Workspace, bodies: object[]): Promise<string[]> {
  const ids: string[] = []
  for (const body of bodies) {
    const created = await call<{ id: string }>('POST', rules, { body })
    if (created.status !== 201) throw new Error(JSON.stringify(created.body))
    ids.push(created.body.id)
  }
  return ids
}

/** Posts an event and waits for it. @returns its id */
async function trigger({ call, database }: Workspace, data: object): Promise<string> {
  const { status } = await call('POST', `${rules}/trigger/LEAD_CREATED`, { body: { data } })
  if (status !== 200) throw new Error(`The event got ${status}`)
  return (await database.event.findFirstOrThrow({ orderBy: { id: 'desc' } })).id
}

async function storeLargeEvents({ id: workspaceId, database }: Workspace, count: number) {
  const data = Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`key${n}`, { value: n }]))
  for (let n = 0; n < count; n++)
    await database.event.create({
      data: { id: newId(), workspaceId, type: 'DEAL_WON', data, doneAt: new Date() },
    })
}

t.test(
  'two workspaces with the most expensive questions delay no third one, and nobody gets 5xx',
  async (t) => {
    const hostile = [await api.makeWorkspace(), await api.makeWorkspace()]
    const quiet = await api.makeWorkspace()
    const [rule] = await create(quiet, [
      ruleBody({ conditions: [{ field: 'score', operator: 'gt', value: 80 }] }),
    ])
    const event = await trigger(quiet, { score: 10 })
    const attacks: (() => Promise<Answer>)[] = []
    for (const workspace of hostile) {
      await create(workspace, hostileRules)
      await storeLargeEvents(workspace, 5)
      const wide = await trigger(workspace, wideData)
      const { call } = workspace
      attacks.push(
        () => call('GET', `/api/events/${wide}/why?limit=100`),
        () => call('POST', `${rules}/check`, { body: { rules: entangled } }),
        () => call('POST', `${rules}/check`, { body: {} }),
        () =>
          call('POST', `${rules}/trigger/LEAD_CREATED?explain=true`, {
            body: { data: wideData, dryRun: true },
          }),
        () => call('GET', '/api/event-types/DEAL_WON/fields?events=50000'),
        () =>
          call('POST', '/api/events/search', {
            body: { conditions: [{ field: 'text', operator: 'matches', value: '(?i)a[ab]{240}[cd]' }] },
          }),
      )
    }
    // The first question of a minute starts the child process, whose time counts for none.
    await quiet.call('POST', `${rules}/${rule}/execute`, { body: { data: {}, dryRun: true } })
    let isOver = false
    const statuses = new Map<number, number>()
    const loops = attacks.map(async (attack) => {
      while (!isOver) {
        const { status } = await attack()
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    const questions = {
      'a dry run': () => quiet.call('POST', `${rules}/${rule}/execute`, { body: { data: {}, dryRun: true } }),
      why: () => quiet.call('GET', `/api/events/${event}/why`),
      'a dry run of an event': () =>
        quiet.call('POST', `${rules}/trigger/LEAD_CREATED`, { body: { data: {}, dryRun: true } }),
      'the liveness probe': () => api.call('GET', '/healthz'),
    }
    const waits: number[] = []
    for (let round = 0; round < 8; round++) {
      for (const [name, ask] of Object.entries(questions)) {
        const askedAt = performance.now()
        const { status, body } = await ask()
        const tookMs = performance.now() - askedAt
        waits.push(tookMs)
        t.equal(status, 200, `${name} is answered: ${JSON.stringify(body).slice(0, 100)}`)
        t.ok(tookMs < 2_500, `${name} took ${Math.round(tookMs)} ms`)
      }
    }
    isOver = true
    await Promise.all(loops)
    t.same(
      [...statuses.keys()].filter((status) => status >= 500),
      [],
    )
    t.comment(`slowest ${Math.round(Math.max(...waits))} ms; the others got ${JSON.stringify([...statuses])}`)
  },
)
