import { median, rangeOf } from './statistics.js'

/** One measurement of one round: a number for each column. */
export type Figures = Record<string, number>

/** The rounds of one measurement. */
export interface Line {
  label: string
  rounds: Figures[]
}

/** What a benchmark has measured. */
export class Table {
  readonly #lines = new Map<string, Figures[]>()

  /** Adds the next round of a line, and tells those who wait for the table. */
  add(label: string, figures: Figures): void {
    const rounds = this.#lines.get(label) ?? []
    this.#lines.set(label, [...rounds, figures])
    const cells = Object.entries(figures).map(([column, value]) => `${column} ${formatNumber(value)}`)
    console.error(`${label}: ${cells.join(', ')}`)
  }

  get lines(): Line[] {
    return [...this.#lines].map(([label, rounds]) => ({ label, rounds }))
  }
}

/** The median of each column, and the lowest and the highest round if there are several. */
export function formatTable(lines: Line[]): string {
  // In the order of the line that has most of them.
  const names = lines.flatMap(({ rounds }) => rounds.map(Object.keys))
  const columns = [...new Set(names.toSorted((one, other) => other.length - one.length).flat())]
  const rows = lines.map((line) => [line.label, ...columns.map((column) => formatRounds(line, column))])
  return alignColumns([['', ...columns], ...rows])
}

/** The first column to the left, all others to the right. */
export function alignColumns(rows: string[][]): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widthOf(column)) : cell.padStart(widthOf(column))
  return rows.map((row) => row.map(align).join('  ')).join('\n')
}

export function formatNumber(value: number): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function formatRounds({ rounds }: Line, column: string): string {
  const values = rounds.flatMap((figures) => figures[column] ?? [])
  if (values.length === 0) return '-'
  const { low, high } = rangeOf(values)
  const range = values.length === 1 ? '' : ` (${formatNumber(low)} to ${formatNumber(high)})`
  return `${formatNumber(median(values))}${range}`
}
