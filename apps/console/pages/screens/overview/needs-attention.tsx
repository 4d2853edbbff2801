import type { AttentionItem, DecisionPage, Overview } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { countOf, formatCount } from '../../logic/count-words.js'
import { describeAttention } from '../../logic/describe-attention.js'
import { Due } from '../../parts/due.js'
import { Problem } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { linkTo } from '../../state/use-filters.js'
import type { useQuery } from '../../state/use-query.js'

/** What somebody has to look at, each with what can be done. Rules whose failures stand above are not named again. */
export function NeedsAttention({
  overview: {
    failures,
    totals: { rejectedWebhooks },
  },
  attention,
  decisions,
}: {
  overview: Overview
  attention: ReturnType<typeof useQuery<{ rules: AttentionItem[] }>>
  decisions: ReturnType<typeof useQuery<DecisionPage>>
}) {
  const named = new Set(failures.flatMap(({ ruleId, acknowledgement }) => (acknowledgement ? [] : [ruleId])))
  const rules = (attention.data?.rules ?? []).filter(
    ({ id, reason }) => !isOfFailures(reason) || !named.has(id),
  )
  const open = decisions.data?.decisions.length ?? 0
  // All of them at once: a card that came later would move what is below.
  if (attention.isPending || decisions.isLoading) return null
  if (!attention.error && rules.length + rejectedWebhooks + open === 0) return null
  return (
    <section aria-labelledby="needs">
      <h2 id="needs">Needs attention</h2>
      {attention.error && <Problem error={attention.error} retry={() => void attention.refetch()} />}
      <ul class="cards">
        {rules.map((item) => (
          <RuleCard key={item.id} item={item} />
        ))}
        {decisions.data && open > 0 && <DecisionsCard page={decisions.data} />}
        {rejectedWebhooks > 0 && (
          <Card
            name="Webhooks"
            text={`${formatCount(rejectedWebhooks)} refused`}
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

function isOfFailures(reason: AttentionItem['reason']): boolean {
  return reason === 'failures' || reason === 'recent_failure'
}

/** Executions wait for people: how many, and which is due first, if all of them are on the page. */
function DecisionsCard({ page: { decisions, nextCursor } }: { page: DecisionPage }) {
  const first = decisions
    .map(({ until }) => until)
    .filter((until) => until !== null)
    .sort()[0]
  return (
    <Card
      name="Decisions"
      text={
        nextCursor ? (
          `more than ${decisions.length} are open`
        ) : (
          <>
            {countOf(decisions.length, 'is open', 'are open')}
            {first && (
              <>
                {decisions.length === 1 ? ', due ' : ', the first is due '}
                <Due at={first} />
              </>
            )}
          </>
        )
      }
      note="Executions wait until somebody decides."
    >
      <a class="button" href={linkTo('decisions')}>
        Decide
      </a>
    </Card>
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
      note={reason === 'failures' ? null : lastError}
    >
      {isOfFailures(reason) && (
        <a class="button" href={linkTo('executions', { rule: id, status: 'failed', last: '30d' })}>
          Failed executions
        </a>
      )}
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
        {note && <span class="sub">{note}</span>}
      </div>
      <div class="row">{children}</div>
    </li>
  )
}
