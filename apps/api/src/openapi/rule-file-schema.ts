import { eventTypes, sharedSchemas } from '@automation/engine'
import { RuleFileSchema } from '@automation/rules'
import type { Document, Schema } from './document.js'
import { nameSchemas } from './name-schemas.js'

/**
 * Writes the schema of files of rules (docs/rules.schema.json), with which editors complete and check them: from the objects that check
 * these files, in the draft that editors of YAML know.
 */
export function writeRuleFileSchema(): object {
  const Condition = (sharedSchemas as Schema[]).find(({ $id }) => $id === 'Condition')
  const schemas = { ...(Condition && { Condition }), RuleFile: RuleFileSchema as Schema }
  const document: Document = { paths: {}, components: { schemas } }
  nameSchemas(document)
  const { RuleFile, ...definitions } = document.components.schemas
  const { EventType, RuleToCreate } = definitions
  if (EventType === undefined || RuleToCreate?.properties === undefined)
    throw new Error('The schema has no rules')
  // An editor offers the names of the catalogue, and accepts others.
  const { description, ...anyName } = EventType
  definitions.EventType = {
    ...(description && { description }),
    anyOf: [{ type: 'string', enum: [...eventTypes] }, anyName],
  }
  RuleToCreate.properties.trigger = { $ref: 'EventType' }
  const written = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Rules of a workspace',
    description: 'What `rules export` writes, and `rules check`, `rules test` and `rules import` read',
    ...RuleFile,
    definitions,
  }
  return JSON.parse(JSON.stringify(written, referToDefinitions)) as object
}

function referToDefinitions(key: string, value: unknown): unknown {
  if (key === 'discriminator' || key === '$id') return undefined
  if (key !== '$ref' || typeof value !== 'string') return value
  // The engine refers to a schema by its $id (`Condition#`). An editor needs a path, which has no `#` at its end.
  return `#/definitions/${value.replace(/#$/, '').split('/').at(-1)}`
}
