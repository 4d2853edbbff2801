import type { TObject } from 'typebox'
import type { Format } from '../formats.js'
import type { Template } from '../template.js'

/** One type of action: its name, the schema of its config, and a check of its texts that a schema cannot express. */
export interface ActionDefinition {
  readonly type: string
  /** How it is done: by a call to somebody outside, whose response no event holds; by the commit that records the execution; or by time alone. */
  readonly doneBy: 'call' | 'commit' | 'time'
  /** What it does, for the author of a rule. */
  readonly description: string
  /** A config. A test saves and renders it. */
  readonly example: object
  readonly config: TObject
  readonly formats: Readonly<Record<string, Format>>
  /** How the texts of fields are compiled in which a value could be more than text. */
  readonly templates?: Readonly<Record<string, CompileField>>
}

/** Compiles the text of a field, or returns its fault. `config` is as written. */
export type CompileField = (text: string, config: Readonly<Record<string, unknown>>) => Template | string
