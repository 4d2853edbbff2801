import type { RuleOverview, RuleRollout, RuleSummary, RulesOverview } from '@automation/client'
import { formatCount } from '../../logic/count-words.js'
import { describePerKey } from '../../logic/editing/describe-per-key.js'
import { describeSchedule } from '../../logic/editing/schedule-kinds.js'
import { sayError } from '../../logic/say-error.js'
import { ChoiceFilter } from '../../parts/filter.js'
import { Mark } from '../../parts/mark.js'
import { NextRun } from '../../parts/next-run.js'
import { Rows } from '../../parts/rows.js'
import { Spark } from '../../parts/spark.js'
import { Empty, Loading, Problem, Stale } from '../../parts/states.js'
import { Switch } from '../../parts/switch.js'
import { TextField } from '../../parts/text-field.js'
import { CountedFrom } from '../../parts/time-bars.js'
import { When } from '../../parts/when.js'
import { api, may } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { useQuery } from '../../state/use-query.js'
import { useRollouts } from '../../state/use-rollouts.js'
import { useRules } from '../../state/use-rules.js'

/** The rules, filtered in the browser: all of them are read at once. */
export function RuleList() {
  const { query, set } = useFilters()
  const { q = '', state = '', trigger = '', label = '' } = query
  const rules = useRules()
  const overview = useQuery({
    key: ['rule-overview'],
    read: () => api().rules.overview(),
    pollMs: 60_000,
  })
  const rollouts = useRollouts()
  const marks = new Map(rollouts.data?.map((item) => [item.id, item]))
  const doing = new Map(overview.data?.rules.map((item) => [item.id, item]))
  const all = rules.data?.rules ?? []
  const isInState = (rule: RuleSummary, wanted: string) =>
    wanted === 'attention'
      ? doing.get(rule.id)?.attention != null
      : wanted === 'rollout'
        ? rule.mode === 'shadow' || marks.has(rule.id)
        : rule.isActive === (wanted === 'on')
  const shown = all.filter(
    (rule) =>
      [rule.name, rule.description, rule.group, ...rule.labels]
        .join(' ')
        .toLowerCase()
        .includes(q.toLowerCase()) &&
      (trigger === '' || rule.trigger === trigger) &&
      (label === '' || rule.labels.includes(label)) &&
      (state === '' || isInState(rule, state)),
  )
  // Without it nobody knows which rules fit the filter.
  const filtering = state === 'attention' ? overview : state === 'rollout' ? rollouts : rules
  // A row has its marks and its error from the start, or rows below it would move.
  const isComplete = !overview.isPending && !rollouts.isPending
  const isKnown = rules.data !== undefined && filtering.data !== undefined && isComplete
  const failed = [rules, filtering].find(({ data, error }) => data === undefined && error)
  const stale = [rules, overview, rollouts].find(({ data, error }) => data !== undefined && error)
  return (
    <>
      <RuleFilters
        types={[...new Set(all.map((rule) => rule.trigger))].sort()}
        labels={[...new Set(all.flatMap((rule) => rule.labels))].sort()}
      />
      {!isKnown &&
        (failed ? (
          <Problem error={failed.error} retry={() => void failed.refetch()} />
        ) : (
          <Loading what="rules" rows={4} />
        ))}
      {stale && <Stale error={stale.error} since={stale.dataUpdatedAt} />}
      {overview.data && <CountedFrom {...overview.data} />}
      {isKnown && all.length === 0 && <NoRules />}
      {isKnown && all.length > 0 && shown.length === 0 && (
        <Empty title="No rules match the filter">
          <p>{all.length === 1 ? 'There is 1' : `There are ${all.length}`} without it.</p>
          <button type="button" onClick={() => set({ q: '', state: '', trigger: '', label: '' })}>
            Show all
          </button>
        </Empty>
      )}
      {isKnown && shown.length > 0 && (
        <Rows
          items={shown}
          label="rules"
          columns={[
            'Name',
            'Trigger',
            'Last 24 hours',
            { number: 'Succeeded', isLow: true },
            { number: 'Failed' },
            { text: 'Last ended', isLow: true },
            'State',
          ]}
          row={(rule) => (
            <RuleRow
              rule={rule}
              overview={overview.data}
              doing={doing.get(rule.id)}
              rollout={marks.get(rule.id)}
            />
          )}
        />
      )}
    </>
  )
}

