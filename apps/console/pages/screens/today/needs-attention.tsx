import type { AttentionItem, Overview } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { describeAttention } from '../../logic/describe-attention.js'
import type { RecentSpan } from '../../logic/filters.js'
import { writeRange } from '../../logic/time-range.js'
import { RetryMany } from '../../parts/retry.js'
import { Problem } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { linkTo } from '../../state/use-filters.js'
import type { useQuery } from '../../state/use-query.js'

/** What somebody has to look at, each with what can be done. */
export function NeedsAttention({
  totals: { failed, rejectedWebhooks },
  attention,
  span,
}: {
  totals: Overview['totals']
  attention: ReturnType<typeof useQuery<{ rules: AttentionItem[] }>>
  span: RecentSpan
}) {
  const rules = attention.data?.rules ?? []
  // Those of a rule are named with it.
  const isLone =
    attention.data !== undefined && failed > 0 && !rules.some(({ reason }) => reason === 'failures')
  return (
    <section aria-labelledby="needs">
      <h2 id="needs">Needs attention</h2>
      {attention.error && <Problem error={attention.error} retry={() => void attention.refetch()} />}
      {attention.data && rules.length + failed + rejectedWebhooks === 0 && (
        <p class="quiet">Nothing needs your attention.</p>
      )}
      <ul class="cards">
        {rules.map((item) => (
          <RuleCard key={item.id} item={item} />
        ))}
        {isLone && (
          <Card
            name="Executions"
            text={`${failed.toLocaleString('en-US')} failed`}
            note="No rule keeps failing."
          >
            <RetryMany filter={{ ...writeRange({ last: span }), status: ['failed'] }} label="Retry failed…" />
            <a class="button" href={linkTo('executions', { status: 'failed', last: span })}>
              Failed executions
            </a>
          </Card>
        )}
        {rejectedWebhooks > 0 && (
          <Card
            name="Webhooks"
            text={`${rejectedWebhooks.toLocaleString('en-US')} refused`}
            note="The signature diagnosis shows what the sender must change."
          >
            <a class="button" href={linkTo('webhooks', { state: 'rejected' })}>
              Refused webhooks
            </a>
          </Card>
        )}
      </ul>
    </section>
  )
}

function RuleCard({ item }: { item: AttentionItem }) {
  const { id, name, reason, lastError } = item
  const { text, word, at } = describeAttention(item)
  return (
    <Card
      name={name}
      text={
        <>
          {text}, {word} <When at={at} />
        </>
      }
      note={lastError}
    >
      {reason === 'failures' && (
        <RetryMany filter={{ ruleId: id, status: ['failed'] }} label="Retry failed…" />
      )}
      <a class="button" href={linkTo('executions', { rule: id, status: 'failed', last: '30d' })}>
        Failed executions
      </a>
      <a class="button" href={linkTo(`rules/${id}`)}>
        Open the rule
      </a>
    </Card>
  )
}

function Card({
  name,
  text,
  note,
  children,
}: {
  name: string
  text: ComponentChildren
  note: string | null
  children: ComponentChildren
}) {
  return (
    <li>
      <div>
        <strong>{name}</strong> {text}
        <span class="sub">{note}</span>
      </div>
      <div class="row">{children}</div>
    </li>
  )
}
