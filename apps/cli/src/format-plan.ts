import { arrangeRule, type Changes, type ImportPlan } from '@automation/rules'
import { type DiffLine, diffLines } from './diff-lines.js'
import { maskControls } from './format.js'
import { writeYaml } from './rule-text.js'

/** Lines that are the same, around those that differ. */
const contextLines = 3

export function hasChanges({ rules, emailTemplates }: ImportPlan): boolean {
  return [rules, emailTemplates].some(
    ({ toCreate, toChange, toDelete }) => toCreate.length + toChange.length + toDelete.length > 0,
  )
}

/** A plan for people: what would be made, the lines of each that would change, and what would be deleted. */
export function formatPlan(plan: ImportPlan): string {
  const lines = [
    ...formatChanges('rule', plan.rules, arrangeRule),
    ...formatChanges('email template', plan.emailTemplates, pickTexts),
  ]
  const told = lines.map((line) => maskControls(line.trimEnd()))
  if (told.length > 0) told.push('')
  return [...told, ...sumUp('rules', plan.rules), ...sumUp('email templates', plan.emailTemplates)].join('\n')
}

/** The same for programs. */
export function presentPlan({ rules, emailTemplates }: ImportPlan) {
  return {
    rules: presentChanges(rules, arrangeRule),
    emailTemplates: presentChanges(emailTemplates, pickTexts),
  }
}

interface Named {
  name: string
}

type Arrange<Fields> = (fields: Fields) => Record<string, unknown>

function pickTexts({ text, html }: { text: string | null; html: string | null }): Record<string, unknown> {
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
  return { create: namesOf(toCreate), change, delete: namesOf(toDelete), unchanged, others }
}

function formatChanges<Fields extends Named, Found extends Named & Fields>(
  noun: string,
  { toCreate, toChange, toDelete }: Changes<Fields, Found>,
  arrange: Arrange<Fields>,
): string[] {
  const head = (mark: string, { name }: Named) => `${mark} ${noun} ${JSON.stringify(name)}`
  return [
    ...toCreate.flatMap((fields) => {
      const told = Object.entries(arrange(fields)).filter(
        ([field, value]) => field !== 'name' && value !== null,
      )
      return [head('+', fields), ...linesOf(Object.fromEntries(told)).map((line) => `+     ${line}`)]
    }),
    ...toChange.flatMap(({ found, fields, changed }) => {
      const [before, after] = [arrange(found), arrange(fields)]
      const lines = changed.flatMap((field) => {
        return cutContext(diffLines(linesOf({ [field]: before[field] }), linesOf({ [field]: after[field] })))
      })
      return [head('~', fields), ...lines]
    }),
    ...toDelete.map((found) => head('-', found)),
  ]
}

function linesOf(value: object): string[] {
  return writeYaml(value).trimEnd().split('\n')
}

/** The first line names the field and is always told. */
function cutContext(lines: DiffLine[]): string[] {
  const isNear = lines.map((_, index) => {
    const around = lines.slice(Math.max(0, index - contextLines), index + contextLines + 1)
    return index === 0 || around.some(({ mark }) => mark !== ' ')
  })
  return lines.flatMap(({ mark, line }, index) => {
    if (isNear[index]) return [`${mark}     ${line}`]
    return isNear[index - 1] ? ['      …'] : []
  })
}

function sumUp(
  nouns: string,
  { toCreate, toChange, toDelete, unchanged, others }: Changes<Named, Named>,
): string[] {
  const counts = `${toCreate.length} to create, ${toChange.length} to change, ${toDelete.length} to delete`
  const sum = `${capitalise(nouns)}: ${counts}, ${unchanged.length} as the file says.`
  if (others.length === 0) return [sum]
  const names = others.map((name) => JSON.stringify(name)).join(', ')
  return [sum, maskControls(`Not in the file, and left as they are (--prune deletes them): ${names}.`)]
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
