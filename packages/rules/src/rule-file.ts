import type { WorkspaceDatabase } from '@automation/database'
import type { RuleTest } from '@automation/rule-tests'
import { arrangeRule } from './arrange-rule.js'
import type { FileRule, RuleFields } from './rule-fields.js'
import type { TemplateFields } from './write-templates.js'

/** A workspace's rules and email templates in a file: without ids, times and counters. */
export interface RuleFile {
  version: 1
  rules: FileRule[]
  /** Where they are omitted, an import does not change the workspace's templates. */
  emailTemplates?: TemplateFields[]
  /** Tests of the rules. They are in the file only, and an import runs them first. */
  tests?: RuleTest[]
}

/**
 * Exports a workspace's rules and templates in the order of their names, and rules of one name in the order of their definitions,
 * so that the same rules give the same file.
 *
 * @param labels only the rules that have all of these, and no email templates: those are everybody's
 */
export async function exportRules(
  database: WorkspaceDatabase,
  labels: readonly string[] = [],
): Promise<RuleFile> {
  const [rules, templates] = await Promise.all([
    database.rule.findMany({ where: { labels: { hasEvery: [...labels] } } }),
    database.emailTemplate.findMany({ select: { name: true, text: true, html: true } }),
  ])
  return {
    version: 1,
    rules: sortRules(rules),
    ...(labels.length === 0 && { emailTemplates: templates.sort(byName).map(presentTemplate) }),
  }
}

function sortRules(rules: RuleFields[]): FileRule[] {
  const sortable = rules.map((rule) => {
    const arranged = arrangeRule(rule)
    return { arranged, name: rule.name, definition: JSON.stringify(arranged) }
  })
  return sortable
    .sort((one, other) => byName(one, other) || compare(one.definition, other.definition))
    .map(({ arranged }) => arranged)
}

function byName(one: { name: string }, other: { name: string }): number {
  return compare(one.name, other.name)
}

/** By code units: the order of a database depends on its collation. */
function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Omits a part that the mail does not have. */
function presentTemplate({ name, text, html }: TemplateFields): TemplateFields {
  return { name, ...(text === null ? {} : { text }), ...(html === null ? {} : { html }) } as TemplateFields
}
