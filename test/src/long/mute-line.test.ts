import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { type Answer, startRunningProduct, type Tenant, until } from '../fixtures/product.js'
import { openTcpProxy } from '../storm/tcp-proxy.js'

const running = await startRunningProduct({ apis: 0, workers: 0 })
const { product, database } = running
t.teardown(() => running.stop())
const line = await openTcpProxy(() => product.postgres?.port ?? 0)
t.teardown(() => line.close())
const url = new URL(product.databaseUrl)
url.port = String(line.port)
const api = await product.startApi({ DATABASE_URL: url.href })

const tenants: Tenant[] = [running]
while (tenants.length < 20) tenants.push(await running.addWorkspace())
const lanes = 24
const triggerPath = '/api/automation-rules/trigger/LEAD_CREATED'

/** Posts events, one after the other on each lane, until it is stopped. Answers the ids of those that were accepted. */
function postEvents() {
  const accepted: string[] = []
  const odd: Answer[] = []
  let isStopped = false
  const running = Array.from({ length: lanes }, async (_, lane) => {
    while (!isStopped) {
      const answer = await post(tenants[lane % tenants.length] as Tenant, lane)
      if (answer?.status === 202) accepted.push(answer.body.id)
      else if (answer !== undefined && !isAway(answer)) odd.push(answer)
      await delay(answer?.status === 202 ? 5 : 200)
    }
  })
  return {
    accepted,
    odd,
    async stop() {
      isStopped = true
      await Promise.all(running)
    },
  }

  async function post({ call }: Tenant, lane: number): Promise<Answer | undefined> {
    return call('POST', triggerPath, { data: { lane } }, { prefer: 'respond-async' }).catch(() => undefined)
  }
}

function isAway({ status, headers }: Answer): boolean {
  return status === 503 && headers.get('retry-after') !== null
}

interface Change {
  ruleId: string
  turn: number
}

/** Changes a rule of each workspace again and again: each change is a transaction. */
async function changeRules() {
  const changes: Change[] = await Promise.all(
    tenants.map(async (tenant) => ({ ruleId: await createRule(tenant), turn: 0 })),
  )
  let isStopped = false
  const running = tenants.map(async ({ call }, index) => {
    const change = changes[index] as Change
    for (let turn = 1; !isStopped; turn++) {
      const path = `/api/automation-rules/${change.ruleId}`
      const answer = await call('PUT', path, { description: String(turn) }).catch(() => undefined)
      if (answer?.status === 200) change.turn = turn
    }
  })
  return {
    /** The last ones that were accepted. */
    changes,
    stop() {
      isStopped = true
      return Promise.all(running)
    },
  }
}

/** All at once are more than a busy machine takes: who is refused asks again. */
async function createRule({ call }: Tenant): Promise<string> {
  const actions = [{ type: 'CREATE_TASK', config: { title: 'Task' } }]
  const rule = { name: 'Edited', trigger: 'DEAL_WON', actions }
  for (;;) {
    const { status, body } = await call('POST', '/api/automation-rules', rule)
    if (status === 201) return body.id
    await delay(100)
  }
}

t.test('what is accepted after a line has healed that was mute in a transaction is committed', async (t) => {
  const changing = await changeRules()
  const posting = postEvents()
  await until(async () => changing.changes.filter(({ turn }) => turn > 0).length > 10)
  // The first statement after BEGIN.
  await line.muteAt({ text: 'FOR NO KEY UPDATE', moment: 'before', direction: 'both' })
  const changed = changing.stop()
  // Longer than a transaction and its last statement may take, and shorter than what waits behind them.
  await delay(21_000)
  const before = posting.accepted.length
  line.heal()
  await until(async () => posting.accepted.length > before + 200)
  await delay(4_000)
  api.kill('SIGKILL')
  await api.exited
  await posting.stop()
  await changed

  const rows = await database.system.event.findMany({ select: { id: true } })
  const stored = new Set(rows.map(({ id }) => id))
  const lost = posting.accepted.filter((id) => !stored.has(id))
  t.comment(`${posting.accepted.length} events accepted, ${posting.accepted.length - before} after healing`)
  t.equal(lost.length, 0, `${lost.length} of ${posting.accepted.length} accepted events have no row`)
  t.strictSame(posting.odd, [], 'others were refused with 503 and Retry-After')
  for (const { ruleId, turn } of changing.changes) {
    const rule = await database.system.rule.findUnique({ where: { id: ruleId } })
    t.ok(
      Number(rule?.description) >= turn,
      `of a rule that was changed ${turn} times the last change is there`,
    )
  }
})
