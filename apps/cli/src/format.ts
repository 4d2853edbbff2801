/** A table with one line per row; the columns are named after the fields. */
export function formatTable<Row extends object>(rows: Row[], columns: (keyof Row & string)[]): string {
  if (rows.length === 0) return 'None.'
  const lines = [columns, ...rows.map((row) => columns.map((column) => formatValue(row[column])))]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  return lines.map((line) => alignCells(line, widths)).join('\n')
}

/** One object, with one line per field. */
export function formatFields(fields: object): string {
  const lines = Object.entries(fields).map(([name, value]) => [name, formatValue(value)])
  const widths = [Math.max(...lines.map(([name = '']) => name.length)), 0]
  return lines.map((line) => alignCells(line, widths)).join('\n')
}

function alignCells(cells: string[], widths: number[]): string {
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()
}

/** A time without its milliseconds; an object as JSON. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return formatValue(value.toISOString())
  const isObject = typeof value === 'object' && !Array.isArray(value)
  const text = isObject ? JSON.stringify(value) : String(value)
  const second = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/.exec(text)
  return second ? `${second[1]} ${second[2]}Z` : maskControls(text)
}

/** Replaces control characters: a name that somebody else chose must not control the terminal. */
export function maskControls(text: string): string {
  return text.replace(/\p{C}/gu, '·')
}
