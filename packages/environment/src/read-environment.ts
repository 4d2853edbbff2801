import type { Type } from 'typebox'
import { Convert, Default, Errors } from 'typebox/value'

/** Lists every invalid or missing variable, one per line. */
export class EnvironmentError extends Error {
  constructor(faults: string[]) {
    super(`Invalid environment:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.name = 'EnvironmentError'
  }
}

/**
 * Reads settings from environment variables: one schema gives types, defaults and limits. An empty variable counts as
 * not set, and variables that the schema does not name are ignored.
 *
 * @throws EnvironmentError that lists all faults
 */
export function readEnvironment<Schema extends Type.TObject>(
  schema: Schema,
  variables: Record<string, string | undefined>,
): Type.Static<Schema> {
  const known = Object.keys(schema.properties).flatMap((name) =>
    variables[name] ? [[name, variables[name]]] : [],
  )
  const settings = Convert(schema, Default(schema, Object.fromEntries(known)))
  const faults = Errors(schema, settings).flatMap((error) =>
    error.keyword === 'required'
      ? error.params.requiredProperties.map((name) => `${name} is required${hint(schema, name)}`)
      : [`${error.instancePath.slice(1)} ${error.message}${hint(schema, error.instancePath.slice(1))}`],
  )
  if (faults.length > 0) throw new EnvironmentError(faults)
  return settings as Type.Static<Schema>
}

function hint(schema: Type.TObject, name: string): string {
  const description = (schema.properties[name] as { description?: string } | undefined)?.description
  return description ? ` (${description})` : ''
}
