import { Refused } from '@automation/access'
import type { RuleTest } from '@automation/check'
import type { WorkspaceDatabase } from '@automation/database'
import { arrangeRule } from './arrange-rule.js'
import type { RuleFields } from './rule-fields.js'
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

/** A rule is identified by its name. Without `isActive`, a new rule is active, and an existing one keeps its state. */
export type FileRule = Omit<RuleFields, 'isActive'> & { isActive?: boolean }

/**
 * Exports a workspace's rules and templates in the order of their names, so that the same rules give the same file.
 *
 * @throws Refused where two rules have one name
 */
export async function exportRules(database: WorkspaceDatabase): Promise<RuleFile> {
  const [rules, templates] = await Promise.all([
    database.rule.findMany({ orderBy: { id: 'asc' } }),
    database.emailTemplate.findMany({ select: { name: true, text: true, html: true } }),
  ])
  refuseNamesakes(rules)
  return {
    version: 1,
    rules: rules.sort(byName).map(arrangeRule),
    emailTemplates: templates.sort(byName).map(presentTemplate),
  }
}

function refuseNamesakes(rules: { id: string; name: string }[]): void {
  const known = new Map<string, string>()
  for (const { id, name } of rules) {
    const first = known.get(name)
    if (first !== undefined)
      throw new Refused(
        'conflict',
        `Two rules are named ${JSON.stringify(name)} (${first} and ${id}), and a file tells rules apart by their names: rename one`,
      )
    known.set(name, id)
  }
}

/** By code units: the order of a database depends on its collation. */
function byName(one: { name: string }, other: { name: string }): number {
  if (one.name === other.name) return 0
  return one.name < other.name ? -1 : 1
}

/** Omits a part that the mail does not have. */
function presentTemplate({ name, text, html }: TemplateFields): TemplateFields {
  return { name, ...(text === null ? {} : { text }), ...(html === null ? {} : { html }) } as TemplateFields
}
