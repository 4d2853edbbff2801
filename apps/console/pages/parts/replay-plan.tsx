import type { ActionResult, Event, EventType, Execution, RuleResult } from '@automation/client'
import { useState } from 'preact/hooks'
import { countOf } from '../logic/count-words.js'
import { countEffects, describeAction } from '../logic/describe-action.js'
import { showControls } from '../logic/show.js'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'
import { Retry } from './retry.js'
import { Source } from './source.js'
import { Unread } from './states.js'

/** A rule that would run, and what each of its actions would do. */
interface PlannedRule {
  id: string
  name: string
  error?: string | undefined
  actions: { type: string; config: unknown; isSkipped: boolean }[]
}

export interface Plan {
  rules: PlannedRule[]
  /** How many rules were evaluated. */
  evaluated: number
}

/** Only the service's own types have a dot: they are delivered to subscriptions, and no rule sees them. */
export function isOfService({ type }: Pick<Event, 'type'>): boolean {
  return type.includes('.')
}

/** What a replay would do, by a dry run, which does nothing. */
async function planReplay(event: Event): Promise<Plan> {
  const { type, data, ruleId } = event
  if (isOfService(event)) return { rules: [], evaluated: 0 }
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

/** A plan takes two requests: of many events, the first tell enough. */
const mostPlanned = 5

/** What would follow from a replay of some events, of the first ones. @param ids undefined: nothing is planned */
export function usePlans(ids: readonly string[] | undefined, read: (id: string) => Promise<Event>) {
  return useQuery<Plan[]>({
    key: ids && ['replay', ...ids],
    read: () => Promise.all((ids ?? []).slice(0, mostPlanned).map(async (id) => planReplay(await read(id)))),
    pollMs: false,
    staleMs: 0,
  })
}

export function ReplayPlan({ ids, read }: { ids: readonly string[]; read: (id: string) => Promise<Event> }) {
  const planned = usePlans(ids, read)
  if (!planned.data) return <Unread {...planned} what="what would run" />
  return <PlanView plans={planned.data} of={ids.length} />
}

export interface Choice {
  /** Ids of the rules that it is replayed for. */
  chosen: ReadonlySet<string>
  choose: (chosen: ReadonlySet<string>) => void
  /** What became of the event before. */
  before: readonly RuleResult[]
  verb: 'Run' | 'Replay for'
}

/**
 * @param of how many events are replayed
 * @param choice undefined where there is one receiver, or are several events
 */
export function PlanView({
  plans,
  of = 1,
  choice,
}: {
  plans: readonly Plan[]
  of?: number
  choice?: Choice | undefined
}) {
  const runs = plans.flatMap(({ rules }) => rules)
  const rules = [...new Map(runs.map((rule) => [rule.id, rule])).values()]
  const running = choice ? rules.filter(({ id }) => choice.chosen.has(id)) : runs
  const performed = running.flatMap(({ actions }) => actions.filter(({ isSkipped }) => !isSkipped))
  const effects = countEffects(performed.map(({ type }) => type))
  const isOne = of === 1
  return (
    <>
      <p>
        {of > mostPlanned && `Of the first ${mostPlanned}: `}
        <strong>
          {isOne
            ? `${rules.length} of ${countOf(plans[0]?.evaluated ?? 0, 'rule')}`
            : countOf(rules.length, 'rule')}{' '}
          would run
        </strong>
        {!choice && effects && `, which means ${effects}`}.
      </p>
      {choice && <Chosen {...choice} rules={rules} effects={effects} />}
      <Source label="What each rule would do" kind="scroll">
        <ul class="verdicts">
          {rules.map((rule) => (
            <li key={rule.id}>
              {choice && <Tick {...choice} rule={rule} />}
              <a href={linkTo(`rules/${rule.id}`)}>{rule.name}</a>{' '}
              {choice && <Before result={choice.before.find(({ ruleId }) => ruleId === rule.id)} />}
              {!isOne && (
                <span class="quiet">
                  for {countOf(runs.filter(({ id }) => id === rule.id).length, 'event')}
                </span>
              )}
              {rule.error && <span class="sub bad">{rule.error}</span>}
              {isOne &&
                rule.actions.map(({ type, config, isSkipped }, index) => (
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

function Chosen({
  chosen,
  choose,
  rules,
  effects,
  verb,
}: Choice & { rules: readonly PlannedRule[]; effects: string }) {
  return (
    <p role="status">
      {verb === 'Run' ? 'It runs' : 'It is replayed for'} {countOf(chosen.size, 'rule')}
      {effects && `, which means ${effects}`}.{' '}
      {chosen.size < rules.length && (
        <button type="button" class="link" onClick={() => choose(new Set(rules.map(({ id }) => id)))}>
          Choose all
        </button>
      )}
    </p>
  )
}

function Tick({ chosen, choose, verb, rule: { id, name } }: Choice & { rule: PlannedRule }) {
  return (
    <>
      <input
        type="checkbox"
        aria-label={`${verb} ${name}`}
        checked={chosen.has(id)}
        onChange={({ currentTarget }) => {
          const others = [...chosen].filter((one) => one !== id)
          choose(new Set(currentTarget.checked ? [...others, id] : others))
        }}
      />{' '}
    </>
  )
}

/** A failed execution continues from the action that failed: a replay repeats what it has done. */
function Before({ result }: { result: RuleResult | undefined }) {
  // What follows from its retry is said here, too.
  const [hadFailed] = useState(result?.status === 'failed')
  if (!hasRun(result)) return null
  if (!hadFailed || !result?.executionId) return <span class="quiet">ran before</span>
  const { executionId: id, status } = result
  return (
    <>
      <span class="bad">failed before:</span>
      <Retry execution={{ id, status: status as Execution['status'], cancelRequested: false }} />
    </>
  )
}

/** Whether the rule has had an effect, or may have one. */
export function hasRun(result: RuleResult | undefined): boolean {
  return Boolean(result?.executionId) && result?.status !== 'suppressed' && result?.status !== 'cancelled'
}
