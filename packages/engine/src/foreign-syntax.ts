/**
 * Describes what looks like a placeholder of another template language, and would render as nothing here. Only a rule that is saved is
 * checked: a stored one stays as it is.
 *
 * @param name the path of a placeholder, as written
 */
export function findForeignSyntax(name: string): string | undefined {
  const shown = `{{${name.slice(0, 60)}}}`
  if (/^[#/^>&!]/.test(name))
    return `has a block ${shown}, and there are no blocks: use the filter default, or the field when of the action`
  const foreign = /^\$(?:json|node|input|items?|env|vars|now|today|workflow|execution)(?:\.(.+))?$/.exec(name)
  if (foreign)
    return `has a variable ${shown}, and a path begins in the data of the event${foreign[1] === undefined ? '' : `: {{${foreign[1].slice(0, 60)}}}`}`
  if (/\.\w+\(/.test(name)) return `has a call ${shown}: use a filter. All: /docs/rules#filters`
  if (/ (?:\+|\*|[=!]==?|&&|<|>|\?\?) /.test(name))
    return `has an expression ${shown}, and a placeholder only reads a field`
  return undefined
}
