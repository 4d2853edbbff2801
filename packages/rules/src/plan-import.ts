import type { WorkspaceDatabase } from '@automation/database'
import type { Fault } from '@automation/engine'
import { type Pair, pairByName, pairRules } from './pair-rules.js'
import type { RuleFields, StoredRule } from './rule-fields.js'
import type { RuleFile } from './rule-file.js'
import { maxRules } from './rule-schemas.js'
import { listChanges } from './save-rules.js'
import { maxTemplates } from './template-schemas.js'
import { listTemplateChanges, type TemplateFields, type TemplateRow } from './write-templates.js'

/** The steps of an import. Equal plans make the same changes to the same rules. */
export interface ImportPlan {
  rules: Changes<RuleFields, StoredRule>
  emailTemplates: Changes<TemplateFields, TemplateRow>
}

export interface Changes<Fields, Found> {
  toCreate: Fields[]
  /** `fields` is the intended state, and `changed` names the fields that differ. */
  toChange: { found: Found; fields: Fields; changed: string[] }[]
  toDelete: Found[]
  /** The names of the items that equal those of the file. */
  unchanged: string[]
  /** The names of the items that are not in the file, and stay. */
  others: string[]
}

export interface ImportOptions {
  /** Delete the items that are not in the file. */
  prune: boolean
  /** Change and delete only rules that have all of these, and delete no email templates. The rules of the file must have them. */
  labels?: readonly string[] | undefined
}

/** What no import sets. Ticks come between a plan and its import, and are no change of a rule. */
const omit = {
  createdAt: true,
  updatedAt: true,
  scheduledSince: true,
  nextRunAt: true,
  missedTicks: true,
} as const

/** Compares a file with the present state of a workspace. @returns the plan, or the faults that prevent it */
export async function planImport(
  database: Pick<WorkspaceDatabase, 'rule' | 'emailTemplate'>,
  file: RuleFile,
  { prune, labels = [] }: ImportOptions,
): Promise<{ plan: ImportPlan } | { faults: Fault[] }> {
  const [all, templates] = [
    await database.rule.findMany({ orderBy: { id: 'asc' }, omit }),
    await database.emailTemplate.findMany({ orderBy: { id: 'asc' } }),
  ]
  const rules = all.filter((rule) => hasLabels(rule, labels))
  const unlabelled = findUnlabelled(file, all, labels)
  if (unlabelled.length > 0) return { faults: unlabelled }
  const plan = {
    rules: compare(pairRules(file.rules, rules), rules, prune, listChanges),
    // A file without templates deletes none.
    emailTemplates: compare(
      pairByName(file.emailTemplates ?? [], templates),
      templates,
      prune && file.emailTemplates !== undefined && labels.length === 0,
      listTemplateChanges,
    ),
  }
  const faults = [
    ...findExcess('rules', 'rules', all.length, plan.rules, maxRules),
    ...findExcess('emailTemplates', 'email templates', templates.length, plan.emailTemplates, maxTemplates),
  ]
  return faults.length > 0 ? { faults } : { plan }
}

function hasLabels(rule: { labels?: readonly string[] }, labels: readonly string[]): boolean {
  return labels.every((label) => rule.labels?.includes(label))
}

/** A rule that lacks the label in the workspace alone would become two of one name. */
function findUnlabelled({ rules }: RuleFile, all: StoredRule[], labels: readonly string[]): Fault[] {
  const found = new Set(all.filter((rule) => hasLabels(rule, labels)).map(({ name }) => name))
  const others = new Set(all.map(({ name }) => name).filter((name) => !found.has(name)))
  const said = labels.map((label) => JSON.stringify(label)).join(', ')
  return rules.flatMap((rule, index) => {
    if (!hasLabels(rule, labels))
      return [
        { field: `rules[${index}].labels`, message: `Must have ${said}: the import is for rules with it` },
      ]
    return others.has(rule.name)
      ? [
          {
            field: `rules[${index}].name`,
            message: `The rule of this name in the workspace lacks ${said}: add it there first`,
          },
        ]
      : []
  })
}

function compare<Fields extends { name: string }, Found extends { name: string }>(
  pairs: Pair<Fields, Found>[],
  found: Found[],
  prune: boolean,
  listChanges: (found: Found, fields: Fields) => string[],
): Changes<Fields, Found> {
  const kept = pairs.flatMap(({ fields, row }) =>
    row === undefined ? [] : [{ found: row, fields, changed: listChanges(row, fields) }],
  )
  const keptRows = new Set(kept.map(({ found }) => found))
  const rest = found.filter((row) => !keptRows.has(row))
  return {
    toCreate: pairs.filter(({ row }) => row === undefined).map(({ fields }) => fields),
    toChange: kept.filter(({ changed }) => changed.length > 0),
    toDelete: prune ? rest : [],
    unchanged: kept.filter(({ changed }) => changed.length === 0).map(({ fields }) => fields.name),
    others: prune ? [] : rest.map(({ name }) => name),
  }
}

function findExcess(
  field: string,
  noun: string,
  before: number,
  { toCreate, toDelete }: Changes<unknown, unknown>,
  max: number,
): Fault[] {
  const count = before + toCreate.length - toDelete.length
  if (count <= max || toCreate.length === 0) return []
  return [{ field, message: `A workspace may have ${max} ${noun}, and this would make ${count}` }]
}
