import { ApiError, type EventType, type Rule } from '@automation/client'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { findChangedPath } from '../../logic/editing/find-changed-path.js'
import { nameFaultPath, sayFault } from '../../logic/editing/say-fault.js'
import { type Definition, isSame } from '../../logic/rule-definition.js'
import { isConnected } from '../../state/connection.js'
import { host } from '../../state/host.js'
import { api } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { describeError, readAgain } from '../../state/use-query.js'
import type { FoundMeanwhile, Over, SavedAs } from './find-meanwhile.js'
import { focusField } from './focus-field.js'
import type { FieldFault } from './sentence/faults.js'
import { placeFaults } from './use-faults.js'
import type { UnsavedState } from './use-unsaved.js'

export type Saving = ReturnType<typeof useSaving>

/** Saves on request only, as the rule or as its draft, and only over what the changes began with. */
export function useSaving({
  id,
  saved,
  unsaved,
  reload,
}: {
  id: string
  saved: Rule | undefined
  unsaved: UnsavedState
  reload: () => Promise<Rule | undefined>
}) {
  const { query, route } = useLocation()
  const { set } = useFilters()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [meanwhile, setMeanwhile] = useState<FoundMeanwhile>()
  const [isLost, lose] = useState(false)
  useEffect(() => {
    if (isLost && isConnected.value) setProblem(undefined)
  }, [isConnected.value])
  const [faults, setFaults] = useState<ReadonlyMap<string, FieldFault>>(new Map())

  async function save(
    as: SavedAs,
    definition: Definition = unsaved.definition,
    over: Over = { version: unsaved.baseVersion, etag: unsaved.etag },
  ): Promise<void> {
    if (isBusy || refusesTexts()) return
    setBusy(true)
    setProblem(undefined)
    setFaults(new Map())
    try {
      if (saved === undefined) await create(as, definition)
      else await (as === 'draft' ? keepDraft : update)(definition, over)
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await compare(as, definition).catch(say)
      else if (error instanceof ApiError && error.errors) showFaults(error.errors)
      else say(error)
    } finally {
      setBusy(false)
    }
  }

  function say(error: unknown): void {
    const { title, text } = describeError(error)
    lose(error instanceof ApiError && error.status === 0)
    setProblem(`Not saved. ${title}. ${text}`)
    if (inFrame)
      host.say('error', {
        message: `${title}. ${text}`,
        ...(error instanceof ApiError && { status: error.status }),
      })
  }

  async function create(as: SavedAs, definition: Definition): Promise<void> {
    const { id, version } = await api().rules.create({
      ...definition,
      trigger: definition.trigger as EventType,
      ...(as === 'shadow' ? { mode: 'shadow' } : { isActive: as === 'on' }),
    } as never)
    unsaved.settle(definition, version, { id })
    if (inFrame) host.say('saved', { ruleId: id, version, isDraft: false })
    await readAgain('rules')
    // What was tested stays beside it.
    route(linkTo(`rules/${id}`, { backtest: query.backtest, saved: `${version}` }), true)
  }

  async function update(definition: Definition, { version }: Over): Promise<void> {
    const { version: now } = await api().rules.update(id, definition as never, { ifVersion: version })
    await reload()
    await settle(definition, now)
  }

  async function settle(definition: Definition, now: number): Promise<void> {
    unsaved.settle(definition, now)
    if (inFrame) host.say('saved', { ruleId: id, version: now, isDraft: false })
    await readAgain('rules')
    route(linkTo(`rules/${id}`, { ...query, saved: `${now}` }), true)
  }

  async function keepDraft(definition: Definition, { version, etag = `"${version}"` }: Over): Promise<void> {
    const { etag: next } = await api().rules.drafts.save(id, definition as never, { ifTag: etag })
    await settleDraft(definition, version, next as string)
  }

  async function settleDraft(definition: Definition, version: number, etag: string) {
    unsaved.settle(definition, version, { etag })
    if (inFrame) host.say('saved', { ruleId: id, isDraft: true })
    await readAgain('rollouts')
    set({ tab: 'rollout' })
  }

  /** What is unsaved has the last whole JSON: what stands in the field is something else. */
  function refusesTexts(): boolean {
    const [path] = Object.keys(unsaved.texts)
    if (path === undefined) return false
    if (path === '')
      setProblem('Not saved: the JSON tab has unfinished text. Finish it, or discard it there.')
    else showFaults([{ field: path, message: 'Must be JSON: finish it, or remove the field' }])
    return true
  }

  /** Somebody has saved another one: it stands beside what was typed. The same one was saved already, and its answer was lost. */
  async function compare(as: SavedAs, mine: Definition): Promise<void> {
    // It comes with the first conflict.
    const { findMeanwhile } = await import('./find-meanwhile.js')
    const found = await findMeanwhile({ id, as, unsaved, reload })
    if (found === undefined) return
    const { version, etag } = found.over
    if (!isSame(found.theirs, mine)) setMeanwhile(found)
    else if (as === 'draft' && etag !== undefined) await settleDraft(mine, version, etag)
    else await settle(mine, version)
  }

  /** Each fault at its field, the first with the focus. */
  function showFaults(found: { field: string; message: string }[], title = 'Not saved'): void {
    const { placed, elsewhere } = placeFaults(
      found.map(({ field, message }) => ({
        field,
        place: nameFaultPath(field, unsaved.definition.actions),
        message: sayFault({ message, isUnfinished: false }),
      })),
    )
    setFaults(placed)
    const others = elsewhere.map(({ place, message }) => `${place}: ${message}`)
    setProblem(
      `${title}: ${found.length} ${found.length === 1 ? 'field needs' : 'fields need'} a change. ${others.join('. ')}`,
    )
    if (inFrame) host.say('error', { message: `${title}: ${found.map(({ message }) => message).join('. ')}` })
    const [first] = placed.keys()
    if (first !== undefined) focusField(first)
  }

  return {
    save,
    showFaults,
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
    closeConflict: () => setMeanwhile(undefined),
    /** Saves both changes, on top of what is saved now. */
    async saveMerged(merged: Definition) {
      if (!meanwhile) return
      const { as, over } = meanwhile
      unsaved.rebase(over.version, merged)
      setMeanwhile(undefined)
      await save(as, merged, over)
    },
  }
}
