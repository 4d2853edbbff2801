import { arrangeRule, type Changes, type ImportPlan, pickTexts } from '@automation/rules'
import { maskControls } from './format.js'
import { formatDiff } from './format-diff.js'
import { writeYaml } from './rule-text.js'

export function hasChanges({ rules, emailTemplates }: ImportPlan): boolean {
  return [rules, emailTemplates].some(
    ({ toCreate, toChange, toDelete }) => toCreate.length + toChange.length + toDelete.length > 0,
  )
}

/** A plan for people: what would be created, the lines that would change, and what would be deleted. */
export function formatPlan(plan: ImportPlan): string {
  const lines = [
    ...formatChanges('rule', plan.rules, arrangeRule),
    ...formatChanges('email template', plan.emailTemplates, pickTexts),
  ]
  const details = lines.map((line) => maskControls(line.trimEnd()))
  if (details.length > 0) details.push('')
  return [
    ...details,
    ...summarise('Rules', plan.rules),
    ...summarise('Email templates', plan.emailTemplates),
  ].join('\n')
}

interface Named {
  name: string
}

type Arrange<Fields> = (fields: Fields) => Record<string, unknown>

function formatChanges<Fields extends Named, Found extends Named & Fields>(
  noun: string,
  { toCreate, toChange, toDelete }: Changes<Fields, Found>,
  arrange: Arrange<Fields>,
): string[] {
  const head = (mark: string, { name }: Named) => `${mark} ${noun} ${JSON.stringify(name)}`
  return [
    ...toCreate.flatMap((fields) => {
      const details = Object.entries(arrange(fields)).filter(
        ([field, value]) => field !== 'name' && value !== null,
      )
      const lines = writeYaml(Object.fromEntries(details)).trimEnd().split('\n')
      return [head('+', fields), ...lines.map((line) => `+     ${line}`)]
    }),
    ...toChange.flatMap(({ found, fields, changed }) => {
      const [before, after] = [arrange(found), arrange(fields)]
      const lines = changed.flatMap((field) =>
        formatDiff(writeYaml({ [field]: before[field] }), writeYaml({ [field]: after[field] })),
      )
      return [head('~', fields), ...lines.map((line) => `${line.slice(0, 1)}     ${line.slice(1)}`)]
    }),
    ...toDelete.map((found) => head('-', found)),
  ]
}

function summarise(
  nouns: string,
  { toCreate, toChange, toDelete, unchanged, others }: Changes<Named, Named>,
): string[] {
  const counts = `${toCreate.length} to create, ${toChange.length} to change, ${toDelete.length} to delete`
  const summary = `${nouns}: ${counts}, ${unchanged.length} unchanged.`
  if (others.length === 0) return [summary]
  const names = others.map((name) => JSON.stringify(name)).join(', ')
  return [summary, maskControls(`Not in the file, and kept (--prune deletes them): ${names}.`)]
}
