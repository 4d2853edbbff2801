import type pg from 'pg'

/** What pg's connection has for COPY, and its types leave out. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** The columns of a table, as COPY reads them. */
export interface CopiedTable {
  table: string
  columns: readonly string[]
}

/** Inserts lines of COPY's text format (`lineOf`) in one statement. */
export function copyRows(
  postgres: pg.Client,
  { table, columns }: CopiedTable,
  lines: string[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined
    const copy = {
      submit: (connection: unknown) =>
        (connection as CopyConnection).query(`COPY ${table} (${columns.join(', ')}) FROM STDIN`),
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(Buffer.from(lines.join('')))
        connection.endCopyFrom()
      },
      handleCommandComplete() {},
      handleError(error: Error) {
        failure = error
        reject(error)
      },
      handleReadyForQuery() {
        if (failure === undefined) resolve()
      },
    }
    postgres.query(copy)
  })
}

/** A row in COPY's text format: null is \N, and what would end a value or a line is escaped. */
export function lineOf(values: readonly (string | number | null)[]): string {
  return `${values.map(fieldOf).join('\t')}\n`
}

function fieldOf(value: string | number | null): string | number {
  if (typeof value !== 'string') return value ?? '\\N'
  return special.test(value) ? value.replaceAll(specials, (found) => escapes[found] ?? found) : value
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const special = /[\\\t\n\r]/
const specials = /[\\\t\n\r]/g
