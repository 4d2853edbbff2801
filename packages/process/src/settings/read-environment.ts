import type { Type } from 'typebox'
import { Convert, Default, Errors } from 'typebox/value'
import { findGoneSettings } from './gone-settings.js'

/** Lists every invalid or missing variable, one per line. */
export class EnvironmentError extends Error {
  constructor(faults: string[]) {
    super(`Invalid environment:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.name = 'EnvironmentError'
  }
}

/**
 * Reads settings from environment variables: one schema gives types, defaults and limits. White space at both ends is no part of a value:
 * a file with a secret ends with a line break. An empty variable counts as not set, and variables that the schema does not name are
 * ignored, but for settings that are gone: somebody relies on them.
 *
 * @throws EnvironmentError that lists all faults
 */
export function readEnvironment<Schema extends Type.TObject>(
  schema: Schema,
  variables: Record<string, string | undefined>,
): Type.Static<Schema> {
  const known = Object.keys(schema.properties).flatMap((name) => {
    const value = variables[name]?.trim()
    return value ? [[name, value]] : []
  })
  const converted = Convert(schema, Default(schema, Object.fromEntries(known))) as object
  const settings = { ...converted, ...Object.fromEntries(known.filter(isMisread(schema))) }
  const faults = new Map(findGoneSettings(variables))
  for (const error of Errors(schema, settings)) {
    const isMissing = error.keyword === 'required'
    const names = isMissing ? error.params.requiredProperties : [error.instancePath.slice(1)]
    for (const name of names) if (!faults.has(name)) faults.set(name, describeFault(schema, name, error))
  }
  if (faults.size > 0) throw new EnvironmentError([...faults].map(([name, fault]) => `${name} ${fault}`))
  return settings as Type.Static<Schema>
}

/** Convert reads 4.5 as 4, 1e1 as 10 and true as 1. */
function isMisread({ properties }: Type.TObject): (setting: string[]) => boolean {
  return ([name = '', value = '']) =>
    (properties[name] as { type?: string }).type === 'integer' && !/^-?\d+$/.test(value)
}

/** A pattern says less to people than the description of the setting. */
function describeFault(
  schema: Type.TObject,
  name: string,
  { keyword, message }: ReturnType<typeof Errors>[number],
): string {
  const description = (schema.properties[name] as { description?: string } | undefined)?.description
  if (description === undefined) return keyword === 'required' ? 'is required' : message
  if (keyword === 'required') return `is required (${description})`
  return keyword === 'pattern' ? `is not valid (${description})` : `${message} (${description})`
}
