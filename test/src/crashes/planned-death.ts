import { executionIdOf } from '@automation/database'
import type { NodeProcess } from '@automation/launcher'
import { type ExpectedRun, namesOfCalls, type RuleAction } from '../fixtures/effects.js'
import type { Step } from '../fixtures/kill-worker-at-step.js'
import { arrangeMeeting, type Meeting } from '../fixtures/meeting.js'
import type { Scene } from './scene.js'

/** How a worker is to die, with the runs of one event on its hands. */
export interface Crash {
  name: string
  /** What runs for the event, by the names of the rule book; these runs' statements are meant by `at`. */
  rules: string[]
  /** During calls: when all of `together` have been received to their end, and none was answered. */
  at: Step | 'during calls'
  /** Which of a run's statements of that name, or of the calls under a key; the first where omitted. */
  time?: number
  /** Calls that are answered only when all of them have been received. */
  together?: string[]
}

export interface CrashedRun extends ExpectedRun {
  ruleId: string
}

/** What there was when the worker was dead. */
export interface Wreck {
  signal: string | null
  /** The status of each run's execution as it was committed, by the names of the rules; none where there was no execution. */
  committed: Record<string, string>
  /** The calls that had been received, by name. */
  calls: string[]
}

/** Starts a worker, the only one, gives it an event, and waits until it is dead. */
export type CauseCrash = (plan: Crash) => Promise<{ wreck: Wreck; runs: Map<string, CrashedRun> }>

/** As many as one action may emit events. */
const lines = Array.from({ length: 500 }, (_, n) => n)

/** Calls of this name are refused the first time, and may be tried again. */
export const failingOnce = 'failing-once'

/**
 * Lets workers of a scene die as planned. Calls and mails are named after the crash: in the rules `{{crash}}` is its name.
 *
 * @param ruleBook the actions of each rule by its name
 */
export function planDeaths(scene: Scene, ruleBook: Record<string, RuleAction[]>): CauseCrash {
  const { product, targets, call } = scene
  let meeting: Meeting | undefined
  scene.isFine = async (call) => {
    await meeting?.join(call)
    return call.time > 1 || !call.name.endsWith(`/${failingOnce}`)
  }

  return async (plan) => {
    const { name, rules } = plan
    const ruleIds: string[] = []
    for (const rule of rules) ruleIds.push(await addRule(name, rule))
    const isDuringCalls = plan.at === 'during calls'
    const worker = await product.startWorker(isDuringCalls ? {} : killAtStep(plan, ruleIds))
    const awaited = (plan.together ?? []).map((one) => `${name}/${one}`)
    meeting = isDuringCalls ? arrangeMeeting(awaited, plan.time, () => kill(worker)) : arrangeMeeting(awaited)
    const path = '/api/automation-rules/trigger/LEAD_CREATED'
    const event = await call(
      'POST',
      path,
      { data: { crash: name, lines, few: lines.slice(0, 20) } },
      { prefer: 'respond-async' },
    )
    const { signal } = await worker.exited
    const runs = new Map(rules.map(describeRun))
    const committed = await readStatuses(runs)
    return { wreck: { signal, committed, calls: namesOfCalls(targets, plan) }, runs }

    function describeRun(rule: string, index: number): [string, CrashedRun] {
      const ruleId = ruleIds[index] ?? ''
      const executionId = executionIdOf({ id: event.body.id, addressee: null }, ruleId)
      return [rule, { ruleId, executionId, actions: ruleBook[rule] ?? [] }]
    }
  }

  async function readStatuses(runs: Map<string, CrashedRun>): Promise<Record<string, string>> {
    const executions = await scene.database.forWorkspace(scene.workspaceId).execution.findMany()
    const statusOf = new Map(executions.map(({ id, status }) => [id, status]))
    return Object.fromEntries(
      [...runs].map(([rule, { executionId }]) => [rule, statusOf.get(executionId) ?? 'none']),
    )
  }

  async function addRule(crash: string, rule: string): Promise<string> {
    const { status, body } = await call('POST', '/api/automation-rules', {
      name: `${crash} ${rule}`,
      trigger: 'LEAD_CREATED',
      conditions: [{ field: 'crash', operator: 'equals', value: crash }],
      actions: ruleBook[rule],
    })
    if (status !== 201) throw new Error(`The rule ${rule} was answered ${status}`)
    return body.id
  }
}

/** The environment of a worker that ends at a step of the runs of some rules. */
export function killAtStep(
  { at, time = 1 }: Pick<Crash, 'at' | 'time'>,
  ruleIds: string[],
): Record<string, string> {
  const preload = new URL('../fixtures/kill-worker-at-step.js', import.meta.url).href
  return {
    KILL_AT: at,
    KILL_TIME: String(time),
    KILL_RULES: ruleIds.join(','),
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`,
  }
}

async function kill(worker: NodeProcess): Promise<void> {
  worker.kill('SIGKILL')
  await worker.exited
}
