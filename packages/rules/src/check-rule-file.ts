import {
  compileShape,
  type Fault,
  findRuleFaults,
  limitFaults,
  normaliseRule,
  type RuleDefinition,
} from '@automation/engine'
import { findTestFaults, maxTests, RuleTest } from '@automation/rule-tests'
import { type TSchema, Type } from 'typebox'
import { findDefinitionFaults } from './find-definition-faults.js'
import { findUnstorable, TooLarge } from './find-unstorable.js'
import type { RuleFile } from './rule-file.js'
import { completeMode } from './rule-mode.js'
import { maxRules, RuleToCreate } from './rule-schemas.js'
import { EmailTemplateToCreate, findEmailTemplateFaults, maxTemplates } from './template-schemas.js'

/** The limit of the API for a request body. */
export const maxRuleBytes = 262_144

/** The items of the lists are checked one by one, as if each were the body of a request. */
const shapes = {
  frame: compileShape(frameOf(Type.Unknown(), Type.Unknown(), Type.Unknown())),
  template: compileShape(EmailTemplateToCreate),
  test: compileShape(RuleTest),
}
/** A whole file, for editors. What it accepts may still be refused: it knows no patterns, placeholders and limits across fields. */
export const RuleFileSchema = frameOf(RuleToCreate, EmailTemplateToCreate, RuleTest)

function frameOf<Rule extends TSchema, Template extends TSchema, Test extends TSchema>(
  rule: Rule,
  template: Template,
  test: Test,
) {
  return Type.Object(
    {
      version: Type.Enum([1], { description: 'Version of the format' }),
      rules: Type.Array(rule, { maxItems: maxRules, description: 'The rules of the workspace' }),
      emailTemplates: Type.Optional(
        Type.Array(template, {
          maxItems: maxTemplates,
          description: 'Templates for SEND_EMAIL. Without it, an import does not change them',
        }),
      ),
      tests: Type.Optional(
        Type.Array(test, {
          maxItems: maxTests,
          description: 'Tests of the rules: `rules test` runs them, and an import runs them first',
        }),
      ),
    },
    { additionalProperties: false },
  )
}

/**
 * Reads a file of rules, with the full names of operators.
 *
 * @param ownTypes the event types of the workspace's own; undefined where the workspace is not known
 * @param findFaults of the definition of one of its rules, at this index
 * @returns the file, or all of its faults, at paths such as `rules[3].conditions[0].operator`
 */
export function checkRuleFile(
  json: unknown,
  ownTypes?: ReadonlySet<string>,
  findFaults: (rule: object, index: number) => Fault[] = findRuleFaults,
): { file: RuleFile } | { faults: Fault[] } {
  const frame = shapes.frame(json)
  if (frame.length > 0) return { faults: frame }
  const { rules, emailTemplates, tests } = json as Record<'rules', unknown[]> &
    Partial<Record<'emailTemplates' | 'tests', unknown[]>>
  const faults = [
    ...checkItems('rules', rules, (rule, index) =>
      findDefinitionFaults(rule, ownTypes, (body) => findFaults(body, index)),
    ),
    ...checkItems('emailTemplates', emailTemplates ?? [], (template) => [
      ...limitFaults(shapes.template(template)),
      ...findEmailTemplateFaults(asObject(template)),
    ]),
    // Rules may share a name, email templates may not.
    ...findNamesakes('emailTemplates', emailTemplates ?? []),
    ...checkItems('tests', tests ?? [], (test) => [
      ...limitFaults(shapes.test(test)),
      ...findTestFaults(asObject(test)),
    ]),
  ]
  if (faults.length > 0) return { faults }
  const file = readFile(rules as RuleToCreate[], emailTemplates as EmailTemplateToCreate[] | undefined)
  return { file: tests === undefined ? file : { ...file, tests: tests as RuleTest[] } }
}

function readFile(rules: RuleToCreate[], templates: EmailTemplateToCreate[] | undefined): RuleFile {
  const fileRules = rules.map((rule) => {
    const { conditions = [], actions } = rule as RuleToCreate & Partial<RuleDefinition>
    const state = rule.mode === 'shadow' ? completeMode(rule) : {}
    return { description: '', ...rule, ...state, ...normaliseRule({ conditions, actions }) }
  })
  if (templates === undefined) return { version: 1, rules: fileRules }
  const emailTemplates = templates.map(({ name, text = null, html = null }) => ({ name, text, html }))
  return { version: 1, rules: fileRules, emailTemplates }
}

function checkItems(
  list: string,
  items: unknown[],
  findFaults: (item: unknown, index: number) => Fault[],
): Fault[] {
  return items.flatMap((item, index) =>
    checkItem(item, (one) => findFaults(one, index)).map(({ field, message }) => {
      return { field: field === '' ? `${list}[${index}]` : `${list}[${index}].${field}`, message }
    }),
  )
}

function checkItem(item: unknown, findFaults: (item: unknown) => Fault[]): Fault[] {
  try {
    const unstorable = findUnstorable(item)
    if (Buffer.byteLength(JSON.stringify(item)) > maxRuleBytes)
      return [{ field: '', message: `Has more than ${maxRuleBytes} bytes` }]
    return [...unstorable, ...findFaults(item)]
  } catch (error) {
    if (error instanceof TooLarge) return [error.fault]
    throw error
  }
}

function findNamesakes(list: string, items: unknown[]): Fault[] {
  const firstOf = new Map<unknown, number>()
  return items.flatMap((item, index) => {
    const { name } = asObject(item)
    const first = firstOf.get(name)
    if (typeof name !== 'string' || first === undefined) {
      firstOf.set(name, index)
      return []
    }
    return [{ field: `${list}[${index}].name`, message: `${list}[${first}] has the same name` }]
  })
}

function asObject(json: unknown): Record<string, unknown> {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {}
}
