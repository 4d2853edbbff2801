import { listRepeatedFaults } from '@automation/engine'
import { listTypes, type Schema } from '../api-document.js'
import { CommandError } from '../command-error.js'
import type { Input } from './tool.js'

/**
 * Reads what some assistants write otherwise: a list, an object, a number or a boolean as its JSON text, and null for what they leave out. All
 * else stays as it is, for the API to check.
 *
 * @throws CommandError where an object in a text has a name twice
 */
export function readInput({ properties = {} }: Schema, input: Input): Input {
  const read = Object.entries(input).flatMap(([name, value]): [string, unknown][] => {
    const types = listTypes(properties[name])
    if (types.length === 0) return [[name, value]]
    if (value === null && !types.includes('null')) return []
    return [
      [name, typeof value === 'string' && !types.includes('string') ? readText(name, value, types) : value],
    ]
  })
  return Object.fromEntries(read)
}

function readText(name: string, text: string, types: readonly string[]): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (!typesOf(value).some((type) => types.includes(type))) return text
  const [fault] = listRepeatedFaults(text)
  if (fault !== undefined) throw new CommandError(`${name}: ${fault.field}: ${fault.message}.`)
  return value
}

/** As schemas name them; an integer is a number, too. */
function typesOf(value: unknown): string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value]
}
