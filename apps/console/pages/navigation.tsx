import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { isMac } from './keys.js'
import { Badge } from './parts/badge.js'
import { Icon } from './parts/icon.js'
import { usePopover } from './parts/popover.js'
import { Select } from './parts/select.js'
import { groups, type places, placesOf } from './places.js'
import { me, workspace, workspaceId } from './state/session.js'
import { type Count, useCounts, useIdle, useIdleCounts } from './state/use-counts.js'
import { linkTo } from './state/use-filters.js'

interface Props {
  /** The one that is shown. */
  screen: string
  open: (dialog: 'palette' | 'settings') => void
}

/** On the left: all screens. On a tablet only their icons are seen. */
export function Sidebar({ screen, open }: Props) {
  useIdleCounts(useIdle())
  return (
    <header class="side">
      <div class="brand" title={workspace.value?.name}>
        <img src="/icon.svg" alt="" width="24" height="24" />
        <Workspaces />
      </div>
      <button type="button" class="find" title="Search" onClick={() => open('palette')}>
        <Icon name="search" /> <span>Search…</span> <kbd>{isMac ? '⌘' : 'Ctrl'} K</kbd>
      </button>
      <nav aria-label="Screens">
        {groups.map((group) => (
          <section key={group} aria-labelledby={`group-${group}`}>
            <h2 id={`group-${group}`}>{group}</h2>
            <ul>
              {placesOf(group).map((place) => (
                <li key={place.screen}>
                  <PlaceLink place={place} screen={screen} look="place" />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      <button type="button" class="plain who" onClick={() => open('settings')}>
        <Icon name="user" /> <span class="cut">{nameOfUser()}</span> <Icon name="choose" />
      </button>
    </header>
  )
}

/** How many screens the bar has room for, beside its menu. */
const inBar = 4

/** On a phone: four screens at the bottom, and a sheet with the rest. */
export function BottomBar({ screen, open }: Props) {
  const sheet = usePopover('a')
  const all = groups.flatMap(placesOf)
  const first = all.filter(({ isInBar }) => isInBar).slice(0, inBar)
  const rest = all.filter((place) => !first.includes(place))
  const counts = useCounts()
  const count = rest.map((place) => counts[place.screen]).find((one) => one !== undefined)
  const { path } = useLocation()
  useEffect(sheet.close, [path])
  const openDialog = (dialog: 'palette' | 'settings') => {
    sheet.close()
    open(dialog)
  }
  return (
    <nav class="bottom" aria-label="Screens">
      {first.map((place) => (
        <PlaceLink key={place.screen} place={place} screen={screen} />
      ))}
      <button
        type="button"
        popovertarget={sheet.id}
        aria-expanded={sheet.isOpen}
        aria-current={rest.some((place) => place.screen === screen) ? 'true' : undefined}
      >
        <Icon name="menu" /> More
        {count && <CountBadge {...count} />}
      </button>
      <div
        ref={sheet.element}
        id={sheet.id}
        popover="auto"
        role="dialog"
        aria-label="More screens"
        class="sheet"
        onToggle={sheet.note}
      >
        {rest.map((place) => (
          <PlaceLink key={place.screen} place={place} screen={screen} look="place" />
        ))}
        <button type="button" class="plain place" onClick={() => openDialog('palette')}>
          <Icon name="search" /> Search…
        </button>
        <button type="button" class="plain place" onClick={() => openDialog('settings')}>
          <Icon name="user" /> <span class="cut">{nameOfUser()}</span>
        </button>
        <Workspaces />
      </div>
    </nav>
  )
}

function PlaceLink({
  place: { screen: name, label, icon },
  screen,
  look,
}: {
  place: (typeof places)[number]
  screen: string
  look?: string
}) {
  const { [name]: count } = useCounts()
  return (
    <a class={look} href={linkTo(name)} title={label} aria-current={name === screen ? 'page' : undefined}>
      <Icon name={icon} /> <span>{label}</span>
      {count && <CountBadge {...count} />}
    </a>
  )
}

function CountBadge({ count, word, tone }: Count) {
  return (
    <Badge tone={tone}>
      {count}
      <span class="hidden"> {word}</span>
    </Badge>
  )
}

function Workspaces(): ComponentChildren {
  const { route } = useLocation()
  return (
    <Select
      label="Workspace"
      isLabelHidden
      look="workspace"
      value={workspaceId.value ?? ''}
      options={Object.fromEntries(me.value?.workspaces.map(({ id, name }) => [id, name]) ?? [])}
      set={(id) => route(`/w/${id}/overview`)}
    />
  )
}

function nameOfUser(): string {
  return me.value ? (me.value.userId ?? 'API key') : ''
}
