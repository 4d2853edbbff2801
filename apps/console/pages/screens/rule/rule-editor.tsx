import type { Rule } from '@automation/client'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { commandOf } from '../../logic/keys.js'
import type { Definition } from '../../logic/rule-definition.js'
import { Icon } from '../../parts/icon.js'
import { later, laterDialog } from '../../parts/later.js'
import { Opener } from '../../parts/opener.js'
import { Screen } from '../../parts/screen.js'
import { Alert } from '../../parts/states.js'
import { Switch } from '../../parts/switch.js'
import { Tabs } from '../../parts/tabs.js'
import { When } from '../../parts/when.js'
import { useOpenForm } from '../../state/open-form.js'
import { may, workspace } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { useRollout } from '../../state/use-rollouts.js'
import type { ConflictProps } from './conflict.js'
import { Failing } from './failing.js'
import type { SavedAs } from './find-meanwhile.js'
import type { RollBackProps } from './roll-back.js'
import { RuleForm } from './rule-form.js'
import type { useKept } from './use-kept.js'
import { type Saving, useSaving } from './use-saving.js'
import { type UnsavedState, useUnsaved } from './use-unsaved.js'

const RollBack = laterDialog(
  ({ rule, guard }: RollBackProps) => `Roll back ${rule.name} to v${guard.previousVersion}?`,
  () => import('./roll-back.js').then(({ RollBack }) => RollBack),
)
// They come when somebody opens their tab, with a conflict, or where there is something that another tab has kept.
const KeptChanges = later(
  'what tabs have kept',
  () => import('./kept-changes.js').then(({ KeptChanges }) => KeptChanges),
  ({ children }) => <section class="notice kept">{children}</section>,
)
const RuleMenu = later(
  'the menu',
  () => import('./rule-menu.js').then(({ RuleMenu }) => RuleMenu),
  () => (
    <button type="button" class="plain icon-button" aria-label="More" disabled>
      <Icon name="more" />
    </button>
  ),
)
const DraftNote = later('the draft', () => import('./draft-note.js').then(({ DraftNote }) => DraftNote), null)
const JsonTab = later('the JSON', () => import('./json-tab.js').then(({ JsonTab }) => JsonTab))
const Conflict = laterDialog(
  ({ title }: ConflictProps) => title,
  () => import('./conflict.js').then(({ Conflict }) => Conflict),
)
const Rollout = later('the rollout', () => import('./rollout/rollout.js').then(({ Rollout }) => Rollout))
const Versions = later('the versions', () => import('./versions.js').then(({ Versions }) => Versions))

interface Props {
  id: string
  saved: Rule | undefined
  template: Definition
  kept: NonNullable<ReturnType<typeof useKept>>
  reload: () => Promise<Rule | undefined>
}

const tabsOfNew = { '': 'Editor', json: 'JSON' }
const tabs = { ...tabsOfNew, rollout: 'Rollout', versions: 'Versions' }

export function RuleEditor({ id, saved, template, kept, reload }: Props) {
  const { query, set } = useFilters()
  // An address may name a part that there is not.
  const tab = Object.hasOwn(tabs, query.tab ?? '') ? (query.tab ?? '') : ''
  const unsaved = useUnsaved(id, saved, template, query.event, kept.changes)
  const { definition } = unsaved
  const saving = useSaving({ id, saved, unsaved, reload })
  const rollout = useRollout(id)
  const draft = rollout?.draft ?? undefined
  const guard = rollout?.guard
  const rollBack = saved && guard?.trippedAt === null && may('publish') && (
    <RollBack rule={saved} {...{ guard, reload }} isChanged={unsaved.isChanged} />
  )
  useSaveKey(may('editor') && (saved === undefined || unsaved.isChanged), () => saving.save(usualWay(saved)))
  if (inFrame)
    useOpenForm({ isDirty: unsaved.isChanged, save: () => saving.save(usualWay(saved)), ...unsaved })
  useUndoKeys(may('editor'), unsaved)
  const title = definition.name || (saved === undefined ? 'New rule' : 'Rule without a name')
  return (
    <Screen
      title={title}
      note={
        <>
          <span>
            <UnsavedNote unsaved={unsaved} saved={saved} />
          </span>
          {saved && (
            <span class="draft">
              {draft && <DraftNote ruleId={id} draft={draft} version={saved.version} />}
            </span>
          )}
        </>
      }
      actions={
        <>
          {rollBack && (
            <Opener look="low" label="Roll back now">
              {rollBack}
            </Opener>
          )}
          {saved && <Switch rule={saved} after={reload} />}
          {may('editor') && <UndoButtons unsaved={unsaved} />}
          {unsaved.isChanged && (
            <button type="button" onClick={unsaved.discard}>
              Discard
            </button>
          )}
          {saved && unsaved.isChanged && may('editor') && (
            <button
              type="button"
              {...(inFrame && !may('publish') && { class: 'primary' })}
              aria-disabled={saving.isBusy}
              onClick={() => void saving.save('draft')}
            >
              Save as draft
            </button>
          )}
          {may('editor') && <SaveButtons saved={saved} isChanged={unsaved.isChanged} {...saving} />}
          {saved && may('operator') && <RuleMenu rule={saved} drop={unsaved.drop} rollBack={rollBack} />}
        </>
      }
    >
      {kept.others.length > 0 && (
        <KeptChanges {...{ saved, template }} {...kept} hasOwn={unsaved.isChanged} />
      )}
      {unsaved.missing.length > 0 && (
        <p class="notice" role="status">
          A browser keeps no secrets: type {unsaved.missing.join(', ')} again.
        </p>
      )}
      {inFrame && saved && !may('editor') && workspace.value?.role === 'editor' && (
        <p class="notice">It has parts that you may not change here: it is read only.</p>
      )}
      {saved && <Failing rule={saved} />}
      <Tabs
        label="Parts of the rule"
        tabs={saved ? tabs : tabsOfNew}
        marks={{ rollout: draft && 'a draft waits' }}
        chosen={tab}
        choose={(name) => set({ tab: name, version: '' })}
      >
        {saved && <a href={linkTo('executions', { rule: saved.id, last: '30d' })}>Executions</a>}
        {saved && <a href={linkTo('events', { rule: saved.id, last: '30d' })}>Events</a>}
      </Tabs>
      <Alert>{saving.problem}</Alert>
      {saving.meanwhile && (
        <Conflict
          {...saving.meanwhile}
          mine={{
            definition,
            save: saving.saveMerged,
            discard: () => {
              saving.closeConflict()
              unsaved.discard()
            },
          }}
          close={saving.closeConflict}
        />
      )}
      {tab === 'json' && (
        <JsonTab
          definition={definition}
          change={unsaved.change}
          isReadOnly={!may('editor')}
          kept={unsaved.texts['']}
          keep={(text) => unsaved.keepText('', text)}
        />
      )}
      {tab === 'rollout' && saved && <Rollout rule={saved} {...{ unsaved, reload }} />}
      {tab === 'versions' && saved && <Versions rule={saved} reload={reload} />}
      {tab === '' && <RuleForm {...{ id, saved, unsaved, saving, draft }} eventId={query.event} />}
    </Screen>
  )
}

