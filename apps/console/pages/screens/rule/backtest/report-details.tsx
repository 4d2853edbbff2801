import { formatCount } from '@automation/backtest/words'
import type { BacktestReport } from '@automation/client'
import { timeOfId } from '../../../logic/format-time.js'
import { namePath } from '../../../logic/name-path.js'
import { showControls } from '../../../logic/show.js'
import { FoldedTable } from '../../../parts/folded-table.js'
import { When } from '../../../parts/when.js'
import { linkTo } from '../../../state/use-filters.js'

export interface ReportDetailsProps {
  report: BacktestReport
  /** The words of a clause; undefined if the definition that was evaluated is not known. */
  nameClause: (path: string) => string | undefined
}

/** Where it stops, what events lack, and events to look at: each opens on demand. */
export function ReportDetails({ report, nameClause }: ReportDetailsProps) {
  const { clauses, fields, considered, examples } = report
  const lacking = fields.filter(({ present }) => present < considered)
  return (
    <div class="more">
      {clauses.length > 0 && (
        <FoldedTable
          summary="Where it stops"
          label="How often each condition was true"
          columns={['Condition', 'was true', 'near misses']}
          rows={clauses.map(({ path, held, aloneFailed }) => ({
            key: path,
            head: nameClause(path) ?? namePath(path),
            cells: [`${formatCount(held)} of ${formatCount(considered)}`, formatCount(aloneFailed)],
          }))}
        />
      )}
      {lacking.length > 0 && (
        <details>
          <summary>
            {lacking.length === 1
              ? 'A field that events do not have'
              : `${lacking.length} fields that events do not have`}
          </summary>
          <ul class="plan">
            {lacking.map(({ path, present, didYouMean }) => (
              <li key={path}>
                <code>{showControls(path)}</code>{' '}
                {present === 0
                  ? 'is in no event'
                  : `is in ${formatCount(present)} of ${formatCount(considered)}`}
                {didYouMean !== null && `; did you mean ${showControls(didYouMean)}?`}
              </li>
            ))}
          </ul>
        </details>
      )}
      <Examples title="Newly matching" ids={examples.added} />
      <Examples title="No longer matching" ids={examples.removed} />
      <Examples title="Near misses" ids={examples.nearMisses} />
    </div>
  )
}

function Examples({ title, ids }: { title: string; ids: string[] }) {
  if (ids.length === 0) return null
  return (
    <details>
      <summary>{title}</summary>
      <ul class="plan">
        {ids.map((id) => (
          <li key={id}>
            <a href={linkTo('events', { id, last: '30d' })}>
              <When at={new Date(timeOfId(id)).toISOString()} /> <code>…{id.slice(-6)}</code>
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}
