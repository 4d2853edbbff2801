import type { Credential, EmailTemplateSummary, EventTypePage } from '@automation/client'
import { eventTypeDefinitions, scheduleType } from '@automation/engine'
import { useMemo } from 'preact/hooks'
import { nameType } from '../../../logic/editing/action-words.js'
import type { Option } from '../../../parts/combobox.js'
import { frame, offers } from '../../../state/frame.js'
import { api, may } from '../../../state/session.js'
import { useQuery } from '../../../state/use-query.js'
import { useEditing } from './editing.js'

/** The types of events, those of the workspace after the first wish. */
export function useEventTypes(isWanted: boolean, current = ''): Option[] {
  const listed = useQuery<EventTypePage>({
    key: isWanted && (!inFrame || may('read all rules')) ? ['event-types'] : undefined,
    read: () => api().eventTypes.list({ limit: 250 }),
    pollMs: false,
  })
  const described = new Map<string, string>(
    eventTypeDefinitions.map(({ type, description }) => [type, description]),
  )
  const types = new Set([
    ...(current === '' ? [] : [current]),
    ...described.keys(),
    ...(listed.data?.eventTypes ?? []).map(({ name }) => name),
  ])
  return [...types]
    .filter((type) => !inFrame || type === current || offers('triggers', type))
    .sort()
    .map((type) => ({ value: type, text: nameType(type), hint: described.get(type) ?? 'of this workspace' }))
}

/** What may begin a rule: an event, or a time. */
export function useTriggers(isWanted: boolean, current: string): Option[] {
  const types = useEventTypes(isWanted, current).filter(({ value }) => value !== scheduleType)
  const hint = 'at times of the clock, or at an interval'
  const times = { value: scheduleType, text: nameType(scheduleType), hint }
  return inFrame && !offers('triggers', scheduleType) ? types : [times, ...types]
}

/** What can be chosen for a field of an action that names something of the workspace, or a list; undefined for other fields. */
export function useChoices(name: string, isWanted: boolean): readonly Option[] | undefined {
  const { suggestions } = useEditing()
  const types = useEventTypes(isWanted && name === 'eventType')
  const templates = useQuery<{ emailTemplates: EmailTemplateSummary[] }>({
    key:
      isWanted && name === 'template' && (!inFrame || may('read all rules'))
        ? ['email-templates', 'names']
        : undefined,
    read: () => api().emailTemplates.list({ limit: 100 }),
    pollMs: false,
  })
  if (name === 'forEach') return suggestions.lists
  if (name === 'eventType') return types.map(({ value, hint = '' }) => ({ value, hint }))
  return name === 'template'
    ? (templates.data?.emailTemplates ?? []).map((one) => ({ value: one.name, hint: 'template' }))
    : undefined
}

/** The credentials of the workspace, as a text of a call names them. */
export function useCredentials(isWanted: boolean): readonly Option[] {
  const found = useQuery<{ data: readonly Credential[] }>({
    key: isWanted && (!inFrame || may('read credentials')) ? ['credentials', 'names'] : undefined,
    read: () => api().developer.credentials.list(),
    pollMs: false,
    staleMs: 60_000,
  })
  return useMemo(
    () =>
      (inFrame ? credentialsOfFrame() : (found.data?.data ?? [])).map(({ name, hosts }) => ({
        value: `credentials.${name}`,
        hint: `credential for ${hosts.join(', ')}`,
      })),
    [found.data],
  )
}

/** Those that the session names: no list of the workspace is read in a frame. */
function credentialsOfFrame(): { name: string; hosts: string[] }[] {
  return (frame.value?.grant.allow?.credentials ?? []).map((name) => ({ name, hosts: ['this workspace'] }))
}
