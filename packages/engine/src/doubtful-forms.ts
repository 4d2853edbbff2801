import type { Fault } from './faults.js'
import { listTexts } from './list-texts.js'
import type { RuleDefinition } from './rule.js'
import { listPlaceholderUses, type PlaceholderUse } from './template.js'
import { listUnencoded } from './url-template.js'

/** Finds forms in a rule that are allowed and often meant otherwise. Takes a definition without faults. */
export function findDoubtfulForms({ actions }: Pick<RuleDefinition, 'actions'>): Fault[] {
  return actions.flatMap(({ config }, index) => {
    const place = `actions[${index}].config`
    const ofUrl = 'url' in config ? describeUnencoded(config.url, `${place}.url`) : []
    return [...ofUrl, ...findDoubtfulPlaceholders(config, place)]
  })
}

/** Finds such forms in the texts of a value, at any depth. */
export function findDoubtfulPlaceholders(value: unknown, place: string): Fault[] {
  return listTexts(value, place).flatMap(({ text, place: field }) => {
    const messages = new Set(listPlaceholderUses(text).flatMap(describePlaceholder))
    return [...messages].map((message) => ({ field, message }))
  })
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
