import { createHash } from 'node:crypto'
import { listAlmostSame } from '@automation/engine'
import { arrangeRule } from './arrange-rule.js'
import type { Changes, ImportPlan } from './plan-import.js'

interface Named {
  name: string
}

type Arrange<Fields> = (fields: Fields) => Record<string, unknown>

/** A plan for programs: the names of what it creates and deletes, the fields that it changes, and new names that look like others. */
export function presentPlan({ rules, emailTemplates }: ImportPlan) {
  return {
    rules: presentChanges(rules, arrangeRule),
    emailTemplates: presentChanges(emailTemplates, pickTexts),
  }
}

/** Names the steps of a plan, and what they change: an equal plan has the same one. What an import leaves as it is has no part in it. */
export function digestPlan({ rules, emailTemplates }: ImportPlan): string {
  const steps = [digestible(rules, arrangeRule), digestible(emailTemplates, pickTexts)]
  return createHash('sha256').update(JSON.stringify(steps)).digest('base64url')
}

export function pickTexts({ text, html }: { text: string | null; html: string | null }) {
  return { text, html }
}

function presentChanges<Fields extends Named, Found extends Named & Fields>(
  { toCreate, toChange, toDelete, unchanged, others }: Changes<Fields, Found>,
  arrange: Arrange<Fields>,
) {
  const namesOf = (list: Named[]) => list.map(({ name }) => name)
  const change = toChange.map(({ found, fields, changed }) => {
    const [before, after] = [arrange(found), arrange(fields)]
    return {
      name: fields.name,
      fields: changed.map((field) => ({ field, before: before[field], after: after[field] })),
    }
  })
  const [create, gone] = [namesOf(toCreate), namesOf(toDelete)]
  // Of names that look the same one is often meant: it would be created beside the other, or instead of it.
  const almostSame = listAlmostSame(create, [...others, ...gone, ...unchanged, ...namesOf(change)])
  return { create, change, delete: gone, unchanged, others, ...(almostSame.length > 0 && { almostSame }) }
}

function digestible<Fields extends Named, Found extends Named & Fields & { id: string; version?: number }>(
  { toCreate, toChange, toDelete, unchanged }: Changes<Fields, Found>,
  arrange: Arrange<Fields>,
) {
  const before = (found: Found) => [found.id, found.version, found.name, arrange(found)]
  return [
    toCreate.map((fields) => [fields.name, arrange(fields)]),
    toChange.map(({ found, fields }) => [before(found), arrange(fields)]),
    toDelete.map(before),
    unchanged,
  ]
}
