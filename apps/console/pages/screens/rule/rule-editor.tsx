import type { EventType, Rule } from '@automation/client'
import { ApiError } from '@automation/client'
import { eventTypeDefinitions } from '@automation/engine'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { fieldOfFault } from '../../logic/field-of-fault.js'
import { judgeDraft } from '../../logic/judge-draft.js'
import { listPaths } from '../../logic/paths.js'
import type { Definition } from '../../logic/rule-definition.js'
import { Screen } from '../../parts/screen.js'
import { Loading, Problem } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { api, may } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { describeError, readAgain } from '../../state/use-query.js'
import { Switch } from '../rules.js'
import { ActionsEditor } from './actions-editor.js'
import { ConditionList } from './conditions-editor.js'
import { Conflict } from './conflict.js'
import { FaultOf, Faults, Field } from './field.js'
import { JsonTab } from './json-tab.js'
import { Samples } from './samples.js'
import { useRuleDraft } from './use-rule-draft.js'
import { useSamples } from './use-samples.js'
import { Versions } from './versions.js'

interface Props {
  id: string
  saved: Rule | undefined
  template: Definition
  reload: () => Promise<Rule | undefined>
}

const tabs = { '': 'Editor', json: 'JSON', versions: 'Versions' } as const

export function RuleEditor({ id, saved, template, reload }: Props) {
  const { query, set } = useFilters()
  const tab = query.tab ?? ''
  const draft = useRuleDraft(id, saved, template)
  const { definition, change } = draft
  const saving = useSaving({ id, saved, draft, reload })
  const title = definition.name || (saved === undefined ? 'New rule' : 'Rule without a name')
  return (
    <Screen
      title={title}
      note={<DraftNote draft={draft} saved={saved} />}
      actions={
        <>
          {saved && <Switch rule={saved} after={reload} />}
          {draft.isChanged && (
            <button type="button" onClick={draft.drop}>
              Discard
            </button>
          )}
          {may('editor') && <SaveButtons saved={saved} isChanged={draft.isChanged} {...saving} />}
        </>
      }
    >
      <div class="tabs" role="group" aria-label="Parts of the rule">
        {Object.entries(tabs).map(([name, label]) =>
          name === 'versions' && saved === undefined ? null : (
            <button
              key={name}
              type="button"
              aria-pressed={tab === name}
              onClick={() => set({ tab: name, version: '' })}
            >
              {label}
            </button>
          ),
        )}
        {saved && <a href={linkTo('runs', { rule: saved.id })}>Runs</a>}
        {saved && <a href={linkTo('events', { rule: saved.id })}>Events</a>}
      </div>
      <p role="alert" class={saving.problem ? 'notice bad' : 'hidden'}>
        {saving.problem}
      </p>
      {saving.theirs && (
        <Conflict
          mine={definition}
          theirs={saving.theirs}
          keepMine={saving.keepMine}
          takeTheirs={saving.takeTheirs}
          close={saving.closeConflict}
        />
      )}
      <Faults.Provider value={saving.faults}>
        {tab === 'json' && <JsonTab definition={definition} change={change} isReadOnly={!may('editor')} />}
        {tab === 'versions' && saved && <Versions rule={saved} reload={reload} />}
        {tab === '' && <Form definition={definition} change={change} eventId={query.event} />}
      </Faults.Provider>
    </Screen>
  )
}

function DraftNote({ draft, saved }: { draft: ReturnType<typeof useRuleDraft>; saved: Rule | undefined }) {
  if (!draft.isKept)
    return <span class="bad">This browser has no room for the draft: save it before you leave.</span>
  if (draft.isChanged && draft.keptAt)
    return (
      <>
        Draft{saved && ` on v${draft.baseVersion}`}, kept in this browser at{' '}
        <When at={new Date(draft.keptAt).toISOString()} />
      </>
    )
  return saved ? (
    <>
      v{saved.version}, changed <When at={saved.updatedAt} />
    </>
  ) : (
    'Nothing is saved yet.'
  )
}

type Saving = ReturnType<typeof useSaving>

function SaveButtons({
  saved,
  isChanged,
  save,
  isBusy,
}: { saved: Rule | undefined; isChanged: boolean } & Pick<Saving, 'save' | 'isBusy'>) {
  if (saved)
    return (
      <button
        type="button"
        class="primary"
        disabled={isBusy || !isChanged}
        onClick={() => void save(saved.isActive)}
      >
        Save
      </button>
    )
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void save(false)}>
        Save, switched off
      </button>
      <button type="button" class="primary" disabled={isBusy} onClick={() => void save(true)}>
        Save and switch on
      </button>
    </>
  )
}

