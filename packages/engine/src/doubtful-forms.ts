import type { Fault } from './faults.js'
import { listTexts } from './list-texts.js'
import { findNumberAsTime } from './number-as-time.js'
import type { Action, Condition, RuleDefinition } from './rule.js'
import { listPlaceholderUses, type PlaceholderUse } from './template.js'
import { listUnencoded } from './url-template.js'

/** Finds forms in a rule that are allowed and often meant otherwise. Takes a definition without faults. */
export function findDoubtfulForms({ conditions, actions }: RuleDefinition): Fault[] {
  return [
    ...conditions.flatMap((condition, index) => searchCondition(condition, `conditions[${index}]`)),
    ...actions.flatMap((action, index) => searchAction(action, `actions[${index}]`)),
  ]
}

/** Finds such forms in the texts of a value, at any depth. */
export function findDoubtfulPlaceholders(value: unknown, place: string): Fault[] {
  return listTexts(value, place).flatMap(({ text, place: field }) => {
    const messages = new Set(listPlaceholderUses(text).flatMap(describePlaceholder))
    return [...messages].map((message) => ({ field, message }))
  })
}

function searchCondition(condition: Condition, field: string): Fault[] {
  if ('not' in condition) return searchCondition(condition.not, `${field}.not`)
  if ('all' in condition || 'any' in condition) {
    const [name, children] =
      'all' in condition ? (['all', condition.all] as const) : (['any', condition.any] as const)
    return children.flatMap((child, index) => searchCondition(child, `${field}.${name}[${index}]`))
  }
  const message = findNumberAsTime(condition)
  return message === undefined ? [] : [{ field: `${field}.value`, message }]
}

function searchAction({ when, config }: Action, field: string): Fault[] {
  const place = `${field}.config`
  return [
    ...(when ? searchCondition(when, `${field}.when`) : []),
    ...('url' in config ? describeUnencoded(config.url, `${place}.url`) : []),
    ...findDoubtfulPlaceholders(config, place),
  ]
}

function describeUnencoded(url: string, field: string): Fault[] {
  return [...new Set(listUnencoded(url))].map((name) => ({
    field,
    message: `{{${name}}} has no filter urlencode: a value with / ? # or & makes the action fail`,
  }))
}

function describePlaceholder({ path, fallbacks }: PlaceholderUse): string[] {
  const ofBlocks = /^(?:else|elif|elsif|elseif|endif|endfor|endeach|this)\b/.test(path)
    ? [`{{${path}}} reads a field of the event with this name: there are no blocks`]
    : []
  // A path of several names is not meant as a text.
  const words = fallbacks.filter((field) => !/[.[]/.test(field))
  return [
    ...ofBlocks,
    ...words.map((word) => `default:${word} reads the field ${word}: a text needs quotes, default:"${word}"`),
  ]
}
