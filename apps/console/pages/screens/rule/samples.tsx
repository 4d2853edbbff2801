import { findRuleFaults } from '@automation/engine'
import { useState } from 'preact/hooks'
import { describeAction } from '../../logic/describe-action.js'
import { describeActual, describeClause } from '../../logic/describe-clause.js'
import { type Evaluation, planSample, type SampleVerdict } from '../../logic/evaluate-definition.js'
import { findStop, markConditions } from '../../logic/marks.js'
import { namePath } from '../../logic/name-path.js'
import { listConditionPaths } from '../../logic/paths.js'
import type { Definition } from '../../logic/rule-definition.js'
import { sayError } from '../../logic/say-error.js'
import { show, showControls } from '../../logic/show.js'
import { ExplainTree } from '../../parts/explain-tree.js'
import { JsonView } from '../../parts/json-view.js'
import { Mark } from '../../parts/mark.js'
import { When } from '../../parts/when.js'
import { focusField } from './use-saving.js'

export const mostShown = 50

/** Which of the samples match, and what stops the others: evaluated in this browser by the engine of the workers. */
export function Samples({
  evaluation,
  definition,
  isGroupKnown,
  selectedId,
}: {
  evaluation: Evaluation
  definition: Definition
  /** The other rules of its group are known, so that an event may have another first. */
  isGroupKnown: boolean
  selectedId: string | undefined
}) {
  const [chosen, choose] = useState(selectedId)
  const { verdicts, faults, problem } = evaluation
  const matching = verdicts.filter(({ matches }) => matches).length
  const selected =
    verdicts.find(({ sample }) => sample.id === chosen) ??
    verdicts.find(({ matches }) => matches) ??
    verdicts[0]
  if (faults.length > 0) return <Unfinished faults={faults} />
  if (problem !== undefined)
    return (
      <p class="notice" role="status">
        No result yet: {problem}
      </p>
    )
  if (verdicts.length === 0) return <p class="quiet">No events to test it on.</p>
  const isExample = verdicts[0]?.sample.id === 'example'
  return (
    <>
      <p role="status" class="matching">
        <strong>
          {matching} of {verdicts.length}
        </strong>{' '}
        {isExample
          ? 'match: the example of this type, because there is no event of it yet'
          : 'of the latest events match'}
      </p>
      {definition.group && (
        <p class="sub">
          {isGroupKnown
            ? describeRivals(verdicts, definition.group)
            : `Another rule of the group ${definition.group} may come first.`}
        </p>
      )}
      {definition.perKey && (
        <p class="sub">
          Its limit is not asked here: what matches may be suppressed by earlier events of its key.
        </p>
      )}
      <ul class="samples" aria-label="Sample events">
        {verdicts.slice(0, mostShown).map((verdict) => (
          <li key={verdict.sample.id}>
            <button
              type="button"
              aria-pressed={verdict === selected}
              onClick={() => choose(verdict.sample.id)}
            >
              <SampleLine verdict={verdict} />
            </button>
          </li>
        ))}
      </ul>
      {verdicts.length > mostShown && (
        <p class="sub">
          The newest {mostShown} of the {verdicts.length} are listed.
        </p>
      )}
      {selected && <Chosen verdict={selected} definition={definition} />}
    </>
  )
}

/** Conditions that the service would refuse have no result, neither a match nor a miss. */
function Unfinished({ faults }: { faults: Evaluation['faults'] }) {
  return (
    <div class="notice" role="status">
      <p>No result yet.</p>
      <ul>
        {faults.map(({ field, message }) => (
          <li key={`${field} ${message}`}>
            <button type="button" class="link" onClick={() => focusField(field)}>
              {namePath(field)}
            </button>
            : {message}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** What the group changes: of the events that match, for how many another rule runs. */
function describeRivals(verdicts: readonly SampleVerdict[], group: string): string {
  const outranked = verdicts.filter(({ rival }) => rival !== undefined).length
  if (outranked === 0) return `No other rule of the group ${group} comes first.`
  const events = outranked === 1 ? 'one of them' : `${outranked} of them`
  return `For ${events} another rule of the group ${group} comes first and runs instead.`
}

export function SampleLine({ verdict: { matches, rival, sample, conditions } }: { verdict: SampleVerdict }) {
  const stop = matches ? undefined : findStop(markConditions(conditions))
  const runs = matches && rival === undefined
  return (
    <>
      <Mark
        of={runs ? 'done' : matches ? 'skipped' : 'stopped'}
        word={runs ? 'matches' : matches ? 'outranked' : 'stopped'}
      />{' '}
      {sample.acceptedAt ? <When at={sample.acceptedAt} /> : 'example'}{' '}
      <span class="quiet cut">
        {rival !== undefined
          ? `${showControls(rival)} comes first`
          : stop === undefined
            ? nameOf(sample.data)
            : reasonOf(stop.trace)}
      </span>
    </>
  )
}

function reasonOf(trace: NonNullable<ReturnType<typeof findStop>>['trace']): string {
  return 'group' in trace && trace.group
    ? `not ${trace.group}`
    : `${describeClause(trace)}, ${describeActual(trace)}`
}

/** Something by which a person knows the event again. */
function nameOf(data: object): string {
  const { name, email, title, id } = data as Record<string, unknown>
  const value = name ?? email ?? title ?? id
  return value === undefined ? show(data) : String(value)
}

function Chosen({
  verdict: { sample, matches, rival, conditions },
  definition,
}: {
  verdict: SampleVerdict
  definition: Definition
}) {
  const paths = listConditionPaths([sample.data]).map(({ path }) => path)
  const runs = matches && rival === undefined
  const plan = planSample(definition, sample.data, Date.now())
  return (
    <section aria-label="The chosen sample">
      <h3>{matches ? 'Why it matches' : 'Why it does not match'}</h3>
      <ExplainTree conditions={conditions} paths={paths} />
      {rival !== undefined && (
        <p class="sub wait">{showControls(rival)} comes first in the group, so this rule does not run.</p>
      )}
      <h3>{runs ? 'What it would do' : `What it would do if it ${matches ? 'came first' : 'matched'}`}</h3>
      <ol class="plan">
        {plan.map((action, index) => (
          <PlannedAction key={index} action={action} isEmpty={isEmpty(definition.actions[index])} />
        ))}
        {plan.length === 0 &&
          findRuleFaults({ conditions: [], actions: definition.actions }).map(({ field, message }) => (
            <li key={field} class="sub bad">
              {namePath(field)}: {message}
            </li>
          ))}
      </ol>
      <details>
        <summary>Its data</summary>
        <JsonView value={sample.data} label="Data of the sample" />
      </details>
    </section>
  )
}

interface PlannedProps {
  action: ReturnType<typeof planSample>[number]
  isEmpty: boolean
}

function PlannedAction({
  action: { type, config, fault, skipped, warnings },
  isEmpty: isUnfilled,
}: PlannedProps) {
  const { heading, facts } = describeAction(type, skipped || isUnfilled ? undefined : config)
  return (
    <li>
      {showControls(heading)}
      {(skipped || isUnfilled) && (
        <span class="quiet"> {skipped ? `skipped: ${skipped}` : '(not filled in yet)'}</span>
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
    </li>
  )
}

/** Nothing was typed into it yet, so nothing is wrong with it. */
function isEmpty(action: Definition['actions'][number] | undefined): boolean {
  return Object.values(action?.config ?? {}).every((value) => value === '')
}
