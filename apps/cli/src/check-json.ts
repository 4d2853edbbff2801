import { CommandError } from './command-error.js'

/**
 * Converts to JSON and back, as a request would, so that what is stored equals the file.
 *
 * @throws CommandError for a number or a key that JSON cannot represent
 */
export function checkJson(value: unknown, name: string): unknown {
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part))
      throw new CommandError(`${name}: ${key} is ${part}, which JSON cannot represent.`)
    if (key === '__proto__') throw new CommandError(`${name}: __proto__ is not allowed as a key.`)
    return part
  })
  return JSON.parse(text)
}