function RuleFilters({ types, labels }: { types: string[]; labels: string[] }) {
  const { query, set } = useFilters()
  const { q = '', state = '', trigger = '', label = '' } = query
  return (
    <search class="filters">
      <TextField
        label="Find"
        data-filter
        type="search"
        value={q}
        set={(typed) => set({ q: typed }, { replaces: true })}
      />
      <ChoiceFilter
        label="Trigger"
        value={trigger}
        all="any event"
        options={Object.fromEntries(types.map((type) => [type, type]))}
        set={(chosen) => set({ trigger: chosen })}
      />
      {(labels.length > 0 || label !== '') && (
        <ChoiceFilter
          label="Label"
          value={label}
          options={Object.fromEntries(labels.map((one) => [one, one]))}
          set={(chosen) => set({ label: chosen })}
        />
      )}
      <ChoiceFilter
        label="State"
        value={state}
        all="on and off"
        options={{ on: 'on', off: 'off', attention: 'needs attention', rollout: 'draft, shadow or guard' }}
        set={(chosen) => set({ state: chosen })}
      />
    </search>
  )
}

function NoRules() {
  return (
    <Empty title="No rules yet">
      <p>A rule says: when an event of this type arrives, and these conditions are true, do this.</p>
      {may('create') ? (
        <a class="button primary" href={linkTo('rules/new')}>
          Write the first rule
        </a>
      ) : (
        <p>You have read-only access. Editors can write the first rule.</p>
      )}
    </Empty>
  )
}

function RuleRow({
  rule,
  overview,
  doing,
  rollout,
}: {
  rule: RuleSummary
  overview: RulesOverview | undefined
  /** undefined where there is nothing to say. */
  doing: RuleOverview | undefined
  rollout: RuleRollout | undefined
}) {
  const { lastSuccessAt, lastFailureAt } = rule
  const last = [lastSuccessAt, lastFailureAt]
    .filter((at) => at !== null)
    .sort()
    .at(-1)
  return (
    <>
      <th scope="row">
        <a href={linkTo(`rules/${rule.id}`)}>{rule.name}</a>
        {rule.labels.length > 0 && (
          <span class="sub marks">
            {rule.labels.map((label) => (
              <a key={label} class="badge" href={linkTo('rules', { label })}>
                {label}
              </a>
            ))}
          </span>
        )}
        {rule.schedule !== null && <span class="sub">{describeSchedule(rule.schedule)}</span>}
        {rule.perKey !== null && <span class="sub">{describePerKey(rule.perKey)}</span>}
        {rule.group !== null && (
          <span class="sub">
            in group <a href={linkTo('rules', { group: rule.group })}>{rule.group}</a>, number {rule.order}
          </span>
        )}
        {doing?.attention && <span class="sub bad">{sayError(doing.attention.lastError ?? '')}</span>}
        {rollout && <RolloutMarks {...rollout} />}
      </th>
      <td data-label="Trigger">
        <code>{rule.trigger}</code>
        {rule.nextRunAt && rule.schedule && (
          <span class="sub">
            next <NextRun at={rule.nextRunAt} schedule={rule.schedule} />
          </span>
        )}
      </td>
      <td data-label="Last 24 hours">{overview && <LastDay {...{ overview, doing, last }} />}</td>
      <td data-label="Succeeded" class="number low">
        {formatCount(rule.successCount)}
      </td>
      <td data-label="Failed" class="number">
        {rule.failureCount > 0 ? (
          <a href={linkTo('executions', { rule: rule.id, status: 'failed', last: '30d' })}>
            {formatCount(rule.failureCount)}
          </a>
        ) : (
          0
        )}
      </td>
      <td class="low">
        {last === undefined && doing?.runs.some((count) => count > 0) ? (
          <a href={linkTo('executions', { rule: rule.id, status: 'waiting,retrying,running', last: '30d' })}>
            unfinished
          </a>
        ) : (
          <When at={last} />
        )}
      </td>
      <td data-label="State" class="beside">
        <Switch rule={rule} />
      </td>
    </>
  )
}

function LastDay({
  overview: { from, to, countedFrom },
  doing,
  last,
}: {
  overview: RulesOverview
  doing: RuleOverview | undefined
  last: string | undefined
}) {
  if (doing?.runs.some((count) => count > 0)) return <Spark {...doing} />
  // It has run since the count.
  if (last !== undefined && last > to) return null
  return <span class="quiet">{countedFrom > from ? 'none counted' : 'no executions'}</span>
}

/** A change that is on its way. It leads to where it can be promoted, or to why it came back. */
function RolloutMarks({ id, draft, guard }: RuleRollout) {
  const href = linkTo(`rules/${id}`, { tab: 'rollout' })
  return (
    <span class="sub marks">
      {draft && (
        <a href={href}>
          <Mark of="draft" word={draft.isStale ? 'draft of an older version' : 'draft'} />
        </a>
      )}
      {guard && (
        <a href={href}>
          {guard.trippedAt === null ? (
            <Mark of="watches" word={`guard watches v${guard.version}`} />
          ) : (
            <Mark of="failed" word={`guard rolled v${guard.version} back`} />
          )}
        </a>
      )}
    </span>
  )
}
