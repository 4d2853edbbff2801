import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import type { IconName } from '../logic/icon-names.js'
import { places } from '../places.js'
import { describeError, isMissing, isRefused } from '../state/use-query.js'
import { Icon } from './icon.js'
import { When } from './when.js'

/** Why something did not happen. It is read out when it comes. */
export function Alert({ children, isSmall = false }: { children: ComponentChildren; isSmall?: boolean }) {
  const look = isSmall ? 'sub bad' : 'notice bad'
  return (
    <p role="alert" class={children ? look : 'hidden'}>
      {children}
    </p>
  )
}

/** What is being read, in words, and where its rows will be: so nothing jumps when they come. */
export function Loading({ what, rows = 0 }: { what: string; rows?: number }) {
  return (
    <div class="loading">
      <p class="state quiet" role="status">
        Loading {what}…
      </p>
      {rows > 0 && (
        <div class="skeleton" aria-hidden="true">
          {Array.from({ length: rows }, (_, index) => (
            <span key={index} />
          ))}
        </div>
      )}
    </div>
  )
}

/** What would be here, why it is empty, and what fills it. Its icon is that of the screen. */
export function Empty({
  title,
  icon,
  children,
}: {
  title: string
  icon?: IconName
  children?: ComponentChildren
}) {
  const screen = useLocation().path.split('/')[3]
  const own = places.find((place) => place.screen === screen)?.icon
  return (
    <div class="state empty">
      <Icon name={icon ?? own ?? 'search'} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** The user's role does not include this. */
export function NoPermission({ children }: { children: ComponentChildren }) {
  return (
    <Empty title="No permission">
      <p>{children}</p>
    </Empty>
  )
}

export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, text } = describeError(error)
  // What does not exist, or is wrong, will be so a moment later.
  const mayRetry = retry !== undefined && !isMissing(error) && !isRefused(error)
  return (
    <div class="state problem" role="alert">
      <h2>
        <Icon name="warning" /> {title}
      </h2>
      {text && <p>{text}</p>}
      {mayRetry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Why the file of a part of the page is not there: it cannot be had, it takes long, or the reload that may bring it would lose something. */
export type Trouble = 'failed' | 'slow' | 'typed'

const troubles: Readonly<Record<Trouble, [title: string, text: string]>> = {
  failed: [
    'A part of this page could not be loaded',
    'The connection may be interrupted. Nothing you typed is lost.',
  ],
  slow: ['A part of this page takes long to load', 'It is shown once it comes. Nothing you typed is lost.'],
  typed: [
    'A part of this page could not be loaded',
    'A reload may bring it, but what you typed in the open form would be lost. Save that first, or reload anyway.',
  ],
}

/** In the place of a part of the page whose file is not there. */
export function Unloaded({ trouble, retry }: { trouble: Trouble; retry: () => void }) {
  const [title, text] = troubles[trouble]
  return (
    <div class="state problem" role="alert">
      <h2>
        <Icon name="warning" /> {title}
      </h2>
      <p>{text}</p>
      <div class="row">
        <button type="button" onClick={retry}>
          Try again
        </button>
        {trouble === 'typed' && (
          <button type="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        )}
      </div>
    </div>
  )
}

interface Asked {
  error: unknown
  refetch: () => unknown
  /** In "Loading …". */
  what: string
  rows?: number
}

/** In the place of something that was not read: not yet, or in vain. */
export function Unread({ error, refetch, what, rows = 0 }: Asked) {
  if (error) return <Problem error={error} retry={() => void refetch()} />
  return <Loading what={what} rows={rows} />
}

/** Above what is shown: why it is not there yet, or old. */
export function ReadState({
  data,
  isPending,
  dataUpdatedAt,
  ...asked
}: Asked & { data: unknown; isPending: boolean; dataUpdatedAt: number }) {
  if (isPending || (asked.error && data === undefined)) return <Unread {...asked} />
  return asked.error ? <Stale error={asked.error} since={dataUpdatedAt} /> : null
}

/** One line above what was read before, while it cannot be read again. @param since epoch ms */
export function Stale({ error, since }: { error: unknown; since: number }) {
  return (
    <p class="notice" role="status">
      {describeError(error).title}. This is what was known at <When at={new Date(since).toISOString()} />.
    </p>
  )
}
