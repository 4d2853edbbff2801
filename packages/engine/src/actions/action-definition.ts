import type { TObject } from 'typebox'
import type { Rendering } from '../templates/fill-placeholder.js'
import type { Format } from '../templates/formats.js'
import type { Template } from '../templates/template.js'

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
  /** What the texts of fields have to be. */
  readonly formats?: Readonly<Record<string, Format>>
  /** How the texts of fields are compiled in which a value could be more than text. */
  readonly templates?: Readonly<Record<string, CompileField>>
  /** Finds a fault between fields: the field, and what is wrong with it. Takes configs of any shape. */
  readonly findFault?: (
    config: Readonly<Record<string, unknown>>,
  ) => { field: string; message: string } | undefined
  /** What becomes of the lists in fields after their texts are rendered. */
  readonly lists?: Readonly<Record<string, TidyList>>
  /** Fields without which the action is done as well: one that comes to nothing is left out, with a warning. */
  readonly spare?: readonly string[]
}

/** Compiles the text of a field, or returns its fault. `config` is as written. */
export type CompileField = (text: string, config: Readonly<Record<string, unknown>>) => Template | string

/** @param place such as `config.to` */
export type TidyList = (list: readonly unknown[], rendering: Rendering, place: string) => readonly unknown[]
