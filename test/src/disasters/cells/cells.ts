import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { createSealer, createSigningSecret, mintToken } from '@automation/access'
import { startPostgres } from '@automation/launcher'
import { type RunningProduct, startRunningProduct, until } from '../../fixtures/product.js'
import { createRule } from '../../storm/create-rule.js'
import { createRandom } from '../../storm/random.js'
import { checkTicks } from '../../storm/schedules/check-ticks.js'
import type { Disaster, Outcome, Stage } from '../disaster.js'
import { seconds } from '../run-under-load.js'
import { type CalledTarget, openCalledTarget } from './called-target.js'
import { openCellBalancer } from './cell-balancer.js'
import { type CellLoad, type LoadedWorkspace, provider, startCellLoad, type } from './cell-load.js'
import { killedMoves } from './killed-moves.js'
import { countHistory, plantHistory } from './plant-history.js'
import { countJobsOf, countOpen, readCell, readTicks } from './read-cell.js'
import { Runbook } from './runbook.js'

export const cells: Disaster = {
  name: 'cells',
  about:
    'Workspaces move under load from one installation to another, one of them with kill -9 at each step.',
  needs: ['initdb', 'postgres', 'pgDump', 'pgRestore', 'haproxy', 'socat'],
  run: moveUnderLoad,
}

/** No user can save one of seconds. */
const period = { seconds: 3 }
/** How many wait for a time, and as many for an event, over the move. */
const waitCount = 30
const waitSeconds = 25
const longestPauseMs = 5_000
/** How many events the first workspace has from before, for each of --events. */
const historyFactor = 100

interface Loaded extends LoadedWorkspace {
  name: string
  scheduled: { id: string; createdAt: number }
  load: CellLoad
}

