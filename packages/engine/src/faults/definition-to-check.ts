/** What findRuleFaults looks at, of any shape. */
export interface DefinitionToCheck {
  conditions?: unknown
  actions?: unknown
  perKey?: unknown
}

/** Picks that of a body, which may go to another process. */
export function pickToCheck({ conditions, actions, perKey }: DefinitionToCheck): DefinitionToCheck {
  return { conditions, actions, perKey }
}
