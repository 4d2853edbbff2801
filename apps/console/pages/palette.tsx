import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { type Choice, rankChoices } from './logic/rank.js'
import { Choices } from './parts/choices.js'
import { Dialog } from './parts/dialog.js'
import { askToSignOut } from './parts/sign-out.js'
import { places } from './places.js'
import { linkToEvent, linkToExecution } from './state/links.js'
import { theme, updates, zone } from './state/preferences.js'
import { api, may } from './state/session.js'
import { linkTo } from './state/use-filters.js'
import { useRuleNames } from './state/use-rules.js'

interface Entry extends Choice {
  hint: string
  run: () => void | Promise<void>
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const mostShown = 12

/** What lies below a screen. */
const parts: [label: string, screen: string, query: Record<string, string>, words?: string][] = [
  ['Failed executions', 'executions', { status: 'failed' }, 'errors retry'],
  ['Findings', 'rules', { tab: 'findings' }],
  ['Schedules: what runs next', 'rules', { tab: 'schedules' }],
  ['Event types', 'rules', { tab: 'types' }],
  ['Email templates', 'rules', { tab: 'templates' }],
  ['Refused webhooks', 'webhooks', { state: 'rejected' }],
  ['Subscriptions', 'webhooks', { way: 'out' }, 'deliveries outgoing webhooks'],
  ['API keys', 'access', { tab: 'keys' }],
  ['Signing secrets', 'access', { tab: 'secrets' }],
  ['Audit log', 'access', { tab: 'audit' }],
]

const switches: [label: string, flip: () => void][] = [
  [
    'Dark or light',
    () => {
      theme.value = isDark() ? 'light' : 'dark'
    },
  ],
  [
    'Local times or UTC',
    () => {
      zone.value = zone.value === 'UTC' ? 'local' : 'UTC'
    },
  ],
  [
    'Pause or resume updates',
    () => {
      updates.value = updates.value === 'on' ? 'off' : 'on'
    },
  ],
]

function isDark(): boolean {
  return theme.value === 'system'
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : theme.value === 'dark'
}

/** Go, find, do: one field for all three. A pasted id finds its event, execution, rule or task. */
export function Palette({ close, show }: { close: () => void; show: (dialog: 'keys' | 'sample') => void }) {
  const { route } = useLocation()
  const [typed, setTyped] = useState('')
  const [chosen, choose] = useState(0)
  const [problem, setProblem] = useState<string>()
  const { rules } = useRuleNames()
  const go = (target: string) => {
    close()
    route(target)
  }
  const id = typed.trim()
  const entries: Entry[] = uuid.test(id)
    ? [
        {
          label: `Find ${id}`,
          hint: 'an event, an execution, a rule or a task',
          run: () => findById(id, go, setProblem),
        },
      ]
    : rankChoices<Entry>(
        [
          ...places.map(({ screen, label }) => ({ label, hint: 'go', run: () => go(linkTo(screen)) })),
          ...(may('editor') ? [{ label: 'New rule', hint: 'do', run: () => go(linkTo('rules/new')) }] : []),
          ...(may('operator')
            ? [{ label: 'Send a sample event', hint: 'do', run: () => show('sample') }]
            : []),
          ...parts.map(([label, screen, query, words]) => ({
            label,
            ...(words && { words }),
            hint: 'go',
            run: () => go(linkTo(screen, query)),
          })),
          ...switches.map(([label, flip]) => ({
            label,
            hint: 'do',
            run: () => {
              flip()
              close()
            },
          })),
          { label: 'Keys', words: 'shortcuts help', hint: 'show', run: () => show('keys') },
          {
            label: 'Sign out',
            hint: 'do',
            run: () => {
              close()
              return askToSignOut()
            },
          },
          ...rules.map(({ id, name, trigger, labels }) => ({
            label: name,
            words: [trigger, ...labels].join(' '),
            hint: 'rule',
            run: () => go(linkTo(`rules/${id}`)),
          })),
        ],
        typed,
      ).slice(0, mostShown)
  // What is no name here may be in the data of an event.
  if (id !== '' && !uuid.test(id))
    entries.push({
      label: `Search events for “${id}”`,
      hint: 'find',
      run: () => go(linkTo('events', { q: id })),
    })
  const current = Math.min(chosen, entries.length - 1)

  return (
    <Dialog title="Search or run a command" close={close} asksFirst={false}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={current >= 0 ? `palette-${current}` : undefined}
        aria-label="Search or run a command"
        placeholder="Screen, rule, id or command"
        autocomplete="off"
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value)
          choose(0)
          setProblem(undefined)
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step !== 0 && entries.length > 0) {
            event.preventDefault()
            choose((current + step + entries.length) % entries.length)
          }
          if (event.key === 'Enter') {
            event.preventDefault()
            void entries[current]?.run()
          }
        }}
      />
      <Choices id="palette" label="Choices" items={entries} chosen={current} choose={({ run }) => void run()}>
        {({ label, hint }) => (
          <>
            <span>{label}</span> <span class="quiet">{hint}</span>
          </>
        )}
      </Choices>
      <p role="status" class="quiet">
        {problem ?? (entries.length === 0 ? 'No matches.' : '')}
      </p>
    </Dialog>
  )
}

async function findById(
  id: string,
  go: (target: string) => void,
  tell: (problem: string) => void,
): Promise<void> {
  const finders = [
    [() => api().events.get(id), linkToEvent(id)],
    [() => api().executions.get(id), linkToExecution(id)],
    [() => api().rules.get(id), linkTo(`rules/${id}`)],
    [() => api().tasks.get(id), linkTo('tasks', { id })],
  ] as const
  for (const [find, target] of finders) {
    const isFound = await Promise.resolve(find()).then(
      () => true,
      () => false,
    )
    if (isFound) return go(target)
  }
  tell('No event, execution, rule or task of this workspace has this id.')
}
