import { countOf } from '../../logic/count-words.js'
import { describeAction } from '../../logic/describe-action.js'
import { nameType } from '../../logic/editing/action-words.js'
import type { Plan, PlannedAction, PlannedBranch } from '../../logic/plan-sample.js'
import type { Definition } from '../../logic/rule-definition.js'
import { sayError } from '../../logic/say-error.js'
import { showControls } from '../../logic/show.js'

interface Props {
  plan: Plan
  actions: Definition['actions']
}

/** What a rule would do: its actions in order, and after a decision what follows each choice. */
export function Planned({ plan: { actions: planned, branches, leftOut }, actions }: Props) {
  const asked = planned.at(-1)?.config as { decision?: { within?: string } } | undefined
  const within = asked?.decision?.within ?? ''
  return (
    <>
      <Actions {...{ planned, actions }} />
      {branches.map((branch) => (
        <section key={branch.choices.join()} class="branch">
          <h4>{nameBranch(branch, within)}</h4>
          {branch.actions.length === 0 ? (
            <p class="quiet">nothing more</p>
          ) : (
            <Actions planned={branch.actions} actions={actions} />
          )}
        </section>
      ))}
      {leftOut > 0 && <p class="sub">and {countOf(leftOut, 'more choice', 'more choices')}</p>}
    </>
  )
}

/** `If approve`, `If nobody decides within 24h`. */
function nameBranch({ choices, isExpired }: PlannedBranch, within: string): string {
  const expired = isExpired ? [`nobody decides within ${within}`] : []
  return showControls(`If ${[...choices, ...expired].join(' or ')}`)
}

function Actions({
  planned,
  actions,
}: {
  planned: readonly PlannedAction[]
  actions: Definition['actions']
}) {
  return (
    <ol class="plan">
      {planned.map((action) => (
        <Action key={action.index} action={action} isUnfilled={isUnfilled(actions[action.index])} />
      ))}
    </ol>
  )
}

function Action({ action, isUnfilled }: { action: PlannedAction; isUnfilled: boolean }) {
  const { type, config, fault, isSkipped, warnings } = action
  const { heading, facts } = describeAction(type, isSkipped || isUnfilled ? undefined : config)
  return (
    <li>
      {showControls(heading)}
      {(isSkipped || isUnfilled) && (
        <span class="quiet">
          {' '}
          {isSkipped ? 'skipped: its condition does not hold' : '(not filled in yet)'}
        </span>
      )}
      {facts.length > 0 && (
        <span class="sub">
          {showControls(facts.map(([label, value]) => `${label}: ${value}`).join(', '))}
        </span>
      )}
      {fault && !isUnfilled && <span class="sub bad">{sayError(fault)}</span>}
      {warnings.map((warning) => (
        <span key={warning} class="sub wait">
          {warning}
        </span>
      ))}
      <Awaited config={config} />
    </li>
  )
}

/** Nobody knows whether the event of a WAIT will come. */
function Awaited({ config }: { config: unknown }) {
  const { eventType, then } =
    (config as { for?: { eventType?: unknown; then?: unknown } } | undefined)?.for ?? {}
  if (typeof eventType !== 'string') return null
  const type = nameType(eventType)
  return (
    <span class="sub">
      {then === 'stop'
        ? `If ${type} comes before, the rule stops. If none comes:`
        : `What follows is as if no ${type} came before.`}
    </span>
  )
}

/** Nothing was typed into it yet, so nothing is wrong with it. */
function isUnfilled(action: Definition['actions'][number] | undefined): boolean {
  return Object.values(action?.config ?? {}).every((value) => value === '')
}
