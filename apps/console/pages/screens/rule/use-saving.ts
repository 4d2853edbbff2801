import type { EventType, Rule } from '@automation/client'
import { ApiError } from '@automation/client'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { findChangedPath } from '../../logic/editing/find-changed-path.js'
import { fieldOfFault } from '../../logic/field-of-fault.js'
import { type Definition, definitionOf } from '../../logic/rule-definition.js'
import { api } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { describeError, readAgain } from '../../state/use-query.js'
import type { FieldFault } from './sentence/faults.js'
import type { RuleDraftState } from './use-rule-draft.js'

/** What a new rule begins as. */
export type SavedState = 'on' | 'off' | 'shadow'

export type Saving = ReturnType<typeof useSaving>

/** A version that somebody saved meanwhile, and the one with which the changes here began. */
export interface Meanwhile {
  /** undefined: it is no longer kept, or could not be read. Then everything that differs is asked for. */
  base: Definition | undefined
  theirs: Rule
}

/** Saves on request only, and only over the version that the draft began with. */
export function useSaving({
  id,
  saved,
  draft,
  reload,
}: {
  id: string
  saved: Rule | undefined
  draft: RuleDraftState
  reload: () => Promise<Rule | undefined>
}) {
  const { query, route } = useLocation()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [meanwhile, setMeanwhile] = useState<Meanwhile>()
  const [faults, setFaults] = useState<ReadonlyMap<string, FieldFault>>(new Map())

  async function save(
    state: SavedState,
    definition: Definition = draft.definition,
    version: number = draft.baseVersion,
  ): Promise<void> {
    if (isBusy || refusesTexts()) return
    setBusy(true)
    setProblem(undefined)
    setFaults(new Map())
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
        route(linkTo(`rules/${created.id}`, { backtest: query.backtest, saved: `${created.version}` }), true)
        return
      }
      const { version: now } = await api().rules.update(id, definition as never, { ifVersion: version })
      await reload()
      draft.drop()
      await readAgain('rules')
      route(linkTo(`rules/${id}`, { ...query, saved: `${now}` }), true)
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await compare()
      else if (error instanceof ApiError && error.errors) showFaults(error.errors)
      else setProblem(`Not saved. ${describeError(error).title}. ${describeError(error).text}`)
    } finally {
      setBusy(false)
    }
  }

  /** The draft has the last whole JSON: what stands in the field is something else. */
  function refusesTexts(): boolean {
    const [path] = Object.keys(draft.texts)
    if (path === undefined) return false
    if (path === '')
      setProblem('Not saved: the JSON tab has unfinished text. Finish it, or discard it there.')
    else showFaults([{ field: path, message: 'Must be JSON: finish it, or remove the field' }])
    return true
  }

  /** The rule has changed: what was saved meanwhile stands beside what was typed. */
  async function compare(): Promise<void> {
    const [theirs, base] = await Promise.all([
      reload(),
      api()
        .rules.versions.get(id, draft.baseVersion)
        .catch(() => undefined),
    ])
    if (theirs) setMeanwhile({ theirs, base: base && definitionOf(base as never) })
  }

  /** Each fault at its field, the first with the focus. */
  function showFaults(found: { field: string; message: string }[], title = 'Not saved'): void {
    const fields = [...document.querySelectorAll<HTMLElement>('[data-path]')].map(
      (element) => element.dataset.path ?? '',
    )
    const placed = new Map<string, FieldFault>()
    const elsewhere: string[] = []
    for (const { field, message } of found) {
      const place = fieldOfFault(field, fields)
      if (place === undefined) elsewhere.push(`${field}: ${message}`)
      else placed.set(place, { message: place === field ? message : `${field}: ${message}` })
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
    compare,
    isBusy,
    problem,
    faults,
    /** What is changed has no longer the fault that the service found. */
    forgetFaults(before: Definition, after: Definition) {
      const changed = findChangedPath(before, after)
      if (faults.size === 0 || changed === undefined) return
      setFaults(
        new Map([...faults].filter(([path]) => !path.startsWith(changed) && !changed.startsWith(path))),
      )
    },
    meanwhile,
    /** Saves both changes, on top of the version that is saved now. */
    async saveMerged(merged: Definition) {
      if (!meanwhile) return
      const { version } = meanwhile.theirs
      draft.rebase(version, merged)
      setMeanwhile(undefined)
      await save('on', merged, version)
    },
    takeTheirs() {
      setMeanwhile(undefined)
      draft.discard()
    },
    closeConflict: () => setMeanwhile(undefined),
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
      // What is folded is not seen, and takes no focus.
      control.closest('details')?.setAttribute('open', '')
      control.focus()
      return
    }
  }
}

const controls = 'input, select, textarea'
