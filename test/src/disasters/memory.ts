import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type RunningProduct, startRunningProduct } from '../fixtures/product.js'
import { createRule } from '../storm/create-rule.js'
import { drain } from '../storm/waits.js'
import type { Disaster, Outcome, Stage } from './disaster.js'
import { seconds } from './run-under-load.js'

const limitMegabytes = 512
/** What V8 takes for its old objects where the limit of a container is 512 MiB: half of it. */
const heapMegabytes = 256
const lookEveryMs = 100
/** How long the target of calls takes, so that workers hold their events. */
const slowMs = 2_000
/** Less than BODY_LIMIT, and fewer values than one body may have. */
const bodyBytes = 1_000_000
const values = 15_000
const largeRules = 50
/** The longest text of a task. */
const taskCharacters = 9_900
const batchEvents = 500

export const memory: Disaster = {
  name: 'memory',
  about: `One API and one worker with ${limitMegabytes} MiB each, under the largest load that the limits let pass.`,
  needs: [],
  run,
}

async function run(stage: Stage): Promise<Outcome> {
  const target = await openSlowTarget()
  const running = await startRunningProduct({
    env: {
      NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}`,
      ...{ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535' },
    },
  })
  try {
    const ruleId = await makeRules(running, target.url)
    const [api] = running.product.apis
    const [worker] = running.product.workers
    if (api === undefined || worker === undefined) throw new Error('A process is missing')
    const sampled = sample({ API: api.pid, worker: worker.pid })
    stage.tell('the load begins')
    const { statuses, accepted, faults } = await load(running, ruleId, stage.seconds * 1_000)
    stage.tell('the load has ended')
    const from = performance.now()
    const isDrained = await drain(running)
    const drainedAfter = performance.now() - from
    const peaks = sampled.stop()
    const violations = [...faults]
    if (!isDrained) violations.push('something is left to do')
    for (const { name, hasExited } of [api, worker]) if (hasExited()) violations.push(`${name} has ended`)
    for (const kind of ['API', 'worker'])
      if ((peaks.get(kind) ?? 0) > limitMegabytes) violations.push(`the ${kind} took ${peaks.get(kind)} MiB`)
    const stored = await running.database.system.event.count({ where: { workspaceId: running.workspaceId } })
    if (stored < accepted) violations.push(`${accepted} events were acknowledged, and ${stored} are there`)
    const { body } = await running.call('GET', '/api/developer/v1/ledger')
    if (body.imbalance !== 0) violations.push(`the reconciliation has an imbalance of ${body.imbalance}`)
    return {
      figures: {
        'events acknowledged': accepted,
        responses: [...statuses].map(([status, count]) => `${status} × ${count}`).join(', '),
        ...Object.fromEntries([...peaks].map(([name, peak]) => [`most memory, ${name}`, `${peak} MiB`])),
        'everything done after the load': seconds(drainedAfter),
      },
      violations,
    }
  } finally {
    await running.stop()
    target.close()
  }
}

async function makeRules(running: RunningProduct, url: string): Promise<string> {
  const trigger = 'LEAD_CREATED'
  // Texts that are written for each event, as large as a rule may be.
  for (let n = 0; n < largeRules; n++) {
    const description = `{{a.0.text}} ${'x'.repeat(taskCharacters)}`
    const task = { type: 'CREATE_TASK', config: { title: `Rule ${n}`, description } }
    const conditions = [{ field: 'n', operator: 'equals', value: n }]
    await createRule(running, {
      name: `Large ${n}`,
      trigger,
      conditions,
      actions: Array.from({ length: 18 }, () => task),
    })
  }
  const call = { type: 'SEND_WEBHOOK', config: { url, body: { all: '{{a}}' } } }
  await createRule(running, {
    name: 'Call',
    trigger,
    conditions: [{ field: 'a', operator: 'exists' }],
    actions: [call],
  })
  return createRule(running, {
    name: 'Task',
    trigger,
    actions: [{ type: 'CREATE_TASK', config: { title: '{{n}}' } }],
  })
}

/** Callers of each kind, each with its next request as soon as the last one has ended. */
async function load({ call }: RunningProduct, ruleId: string, forMs: number) {
  const statuses = new Map<string, number>()
  const faults: string[] = []
  let accepted = 0
  const large = {
    n: 0,
    a: Array.from({ length: values / 3 }, (_, n) => ({
      text: `${n}`.padEnd(bodyBytes / (values / 3) - 40, 'y'),
      b: n,
    })),
  }
  const batch = Array.from({ length: batchEvents }, (_, n) => ({
    data: { n, text: 'z'.repeat(bodyBytes / batchEvents - 60) },
  }))
  const rules = '/api/automation-rules'
  const backtest = { ruleId, from: new Date(Date.now() - 3_600_000).toISOString() }
  const later = { prefer: 'respond-async' }
  const kinds: { lanes: number; isAcceptance?: number; ask(n: number): ReturnType<typeof call> }[] = [
    {
      lanes: 8,
      isAcceptance: 1,
      ask: (n) =>
        call('POST', `${rules}/trigger/LEAD_CREATED`, { data: { ...large, n: n % largeRules } }, later),
    },
    {
      lanes: 4,
      isAcceptance: 1,
      ask: (n) =>
        call(
          'POST',
          `${rules}/trigger/LEAD_CREATED`,
          { data: { ...large, n: n % largeRules } },
          { prefer: 'wait=5' },
        ),
    },
    {
      lanes: 4,
      isAcceptance: batchEvents,
      ask: () => call('POST', `${rules}/trigger/LEAD_CREATED/batch`, { events: batch }),
    },
    { lanes: 4, ask: () => call('POST', `${rules}/${ruleId}/execute`, { data: large, dryRun: true }) },
    { lanes: 2, ask: () => call('GET', `${rules}?limit=250`) },
    { lanes: 2, ask: () => call('GET', '/api/events?limit=250&excerpt=true&q=yyyy') },
    {
      lanes: 1,
      ask: async () => {
        await delay(1_000)
        return call('POST', `${rules}/backtests`, backtest)
      },
    },
  ]
  const endAt = performance.now() + forMs
  await Promise.all(
    kinds.flatMap(({ lanes, isAcceptance = 0, ask }) =>
      Array.from({ length: lanes }, async () => {
        for (let n = 0; performance.now() < endAt; n++) {
          const answer = await ask(n).catch((error: Error) => ({ status: 0, body: error.message }))
          const { status } = answer
          statuses.set(`${status}`, (statuses.get(`${status}`) ?? 0) + 1)
          if (status === 200 || status === 202) accepted += isAcceptance
          else if (status !== 201) await delay(200)
          if (![200, 201, 202, 409, 413, 429, 503].includes(status))
            faults.push(`${status}: ${JSON.stringify(answer.body).slice(0, 200)}`)
        }
      }),
    ),
  )
  return { statuses, accepted, faults }
}

/** The most memory (MiB) that processes have in the machine, each with its children: a container counts them together. */
function sample(processes: Record<string, number>) {
  const peaks = new Map<string, number>()
  const note = (name: string, bytes: number) =>
    peaks.set(name, Math.max(peaks.get(name) ?? 0, Math.round(bytes / 1_048_576)))
  const look = async () => {
    const parents = await readParents()
    for (const [name, pid] of Object.entries(processes)) {
      const children = [...parents].flatMap(([child, parent]) => (parent === pid ? [child] : []))
      const own = await readResident(pid)
      let ofChildren = 0
      for (const child of children) ofChildren += await readResident(child)
      note(name, own + ofChildren)
      if (children.length > 0) note(`${name} without its child`, own)
    }
  }
  let isStopped = false
  void (async () => {
    while (!isStopped) {
      await look()
      await delay(lookEveryMs)
    }
  })()
  return {
    stop(): Map<string, number> {
      isStopped = true
      return peaks
    },
  }
}

async function readParents(): Promise<Map<number, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const pairs = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      return [Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const
    }),
  )
  return new Map(pairs)
}

async function readResident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
}

async function openSlowTarget() {
  const server = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.end('{}'), slowMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
