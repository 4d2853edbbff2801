import { listConditionPaths } from '../conditions/condition-paths.js'
import { listConfigUses } from '../configs/config-uses.js'
import { eventTypeDefinitions } from '../event-types.js'
import type { Fault } from '../fault.js'
import type { PerKey } from '../per-key/per-key.js'
import { findPerKeyWarnings } from '../per-key/per-key-warnings.js'
import { findRoot, readDeclared } from '../results/recorded.js'
import type { Action, Condition, RuleDefinition } from '../rule.js'
import { compileTemplate } from '../templates/template.js'
import { cutText } from '../texts/cut-text.js'
import { findSimilar } from '../texts/nearest.js'
import { describeListEnd } from '../values/dead-end.js'
import { isIndex, parsePath } from '../values/path.js'
import { findDoubtfulForms } from './doubtful-forms.js'
import { findForeseen } from './foreseen.js'

/**
 * Finds what is allowed in a rule and probably a mistake: fields that are almost those of the event type's example, paths that begin
 * outside of the data or go on below a list, placeholders of other languages, forms that are often meant otherwise, and what can be foreseen to fail. Takes a definition without faults.
 */
export function findRuleWarnings(
  rule: RuleDefinition & { trigger: string; perKey?: PerKey | null },
): Fault[] {
  const { trigger, conditions, actions, perKey } = rule
  const example = eventTypeDefinitions.find(({ type }) => type === trigger)?.example ?? {}
  const declared = readDeclared(actions, perKey)
  const warnOfPath = (field: string, path: string) =>
    findRoot(declared, path) === undefined ? warnAboutPath(field, path, trigger, example) : []
  return [
    ...conditions.flatMap((condition, index) =>
      searchCondition(condition, `conditions[${index}]`, warnOfPath),
    ),
    ...actions.flatMap((action, index) => searchAction(action, `actions[${index}]`, warnOfPath)),
    ...findPerKeyWarnings(rule, warnOfPath),
    ...findDoubtfulForms(rule),
    ...findForeseen(actions, declared, example),
  ]
}

type WarnOfPath = (field: string, path: string) => Fault[]

function searchCondition(condition: Condition, field: string, warnOfPath: WarnOfPath): Fault[] {
  return listConditionPaths(condition, field).flatMap(({ path, place }) => warnOfPath(place, path))
}

function searchAction(action: Action, field: string, warnOfPath: WarnOfPath): Fault[] {
  const ofWhen = action.when ? searchCondition(action.when, `${field}.when`, warnOfPath) : []
  const uses = listConfigUses(action.config, field)
  const ofConfig = Object.entries(action.config).flatMap(([key, value]) => {
    const place = `${field}.config.${key}`
    const paths = new Set(uses.filter((use) => use.field === key).flatMap(({ reads }) => reads))
    return [...[...paths].flatMap((path) => warnOfPath(place, path)), ...warnAboutTexts(place, value)]
  })
  return [...ofWhen, ...ofConfig]
}

/** What others call the event, of which a path here begins in the data. */
const wrappers = new Set(['data', 'event', 'trigger', 'payload', 'body'])

function warnAboutPath(field: string, path: string, trigger: string, example: object): Fault[] {
  const known = Object.keys(example)
  const keys = parsePath(path) ?? []
  const [first = '', second] = keys
  if (Array.isArray((example as Record<string, unknown>)[first]) && second !== undefined && !isIndex(second))
    return [{ field, message: `In the example of ${trigger} ${describeListEnd(keys, 1)}` }]
  if (known.length === 0 || known.includes(first)) return []
  if (wrappers.has(first) && second !== undefined)
    return [
      {
        field,
        message: `A path starts in the data of the event. Did you mean ${path.slice(first.length + 1)} instead of ${path}?`,
      },
    ]
  const meant = findSimilar(first, known)
  return meant === undefined ? [] : [{ field, message: `Did you mean ${meant} instead of ${first}?` }]
}

function warnAboutTexts(field: string, value: unknown): Fault[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const found = /\$\{[\w.]+\}|<%=?[^%]*%>|\{%[^%]*%\}/.exec(text)?.[0]
  return found === undefined || typeof compileTemplate(text) === 'string'
    ? []
    : [{ field, message: `${cutText(found, 60)} is plain text here: a placeholder is {{field}}` }]
}
