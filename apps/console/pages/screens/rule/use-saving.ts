import type { EventType, Rule } from '@automation/client'
import { ApiError } from '@automation/client'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { fieldOfFault } from '../../logic/field-of-fault.js'
import { api } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { describeError, readAgain } from '../../state/use-query.js'
import type { useRuleDraft } from './use-rule-draft.js'

/** What a new rule begins as. */
export type SavedState = 'on' | 'off' | 'shadow'

export type Saving = ReturnType<typeof useSaving>

/** Saves on request only, and only over the version that the draft began with. */
export function useSaving({
  id,
  saved,
  draft,
  reload,
}: {
  id: string
  saved: Rule | undefined
  draft: ReturnType<typeof useRuleDraft>
  reload: () => Promise<Rule | undefined>
}) {
  const { query, route } = useLocation()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [theirs, setTheirs] = useState<Rule>()
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())

  async function save(state: SavedState): Promise<void> {
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    setFaults(new Map())
    const { definition, baseVersion } = draft
    try {
      if (saved === undefined) {
        const created = await api().rules.create({
          ...definition,
          trigger: definition.trigger as EventType,
          ...(state === 'shadow' ? { mode: 'shadow' } : { isActive: state === 'on' }),
        } as never)
        draft.drop()
        await readAgain('rules')
        // What was tested stays beside it.
        route(linkTo(`rules/${created.id}`, { backtest: query.backtest }), true)
        return
      }
      await api().rules.update(id, definition as never, { ifVersion: baseVersion })
      await reload()
      draft.drop()
      await readAgain('rules')
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) setTheirs(await reload())
      else if (error instanceof ApiError && error.errors) showFaults(error.errors)
      else setProblem(`Not saved. ${describeError(error).title}. ${describeError(error).text}`)
    } finally {
      setBusy(false)
    }
  }

  /** Each fault at its field, the first with the focus. */
  function showFaults(found: { field: string; message: string }[], title = 'Not saved'): void {
    const fields = [...document.querySelectorAll<HTMLElement>('[data-path]')].map(
      (element) => element.dataset.path ?? '',
    )
    const placed = new Map<string, string>()
    const elsewhere: string[] = []
    for (const { field, message } of found) {
      const place = fieldOfFault(field, fields)
      if (place === undefined) elsewhere.push(`${field}: ${message}`)
      else placed.set(place, place === field ? message : `${field}: ${message}`)
    }
    setFaults(placed)
    setProblem(
      `${title}: ${found.length} ${found.length === 1 ? 'field needs' : 'fields need'} a change. ${elsewhere.join('. ')}`,
    )
    const [first] = placed.keys()
    if (first !== undefined) focusField(first)
  }

  return {
    save,
    showFaults,
    setProblem,
    /** The rule has changed: what is saved now stands beside what was typed. */
    compare: async () => setTheirs(await reload()),
    isBusy,
    problem,
    faults,
    theirs,
    keepMine() {
      if (theirs) draft.rebase(theirs.version)
      setTheirs(undefined)
    },
    takeTheirs() {
      draft.drop()
      setTheirs(undefined)
    },
    closeConflict: () => setTheirs(undefined),
  }
}

/** Moves the focus to the field of a path, or to the nearest above it. */
export function focusField(path: string): void {
  const elements = [...document.querySelectorAll<HTMLElement>('[data-path]')]
  const nearest = fieldOfFault(
    path,
    elements.map((element) => element.dataset.path ?? ''),
  )
  for (const element of elements.filter(({ dataset }) => dataset.path === nearest)) {
    const control = element.matches(controls) ? element : element.querySelector<HTMLElement>(controls)
    if (control) {
      control.focus()
      return
    }
  }
}

const controls = 'input, select, textarea'