/** Saves on request only, and only over the version that the draft began with. */
function useSaving({
  id,
  saved,
  draft,
  reload,
}: Omit<Props, 'template'> & { draft: ReturnType<typeof useRuleDraft> }) {
  const { route } = useLocation()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [theirs, setTheirs] = useState<Rule>()
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())

  async function save(isActive: boolean): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    setFaults(new Map())
    const { definition, baseVersion } = draft
    try {
      if (saved === undefined) {
        const created = await api().rules.create({
          ...definition,
          trigger: definition.trigger as EventType,
          isActive,
        } as never)
        draft.drop()
        await readAgain('rules')
        route(linkTo(`rules/${created.id}`), true)
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
  function showFaults(found: { field: string; message: string }[]): void {
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
      `Not saved: ${found.length} ${found.length === 1 ? 'field needs' : 'fields need'} a change. ${elsewhere.join('. ')}`,
    )
    const [first] = placed.keys()
    if (first !== undefined) {
      const element = document.querySelector<HTMLElement>(`[data-path="${CSS.escape(first)}"]`)
      const control = element?.matches('input, select, textarea')
        ? element
        : element?.querySelector<HTMLElement>('input, select, textarea')
      control?.focus()
    }
  }

  return {
    save,
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

function Form({
  definition,
  change,
  eventId,
}: {
  definition: Definition
  change: (definition: Definition) => void
  eventId: string | undefined
}) {
  const { samples, isPending, error, refetch } = useSamples(definition.trigger, eventId)
  const judgement = useMemo(
    () => judgeDraft(definition, samples, Date.now()),
    [definition, samples.length, samples[0]?.id],
  )
  const paths = useMemo(() => listPaths(samples.map(({ data }) => data)), [samples.length, samples[0]?.id])
  const isReadOnly = !may('editor')
  const set = (changes: Partial<Definition>) => change({ ...definition, ...changes })
  useNameFocus(definition.name)
  return (
    <div class="editor">
      <fieldset disabled={isReadOnly} class="bare">
        <section class="card" aria-labelledby="when">
          <h2 id="when" class="hidden">
            The rule
          </h2>
          <Field label="Name" path="name">
            <input
              id="rule-name"
              maxLength={200}
              value={definition.name}
              onInput={({ currentTarget }) => set({ name: currentTarget.value })}
            />
          </Field>
          <Field
            label="When"
            path="trigger"
            hint={eventTypeDefinitions.find(({ type }) => type === definition.trigger)?.description}
          >
            <select
              value={definition.trigger}
              onChange={({ currentTarget }) => set({ trigger: currentTarget.value })}
            >
              {eventTypeDefinitions.map(({ type }) => (
                <option key={type}>{type}</option>
              ))}
            </select>
          </Field>
          <Field label="Description" path="description">
            <input
              maxLength={2000}
              value={definition.description}
              onInput={({ currentTarget }) => set({ description: currentTarget.value })}
            />
          </Field>
        </section>
        <section class="card" aria-labelledby="if">
          <h2 id="if">If all of these hold</h2>
          {definition.conditions.length === 0 && (
            <p class="quiet">No conditions: it runs for every {definition.trigger}.</p>
          )}
          <FaultOf path="conditions" />
          <datalist id="seen-paths">
            {paths.map(({ path }) => (
              <option key={path} value={path} />
            ))}
          </datalist>
          <ConditionList
            conditions={definition.conditions}
            path="conditions"
            paths={paths}
            change={(conditions) => set({ conditions })}
            note={(index) =>
              judgement.passedBy[index] === undefined
                ? undefined
                : `${judgement.passedBy[index]} of ${judgement.verdicts.length} pass`
            }
          />
        </section>
        <section class="card" aria-labelledby="then">
          <h2 id="then">Then</h2>
          <ActionsEditor actions={definition.actions} change={(actions) => set({ actions })} />
        </section>
      </fieldset>
      <section class="card sticky" aria-labelledby="tried">
        <h2 id="tried">Tried on events</h2>
        {isPending && <Loading what="the latest events" />}
        {error && <Problem error={error} retry={refetch} />}
        {!isPending && !error && (
          <Samples judgement={judgement} definition={definition} selectedId={eventId} />
        )}
      </section>
    </div>
  )
}

/** A new rule begins with its name. */
function useNameFocus(name: string): void {
  useEffect(() => {
    if (name === '') document.getElementById('rule-name')?.focus()
  }, [])
}
