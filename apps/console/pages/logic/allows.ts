/** What of a rule an embed session is asked about. */
export interface NamedParts {
  trigger: string
  actions: readonly { type: string; config?: unknown }[]
}

/** Names of what rules may consist of; a part that is left out is not limited. */
export interface Allowed {
  triggers?: readonly string[]
  actions?: readonly string[]
  credentials?: readonly string[]
}

/** Whether a rule has only what is allowed. The API decides it (packages/rules/src/refuse-beyond-grant.ts); here it says what is read only. */
export function allows(allowed: Allowed | undefined, { trigger, actions }: NamedParts): boolean {
  if (allowed === undefined) return true
  const has = (kind: keyof Allowed, names: readonly string[]) =>
    names.every((name) => allowed[kind]?.includes(name) ?? true)
  return (
    has('triggers', [trigger, ...actions.flatMap(typesOf)]) &&
    has(
      'actions',
      actions.map(({ type }) => type),
    ) &&
    has('credentials', actions.flatMap(credentialsOf))
  )
}

/** The types of events that an action emits or waits for. */
function typesOf({ type, config }: NamedParts['actions'][number]): string[] {
  const { eventType, for: awaited } = (config ?? {}) as { eventType?: unknown; for?: { eventType?: unknown } }
  const name = type === 'EMIT_EVENT' ? eventType : type === 'WAIT' ? awaited?.eventType : undefined
  return typeof name === 'string' ? [name] : []
}

function credentialsOf({ config }: NamedParts['actions'][number]): string[] {
  const found = JSON.stringify(config ?? {}).matchAll(/\{\{\s*credentials\.([A-Za-z0-9_-]+)/g)
  return [...found].map(([, name = '']) => name)
}
