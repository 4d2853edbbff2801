import type { Rule } from '@automation/client'
import { useEffect } from 'preact/hooks'
import { describeChanges } from '../../logic/editing/describe-changes.js'
import { hideSecrets } from '../../logic/kept-secrets.js'
import { type Definition, definitionOf, isSame } from '../../logic/rule-definition.js'
import type { KeptChanges as Kept } from '../../logic/unsaved-changes.js'
import { When } from '../../parts/when.js'

interface Props {
  saved: Rule | undefined
  /** What a new rule begins as. */
  template: Definition
  /** This tab has changes, too. */
  hasOwn: boolean
  others: readonly Kept[]
  open: (one: Kept) => unknown
  /** @param isIdle it says what the rule says: nobody needs to know */
  discard: (one: Kept, isIdle?: boolean) => unknown
}

/** What tabs have kept that are gone: none of it is lost, and none takes the place of another unseen. */
export function KeptChanges({ saved, template, hasOwn, others, open, discard }: Props) {
  const begun = saved ? definitionOf(saved) : template
  const base = hideSecrets({ definition: begun }, begun).definition
  const isIdle = ({ unsaved: { definition, texts = {}, etag } }: Kept) =>
    etag === undefined && Object.keys(texts).length === 0 && isSame(definition, base)
  const more = others.filter((one) => !isIdle(one))
  useEffect(() => {
    for (const one of others) if (isIdle(one)) void discard(one, true)
  }, [others])
  if (more.length === 0) return null
  return (
    <section class="notice kept" aria-label="Kept changes">
      <p>{sayCount(more.length, hasOwn, saved === undefined)}</p>
      <ul>
        {more.map((one) => (
          <li key={one.tab} class="row">
            <span>
              {saved === undefined && `“${one.unsaved.definition.name || 'Without a name'}”, `}
              <When at={new Date(one.unsaved.keptAt).toISOString()} />
              {saved !== undefined && `: ${sayChanges(describeChanges(base, one.unsaved.definition))}`}
            </span>
            <span class="row">
              <button type="button" class="small" onClick={() => void open(one)}>
                Open
              </button>
              <button type="button" class="plain small" onClick={() => void discard(one)}>
                Discard
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function sayCount(count: number, hasOwn: boolean, isNew: boolean): string {
  const tabs =
    hasOwn && count === 1
      ? 'Another tab'
      : hasOwn
        ? `${count} other tabs`
        : count === 1
          ? 'A tab'
          : count === 2
            ? 'Two tabs'
            : `${count} tabs`
  const what = isNew ? 'a new rule' : 'changes to this rule'
  return `${tabs} kept ${what}${hasOwn ? ', too' : ''}:`
}

const mostSaid = 2

function sayChanges(changes: readonly string[]): string {
  const more = changes.length - mostSaid
  if (changes.length === 0) return 'unfinished JSON.'
  return [...changes.slice(0, mostSaid), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
}
