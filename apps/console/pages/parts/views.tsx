import { useState } from 'preact/hooks'
import { mostViews, queryOfView, readViews, type View } from '../logic/history/views.js'
import { kept } from '../state/browser-store.js'
import { me, workspaceId } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { Icon } from './icon.js'
import { Popover } from './popover.js'
import { RemoveButton } from './remove-button.js'

interface Props {
  screen: 'events' | 'executions'
  /** That everybody has. */
  given: readonly View[]
}

/** The filters of a list under a name. They are kept in this browser, for this user and workspace. */
export function Views({ screen, given }: Props) {
  const { query } = useFilters()
  const key = `views:${me.value?.actor}:${workspaceId.value}:${screen}`
  const [own, setOwn] = useState(() => readViews(kept.get(key)))
  const keep = (views: View[]) => {
    kept.set(key, JSON.stringify(views))
    setOwn(views)
  }
  const shown = queryOfView(query)
  const current = [...given, ...own].find((view) => view.query === shown)
  return (
    <Popover
      label="Views"
      button={
        <>
          <Icon name="filter" /> {current?.name ?? 'Views'} <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <div class="views">
          <ul>
            {[...given, ...own].map((view, index) => (
              <li key={`${index} ${view.name}`}>
                <a
                  href={`${linkTo(screen)}${view.query && `?${view.query}`}`}
                  aria-current={view === current ? 'true' : undefined}
                  onClick={close}
                >
                  {view.name}
                </a>
                {index >= given.length && (
                  <RemoveButton
                    what={`the view ${view.name}`}
                    remove={() => keep(own.filter((one) => one !== view))}
                  />
                )}
              </li>
            ))}
          </ul>
          {current === undefined && own.length < mostViews && (
            <form
              onSubmit={(event) => {
                event.preventDefault()
                const name = String(new FormData(event.currentTarget).get('name')).trim()
                if (name === '') return
                keep([...own.filter((one) => one.name !== name), { name, query: shown }])
                close()
              }}
            >
              <label>
                Keep these filters as
                <input name="name" maxLength={40} required autocomplete="off" />
              </label>
              <button type="submit">Keep</button>
            </form>
          )}
        </div>
      )}
    </Popover>
  )
}
