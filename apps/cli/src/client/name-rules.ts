import type { Client, EventType } from '@automation/client'

export type RuleNames = ReadonlyMap<string, string>

/** Of one page. */
const mostNamed = 100

/** Puts the name of its rule before each `ruleId` of an answer, which is a list or one object. */
export async function nameRules(client: Client, answer: unknown): Promise<unknown> {
  const rows = [answer].flat() as { ruleId?: string | null }[]
  const [id, ...others] = new Set(rows.flatMap(({ ruleId }) => ruleId ?? []))
  if (id === undefined) return answer
  const names = await (others.length === 0
    ? collectNames(async () => [await client.rules.get(id)])
    : readRuleNames(client))
  const named = rows.map((row) => {
    const fields = Object.entries(row).map(([field, value]) =>
      field === 'ruleId' ? { rule: names.get(String(value)) ?? null, ruleId: value } : { [field]: value },
    )
    return Object.assign({}, ...fields)
  })
  return Array.isArray(answer) ? named : named[0]
}

/** The names of the newest rules: for a type, or of all. */
export function readRuleNames(client: Client, { type }: { type?: string } = {}): Promise<RuleNames> {
  return collectNames(async () => {
    const { rules } = await client.rules.list({ trigger: type as EventType, limit: mostNamed })
    return rules
  })
}

/** It is empty if a rule was deleted, or the caller may not read rules: the results stand without names then. */
async function collectNames(read: () => Promise<{ id: string; name: string }[]>): Promise<RuleNames> {
  try {
    return new Map((await read()).map(({ id, name }) => [id, name]))
  } catch {
    return new Map()
  }
}
