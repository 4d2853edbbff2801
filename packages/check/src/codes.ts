export const severities = ['info', 'warning', 'error'] as const
export type Severity = (typeof severities)[number]

/** The codes of findings, with their severities. */
export const codes = {
  never_matches: 'error',
  never_first: 'error',
  dead_since: 'error',
  loop: 'error',
  unknown_zone: 'error',
  always_true: 'warning',
  implied: 'warning',
  duplicate: 'warning',
  contained: 'warning',
  unreachable_action: 'warning',
  unusable_credential: 'warning',
  unknown_field: 'warning',
  unseen_value: 'warning',
  unseen_placeholder: 'warning',
  unseen_event_type: 'warning',
  doubtful_form: 'warning',
  overlap: 'info',
  mixed_kinds: 'info',
  number_as_time: 'info',
} as const satisfies Record<string, Severity>
export type Code = keyof typeof codes
