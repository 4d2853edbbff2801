import type { TObject } from 'typebox'
import type { Format } from '../formats.js'

/** One type of action: its name, the schema of its config, and a check of its texts that a schema cannot express. */
export interface ActionDefinition {
  readonly type: string
  readonly config: TObject
  readonly formats: Readonly<Record<string, Format>>
}
