import type { EventType, Rule } from '@automation/client'
import { defaultWorkLimits, describeVocabulary } from '@automation/engine'
import { Loading, NoPermission, Problem } from '../../parts/states.js'
import { api, may } from '../../state/session.js'
import { useFilters } from '../../state/use-filters.js'
import { useQuery } from '../../state/use-query.js'
import { beginAction } from './actions-editor.js'
import { RuleEditor } from './rule-editor.js'

const { eventTypes } = describeVocabulary(defaultWorkLimits)

/** What will this rule do before it does it? */
export function RuleScreen({ id }: { id: string }) {
  const { query } = useFilters()
  const isNew = id === 'new'
  const rule = useQuery<Rule>({
    key: isNew ? undefined : ['rules', 'one', id],
    read: () => api().rules.get(id),
    pollMs: false,
  })
  if (!isNew && rule.isPending) return <Loading what="the rule" rows={6} />
  if (!isNew && !rule.data) return <Problem error={rule.error} retry={() => void rule.refetch()} />
  if (isNew && !may('editor'))
    return <NoPermission>You have read-only access. Editors can write rules.</NoPermission>
  const trigger = (eventTypes.find(({ type }) => type === query.trigger) ?? eventTypes[0])?.type as EventType
  const template = {
    name: '',
    description: '',
    trigger,
    conditions: [],
    actions: [beginAction('CREATE_TASK')] as never,
  }
  return (
    <RuleEditor
      id={id}
      saved={rule.data}
      template={template}
      reload={() => rule.refetch().then(({ data }) => data)}
    />
  )
}
