import type { Rule } from '@automation/client'
import { eventTypeDefinitions, isEventTypeName, scheduleType } from '@automation/engine'
import { useMemo, useState } from 'preact/hooks'
import { beginSchedule } from '../../logic/editing/schedule-kinds.js'
import type { Definition } from '../../logic/rule-definition.js'
import { later } from '../../parts/later.js'
import { Screen } from '../../parts/screen.js'
import { Loading, NoPermission, Problem } from '../../parts/states.js'
import { frame, useOpenedRule } from '../../state/frame.js'
import { api, may } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { isMissing, useQuery } from '../../state/use-query.js'
import { RuleEditor } from './rule-editor.js'
import { beginAction } from './sentence/action-lines.js'
import { ownZone } from './sentence/zone-chip.js'
import { useKept } from './use-kept.js'

// It comes where an earlier new rule was never saved.
const UnfinishedRule = later(
  'the question',
  () => import('./unfinished-rule.js').then(({ UnfinishedRule }) => UnfinishedRule),
  ({ children }) => <Screen title="New rule">{children}</Screen>,
)

/** What will this rule do before it does it? */
export function RuleScreen({ id }: { id: string }) {
  const { query } = useFilters()
  const isNew = id === 'new'
  const [asks, ask] = useState(isNew && query.event !== undefined)
  const kept = useKept(id)
  const rule = useQuery<Rule>({
    key: isNew ? undefined : ['rules', 'one', id],
    read: () => api().rules.get(id),
    pollMs: false,
  })
  if (inFrame) useOpenedRule(rule.data)
  const template = useMemo(() => beginRule(query.trigger), [query.trigger])
  if (kept === undefined || (!isNew && rule.isPending)) return <Loading what="the rule" rows={6} />
  if (!isNew && !rule.data)
    return (
      <Screen title={isMissing(rule.error) ? 'There is no such rule' : 'Rule'}>
        {!isMissing(rule.error) && <Problem error={rule.error} retry={() => void rule.refetch()} />}
        <p>
          {isMissing(rule.error) && 'It was deleted, or the address is wrong. '}
          <a href={linkTo('rules')}>All rules</a>
        </p>
      </Screen>
    )
  if (isNew && !may('create'))
    return <NoPermission>You have read-only access. Editors can write rules.</NoPermission>
  const unfinished = asks ? kept.changes.read(id) : undefined
  // A rule is to be made of an event, and another new rule is unfinished.
  if (unfinished && unfinished.eventId !== query.event)
    return <UnfinishedRule unsaved={unfinished} begin={() => void kept.setAside()} goOn={() => ask(false)} />
  return (
    <RuleEditor
      key={kept.round}
      id={id}
      kept={kept}
      saved={rule.data}
      template={template}
      reload={() => rule.refetch().then(({ data }) => data)}
    />
  )
}

/** @param type of the address: one of the catalogue, or of the workspace */
function beginRule(type: string | undefined): Definition {
  const usual = (inFrame && frame.value?.grant.allow?.triggers?.[0]) || (eventTypeDefinitions[0]?.type ?? '')
  const trigger = type !== undefined && isEventTypeName(type) ? type : usual
  return {
    name: '',
    description: '',
    trigger,
    ...(trigger === scheduleType && { schedule: beginSchedule(ownZone) }),
    conditions: [],
    actions: [beginAction()] as never,
  }
}
