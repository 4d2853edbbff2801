import type { Rule } from '@automation/client'
import { useState } from 'preact/hooks'
import { countOf } from '../logic/count-words.js'
import { asked } from '../state/asked.js'
import { api, may } from '../state/session.js'
import { toast } from '../state/toasts.js'
import { describeError, readAgain } from '../state/use-query.js'
import { Mark } from './mark.js'
import { Question, stopAsking } from './question.js'
import { Alert } from './states.js'

type Switched = Pick<Rule, 'id' | 'name' | 'isActive' | 'version' | 'mode'>

/** So many waiting executions are counted before a rule is switched off. */
const mostCounted = 100

/**
 * Switches a rule on or off, as its user has seen it: a change in between is not undone unseen. What is switched can be switched back, so it
 * happens at once; if executions wait, which cannot be brought back, it asks first.
 */
export function Switch({ rule, after }: { rule: Switched; after?: () => PromiseLike<unknown> }) {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  if (rule.mode === 'shadow') return <Mark of="shadow" />
  if (!may('switch'))
    return <Mark of={rule.isActive ? 'active' : 'skipped'} word={rule.isActive ? 'on' : 'off'} />

  async function flip(): Promise<void> {
    const { isActive } = await api().rules.toggle(rule.id, { ifVersion: rule.version })
    toast(`${rule.name} is ${isActive ? 'on' : 'off'}`, { undo: () => attempt(flip) })
  }
  async function attempt(work: () => Promise<void>): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      await work()
    } catch (error) {
      setProblem(describeError(error).title)
    }
    await Promise.all([readAgain('rules'), after?.()])
    setBusy(false)
  }
  async function ask(): Promise<void> {
    const waiting = rule.isActive && may('read executions') ? await countWaiting(rule.id) : undefined
    if (waiting === undefined) return flip()
    asked.value = (
      <Question
        title={`Switch ${rule.name} off`}
        label="Switch off"
        act={() => {
          stopAsking()
          return attempt(flip)
        }}
      >
        {waiting} of this rule {waiting.startsWith('1 ') ? 'waits' : 'wait'} for later actions. Switching it
        off cancels them, and switching it on again does not bring them back.
      </Question>
    )
  }

  return (
    <>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={rule.isActive}
        aria-label={`${rule.name} is ${rule.isActive ? 'on' : 'off'}`}
        aria-disabled={isBusy}
        onClick={() => !isBusy && void attempt(ask)}
      >
        <span class="knob" aria-hidden="true" />
        {rule.isActive ? 'on' : 'off'}
      </button>
      <Alert isSmall>{problem}</Alert>
    </>
  )
}

/** @returns how many executions of the rule wait, in words; undefined if none does */
async function countWaiting(ruleId: string): Promise<string | undefined> {
  const { executions, nextCursor } = await api().executions.list({
    ruleId,
    status: 'waiting,retrying',
    limit: mostCounted,
  })
  if (executions.length === 0) return undefined
  return nextCursor === null ? countOf(executions.length, 'execution') : `More than ${mostCounted} executions`
}
