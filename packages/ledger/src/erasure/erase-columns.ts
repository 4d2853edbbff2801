import { writeJson } from '@automation/database'
import type { ErasedValue } from '@automation/engine'
import type { Held, HeldColumns } from './held-columns.js'

/** The texts of columns, as they are stored; null where they have none. */
export type HeldRow = Record<string, string | null>

export function isJson(held: Held | undefined): boolean {
  return held === 'json' || typeof held === 'object'
}

/** @returns the columns that are others now, and their texts */
export function eraseColumns(columns: HeldColumns, row: HeldRow, value: ErasedValue): HeldRow {
  const changed: HeldRow = {}
  for (const [name, held] of Object.entries(columns)) {
    const before = row[name]
    if (before === null || before === undefined) continue
    const after = eraseColumn(before, held, value)
    if (after !== before) changed[name] = after
  }
  return changed
}

function eraseColumn(before: string, held: Held, value: ErasedValue): string {
  if (!isJson(held)) return value.eraseText(before)
  if (!value.mayBeIn(before)) return before
  const json: unknown = JSON.parse(before)
  const erased = held === 'json' ? value.erase(json) : value.eraseUnder(json, new Set(held as string[]))
  const [was, is] = [writeJson(json), writeJson(erased)]
  return was === is ? before : is
}
