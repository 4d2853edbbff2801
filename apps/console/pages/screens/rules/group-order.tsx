import type { RuleGroup } from '@automation/client'
import { useState } from 'preact/hooks'
import { moveInGroup } from '../../logic/editing/group-members.js'
import { showControls } from '../../logic/show.js'
import { afterDrawing } from '../../parts/after-drawing.js'
import { Icon } from '../../parts/icon.js'
import { Mark } from '../../parts/mark.js'
import { Alert, Unread } from '../../parts/states.js'
import { api, may } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { useChange } from '../../state/use-change.js'
import { linkTo } from '../../state/use-filters.js'
import { useQuery } from '../../state/use-query.js'

type Member = RuleGroup['rules'][number]

/** The order of a group: of its active rules with one trigger only the first that matches runs. */
export function GroupOrder({ name }: { name: string }) {
  const found = useQuery({ key: ['rules', 'group', name], read: () => readGroup(name), pollMs: false })
  const [moved, move] = useState<readonly Member[]>()
  const { change, problem, isBusy } = useChange('rules')
  const put = async (rules: readonly Member[], tag: string) => {
    const saved = await change(() => putGroup(name, rules, tag))
    // Somebody has changed it meanwhile, or it is saved: what is stored is shown.
    move(undefined)
    if (saved === undefined) void found.refetch()
    return saved
  }
  async function save(rules: readonly Member[], before: readonly Member[], tag: string): Promise<void> {
    const saved = await put(rules, tag)
    if (saved) toast(`The order of ${name} was saved`, { undo: () => put(before, saved) })
  }
  if (!found.data) return <Unread {...found} what="the group" />
  const { rules, tag } = found.data
  const shown = moved ?? rules
  const triggers = [...new Set(rules.map(({ trigger }) => trigger))].sort()
  return (
    <section class="card" aria-labelledby="group-order">
      <div class="row spread">
        <h2 id="group-order">Group {name}</h2>
        <a href={linkTo('rules')}>All rules</a>
      </div>
      <p class="quiet">
        Of its active rules only the first that matches an event runs.
        {may('publish') && ' Move a rule with its arrows, or with Alt and an arrow key.'}
      </p>
      {triggers.map((trigger) => (
        <section key={trigger} aria-label={`Rules for ${trigger}`}>
          {triggers.length > 1 && (
            <h3>
              <code>{trigger}</code>
            </h3>
          )}
          <ol class="group-order">
            {shown
              .filter((rule) => rule.trigger === trigger)
              .map((rule, index, own) => (
                <Place
                  key={rule.id}
                  rule={rule}
                  place={index + 1}
                  isLast={index === own.length - 1}
                  move={(by) => {
                    move(moveInGroup(shown, rule.id, by))
                    focusSoon(rule.id, by)
                  }}
                />
              ))}
          </ol>
        </section>
      ))}
      <Alert>{problem && `Not saved: ${problem}`}</Alert>
      {moved && (
        <div class="row">
          <button
            type="button"
            class="primary"
            aria-disabled={isBusy}
            onClick={() => !isBusy && void save(moved, rules, tag)}
          >
            Save the order
          </button>
          <button type="button" onClick={() => move(undefined)}>
            Discard
          </button>
        </div>
      )}
    </section>
  )
}

interface PlaceProps {
  rule: Member
  place: number
  isLast: boolean
  move: (by: -1 | 1) => void
}

function Place({ rule, place, isLast, move }: PlaceProps) {
  const { id, name, isActive, mode } = rule
  const step = (by: -1 | 1) => {
    if (by === -1 ? place > 1 : !isLast) move(by)
  }
  return (
    <li
      onKeyDown={(event) => {
        const by = event.altKey ? steps[event.key] : undefined
        if (by === undefined || !may('publish')) return
        event.preventDefault()
        step(by)
      }}
    >
      <span class="number quiet">{place}</span>
      <a href={linkTo(`rules/${id}`)}>{showControls(name)}</a>
      {!isActive && (
        <Mark of={mode === 'shadow' ? 'shadow' : 'skipped'} word={mode === 'shadow' ? 'shadow' : 'off'} />
      )}
      {may('publish') && (
        <span class="row">
          {([-1, 1] as const).map((by) => (
            <button
              key={by}
              id={buttonId(id, by)}
              type="button"
              class={`plain icon-button small ${by === -1 ? 'upward' : ''}`}
              aria-label={`Move ${name} ${by === -1 ? 'up' : 'down'}`}
              aria-disabled={by === -1 ? place === 1 : isLast}
              onClick={() => step(by)}
            >
              <Icon name="down" />
            </button>
          ))}
        </span>
      )}
    </li>
  )
}

const steps: Readonly<Record<string, -1 | 1>> = { ArrowUp: -1, ArrowDown: 1 }

function buttonId(ruleId: string, by: -1 | 1): string {
  return `${by === -1 ? 'up' : 'down'}-${ruleId}`
}

/** A row that is moved in the page loses the focus. */
function focusSoon(ruleId: string, by: -1 | 1): void {
  afterDrawing(() => document.getElementById(buttonId(ruleId, by))?.focus())
}

async function readGroup(name: string): Promise<{ rules: readonly Member[]; tag: string }> {
  let tag = ''
  const { rules } = await api().rules.group(name, {
    onHeaders: (headers) => (tag = headers.get('etag') ?? ''),
  })
  return { rules, tag }
}

/** @returns the tag of what is saved, so that this can be taken back while nobody else changes it */
async function putGroup(name: string, rules: readonly Member[], ifTag: string): Promise<string> {
  let tag = ''
  const ruleIds = rules.map(({ id }) => id)
  await api().rules.reorder(name, ruleIds, {
    ifTag,
    onHeaders: (headers) => (tag = headers.get('etag') ?? ''),
  })
  return tag
}
