import { formatFields, formatTable, maskControls } from './format.js'
import { writeYaml } from './rule-text.js'

/** How people see the answer to an operation; programs get it as it is. */
export interface Presentation {
  /** Of its table, if it is a list or has one. */
  columns?: readonly string[]
  /** More columns, at the end of the table. */
  computes?: Readonly<Record<string, (row: never) => string | null>>
  /** A sentence, with fields of the request and the answer in braces. Default: the answer. */
  says?: string
  /** The answer for people, instead of its fields. */
  shows?: (answer: never) => string
  /** What follows the fields of the answer. */
  adds?: string
}

export function presentAnswer(
  { columns, computes = {}, says, shows, adds }: Presentation,
  answer: unknown,
  request: object,
): string {
  if (says !== undefined) return fill(says, { ...(answer ?? {}), ...request })
  if (columns !== undefined) {
    const names = Object.keys(computes)
    const rows = findRows(answer).map((row) => {
      return { ...row, ...Object.fromEntries(names.map((name) => [name, computes[name]?.(row as never)])) }
    })
    return formatTable(rows, [...columns, ...names] as never[])
  }
  if (answer === undefined) return 'Done.'
  const text = shows === undefined ? formatAnswer(answer) : shows(answer as never)
  return adds === undefined ? text : `${text}\n\n${adds}`
}

/** The only list of an answer, or the answer. */
export function findRows(answer: unknown): Record<string, unknown>[] {
  return [answer, ...Object.values(answer ?? {})].find(Array.isArray) ?? []
}

/** Puts values into the braces of a sentence. */
export function fill(text: string, values: object): string {
  const find = (_: string, name: string) => String((values as Record<string, unknown>)[name] ?? '')
  return maskControls(text.replace(/\{(\w+)\}/g, find))
}

/** Its fields, or as YAML where there are objects in it. */
function formatAnswer(answer: unknown): string {
  const isFlat = (value: unknown) => typeof value !== 'object' || value === null
  const values = Object.values(answer ?? {}).flat()
  if (values.every(isFlat)) return formatFields(answer ?? {})
  return writeYaml(answer).trimEnd().split('\n').map(maskControls).join('\n')
}
