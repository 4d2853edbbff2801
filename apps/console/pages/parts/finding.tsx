import type { Client } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { linkTo } from '../state/use-filters.js'
import { Icon } from './icon.js'
import { JsonView } from './json-view.js'

/** What a check found. */
export type Finding = Awaited<ReturnType<Client['rules']['check']>>['findings'][number]

const looks = {
  error: { icon: 'close', word: 'error', tone: 'bad' },
  warning: { icon: 'warning', word: 'warning', tone: 'wait' },
  info: { icon: 'more', word: 'note', tone: 'quiet' },
} as const

/** A finding as a sentence, and an event that shows it. @param children what it is about */
export function FindingText({ finding, children }: { finding: Finding; children?: ComponentChildren }) {
  const { severity, message, others, witness } = finding
  const { icon, word, tone } = looks[severity]
  const named = new Map(others.map((other) => [other.index, other]))
  return (
    <div class="finding">
      <p>
        <span class={`mark ${tone}`}>
          <Icon name={icon} /> {word}
        </span>{' '}
        {children}
      </p>
      <p>{message}</p>
      {named.size > 0 && (
        <p class="sub">
          The other{named.size > 1 && 's'}:{' '}
          {[...named.values()].map(({ id, name, index }) => (
            <span key={index} class="other">
              {id === null ? name : <a href={linkTo(`rules/${id}`)}>{name}</a>}
            </span>
          ))}
        </p>
      )}
      {witness && (
        <details>
          <summary>An event that shows it</summary>
          <JsonView value={witness.data} label={`An event of type ${witness.type}`} />
        </details>
      )}
    </div>
  )
}
