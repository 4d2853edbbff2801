import type { Overview } from '@automation/client'
import { countOf } from '../../logic/count-words.js'
import { type ShownTime, writeRange } from '../../logic/time-range.js'
import { RetryMany } from '../../parts/retry.js'
import { When } from '../../parts/when.js'
import { toast } from '../../state/toasts.js'
import { linkTo } from '../../state/use-filters.js'

/** What failed, the same failures as one: each can be looked at, and retried. */
export function Failures({
  overview: {
    failures,
    totals: { failed },
  },
  time,
}: {
  overview: Overview
  time: ShownTime
}) {
  if (failed === 0) return null
  const grouped = failures.reduce((sum, { count }) => sum + count, 0)
  return (
    <section aria-labelledby="failures">
      <h2 id="failures">Failures</h2>
      <ul class="cards">
        {failures.map(({ ruleId, ruleName, error, count, firstAt, lastAt }) => (
          <li key={`${ruleId} ${error}`}>
            <div>
              <span class="group-count">{count.toLocaleString('en-US')} ×</span>{' '}
              {ruleName === null ? (
                <strong>Deleted rule</strong>
              ) : (
                <a href={linkTo(`rules/${ruleId}`)}>{ruleName}</a>
              )}
              <span class="error-line">{error || 'No error was recorded'}</span>
              <span class="sub">
                {count === 1 ? (
                  <When at={lastAt} />
                ) : (
                  <>
                    first <When at={firstAt} />, last <When at={lastAt} />
                  </>
                )}
              </span>
            </div>
            <div class="row">
              <RetryMany
                filter={{ ...writeRange(time), ruleId, ...(error && { error }), status: ['failed'] }}
                label={count === 1 ? 'Retry…' : 'Retry all…'}
                then={(text) => toast(text)}
              />
              <a
                class="button"
                href={linkTo('executions', { ...time, rule: ruleId, error, status: 'failed' })}
              >
                Show
              </a>
            </div>
          </li>
        ))}
      </ul>
      {grouped < failed && (
        <p class="quiet">
          {countOf(failed - grouped, 'more execution')} failed.{' '}
          <a href={linkTo('executions', { ...time, status: 'failed' })}>All failed executions</a>
        </p>
      )}
    </section>
  )
}
