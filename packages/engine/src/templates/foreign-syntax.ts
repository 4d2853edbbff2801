import { cutText } from '../texts/cut-text.js'

/** Editors of HTML emails put tags and entities into placeholders. */
const htmlInName = /<\/?(?:a|b|br|code|div|em|font|i|mark|p|s|span|strong|u|wbr)\b[^>]*>|&(?:#\w+|[a-z]+);/i

/** Finds characters that copying from a page or a chat brings along. The joiners of Persian and Indic words are not among them. */
export function hasInvisible(path: string): boolean {
  return /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/.test(path)
}

/**
 * Describes what looks like a placeholder of another template language, and would render as nothing here. Only a rule that is saved is
 * checked: a stored one stays as it is.
 *
 * @param name the path of a placeholder, as written
 */
export function findForeignSyntax(name: string): string | undefined {
  const shown = `{{${cutText(name, 60)}}}`
  if (htmlInName.test(name))
    return `has HTML within a placeholder ${shown}: an editor put it there, but no field has this name`
  if (hasInvisible(name)) return `has an invisible character in a placeholder ${shown}: type it again`
  if (
    /^(?:[-~] |[~=])|(?: -|~)$|^@(?:root|index|key|first|last|odd|even|level|partial-block)(?![\w-])/.test(
      name,
    )
  )
    return `has syntax of another template language in ${shown}: a placeholder is the path of a field, such as {{name}}`
  if (/^[#/]each\b/.test(name))
    return `has a block ${shown}, which only email templates and the text of SEND_NOTIFICATION can have`
  if (/^[#/^>&!]/.test(name))
    return `has a block ${shown}, which is not supported: use the filter default, or the field when of the action. Lists have {{#each}}, in email templates and in the text of SEND_NOTIFICATION`
  const foreign = /^\$(?:json|node|input|items?|env|vars|now|today|workflow|execution)(?:\.(.+))?$/.exec(name)
  if (foreign)
    return `has a variable ${shown}, but a path starts in the data of the event${foreign[1] === undefined ? '' : `: {{${cutText(foreign[1], 60)}}}`}`
  if (/\.\w+\(/.test(name)) return `has a call ${shown}: use a filter. All: /docs/rules#filters`
  if (/ (?:\+|\*|[=!]==?|&&|<|>|\?\?) /.test(name))
    return `has an expression ${shown}, but a placeholder reads a field and has filters, such as {{score | plus:1}}. All: /docs/rules#filters`
  return undefined
}
