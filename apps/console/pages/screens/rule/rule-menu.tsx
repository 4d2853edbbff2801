import type { Rule } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { laterDialog } from '../../parts/later.js'
import { Menu, type MenuItem } from '../../parts/menu.js'
import { Question } from '../../parts/question.js'
import { Alert } from '../../parts/states.js'
import { asked } from '../../state/asked.js'
import { api, may } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { useChange } from '../../state/use-change.js'
import { linkTo } from '../../state/use-filters.js'

const ExpectEvery = laterDialog('How often it should match', () =>
  import('./expect-every.js').then(({ ExpectEvery }) => ExpectEvery),
)

const RunOnEvent = laterDialog('Run on an event', () =>
  import('./run-on-event.js').then(({ RunOnEvent }) => RunOnEvent),
)

/** What can be done with a rule as a whole. */
export function RuleMenu({
  rule,
  drop,
  rollBack,
}: {
  rule: Rule
  drop: () => void
  /** The dialog, where there is a way back from a promotion. */
  rollBack: ComponentChildren
}) {
  const { route } = useLocation()
  const [isDeleting, askDeletion] = useState(false)
  const [isTimed, askTime] = useState(false)
  const { change, problem, isBusy } = useChange('rules')
  async function duplicate(): Promise<void> {
    const copy = await change(() => api().rules.clone(rule.id, { ifVersion: rule.version }))
    if (copy === undefined) return
    route(linkTo(`rules/${copy.id}`))
    toast(`This is the copy of ${rule.name}. It is off.`)
  }
  async function remove(): Promise<void> {
    const isDone = await change(async () => {
      await api().rules.delete(rule.id, { ifVersion: rule.version })
      drop()
      route(linkTo('rules'))
      return true
    })
    if (isDone) toast(`${rule.name} was deleted`)
  }
  const ask = (dialog: ComponentChildren) => {
    asked.value = dialog
  }
  const items: MenuItem[] = [
    // A replay is for rules that are on.
    ...(rule.isActive && may('replay')
      ? [
          {
            label: 'Run on an event…',
            icon: 'play',
            run: () => ask(<RunOnEvent rule={rule} />),
          } satisfies MenuItem,
        ]
      : []),
    ...(rollBack
      ? [{ label: 'Roll back now…', icon: 'undo', run: () => ask(rollBack) } satisfies MenuItem]
      : []),
    ...(may('create')
      ? [{ label: 'Duplicate', icon: 'copy', run: () => void duplicate() } satisfies MenuItem]
      : []),
    ...(may('publish')
      ? ([
          { label: 'Expect a match…', icon: 'clock', run: () => askTime(true) },
          { label: 'Delete…', icon: 'trash', isDanger: true, run: () => askDeletion(true) },
        ] satisfies MenuItem[])
      : []),
  ]
  if (items.length === 0) return null
  return (
    <>
      <Menu label={`More for ${rule.name}`} items={items} />
      <Alert isSmall>{!isDeleting && problem}</Alert>
      {isTimed && <ExpectEvery rule={rule} close={() => askTime(false)} />}
      {isDeleting && (
        <Question
          title={`Delete ${rule.name}`}
          label="Delete"
          close={() => askDeletion(false)}
          act={remove}
          {...{ problem, isBusy }}
        >
          It stops running at once, and its executions that wait are cancelled. Its history stays. A deleted
          rule cannot be restored: to keep it, switch it off.
        </Question>
      )}
    </>
  )
}
