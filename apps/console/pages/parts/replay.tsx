import type { ActionResult, Event, EventType } from '@automation/client'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { countOf } from '../logic/count-words.js'
import { countEffects, describeAction } from '../logic/describe-action.js'
import { showControls } from '../logic/show.js'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { describeError, readAgain, useQuery } from '../state/use-query.js'
import { Dialog } from './dialog.js'
import { Source } from './source.js'
import { Loading, Problem } from './states.js'

type Replayed = Pick<Event, 'id' | 'type' | 'data' | 'ruleId'>

/** The button of a replay. It asks first: calls and emails are made again. */
export function Replay({ event }: { event: Replayed }) {
  const [isOpen, open] = useState(false)
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Replay with the current rules…
      </button>
      {isOpen && <ReplayDialog event={event} close={() => open(false)} />}
    </>
  )
}

function ReplayDialog({ event: { id, type, data, ruleId }, close }: { event: Replayed; close: () => void }) {
  const { route } = useLocation()
  // Only the service's own types have a dot: they are delivered to subscriptions.
  const isDelivery = type.includes('.')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const planned = useQuery<Plan>({
    key: isDelivery ? undefined : ['replay', id],
    read: () => planReplay({ type, data, ruleId }),
    pollMs: false,
    staleMs: 0,
  })
  async function replay(): Promise<void> {
    if (isBusy) return
    setBusy(true)
    try {
      const run = await api().events.replay(id)
      await readAgain('events')
      close()
      route(linkTo('events', { id: run.id }))
    } catch (error) {
      setProblem(describeError(error).title)
      setBusy(false)
    }
  }
  return (
    <Dialog title="Replay the event?" close={close}>
      <p>The same data becomes a new event for the rules as they are now. All that they do is done again.</p>
      {isDelivery && <p>It goes to its subscription again; no rule sees it.</p>}
      {!isDelivery && planned.isPending && <Loading what="what would run" />}
      {planned.error && <Problem error={planned.error} retry={() => void planned.refetch()} />}
      {planned.data && <PlanView plan={planned.data} />}
      <p role="alert" class="bad">
        {problem}
      </p>
      <div class="row end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void replay()}>
          Replay
        </button>
      </div>
    </Dialog>
  )
}

/** A rule that would run, and what each of its actions would do. */
interface PlannedRule {
  id: string
  name: string
  error?: string | undefined
  actions: { type: string; config: unknown; isSkipped: boolean }[]
}

interface Plan {
  rules: PlannedRule[]
  /** How many rules were evaluated. */
  evaluated: number
}

/** What a replay would do, by a dry run, which does nothing. */
async function planReplay({ type, data, ruleId }: Omit<Replayed, 'id'>): Promise<Plan> {
  // An event of one rule goes to the same rule, whatever its trigger.
  if (ruleId !== null) {
    const [result, rule] = await Promise.all([
      api().rules.execute(ruleId, data, { dryRun: true }),
      api().rules.get(ruleId),
    ])
    return {
      rules: result.conditionsPassed ? [present({ ...result, ruleId, name: rule.name })] : [],
      evaluated: 1,
    }
  }
  const { results, triggered } = await api().dryRun(type as EventType, data)
  const running = results.filter(
    ({ conditionsPassed, success, outranked }) => !outranked && (conditionsPassed || !success),
  )
  return { rules: running.map(present), evaluated: triggered }
}

function present({ ruleId, name = 'A rule', error, results = [] }: DryResult): PlannedRule {
  return {
    id: ruleId,
    name,
    error: error ?? undefined,
    actions: results.map(({ action, config, status }) => ({
      type: action,
      config,
      isSkipped: status === 'skipped',
    })),
  }
}

interface DryResult {
  ruleId: string
  name?: string
  error?: string | null
  results?: readonly ActionResult[]
}

function PlanView({ plan: { rules, evaluated } }: { plan: Plan }) {
  const performed = rules.flatMap(({ actions }) => actions.filter(({ isSkipped }) => !isSkipped))
  const effects = countEffects(performed.map(({ type }) => type))
  return (
    <>
      <p>
        <strong>
          {rules.length} of {countOf(evaluated, 'rule')} would run
        </strong>
        {effects && `, which means ${effects}`}.
      </p>
      <Source label="What each rule would do" kind="scroll">
        <ul class="verdicts">
          {rules.map(({ id, name, error, actions }) => (
            <li key={id}>
              <a href={linkTo(`rules/${id}`)}>{name}</a>
              {error && <span class="sub bad">{error}</span>}
              {actions.map(({ type, config, isSkipped }, index) => (
                <span key={index} class="sub">
                  {isSkipped ? `${type} is skipped` : showControls(describeAction(type, config).heading)}
                </span>
              ))}
            </li>
          ))}
        </ul>
      </Source>
    </>
  )
}
