import { isClause, isListCondition, itemPartsOf, listLeaves } from '../conditions/condition-parts.js'
import type { Fault } from '../fault.js'
import type { Action, Clause, Condition, RuleDefinition } from '../rule.js'
import { listPlaceholderUses, type PlaceholderUse } from '../templates/template.js'
import { listUnencoded } from '../templates/url-template.js'
import { listNames, listTexts } from '../texts/list-texts.js'
import { findNumberAsTime } from './number-as-time.js'

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
  return listLeaves(condition, field).flatMap(({ leaf, path }): Fault[] => {
    if (isListCondition(leaf))
      return itemPartsOf(leaf).flatMap((part) => searchCondition(part.condition, path + part.place))
    if (!isClause(leaf)) return []
    const message = findNumberAsTime(leaf) ?? findDelimiters(leaf) ?? findEmptyText(leaf)
    return message === undefined ? [] : [{ field: `${path}.value`, message }]
  })
}

/** In many languages a pattern stands between slashes, with flags behind. A path such as `/users/` may be meant as it is. */
function findDelimiters({ operator, value }: Clause): string | undefined {
  if (!/^(?:not_)?matches$/.test(operator) || typeof value !== 'string') return undefined
  const [, pattern = '', flags = ''] = /^\/(.+)\/([dgimsuvy]*)$/s.exec(value) ?? []
  if (flags === '' && !/^\^|\$$/.test(pattern)) return undefined
  return `The slashes are part of the pattern. Did you mean ${/[ims]/.test(flags) ? `(?${flags.replace(/[^ims]/g, '')})` : ''}${pattern}?`
}

function findEmptyText({ operator, value }: Clause): string | undefined {
  if (!/^(?:not_)?contains(?:_any)?$/.test(operator)) return undefined
  return [value].flat().includes('')
    ? 'Every text contains "". Did you mean is_empty or is_not_empty?'
    : undefined
}

function searchAction({ when, config }: Action, field: string): Fault[] {
  const place = `${field}.config`
  return [
    ...(when ? searchCondition(when, `${field}.when`) : []),
    ...('where' in config ? searchWhere(config.where as Condition[], `${place}.where`) : []),
    ...('url' in config ? describeUnencoded(config.url, `${place}.url`) : []),
    ...('body' in config ? describeTextBody(config, `${place}.body`) : []),
    ...describeNames(config, place),
    ...findDoubtfulPlaceholders(config, place),
  ]
}

function searchWhere(conditions: readonly Condition[], field: string): Fault[] {
  return conditions.flatMap((condition, index) => searchCondition(condition, `${field}[${index}]`))
}

function describeUnencoded(url: string, field: string): Fault[] {
  return [...new Set(listUnencoded(url))].map((name) => ({
    field,
    message: `{{${name}}} has no filter urlencode: a value with / ? # & % or + may make the action fail`,
  }))
}

/** JSON within a text is quoted once more, and a receiver of JSON finds a text. */
function describeTextBody(
  { body, headers = {} }: { body?: unknown; headers?: object },
  field: string,
): Fault[] {
  const isJson = typeof body === 'string' && /^\s*(?:\{(?!\{).*\}|\[.*\])\s*$/s.test(body)
  if (!isJson || Object.keys(headers).some((name) => /^content-type$/i.test(name))) return []
  return [
    {
      field,
      message: 'This text is sent in quotes. Write the object itself, without quotes around it',
    },
  ]
}

function describeNames(config: object, place: string): Fault[] {
  return listNames(config, place)
    .filter(({ text }) => text.includes('{{'))
    .map(({ text, place: field }) => ({
      field,
      message: `${text} is the name of a field and is sent as it is: only texts can have placeholders`,
    }))
}

function describePlaceholder({ path, fallbacks }: PlaceholderUse): string[] {
  const ofBlocks = /^this\b/.test(path)
    ? [`{{${path}}} reads a field of the event with this name: within {{#each}} the item is {{item}}`]
    : /^(?:else|elif|elsif|elseif|endif|endfor|endeach)\b/.test(path)
      ? [`{{${path}}} reads a field of the event with this name: blocks are not supported`]
      : path.startsWith('@')
        ? [`{{${path}}} reads a field of the event with this name: @ has no meaning of its own`]
        : []
  // A path of several names is not meant as a text.
  const words = fallbacks.filter((field) => !/[.[]/.test(field))
  return [
    ...ofBlocks,
    ...words.map((word) => `default:${word} reads the field ${word}: a text needs quotes, default:"${word}"`),
  ]
}
