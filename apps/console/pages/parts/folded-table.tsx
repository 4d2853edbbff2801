import type { ComponentChildren } from 'preact'
import { Source } from './source.js'

interface FoldedRow {
  key: string
  head: ComponentChildren
  /** A number for each column but the first. */
  cells: readonly ComponentChildren[]
}

/** Numbers that somebody may want to read one by one: they open on demand. */
export function FoldedTable({
  summary,
  label,
  columns: [first, ...numbers],
  rows,
}: {
  summary: string
  label: string
  columns: readonly string[]
  rows: readonly FoldedRow[]
}) {
  return (
    <details>
      <summary>{summary}</summary>
      <Source label={label} kind="scroll">
        {rows.length === 0 && <p class="quiet">Nothing in this period.</p>}
        {rows.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">{first}</th>
                {numbers.map((name) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, head, cells }) => (
                <tr key={key}>
                  <th scope="row">{head}</th>
                  {cells.map((cell, index) => (
                    <td key={numbers[index]} class="number">
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Source>
    </details>
  )
}
