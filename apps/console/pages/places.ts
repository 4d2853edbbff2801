/** The screens, and the letter that goes there after g. */
export const places = [
  { screen: 'today', label: 'Today', key: 't' },
  { screen: 'events', label: 'Events', key: 'e' },
  { screen: 'runs', label: 'Executions', key: 'r' },
  { screen: 'rules', label: 'Rules', key: 'u' },
  { screen: 'webhooks', label: 'Webhooks', key: 'w' },
  { screen: 'books', label: 'Reconciliation', key: 'b' },
  { screen: 'access', label: 'Access', key: 'a' },
] as const
