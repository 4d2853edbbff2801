import type { RuleComparison } from '@automation/client'
import type { Definition } from '../../../logic/rule-definition.js'
import { clauseAt, nextLookMs } from '../../../logic/tested-rule.js'
import { When } from '../../../parts/when.js'
import { ReportView } from '../backtest/later.js'

interface Props {
  comparison: RuleComparison
  definition: Definition
  word: string
  look: () => unknown
  isLooking: boolean
}

/** The service waits so long (s) with its response: most differences are computed by then. */
export const waitSeconds = 1

/** When the page looks again by itself: as long as a worker computes. */
export function nextComparisonMs(comparison: RuleComparison | undefined, reads: number): number | false {
  const isOver = comparison?.difference?.isComplete || comparison?.differenceFault
  return isOver ? false : nextLookMs(reads)
}

/** What a draft or a shadow would have done until now. Workers compute it when somebody looks, at most once a minute. What grows stands last. */
export function DifferenceView({ comparison, definition, word, look, isLooking }: Props) {
  const { difference, differenceFault } = comparison
  return (
    <>
      <div class="row">
        <button type="button" class="small" aria-disabled={isLooking} onClick={look}>
          Refresh
        </button>
        <span class="sub" role="status">
          {difference?.isComplete ? (
            <>
              As of <When at={difference.computedAt} />. It is updated at most once a minute.
            </>
          ) : (
            !differenceFault && describe(difference)
          )}
        </span>
      </div>
      {differenceFault && <p class="notice">It could not be computed: {differenceFault}.</p>}
      {difference && (
        <ReportView
          report={difference}
          trigger={definition.trigger}
          word={word}
          nameClause={(path) => clauseAt(definition, path)}
        />
      )}
    </>
  )
}

function describe(difference: RuleComparison['difference']): string {
  return difference ? 'It is being computed: the figures are those so far.' : 'It is being computed.'
}
