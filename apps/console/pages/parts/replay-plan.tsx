import type { ActionResult, Event, EventType } from '@automation/client'
import { countOf } from '../logic/count-words.js'
import { countEffects, describeAction } from '../logic/describe-action.js'
import { showControls } from '../logic/show.js'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { Source } from './source.js'

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

export type Replayed = Pick<Event, 'id' | 'type' | 'data' | 'ruleId'>

/** What a replay would do, by a dry run, which does nothing. */
export async function planReplay({ type, data, ruleId }: Omit<Replayed, 'id'>): Promise<Plan> {
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

export function PlanView({ plan: { rules, evaluated } }: { plan: Plan }) {
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
