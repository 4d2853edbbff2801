import type { Transaction } from '../removal/removal.js'
import type { MovedTable } from './moved-tables.js'

/** A database, or one transaction of it. */
export type Rows = Pick<Transaction, '$executeRawUnsafe' | '$queryRawUnsafe'>

/** How many keys are compared at once, and how many rows, of about how many bytes, are copied at once. */
const atOnce = { keys: 5_000, rows: 1_000, bytes: 2_000_000 }

export interface Copied {
  /** Rows that were written. */
  written: number
  /** Rows that the source has no more. */
  removed: number
}

interface Found {
  /** A text for each column of the key. */
  key: string[]
  bytes: number
}

/** Of columns, by their names: SQL of what stands there instead. */
export type Changes = Record<string, string>

/**
 * Copies all rows of a workspace, and removes from the target what an earlier attempt has left there and the source has no more. It may be ended at any moment,
 * and begun again.
 *
 * @param snapshot a transaction of the source
 */
export async function copyTable(
  snapshot: Rows,
  target: Rows,
  table: MovedTable,
  workspaceId: string,
  change?: Changes,
): Promise<Copied> {
  const { name } = table
  const copied: Copied = { written: 0, removed: 0 }
  await snapshot.$executeRawUnsafe(
    `DECLARE moved_${name} NO SCROLL CURSOR FOR
     SELECT ${foundColumns(table)} FROM ${name} WHERE workspace_id = '${workspaceId}'::uuid ORDER BY ${orderOf(table)}`,
  )
  for (let after: string[] | undefined; ; ) {
    const page = await snapshot.$queryRawUnsafe<Found[]>(`FETCH ${atOnce.keys} FROM moved_${name}`)
    const last = page.length < atOnce.keys ? undefined : page.at(-1)?.key
    const there = await readKeys(target, table, workspaceId, after, last)
    for (const { key } of page) there.delete(nameOf(key))
    if (there.size > 0) copied.removed += await removeRows(target, table, workspaceId, [...there.values()])
    copied.written += await copyFound(snapshot, target, table, workspaceId, page, { change })
    if (last === undefined) break
    after = last
  }
  await snapshot.$executeRawUnsafe(`CLOSE moved_${name}`)
  return copied
}

/**
 * Copies rows, and removes none.
 *
 * @param where SQL of a row of the source, with the workspace as $1
 */
export async function copyRows(
  snapshot: Rows,
  target: Rows,
  table: MovedTable,
  workspaceId: string,
  { where = 'true', values = [], ...writing }: { where?: string; values?: unknown[] } & Writing = {},
): Promise<number> {
  const found = await snapshot.$queryRawUnsafe<Found[]>(
    `SELECT ${foundColumns(table)} FROM ${table.name} WHERE ${ownerOf(table)} = $1::uuid AND (${where})`,
    workspaceId,
    ...values,
  )
  return copyFound(snapshot, target, table, workspaceId, found, writing)
}

interface Writing {
  change?: Changes | undefined
  /** Rows that are there stay as they are. */
  isOnlyNew?: boolean
}

/** The rows are as texts that Postgres reads back as the same rows. None is written over one of another workspace. */
async function copyFound(
  snapshot: Rows,
  target: Rows,
  table: MovedTable,
  workspaceId: string,
  found: Found[],
  { change = {}, isOnlyNew = false }: Writing,
): Promise<number> {
  const { name, columns, key } = table
  const others = isOnlyNew ? [] : columns.filter((column) => !key.some((one) => one.name === column))
  const update = others.map((column) => `${column} = excluded.${column}`).join(', ')
  const insert = `
    INSERT INTO ${name} (${columns.join(', ')})
    SELECT ${columns.map((column) => change[column] ?? column).join(', ')} FROM unnest($1::text[]::${name}[])
    ON CONFLICT (${key.map(({ name }) => name).join(', ')}) DO ${
      update === ''
        ? 'NOTHING'
        : `UPDATE SET ${update} WHERE ${name}.${ownerOf(table)} = excluded.${ownerOf(table)}`
    }`
  let written = 0
  for (const keys of chunksOf(found)) {
    const rows = await snapshot.$queryRawUnsafe<{ row: string }[]>(
      `SELECT ${name}::text AS row FROM ${name}, ${given(table)} WHERE ${ownerOf(table)} = $1::uuid AND ${isGiven(table)}`,
      workspaceId,
      ...columnsOf(table, keys),
    )
    const texts = rows.map(({ row }) => row)
    written += await target.$executeRawUnsafe(insert, texts)
  }
  return written
}

/** @returns by their names */
async function readKeys(
  target: Rows,
  table: MovedTable,
  workspaceId: string,
  after: string[] | undefined,
  last: string[] | undefined,
): Promise<Map<string, string[]>> {
  const place = `(${orderOf(table)})`
  const bound = (values: string) =>
    `(${table.key.map(({ type }, index) => `(${values}::text[])[${index + 1}]::${type}`).join(', ')})`
  const found = await target.$queryRawUnsafe<{ key: string[] }[]>(
    `SELECT ${keyOf(table)} AS key FROM ${table.name} WHERE workspace_id = $1::uuid
       ${after === undefined ? 'AND $2::text[] IS NULL' : `AND ${place} > ${bound('$2')}`}
       ${last === undefined ? 'AND $3::text[] IS NULL' : `AND ${place} <= ${bound('$3')}`}`,
    workspaceId,
    after ?? null,
    last ?? null,
  )
  return new Map(found.map(({ key }) => [nameOf(key), key]))
}

function removeRows(target: Rows, table: MovedTable, workspaceId: string, keys: string[][]): Promise<number> {
  return target.$executeRawUnsafe(
    `DELETE FROM ${table.name} USING ${given(table)} WHERE workspace_id = $1::uuid AND ${isGiven(table)}`,
    workspaceId,
    ...columnsOf(table, keys),
  )
}

function ownerOf({ name }: MovedTable): string {
  return name === 'workspaces' ? 'id' : 'workspace_id'
}

function keyOf({ name: table, key }: MovedTable): string {
  return `ARRAY[${key.map(({ name }) => `${table}.${name}::text`).join(', ')}]`
}

function foundColumns(table: MovedTable): string {
  return `${keyOf(table)} AS key, octet_length(${table.name}::text) AS bytes`
}

/** Two databases may order texts differently, but not their bytes. */
function orderOf({ key }: MovedTable): string {
  return key.map(({ name, type }) => (type === 'text' ? `${name} COLLATE "C"` : name)).join(', ')
}

/** Keys, from $2 on. */
function given({ key }: MovedTable): string {
  const values = key.map(({ type }, index) => `$${index + 2}::text[]::${type}[]`).join(', ')
  return `unnest(${values}) AS given (${key.map((_, index) => `key_${index}`).join(', ')})`
}

function isGiven({ name: table, key }: MovedTable): string {
  return key.map(({ name }, index) => `${table}.${name} = given.key_${index}`).join(' AND ')
}

function columnsOf({ key }: MovedTable, keys: string[][]): string[][] {
  return key.map((_, index) => keys.map((values) => values[index] ?? ''))
}

function nameOf(key: string[]): string {
  return key.join('\0')
}

function* chunksOf(found: Found[]): Generator<string[][]> {
  let chunk: string[][] = []
  let bytes = 0
  for (const one of found) {
    chunk.push(one.key)
    bytes += one.bytes
    if (chunk.length < atOnce.rows && bytes < atOnce.bytes) continue
    yield chunk
    chunk = []
    bytes = 0
  }
  if (chunk.length > 0) yield chunk
}