/** As what a rule is saved without another word. */
function usualWay(saved: Rule | undefined): SavedAs {
  return !inFrame || may('publish') ? 'on' : saved ? 'draft' : 'off'
}

function UnsavedNote({
  unsaved,
  saved,
}: {
  unsaved: ReturnType<typeof useUnsaved>
  saved: Rule | undefined
}) {
  if (!unsaved.isKept)
    return <span class="bad">This browser cannot store your changes: save them before you leave.</span>
  if (unsaved.isChanged && unsaved.keptAt)
    return (
      <>
        {saved ? `Changes to v${unsaved.baseVersion}` : 'Not saved yet'}, kept{' '}
        {inFrame ? 'on this page' : 'in this browser'} at <When at={new Date(unsaved.keptAt).toISOString()} />
      </>
    )
  return saved ? (
    <>
      v{saved.version}, changed <When at={saved.updatedAt} />
      {saved.expectEvery && `, should match every ${saved.expectEvery}`}
    </>
  ) : (
    'Nothing is saved yet.'
  )
}

function UndoButtons({ unsaved }: { unsaved: UnsavedState }) {
  return (
    <span class="row undo">
      {(['Undo', 'Redo'] as const).map((name) => (
        <button
          key={name}
          type="button"
          class={`plain icon-button ${name === 'Redo' ? 'turned' : ''}`}
          aria-label={name}
          title={name}
          aria-keyshortcuts={name === 'Undo' ? 'Control+Z Meta+Z' : 'Control+Shift+Z Meta+Shift+Z'}
          disabled={!unsaved[`can${name}`]}
          onClick={unsaved[name === 'Undo' ? 'undo' : 'redo']}
        >
          <Icon name="undo" />
        </button>
      ))}
    </span>
  )
}

function SaveButtons({
  saved,
  isChanged,
  save,
  isBusy,
}: { saved: Rule | undefined; isChanged: boolean } & Pick<Saving, 'save' | 'isBusy'>) {
  if (inFrame && saved && !may('publish')) return null
  if (saved)
    return (
      <button
        type="button"
        // Not disabled: the focus would go with it.
        class={isChanged ? 'primary' : 'idle'}
        aria-disabled={!isChanged || isBusy}
        onClick={() => isChanged && void save('on')}
      >
        Save
      </button>
    )
  return (
    <>
      <button type="button" aria-disabled={isBusy} onClick={() => void save('off')}>
        Save, switched off
      </button>
      {(!inFrame || may('publish')) && (
        <>
          <button type="button" aria-disabled={isBusy} onClick={() => void save('shadow')}>
            Save as a shadow
          </button>
          <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void save('on')}>
            Save and switch on
          </button>
        </>
      )}
    </>
  )
}

/** Ctrl Enter saves, wherever the focus is. */
function useSaveKey(isOn: boolean, save: () => Promise<void>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!isOn || event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      void save()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
}

/**
 * Ctrl Z undoes a change of the rule, wherever the focus is, and with Shift brings it back. Text that is no part of the rule yet has the
 * undo of the browser.
 */
function useUndoKeys(isOn: boolean, unsaved: UnsavedState): void {
  // In the same frame as the change: a key that follows at once finds what there is to undo.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { shiftKey, target } = event
      const letter = commandOf(event)
      if (!isOn || (letter !== 'z' && letter !== 'y')) return
      if (target instanceof Element && target.closest('dialog, [data-own-undo]')) return
      const isRedo = letter === 'y' || shiftKey
      if (!(isRedo ? unsaved.canRedo : unsaved.canUndo)) return
      event.preventDefault()
      event.stopPropagation()
      if (isRedo) unsaved.redo()
      else unsaved.undo()
    }
    addEventListener('keydown', listen, { capture: true })
    return () => removeEventListener('keydown', listen, { capture: true })
  })
}
