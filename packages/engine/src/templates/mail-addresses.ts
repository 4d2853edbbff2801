import { type Rendering, warnOnce } from './fill-placeholder.js'
import { aroundAddress } from './formats.js'
import { splitTemplate } from './split-template.js'
import { compileTextField, type Template } from './template.js'

/** In each of to, cc and bcc. */
export const maxAddresses = 50
export const maxAddressLength = 500

/** Units of work for an address that is looked at. */
const workPerAddress = 10

/** Compiles an address. Placeholders fill parts of it: what stands around them must leave it one. */
export function compileAddress(text: string): Template | string {
  const split = splitTemplate(text)
  if (typeof split === 'string') return split
  const fault = split.placeholders.length === 0 ? undefined : aroundAddress(split.literals.join('x'))
  const template = fault ?? compileTextField(text)
  return typeof template === 'string' || template.placeholders === 0 ? template : withoutBlanks(template)
}

/** Forms and spreadsheets leave blanks around addresses, which are no part of them. */
function withoutBlanks(template: Template): Template {
  return {
    ...template,
    render(data, rendering) {
      const value = template.render(data, rendering)
      return typeof value === 'string' ? value.trim() : value
    },
  }
}

/**
 * A list of addresses as it was meant: a placeholder that is a list stands for its items, what is missing or empty is left out, and what is
 * there twice is there once. A text stays one address: it is never split at commas. Everything else is for the schema to refuse.
 */
export function tidyAddresses(
  list: readonly unknown[],
  rendering: Rendering,
  place: string,
): readonly unknown[] {
  const kept = new Map<unknown, unknown>()
  for (const entry of list) {
    for (const written of Array.isArray(entry) ? entry : [entry]) {
      const address =
        typeof written === 'string' && written.length <= maxAddressLength ? written.trim() : written
      if (rendering.evaluation?.spend(workPerAddress) === false) return [...kept.values()]
      if (address === undefined || address === null || address === '') {
        warnOnce(rendering, `${place} has an empty address, which was left out`)
        continue
      }
      const key = keyOf(address)
      if (!kept.has(key)) kept.set(key, address)
      // One more than the schema allows.
      if (kept.size > maxAddresses) return [...kept.values()]
    }
  }
  return [...kept.values()]
}

/** Servers do not distinguish upper and lower case. A text that is too long is refused in any case. */
function keyOf(address: unknown): unknown {
  return typeof address === 'string' && address.length <= maxAddressLength ? address.toLowerCase() : address
}
