import type { OperationName, Operations } from './api.js'

export type { OperationName }

/** The inputs of an operation. */
export type Inputs<Name extends OperationName> = {
  [Input in Exclude<keyof Operations[Name], 'answers'>]: Operations[Name][Input] | undefined
}

type Answers<Name extends OperationName> = Operations[Name]['answers']

/** A response. Its status determines the type of its body. */
export type AnswerOf<Name extends OperationName> = {
  [Status in keyof Answers<Name>]: { status: Status; headers: Headers; body: Answers<Name>[Status] }
}[keyof Answers<Name>]

/** The same without the type of the operation. */
export interface LooseInputs {
  path?: Record<string, string> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
}

/** Builds path and query. @throws TypeError if a part of the path is missing */
export function writeUrl(path: string, inputs: LooseInputs): string {
  return fillPath(path, inputs.path) + writeQuery(inputs.query)
}

function fillPath(path: string, values: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    // These parts would lead to another operation.
    if (!value || /^\.{1,2}$/.test(value)) throw new TypeError(`No ${name} for ${path}: '${value}'`)
    return encodeURIComponent(value)
  })
}

function writeQuery(query: Record<string, unknown> = {}): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) text.append(name, String(one))
  const written = text.toString()
  return written && `?${written}`
}
