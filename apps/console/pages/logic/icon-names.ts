/** The symbols of icons.svg; a test compares both. */
export const iconNames = [
  ...(['today', 'events', 'executions', 'decisions', 'tasks', 'rules', 'webhooks'] as const),
  ...(['reconciliation', 'access', 'settings', 'search', 'plus', 'close', 'check', 'minus'] as const),
  ...(['down', 'right', 'back', 'choose', 'more', 'menu', 'copy', 'undo', 'retry', 'trash'] as const),
  ...(['edit', 'filter', 'external', 'clock', 'pause', 'play', 'send', 'warning', 'user'] as const),
]

export type IconName = (typeof iconNames)[number]
