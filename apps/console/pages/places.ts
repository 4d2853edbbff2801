import type { IconName } from './logic/icon-names.js'

interface Place {
  screen: string
  label: string
  /** The letter that goes there after g. */
  key: string
  icon: IconName
  group: (typeof groups)[number]
  /** Also in the bar of a phone, which has room for four. */
  isInBar?: boolean
}

export const groups = ['Observe', 'Build', 'Settings'] as const

/** The screens. In each group they keep this order. */
export const places: readonly Place[] = [
  { screen: 'overview', label: 'Overview', key: 'o', icon: 'today', group: 'Observe', isInBar: true },
  { screen: 'events', label: 'Events', key: 'e', icon: 'events', group: 'Observe', isInBar: true },
  {
    screen: 'executions',
    label: 'Executions',
    key: 'r',
    icon: 'executions',
    group: 'Observe',
    isInBar: true,
  },
  { screen: 'decisions', label: 'Decisions', key: 'd', icon: 'decisions', group: 'Observe' },
  { screen: 'tasks', label: 'Tasks', key: 'k', icon: 'tasks', group: 'Observe' },
  { screen: 'webhooks', label: 'Webhooks', key: 'w', icon: 'webhooks', group: 'Observe' },
  { screen: 'reconciliation', label: 'Reconciliation', key: 'b', icon: 'reconciliation', group: 'Observe' },
  { screen: 'rules', label: 'Rules', key: 'u', icon: 'rules', group: 'Build', isInBar: true },
  { screen: 'access', label: 'Access', key: 'a', icon: 'access', group: 'Settings' },
]

export function placesOf(group: Place['group']): Place[] {
  return places.filter((place) => place.group === group)
}
