import type { Unsaved } from '../../logic/unsaved-changes.js'
import { Screen } from '../../parts/screen.js'
import { When } from '../../parts/when.js'
import { useFilters } from '../../state/use-filters.js'

interface Props {
  unsaved: Unsaved
  begin: () => void
  goOn: () => void
}

/** There is a new rule that was never saved: nobody gets it in place of the one that was asked for, and nobody loses it. */
export function UnfinishedRule({ unsaved, begin, goOn }: Props) {
  const { set } = useFilters()
  const name = unsaved.definition.name || 'A rule without a name'
  return (
    <Screen title="Another new rule is unfinished">
      <div class="card">
        <p>
          “{name}” was not saved yet; you changed it last <When at={new Date(unsaved.keptAt).toISOString()} />
          . It stays beside the new one.
        </p>
        <div class="row">
          <button type="button" class="primary" onClick={begin}>
            Begin a rule for this event
          </button>
          <button
            type="button"
            onClick={() => {
              set({ event: '', trigger: '' }, { replaces: true })
              goOn()
            }}
          >
            Go on with “{name}”
          </button>
        </div>
      </div>
    </Screen>
  )
}