async function moveUnderLoad(stage: Stage): Promise<Outcome> {
  const target = await openCalledTarget()
  // Both have these: tokens and sealed secrets are good in either.
  const env = {
    JWT_SECRET: randomBytes(32).toString('base64url'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ...{ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535' },
  }
  // Of the version of pg_dump.
  const [one, other] = await Promise.all([openServer(stage, 'first'), openServer(stage, 'second')])
  const [first, second] = await Promise.all([
    startRunningProduct({ workers: 2, databaseUrl: one.url, env: { ...env, QUEUES: '2' } }),
    startRunningProduct({ workers: 2, databaseUrl: other.url, env: { ...env, QUEUES: '3' } }),
  ])
  const portOf = ({ product }: RunningProduct) => product.apis[0]?.port ?? 0
  const variables = {
    SOURCE_URL: one.url,
    TARGET_URL: other.url,
    ENCRYPTION_KEY: env.ENCRYPTION_KEY,
    PATH: `${dirname(stage.programs.pgDump)}:${process.env.PATH}`,
  }
  const runbook = await Runbook.read({ directory: stage.directory, variables })
  const balancer = await openCellBalancer(stage.programs.haproxy, stage.directory, runbook, {
    ...{ first: portOf(first), second: portOf(second) },
  })
  const violations: string[] = []
  try {
    const token = await mintToken({ secret: env.JWT_SECRET, userId: 'tester', expiresInSeconds: 86_400 })
    const open = (cell: RunningProduct, name: string, past = 0) =>
      openLoaded(cell, name, {
        past,
        ...{ baseUrl: balancer.url, token, targetUrl: target.url },
        lead: async (id) => (cell === second ? lead(runbook, id) : undefined),
      })
    const history = stage.events * historyFactor
    const moving = await open(first, 'the one that moves', history)
    const killed = await open(first, 'the one whose move is killed')
    const staying = await open(first, 'one of the first cell')
    const there = await open(second, 'one of the second cell')
    const all = [moving, killed, staying, there]
    const acknowledged = () => all.reduce((sum, { load }) => sum + load.events.length, 0)
    const untilMore = async (share: number) => {
      const goal = acknowledged() + stage.events * share
      await until(async () => acknowledged() >= goal)
    }
    await untilMore(1 / 3)

    stage.tell('the first workspace moves')
    const sizes = await runbook.step(1, moving.id, 'Test')
    if (!sizes.includes(moving.id)) violations.push('step 1 does not name the workspace')
    const said = readMoved(await runbook.step(2, moving.id, 'Test'))
    await runbook.step(3, moving.id, 'Test')
    await untilMore(1 / 6)
    const left = await leave(runbook, moving, second)
    violations.push(...left.violations)

    stage.tell('the second workspace moves, and the command is killed')
    const { SOURCE_URL: DATABASE_URL, TARGET_URL: TARGET_DATABASE_URL, ENCRYPTION_KEY } = variables
    const kills = await killedMoves(
      { DATABASE_URL, TARGET_DATABASE_URL, ENCRYPTION_KEY },
      killed.id,
      createRandom(stage.seed),
      stage.tell,
    )
    violations.push(...kills.violations)
    await lead(runbook, killed.id)
    await untilMore(1 / 6)
    const later = await leave(runbook, killed, second)
    violations.push(...later.violations)
    await endWaits(second, [moving.id, killed.id])
    await untilMore(1 / 3)

    stage.tell('the load ends')
    await Promise.all(all.map(({ load }) => load.stop()))
    for (const { name, load } of all)
      violations.push(
        // The retries of a client last for one closing, and not for several.
        ...(load === killed.load ? [] : load.failures).map(
          (failure) => `a caller of ${name} saw a failure: ${failure}`,
        ),
        ...(await load.postAgain()).map((again) => `${name}: ${again}`),
      )
    const drainedFrom = performance.now()
    const homes = new Map([
      [moving, second],
      [killed, second],
      [staying, first],
      [there, second],
    ])
    for (const [{ id }, home] of homes) await until(async () => (await countOpen(home, id)) === 0)
    const drainMs = performance.now() - drainedFrom
    for (const [loaded, home] of homes) violations.push(...(await check(loaded, home, target)))
    for (const { id, name } of [moving, killed])
      violations.push(...(await checkLeft(first, second, id, name)))
    const jobs = await countJobsOf(first)
    if (jobs > 0) violations.push(`${jobs} jobs are left in the first cell`)
    const kept = await countHistory(second, moving.id)
    if (kept !== history) violations.push(`${kept} of ${history} events from before are there`)
    const paused = moving.load.silentMs()
    if (paused > longestPauseMs) violations.push(`${moving.name} paused for ${seconds(paused)}`)
    const calls = [...target.calls.values()]
    return {
      figures: {
        'events acknowledged': acknowledged(),
        'webhooks acknowledged': all.reduce((sum, { load }) => sum + load.webhooks.length, 0),
        'events from before, of the one that moves': history,
        'rows that moved': said.rows,
        passes: said.passes,
        'closed for': seconds(said.closedMs),
        'the backup of the target took': seconds(left.backupMs),
        'pause of the workspace for its callers': seconds(paused),
        'the same with kills': `${seconds(killed.load.silentMs())}, ${kills.count} kills`,
        'longest silence of the others': seconds(Math.max(staying.load.silentMs(), there.load.silentMs())),
        'calls of callers repeated': all.reduce((sum, { load }) => sum + load.repeats(), 0),
        'events copied afterwards': left.late + later.late,
        'waits over the move': 4 * waitCount,
        'calls received': calls.reduce((sum, { count }) => sum + count, 0),
        'of them repeats under the same key': calls.reduce((sum, { count }) => sum + count - 1, 0),
        'everything done after the load': seconds(drainMs),
      },
      violations,
    }
  } finally {
    await balancer.close()
    await Promise.all([first.stop(), second.stop()])
    await Promise.all([one.stop(), other.stop()])
    target.close()
  }
}

function openServer({ directory, programs: { initdb, postgres } }: Stage, name: string) {
  return startPostgres({
    ...{ directory: `${directory}/${name}`, durable: true, binaries: { initdb, postgres } },
  })
}

function readMoved(said: string) {
  const [, rows, passes, closedMs] =
    /: (\d+) rows in (\d+) passes. It was closed for (\d+) ms/.exec(said) ?? []
  return { rows: Number(rows), passes: Number(passes), closedMs: Number(closedMs) }
}

async function lead(runbook: Runbook, id: string): Promise<void> {
  const said = (await runbook.lead(id)).trim()
  if (said !== '') throw new Error(`HAProxy says: ${said}`)
  await runbook.step(3, id, 'Test')
}

/** The steps 4 to 6. */
async function leave(runbook: Runbook, { id, name, load }: Loaded, target: RunningProduct) {
  const violations: string[] = []
  const newest = load.events.at(-1)
  const found = await target.database.system.event.count({ where: { id: newest?.id ?? '', workspaceId: id } })
  if (found !== 1) violations.push(`${name}: the newest event is not in the target`)
  const from = performance.now()
  await runbook.step(4, id, 'Test')
  const backupMs = performance.now() - from
  const said = await runbook.step(5, id, 'Test')
  const late = Number(/^(\d+) events/m.exec(said)?.[1])
  if (!said.includes('The reconciliation of the target finds nothing')) violations.push(`${name}: ${said}`)
  await runbook.step(6, id, 'Test')
  return { late, backupMs, violations }
}

async function openLoaded(
  cell: RunningProduct,
  name: string,
  {
    baseUrl,
    token,
    targetUrl,
    lead,
    past,
  }: {
    baseUrl: string
    token: string
    targetUrl: string
    lead(id: string): Promise<void>
    past: number
  },
): Promise<Loaded> {
  const tenant = await cell.addWorkspace()
  const { workspaceId: id } = tenant
  if (past > 0) await plantHistory(cell, id, past)
  const task = (title: string) => ({ type: 'CREATE_TASK', config: { title } })
  const call = {
    type: 'SEND_WEBHOOK',
    config: { url: `${targetUrl}/${id}/{{name}}`, body: { name: '{{name}}' } },
  }
  const create = (trigger: string, actions: object[], more: object = {}) =>
    createRule(tenant, { name: trigger, trigger, conditions: [], actions, ...more })
  await create(type, [call, task('{{name}}')])
  await create('WEBHOOK_RECEIVED', [task('{{payload.data.name}}')])
  await create('DEAL_CREATED', [{ type: 'WAIT', config: { duration: `${waitSeconds}s` } }, task('{{name}}')])
  const until = { for: { eventType: 'DEAL_WON', match: { name: '{{name}}' }, then: 'go_on' } }
  await create('DEAL_LOST', [{ type: 'WAIT', config: { duration: '1h', ...until } }, task('{{name}}')])
  const schedule = { schedule: { every: '1h' } }
  const scheduled = await create('SCHEDULE', [task('{{scheduledAt}}')], schedule)
  for (let index = 0; index < waitCount; index++) {
    await tenant.client.events.send('DEAL_CREATED', { name: `wait-${index}` }, { async: true })
    await tenant.client.events.send('DEAL_LOST', { name: `until-${index}` }, { async: true })
  }
  const administrator = { database: cell.database, workspaceId: id, actor: 'cli:tests' }
  const secret = await createSigningSecret(administrator, createSealer(cell.product.encryptionKey), {
    provider,
  })
  const [{ now } = { now: 0 }] = await cell.database.system.$queryRawUnsafe<{ now: number }[]>(
    `UPDATE rules SET schedule = '{"every":"${period.seconds}s"}', scheduled_since = now(),
       next_run_at = to_timestamp((floor(extract(epoch FROM now()) / ${period.seconds}) + 1) * ${period.seconds})
     WHERE id = '${scheduled}' RETURNING (extract(epoch FROM now()) * 1000)::float8 AS now`,
  )
  await lead(id)
  const workspace = { id, secret: { id: secret.id, secret: secret.secret } }
  return {
    ...workspace,
    name,
    scheduled: { id: scheduled, createdAt: now },
    load: startCellLoad(baseUrl, token, workspace),
  }
}

/** What ends the waits for an event, which began in the first cell. */
async function endWaits({ product }: RunningProduct, ids: string[]): Promise<void> {
  const token = await mintToken({ secret: product.jwtSecret, userId: 'tester', expiresInSeconds: 3_600 })
  for (const id of ids)
    for (let index = 0; index < waitCount; index++) {
      const response = await fetch(`${product.apis[0]?.baseUrl}/api/events`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'x-workspace-id': id, 'content-type': 'application/json' },
          prefer: 'respond-async',
        },
        body: JSON.stringify({ eventType: 'DEAL_WON', data: { name: `until-${index}` } }),
      })
      if (!response.ok) throw new Error(`DEAL_WON was answered with ${response.status}`)
    }
}

