import {
  type Fault,
  findRuleFaults,
  isEventType,
  normaliseRule,
  type RuleDefinition,
} from '@automation/engine'
import { Type } from 'typebox'
import { createBodyCompiler, tellShapeFaults } from './body-shape.js'
import { maxRules } from './create-rules.js'
import { EmailTemplateToCreate, findEmailTemplateFaults } from './email-templates.js'
import { findUnstorable, TooLarge } from './find-unstorable.js'
import type { RuleFile } from './rule-file.js'
import { RuleToCreate } from './rule-schemas.js'
import { maxTemplates } from './write-templates.js'

/** A rule of more bytes could not be sent to the API either. */
export const maxRuleBytes = 262_144

/** What is in the lists is judged item by item, just as if each were the body of a request. */
const Frame = Type.Object(
  {
    version: Type.Enum([1]),
    rules: Type.Array(Type.Unknown(), { maxItems: maxRules }),
    emailTemplates: Type.Optional(Type.Array(Type.Unknown(), { maxItems: maxTemplates })),
  },
  { additionalProperties: false },
)

/**
 * Reads a file of rules, operators under their full names.
 *
 * @returns the file, or all that is wrong with it, at paths such as `rules[3].conditions[0].operator`
 */
export function checkRuleFile(json: unknown): { file: RuleFile } | { faults: Fault[] } {
  const { hasFrame, hasRuleShape, hasTemplateShape } = compileShapes()
  const frame = findShapeFaults(json, hasFrame)
  if (frame.length > 0) return { faults: frame }
  const { rules, emailTemplates } = json as { rules: unknown[]; emailTemplates?: unknown[] }
  const faults = [
    ...judgeItems('rules', rules, (rule) => [
      ...findShapeFaults(rule, hasRuleShape),
      ...findRuleFaults(asObject(rule)),
      ...findVocabularyFaults(asObject(rule)),
    ]),
    ...judgeItems('emailTemplates', emailTemplates ?? [], (template) => [
      ...findShapeFaults(template, hasTemplateShape),
      ...findEmailTemplateFaults(asObject(template)),
    ]),
  ]
  if (faults.length > 0) return { faults }
  return { file: readFile(rules as RuleToCreate[], emailTemplates as EmailTemplateToCreate[] | undefined) }
}

type Shape = ReturnType<ReturnType<typeof createBodyCompiler>>
let shapes: Record<'hasFrame' | 'hasRuleShape' | 'hasTemplateShape', Shape> | undefined

/** When the first file comes, and not in processes that never see one: it takes 0.1 s. */
function compileShapes() {
  if (shapes !== undefined) return shapes
  const compile = createBodyCompiler()
  shapes = {
    hasFrame: compile(Frame),
    hasRuleShape: compile(RuleToCreate),
    hasTemplateShape: compile(EmailTemplateToCreate),
  }
  return shapes
}

function readFile(rules: RuleToCreate[], templates: EmailTemplateToCreate[] | undefined): RuleFile {
  const wishes = rules.map((rule) => {
    const { conditions = [], actions } = rule as RuleToCreate & Partial<RuleDefinition>
    return { description: '', ...rule, ...normaliseRule({ conditions, actions }) }
  })
  if (templates === undefined) return { version: 1, rules: wishes }
  const emailTemplates = templates.map(({ name, text = null, html = null }) => ({ name, text, html }))
  return { version: 1, rules: wishes, emailTemplates }
}

function judgeItems(list: string, items: unknown[], findFaults: (item: unknown) => Fault[]): Fault[] {
  const faults = items.flatMap((item, index) =>
    judgeItem(item, findFaults).map(({ field, message }) => {
      return { field: field === '' ? `${list}[${index}]` : `${list}[${index}].${field}`, message }
    }),
  )
  return [...faults, ...findNamesakes(list, items)]
}

function judgeItem(item: unknown, findFaults: (item: unknown) => Fault[]): Fault[] {
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

function findShapeFaults(json: unknown, hasShape: Shape): Fault[] {
  return hasShape(json) ? [] : tellShapeFaults(hasShape.errors ?? [])
}

function findVocabularyFaults({ trigger }: { trigger?: unknown }): Fault[] {
  const isUnknown = typeof trigger === 'string' && !isEventType(trigger)
  return isUnknown ? [{ field: 'trigger', message: 'Invalid trigger type' }] : []
}

function findNamesakes(list: string, items: unknown[]): Fault[] {
  const known = new Map<unknown, number>()
  return items.flatMap((item, index) => {
    const { name } = asObject(item)
    const first = known.get(name)
    if (typeof name !== 'string' || first === undefined) {
      known.set(name, index)
      return []
    }
    return [{ field: `${list}[${index}].name`, message: `${list}[${first}] has the same name` }]
  })
}

function asObject(json: unknown): Record<string, unknown> {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {}
}
