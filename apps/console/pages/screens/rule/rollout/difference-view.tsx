import type { RuleDifference } from '@automation/client'
import type { Definition } from '../../../logic/rule-definition.js'
import { clauseAt } from '../../../logic/tested-rule.js'
import { When } from '../../../parts/when.js'
import { ReportView } from '../backtest/later.js'

interface Props {
  difference: RuleDifference
  definition: Definition
  word: string
  look: () => unknown
  isLooking: boolean
}

/** What a draft or a shadow would have done until now. The service continues it when somebody looks, at most once a minute. */
export function DifferenceView({ difference, definition, word, look, isLooking }: Props) {
  const { isComplete, computedAt } = difference
  return (
    <>
      <ReportView
        report={difference}
        trigger={definition.trigger}
        word={word}
        nameClause={(path) => clauseAt(definition, path)}
      />
      <div class="row">
        <button type="button" class="small" aria-disabled={isLooking} onClick={look}>
          {isComplete ? 'Look again' : 'Read on'}
        </button>
        <span class="sub" role="status">
          {isComplete ? (
            <>
              As of <When at={computedAt} />. It is computed once a minute at most.
            </>
          ) : (
            'There are more events than one look reads. The figures are those so far.'
          )}
        </span>
      </div>
    </>
  )
}
