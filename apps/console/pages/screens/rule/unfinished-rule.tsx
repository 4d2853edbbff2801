import { UnsavedChanges } from '../../logic/unsaved-changes.js'
import { Screen } from '../../parts/screen.js'
import { When } from '../../parts/when.js'
import { workspaceId } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { useFilters } from '../../state/use-filters.js'

/** There is a new rule that was never saved: nobody gets it in place of the one that was asked for, and nobody loses it. */
export function UnfinishedRule({ done }: { done: () => void }) {
  const { set } = useFilters()
  const store = new UnsavedChanges(localStorage, workspaceId.peek() ?? '')
  const unsaved = store.read('new')
  const name = unsaved?.definition.name || 'A rule without a name'
  function begin(): void {
    store.drop('new')
    done()
    toast(`“${name}” was set aside`, { undo: () => unsaved && bringBack(unsaved) })
  }
  function bringBack(kept: NonNullable<typeof unsaved>): void {
    store.keep('new', kept)
    // The page reads it anew.
    location.reload()
  }
  return (
    <Screen title="Another new rule is unfinished">
      <div class="card">
        <p>
          “{name}” was not saved yet; you changed it last{' '}
          <When at={new Date(unsaved?.keptAt ?? Date.now()).toISOString()} />.
        </p>
        <div class="row">
          <button type="button" class="primary" onClick={begin}>
            Begin a rule for this event
          </button>
          <button
            type="button"
            onClick={() => {
              set({ event: '', trigger: '' }, { replaces: true })
              done()
            }}
          >
            Go on with “{name}”
          </button>
        </div>
      </div>
    </Screen>
  )
}