/** What a workspace has in its cell in the end, against what its callers and its target know. */
async function check(
  { id, name, load, scheduled }: Loaded,
  home: RunningProduct,
  target: CalledTarget,
): Promise<string[]> {
  const violations: string[] = []
  const say = (text: string) => violations.push(`${name}: ${text}`)
  const { events, executions, tasks } = await readCell(home, id)
  const count = (names: string[], one: string) => names.filter((other) => other === one).length
  const [byName, titles] = [group(events), group(tasks)]
  for (const { name: sent, id: eventId } of load.events) {
    const found = byName.get(sent) ?? []
    if (found.length !== 1) say(`${sent} was acknowledged, and is stored ${found.length} times`)
    else if (found[0] !== eventId) say(`${sent} was acknowledged as ${eventId}, and is ${found[0]}`)
    if (titles.get(sent)?.length !== 1) say(`${sent} has ${titles.get(sent)?.length ?? 0} tasks`)
    const keys = [...target.calls.values()].filter((one) => one.path === `/${id}/${sent}`)
    if (keys.length !== 1) say(`${sent} has called under ${keys.length} keys`)
  }
  for (const { name: sent } of load.webhooks)
    if (titles.get(sent)?.length !== 1) say(`the webhook ${sent} has ${titles.get(sent)?.length ?? 0} tasks`)
  if (name !== 'one of the first cell' && name !== 'one of the second cell')
    for (let index = 0; index < waitCount; index++)
      for (const wait of [`wait-${index}`, `until-${index}`])
        if (titles.get(wait)?.length !== 1) say(`${wait} has ${titles.get(wait)?.length ?? 0} tasks`)
  const failed = count(executions, 'failed')
  if (failed > 0) say(`${failed} executions have failed`)
  const rule = {
    ...{ id: scheduled.id, periodMs: period.seconds * 1_000, createdAt: scheduled.createdAt },
    ...{ isSwitched: false, pauses: [] },
  }
  violations.push(
    ...checkTicks([rule], await readTicks(home, scheduled.id)).map((text) => `${name}: ${text}`),
  )
  return violations
}

function group(rows: { name: string; id: string }[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const { name, id } of rows) groups.set(name, [...(groups.get(name) ?? []), id])
  return groups
}

/** The first cell has done nothing that the second one does not know, and removes the workspace. */
async function checkLeft(
  first: RunningProduct,
  second: RunningProduct,
  id: string,
  name: string,
): Promise<string[]> {
  const violations: string[] = []
  const [here, there] = [await readCell(first, id), await readCell(second, id)]
  for (const kind of ['doneEvents', 'executionIds', 'taskIds'] as const) {
    const known = new Set(there[kind])
    const strange = here[kind].filter((one) => !known.has(one))
    if (strange.length > 0) violations.push(`${name}: the first cell alone has ${strange.length} ${kind}`)
  }
  const workspace = await first.database.system.workspace.findUnique({ where: { id } })
  if (workspace !== null && (workspace.closedAt === null || workspace.deletesAt === null))
    violations.push(`${name} is open in the first cell, or stays there`)
  return violations
}
