import type { Rule } from '@automation/client'
import { formatCount } from '../../logic/count-words.js'
import { sayError } from '../../logic/say-error.js'
import { RetryMany } from '../../parts/retry.js'
import { When } from '../../parts/when.js'
import { linkTo } from '../../state/use-filters.js'

/** That the latest execution of a rule failed, where the rule is changed. */
export function Failing({ rule }: { rule: Rule }) {
  const { id, name, executionCount, failureCount, lastSuccessAt, lastFailureAt, lastError } = rule
  if (lastFailureAt === null || (lastSuccessAt !== null && lastSuccessAt > lastFailureAt)) return null
  return (
    <div class="notice bad row">
      <span>
        {formatCount(failureCount)} of {formatCount(executionCount)} failed, last <When at={lastFailureAt} />
        {lastError && `: ${sayError(lastError)}`}
      </span>
      <a class="button" href={linkTo('executions', { rule: id, status: 'failed', last: '30d' })}>
        Show
      </a>
      <RetryMany
        filter={{ ruleId: id, status: ['failed'] }}
        label={failureCount === 1 ? 'Retry…' : 'Retry all…'}
        of={name}
      />
    </div>
  )
}
