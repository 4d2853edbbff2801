import type { ApiKey, AuditEntry, Subscription } from '@automation/client'
import { auditActions, describeAudit, type Part } from '../../logic/describe-audit.js'
import { given } from '../../logic/filters.js'
import { nameActor } from '../../logic/name-actor.js'
import { readShownRange } from '../../logic/time-range.js'
import { zone } from '../../state/preferences.js'
import { api } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { useList } from '../../state/use-list.js'
import { rowsOf, useQuery } from '../../state/use-query.js'
import { useRuleNames } from '../../state/use-rules.js'
import { History } from '../history.js'
import { Empty } from '../states.js'
import { TimeFilter } from '../time-filter.js'
import { now, When } from '../when.js'

type Action = AuditEntry['action']

/** What can be looked for, by the noun that an action begins with. */
const nouns: [string, RegExp][] = [
  ['Members', /^(member|token)\./],
  ['Rules', /^(rule|draft|guard)\./],
  ['Executions', /^(execution|event|failures)\./],
  ['Access', /^(api_key|signing_secret|credential)\./],
  ['Subscriptions', /^subscription\./],
  ['Texts', /^email_template\./],
  ['Event types', /^event_type\./],
  ['Workspace', /^(workspace|erasure)\./],
]

/** Who changed what, and when: in sentences. */
export function AuditLog() {
  const { query, set } = useFilters()
  const { actor = '', action = '', last, from, to } = query
  const hasTime = last !== undefined || from !== undefined || to !== undefined
  const list = useList<AuditEntry>(['audit', actor, action, last, from, to], async (cursor) => {
    const range = readShownRange(query, '30d', Date.now())
    const { data, nextCursor = null } = await api().developer.auditLog.list({
      limit: 50,
      ...given({ cursor, actor, action: action as Action }),
      ...(hasTime && { from: new Date(range.from).toISOString() }),
      ...(to !== undefined && { to: new Date(range.to ?? 0).toISOString() }),
    })
    return { rows: data, nextCursor }
  })
  const names = useNames(list.rows)
  // Rows whose names come later would move, and say of a rule that it is gone.
  const first = names.areKnown ? list.first : { ...list.first, isPending: true as const, data: undefined }
  const isFiltered = actor !== '' || action !== '' || hasTime
  return (
    <>
      <search class="filters">
        <PersonFilter actor={actor} rows={list.rows} names={names} set={(chosen) => set({ actor: chosen })} />
        <label>
          Kind
          <select value={action} onChange={({ currentTarget }) => set({ action: currentTarget.value })}>
            <option value="">any</option>
            {nouns.map(([group, pattern]) => (
              <optgroup key={group} label={group}>
                {auditActions
                  .filter((one) => pattern.test(one))
                  .map((one) => (
                    <option key={one} value={one}>
                      {one.replaceAll(/[._]/g, ' ')}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
        </label>
        <TimeFilter query={query} usual="any" set={set} />
      </search>
      <History
        list={{ ...list, first: first as typeof list.first }}
        what="audit log"
        columns={['When', 'What']}
        empty={
          isFiltered ? (
            <Empty title="No changes match the filter">
              <button
                type="button"
                onClick={() => set({ actor: '', action: '', last: '', from: '', to: '' })}
              >
                Show all changes
              </button>
            </Empty>
          ) : (
            <Empty title="No changes yet" />
          )
        }
        row={(entry) => (
          <>
            <td data-label="When">
              <When at={entry.at} />
            </td>
            <th scope="row" data-label="What">
              <Sentence parts={describeAudit(entry, names)} />
            </th>
          </>
        )}
      />
    </>
  )
}

function Sentence({ parts }: { parts: readonly Part[] }) {
  // In a part of its own: the first link of a heading would open the whole row.
  return (
    <span class="told">
      {parts.map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          <a key={index} href={linkTo(...part.place)}>
            {part.text}
          </a>
        ),
      )}
    </span>
  )
}

/** Those who are in the loaded rows, or an id that somebody types. */
function PersonFilter({
  actor,
  rows,
  names,
  set,
}: {
  actor: string
  rows: readonly AuditEntry[]
  names: ReturnType<typeof useNames>
  set: (actor: string) => void
}) {
  const known = new Map([...new Set(rows.map((row) => row.actor))].map((one) => [nameActor(one, names), one]))
  const read = (text: string) =>
    known.get(text) ?? (text === '' || text.includes(':') ? text : `user:${text}`)
  return (
    <label>
      Who
      <input
        data-filter
        type="search"
        list="actors"
        placeholder="anyone"
        value={actor === '' ? '' : nameActor(actor, names)}
        onChange={({ currentTarget }) => set(read(currentTarget.value.trim()))}
      />
      <datalist id="actors">
        {[...known.keys()].map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  )
}

/** What names the objects of the rows. Keys and subscriptions are read only if a row is about one. */
function useNames(rows: readonly AuditEntry[]) {
  const { rules, areKnown } = useRuleNames(
    rows.flatMap(({ action, subject }) => (action.startsWith('rule.') ? [subject] : [])),
  )
  const keys = useQuery<readonly ApiKey[]>({
    key: rows.some(({ actor }) => actor.startsWith('api_key:')) ? rowsOf('keys') : undefined,
    read: async () => (await api().developer.apiKeys.list()).data,
    pollMs: false,
  })
  const isAboutSubscription = ({ action }: AuditEntry) => /^(subscription|signing_secret)\./.test(action)
  const subscriptions = useQuery<readonly Subscription[]>({
    key: rows.some(isAboutSubscription) ? rowsOf('subscriptions') : undefined,
    read: async () => (await api().developer.subscriptions.list()).data,
    pollMs: false,
  })
  const ruleNames = new Map(rules.map(({ id, name }) => [id, name]))
  // Of a deleted rule, those of its entries that have its name tell it to the others.
  const goneNames = new Map(
    rows.flatMap(({ action, subject, details }): [string, string][] =>
      action.startsWith('rule.') && 'name' in details ? [[subject, String(details.name)]] : [],
    ),
  )
  const isRead = (query: { isPending: boolean; fetchStatus: string }) =>
    !query.isPending || query.fetchStatus === 'idle'
  return {
    areKnown: areKnown && isRead(keys) && isRead(subscriptions),
    rule: (id: string) => ruleNames.get(id),
    goneRule: (id: string) => goneNames.get(id),
    apiKey: (id: string) => keys.data?.find((key) => key.id === id)?.name,
    subscription: (id: string) => subscriptions.data?.find((one) => one.id === id)?.url,
    zone: zone.value,
    now: now.value,
  }
}
