import type { Rule } from '@automation/client'
import { useState } from 'preact/hooks'
import { Mark } from '../parts/mark.js'
import { Rows } from '../parts/rows.js'
import { Screen } from '../parts/screen.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { When } from '../parts/when.js'
import { api, may } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { describeError, readAgain, useQuery } from '../state/use-query.js'

/** Which rules are there, how are they doing? */
export function Rules() {
  const { query, set } = useFilters()
  const { q = '', state = '', trigger = '' } = query
  const rules = useQuery({ key: ['rules'], read: () => api().rules.list({ limit: 250 }) })
  const attention = useQuery({ key: ['attention'], read: () => api().rules.attention(), pollMs: false })
  const needs = new Map(attention.data?.rules.map((item) => [item.id, item]))
  const all = rules.data?.rules ?? []
  const shown = all.filter(
    (rule) =>
      `${rule.name} ${rule.description}`.toLowerCase().includes(q.toLowerCase()) &&
      (trigger === '' || rule.trigger === trigger) &&
      (state === '' || (state === 'attention' ? needs.has(rule.id) : rule.isActive === (state === 'on'))),
  )
  const types = [...new Set(all.map((rule) => rule.trigger))].sort()
  return (
    <Screen
      title="Rules"
      actions={
        may('editor') && (
          <a class="button primary" href={linkTo('rules/new')}>
            New rule
          </a>
        )
      }
    >
      <div class="filters" role="search">
        <label>
          Find
          <input
            data-filter
            type="search"
            value={q}
            onInput={({ currentTarget }) => set({ q: currentTarget.value }, { replaces: true })}
          />
        </label>
        <label>
          Runs on
          <select value={trigger} onChange={({ currentTarget }) => set({ trigger: currentTarget.value })}>
            <option value="">any event</option>
            {types.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
        <label>
          State
          <select value={state} onChange={({ currentTarget }) => set({ state: currentTarget.value })}>
            <option value="">on and off</option>
            <option value="on">on</option>
            <option value="off">off</option>
            <option value="attention">needs attention</option>
          </select>
        </label>
      </div>
      {rules.isPending && <Loading what="rules" />}
      {rules.error && <Problem error={rules.error} retry={() => void rules.refetch()} />}
      {rules.data && all.length === 0 && (
        <Empty title="No rules yet">
          <p>A rule says: when an event of this type comes, and these conditions hold, then do this.</p>
          {may('editor') ? (
            <a class="button primary" href={linkTo('rules/new')}>
              Write the first rule
            </a>
          ) : (
            <p>Your role may read rules. An editor can write the first one.</p>
          )}
        </Empty>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty title="No rule fits the filter">
          <p>There are {all.length} without it.</p>
          <button type="button" onClick={() => set({ q: '', state: '', trigger: '' })}>
            Show all
          </button>
        </Empty>
      )}
      {shown.length > 0 && (
        <Rows
          items={shown}
          label="Rules"
          columns={6}
          head={
            <>
              <th scope="col">Name</th>
              <th scope="col">Runs on</th>
              <th scope="col" class="number">
                Succeeded
              </th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col">Last run</th>
              <th scope="col">State</th>
            </>
          }
          row={(rule) => <RuleRow rule={rule} problem={needs.get(rule.id)?.lastError} />}
        />
      )}
    </Screen>
  )
}

function RuleRow({ rule, problem }: { rule: Rule; problem: string | undefined }) {
  const { lastSuccessAt, lastFailureAt } = rule
  const last = [lastSuccessAt, lastFailureAt]
    .filter((at) => at !== null)
    .sort()
    .at(-1)
  return (
    <>
      <th scope="row">
        <a href={linkTo(`rules/${rule.id}`)}>{rule.name}</a>
        {problem && <span class="sub bad">⚠ {problem}</span>}
      </th>
      <td data-label="Runs on">
        <code>{rule.trigger}</code>
      </td>
      <td data-label="Succeeded" class="number">
        {rule.successCount.toLocaleString('en-US')}
      </td>
      <td data-label="Failed" class="number">
        {rule.failureCount > 0 ? (
          <a href={linkTo('runs', { rule: rule.id, status: 'failed' })}>
            {rule.failureCount.toLocaleString('en-US')}
          </a>
        ) : (
          0
        )}
      </td>
      <td data-label="Last run">
        <When at={last} />
      </td>
      <td data-label="State">
        <Switch rule={rule} />
      </td>
    </>
  )
}

/** Switches a rule on or off, as its user has seen it: a change in between is not undone unseen. */
export function Switch({
  rule,
  after,
}: {
  rule: Pick<Rule, 'id' | 'name' | 'isActive' | 'version'>
  after?: () => PromiseLike<unknown>
}) {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  if (!may('operator'))
    return <Mark of={rule.isActive ? 'active' : 'skipped'} word={rule.isActive ? 'on' : 'off'} />
  return (
    <>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={rule.isActive}
        aria-label={`${rule.name} is ${rule.isActive ? 'on' : 'off'}`}
        disabled={isBusy}
        onClick={async () => {
          setBusy(true)
          setProblem(undefined)
          try {
            await api().rules.toggle(rule.id, { ifVersion: rule.version })
          } catch (error) {
            setProblem(describeError(error).title)
          }
          await Promise.all([readAgain('rules'), after?.()])
          setBusy(false)
        }}
      >
        <span class="knob" aria-hidden="true" />
        {rule.isActive ? 'on' : 'off'}
      </button>
      {problem && (
        <span role="alert" class="sub bad">
          {problem}
        </span>
      )}
    </>
  )
}
