import type { presentPlan } from '@automation/rules'
import { maskControls } from './format.js'
import { formatDiff } from './format-diff.js'
import { writeYaml } from './rule-text.js'

/** As the API shows it, and as presentPlan makes it of what it planned. */
export type ShownPlan = ReturnType<typeof presentPlan>
type ShownChanges = ShownPlan['rules']

/** What a plan creates, in its order; undefined where only its name is known. */
export type Created = Record<keyof ShownPlan, (object | undefined)[]>

export function hasChanges({ rules, emailTemplates }: ShownPlan): boolean {
  return [rules, emailTemplates].some(
    (changes) => changes.create.length + changes.change.length + changes.delete.length > 0,
  )
}

/** A plan for people: what would be created, the lines that would change, and what would be deleted. */
export function formatPlan({ rules, emailTemplates }: ShownPlan, created: Created): string {
  const lines = [
    ...formatChanges('rule', rules, created.rules),
    ...formatChanges('email template', emailTemplates, created.emailTemplates),
  ]
  const details = lines.map((line) => maskControls(line.trimEnd()))
  if (details.length > 0) details.push('')
  return [
    ...details,
    ...warnOfNames('rule', rules),
    ...warnOfNames('email template', emailTemplates),
    ...summarise('Rules', rules),
    ...summarise('Email templates', emailTemplates),
  ].join('\n')
}

function warnOfNames(noun: string, { almostSame = [] }: ShownChanges): string[] {
  return almostSame.map(({ name, other }) => {
    const names = `${JSON.stringify(name)} has almost the same name as the ${noun} ${JSON.stringify(other)}`
    return maskControls(
      `The new ${noun} ${names}: only blanks at its ends, or the Unicode form of its letters, differ.`,
    )
  })
}

function formatChanges(noun: string, changes: ShownChanges, created: Created['rules']): string[] {
  const head = (mark: string, name: string) => `${mark} ${noun} ${JSON.stringify(name)}`
  return [
    ...changes.create.flatMap((name, index) => {
      const details = Object.entries(created[index] ?? {}).filter(
        ([field, value]) => field !== 'name' && value !== null,
      )
      const text = details.length === 0 ? '' : writeYaml(Object.fromEntries(details)).trimEnd()
      return [head('+', name), ...splitLines(text).map((line) => `+     ${line}`)]
    }),
    ...changes.change.flatMap(({ name, fields }) => {
      const lines = fields.flatMap(({ field, before, after }) =>
        formatDiff(writeYaml({ [field]: before }), writeYaml({ [field]: after })),
      )
      return [head('~', name), ...lines.map((line) => `${line.slice(0, 1)}     ${line.slice(1)}`)]
    }),
    ...changes.delete.map((name) => head('-', name)),
  ]
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

function summarise(nouns: string, changes: ShownChanges): string[] {
  const counts = `${changes.create.length} to create, ${changes.change.length} to change, ${changes.delete.length} to delete`
  const summary = `${nouns}: ${counts}, ${changes.unchanged.length} unchanged.`
  if (changes.others.length === 0) return [summary]
  const names = changes.others.map((name) => JSON.stringify(name)).join(', ')
  return [summary, maskControls(`Not in the file, and kept (--prune deletes them): ${names}.`)]
}
