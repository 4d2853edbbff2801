import { compileTemplate, listPlaceholderUses, parsePath } from '@automation/engine'

/** Where a value of an emitted event comes from: the event that began the chain, the rule, or a text that is made of both. */
export type Source =
  | { readonly keys: readonly string[]; readonly isFilled: boolean }
  | { readonly constant: unknown }
  | 'made'

export type FindSource = (keys: readonly string[]) => Source

export const fromEvent: FindSource = (keys) => ({ keys, isFilled: false })

/**
 * Where the values of an event come from that EMIT_EVENT emits.
 *
 * @param isEach whether it emits one for each item of a list: what is read of the item is not followed
 */
export function throughEmission(data: unknown, source: FindSource, isEach = false): FindSource {
  if (data === undefined) return source
  const before: FindSource = isEach ? (keys) => (keys[0] === 'item' ? 'made' : source(keys)) : source
  if (typeof data === 'string') {
    const [use] = listPlaceholderUses(data)
    const path = use?.isWhole && use.filters.length === 0 ? parsePath(use.path) : undefined
    return path === undefined ? () => 'made' : (keys) => before([...path, ...keys])
  }
  return (keys) => findInTemplate(data, keys, before)
}

function findInTemplate(template: unknown, keys: readonly string[], before: FindSource): Source {
  const [key, ...rest] = keys
  if (typeof template === 'string') return findInText(template, keys, before)
  if (key === undefined) return hasPlaceholders(template) ? 'made' : { constant: template }
  if (typeof template !== 'object' || template === null || !Object.hasOwn(template, key))
    return { constant: undefined }
  return findInTemplate((template as Record<string, unknown>)[key], rest, before)
}

function findInText(text: string, keys: readonly string[], before: FindSource): Source {
  const uses = listPlaceholderUses(text)
  const [use] = uses
  if (use === undefined) {
    const template = compileTemplate(text)
    return { constant: keys.length > 0 || typeof template === 'string' ? undefined : template.constant }
  }
  if (!use.isWhole) return keys.length > 0 ? { constant: undefined } : 'made'
  const path = use.filters.length === 0 ? parsePath(use.path) : undefined
  if (path === undefined) return 'made'
  const source = before([...path, ...keys])
  // A missing value renders as "".
  return keys.length > 0 ? source : fill(source)
}

function fill(source: Source): Source {
  if (source === 'made') return source
  if ('keys' in source) return { keys: source.keys, isFilled: true }
  return source.constant === undefined ? { constant: '' } : source
}

function hasPlaceholders(template: unknown): boolean {
  if (typeof template === 'string') return listPlaceholderUses(template).length > 0
  return typeof template === 'object' && template !== null && Object.values(template).some(hasPlaceholders)
}
