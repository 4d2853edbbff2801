import type { Rule } from '@automation/client'
import { useState } from 'preact/hooks'
import { api, may } from '../state/session.js'
import { describeError, readAgain } from '../state/use-query.js'
import { Mark } from './mark.js'

/** Switches a rule on or off, as its user has seen it: a change in between is not undone unseen. */
export function Switch({
  rule,
  after,
}: {
  rule: Pick<Rule, 'id' | 'name' | 'isActive' | 'version' | 'mode'>
  after?: () => PromiseLike<unknown>
}) {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  if (rule.mode === 'shadow') return <Mark of="shadow" />
  if (!may('operator'))
    return <Mark of={rule.isActive ? 'active' : 'skipped'} word={rule.isActive ? 'on' : 'off'} />
  return (
    <>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={rule.isActive}
        aria-label={`${rule.name} is ${rule.isActive ? 'on' : 'off'}`}
        aria-disabled={isBusy}
        onClick={async () => {
          if (isBusy) return
          setBusy(true)
          setProblem(undefined)
          try {
            await api().rules.toggle(rule.id, { ifVersion: rule.version })
          } catch (error) {
            setProblem(describeError(error).title)
          }
          await Promise.all([readAgain('rules'), after?.()])
          setBusy(false)
        }}
      >
        <span class="knob" aria-hidden="true" />
        {rule.isActive ? 'on' : 'off'}
      </button>
      {problem && (
        <span role="alert" class="sub bad">
          {problem}
        </span>
      )}
    </>
  )
}
