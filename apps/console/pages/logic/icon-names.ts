/** The symbols of icons.svg; a test compares both. */
export const iconNames = [
  ...(['today', 'events', 'executions', 'decisions', 'tasks', 'rules', 'webhooks', 'access'] as const),
  ...([
    'reconciliation',
    'settings',
    'search',
    'plus',
    'close',
    'check',
    'minus',
    'down',
    'right',
    'back',
    'choose',
  ] as const),
  ...(['more', 'menu', 'copy', 'undo', 'retry', 'trash', 'edit', 'filter', 'external', 'clock'] as const),
  ...(['pause', 'play', 'send', 'warning', 'user'] as const),
]

export type IconName = (typeof iconNames)[number]
