import type { TObject } from 'typebox'
import type { Format } from '../formats.js'

/** One type of action: its name, the schema of its config, and a check of its texts that a schema cannot express. */
export interface ActionDefinition {
  readonly type: string
  /** What it does, for the author of a rule. */
  readonly description: string
  /** A config. A test saves and renders it. */
  readonly example: object
  readonly config: TObject
  readonly formats: Readonly<Record<string, Format>>
}
