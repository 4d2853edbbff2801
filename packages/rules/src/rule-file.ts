import { Refused } from '@automation/access'
import type { WorkspaceDatabase } from '@automation/database'
import { arrangeRule } from './arrange-rule.js'
import type { RuleFields } from './rule-fields.js'
import type { TemplateFields } from './write-templates.js'

/** A workspace's rules, and the mails that they name, as a file keeps them: no ids, no times, nothing that is counted. */
export interface RuleFile {
  version: 1
  rules: FileRule[]
  /** Where they are left out, an import leaves the workspace's own alone. */
  emailTemplates?: TemplateFields[]
}

/** A rule is known by its name. Without `isActive`, it is made active and stays as it is afterwards. */
export type FileRule = Omit<RuleFields, 'isActive'> & { isActive?: boolean }

/**
 * In one order, that of the names, so that the same rules give the same file.
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

/** By code units: the order of a database depends on where it was set up. */
function byName(one: { name: string }, other: { name: string }): number {
  if (one.name === other.name) return 0
  return one.name < other.name ? -1 : 1
}

/** A part that a mail does not have is left out. */
function presentTemplate({ name, text, html }: TemplateFields): TemplateFields {
  return { name, ...(text === null ? {} : { text }), ...(html === null ? {} : { html }) } as TemplateFields
}
