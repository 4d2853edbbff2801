import { cutText } from '@automation/engine'
import { useMemo, useState } from 'preact/hooks'
import { countOf } from '../../logic/count-words.js'
import { describeActual, describeClause } from '../../logic/describe-clause.js'
import type { Evaluation, SampleVerdict } from '../../logic/evaluate-definition.js'
import type { SampleBatch } from '../../logic/list-sample-batches.js'
import { findStop, markConditions } from '../../logic/marks.js'
import { nameEvent } from '../../logic/name-event.js'
import { listConditionPaths } from '../../logic/paths.js'
import { planSample } from '../../logic/plan-sample.js'
import type { Definition } from '../../logic/rule-definition.js'
import { showControls } from '../../logic/show.js'
import { ExplainTree } from '../../parts/explain-tree.js'
import { JsonView } from '../../parts/json-view.js'
import { Mark } from '../../parts/mark.js'
import { useModule } from '../../parts/use-module.js'
import { When } from '../../parts/when.js'
import { focusField } from './focus-field.js'
import { Planned } from './planned.js'
import type { SaidFault } from './use-faults.js'
import { mostSamples } from './use-samples.js'

export const mostShown = 50

/** Which of the samples match, and what stops the others: evaluated in this browser by the engine of the workers. */
export function Samples({
  evaluation,
  faults,
  definition,
  isGroupKnown,
  selectedId,
}: {
  evaluation: Evaluation
  /** What would refuse the rule. */
  faults: readonly SaidFault[]
  definition: Definition
  /** The other rules of its group are known, so that an event may have another first. */
  isGroupKnown: boolean
  selectedId: string | undefined
}) {
  const [chosen, choose] = useState(selectedId)
  const { verdicts, problem } = evaluation
  const isCollecting = definition.perKey?.collect !== undefined
  // The end of a batch may be that of a cron expression, and their parser comes with the first.
  const { module, hasFailed } = useModule(
    () => import('../../logic/list-sample-batches.js'),
    isCollecting,
    definition,
  )
  const batches = useMemo(
    () => module?.listSampleBatches(definition, verdicts, Date.now()),
    [module, definition, verdicts],
  )
  const matching = verdicts.filter(({ matches }) => matches).length
  const telling = batches?.[0]?.samples.at(-1)?.id
  const selected =
    verdicts.find(({ sample }) => sample.id === (chosen ?? telling)) ??
    verdicts.find(({ matches }) => matches) ??
    verdicts[0]
  if (evaluation.faults.length > 0) return <Unfinished faults={faults} />
  if (problem !== undefined)
    return (
      <p class="notice" role="status">
        No result yet: {problem}
      </p>
    )
  if (verdicts.length === 0)
    return (
      <>
        <Refused faults={faults} />
        <p class="quiet">No events to test it on.</p>
      </>
    )
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
      <Refused faults={faults} />
      {definition.group && (
        <p class="sub">
          {isGroupKnown
            ? describeRivals(verdicts, definition.group)
            : `Another rule of the group ${definition.group} may come first.`}
        </p>
      )}
      {definition.perKey && !definition.perKey.collect && (
        <p class="sub">
          Its limit is not asked here: what matches may be suppressed by earlier events of its key.
        </p>
      )}
      {hasFailed && (
        <p class="sub">It takes them together, and how could not be loaded: this is of one event.</p>
      )}
      {batches && batches.length > 0 && (
        <p class="sub">
          It takes them together: {countOf(batches.length, 'batch', 'batches')} of these events.
          {verdicts.length >= mostSamples &&
            ` Only the newest ${mostSamples} are read here: a batch may have older ones, too.`}
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
      {selected && (!isCollecting || module || hasFailed) && (
        <Chosen verdict={selected} {...{ definition, batches, choose }} />
      )}
    </>
  )
}

const mostFaults = 8

/** Conditions that the service would refuse have no result, neither a match nor a miss. */
function Unfinished({ faults }: { faults: readonly SaidFault[] }) {
  return (
    <div class="notice" role="status">
      <p>No result yet.</p>
      <FaultList faults={faults} />
    </div>
  )
}

/** What has a result may still be refused, for its limit or its actions. */
function Refused({ faults }: { faults: readonly SaidFault[] }) {
  if (faults.length === 0) return null
  return (
    <div class="notice">
      <p>It cannot be saved yet.</p>
      <FaultList faults={faults} />
    </div>
  )
}

function FaultList({ faults }: { faults: readonly SaidFault[] }) {
  return (
    <ul>
      {faults.slice(0, mostFaults).map(({ field, place, message }) => (
        <li key={`${field} ${message}`}>
          <button type="button" class="link" onClick={() => focusField(field)}>
            {place}
          </button>
          : {message}
        </li>
      ))}
      {faults.length > mostFaults && <li>and {faults.length - mostFaults} more</li>}
    </ul>
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
            ? nameEvent(sample.data)
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

function Chosen({
  verdict: { sample, matches, rival, conditions },
  definition,
  batches = [],
  choose,
}: {
  verdict: SampleVerdict
  definition: Definition
  batches: readonly SampleBatch[] | undefined
  choose: (sampleId: string) => void
}) {
  const paths = listConditionPaths([sample.data]).map(({ path }) => path)
  const runs = matches && rival === undefined
  const batch = batches.find(({ samples }) => samples.some(({ id }) => id === sample.id))
  const plan = planSample(definition, sample, batch, Date.now())
  return (
    <section aria-label="The chosen sample">
      <h3>{matches ? 'Why it matches' : 'Why it does not match'}</h3>
      <ExplainTree conditions={conditions} paths={paths} />
      {rival !== undefined && (
        <p class="sub wait">{showControls(rival)} comes first in the group, so this rule does not run.</p>
      )}
      <h3>{runs ? 'What it would do' : `What it would do if it ${matches ? 'came first' : 'matched'}`}</h3>
      {batch && <BatchOf {...{ batch, batches, choose }} />}
      {plan === undefined ? (
        <p class="quiet">That is not known while a part has a fault.</p>
      ) : (
        <Planned plan={plan} actions={definition.actions} />
      )}
      <details>
        <summary>Its data</summary>
        <JsonView value={sample.data} label="Data of the sample" />
      </details>
    </section>
  )
}

const mostBatches = 4

/** Which events are done together, and what else the rule would do: each other batch leads to its newest event. */
function BatchOf({
  batch,
  batches,
  choose,
}: {
  batch: SampleBatch
  batches: readonly SampleBatch[]
  choose: (sampleId: string) => void
}) {
  const [first] = batch.samples
  const last = batch.samples.at(-1)
  const others = batches.filter((one) => one !== batch)
  return (
    <>
      <p class="sub">
        {countOf(batch.samples.length, 'event')} in one batch{nameKey(batch)}
        {first.acceptedAt && (
          <>
            , from <When at={first.acceptedAt} /> to <When at={last?.acceptedAt} />
          </>
        )}
      </p>
      {others.length > 0 && (
        <p class="sub">
          Other batches:{' '}
          {others.slice(0, mostBatches).map((one, index) => (
            <span key={one.samples[0].id}>
              {index > 0 && ' · '}
              <button type="button" class="link" onClick={() => choose(one.samples.at(-1)?.id ?? '')}>
                {countOf(one.samples.length, 'event')}
                {nameKey(one)}
              </button>
            </span>
          ))}
          {others.length > mostBatches && ` and ${others.length - mostBatches} more`}
        </p>
      )}
    </>
  )
}

function nameKey({ key }: SampleBatch): string {
  return key === '' ? '' : ` of “${showControls(cutText(key, 60, '…'))}”`
}
