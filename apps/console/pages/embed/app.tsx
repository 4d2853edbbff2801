import { useEffect, useLayoutEffect } from 'preact/hooks'
import { LocationProvider, useLocation } from 'preact-iso'
import { laterScreens, RuleScreen } from '../later-screens.js'
import { Boundary } from '../parts/boundary.js'
import { stopAsking } from '../parts/question.js'
import { Screen as Page } from '../parts/screen.js'
import { Problem } from '../parts/states.js'
import { Toasts } from '../parts/toasts.js'
import { asked } from '../state/asked.js'
import { isConnected } from '../state/connection.js'
import { type Frame, frame } from '../state/frame.js'
import { useKeptFocus } from '../state/kept-focus.js'
import { me, startProblem } from '../state/session.js'
import { base, linkTo } from '../state/use-filters.js'
import { begin, goOn, needed, sessionOf } from './open-session.js'
import { sayHeight } from './say-height.js'
import { useHost } from './use-host.js'

export function App() {
  return (
    <LocationProvider>
      <Main />
    </LocationProvider>
  )
}

/** The pages that a session was given, without anything else of the console. */
function Main() {
  const { path, route } = useLocation()
  useHost()
  useEffect(() => {
    void begin()
    return sayHeight()
  }, [])
  const opened = frame.value
  const target = opened && redirectOf(path, opened)
  useLayoutEffect(() => {
    if (target !== undefined) route(target, true)
  }, [target])
  useEffect(() => stopAsking, [path])
  useKeptFocus()
  if (startProblem.value)
    return (
      <main class="alone">
        <Problem error={startProblem.value} retry={() => void goOn()} />
      </main>
    )
  if (opened === undefined) return <Needed />
  if (!me.value || target !== undefined) return <main class="framed" />
  return (
    <div class="framed" key={opened.grant.user.id}>
      <main>
        <Pages path={path} {...opened} />
        {!isConnected.value && (
          <p class="notice" role="status">
            No connection. What you type is kept.
          </p>
        )}
        <p role="status" class={needed.value ? 'notice ended' : 'hidden'}>
          {needed.value &&
            'Your session has ended. What you typed is kept: it goes on once the page around this one has renewed it.'}
        </p>
        <Boundary path={path}>
          <Shown path={path} {...opened} />
        </Boundary>
      </main>
      {asked.value}
      <Toasts />
    </div>
  )
}

/** Where an address leads that names no page, or that of a session before this one. A session of one rule has no list of them. */
function redirectOf(path: string, { id, grant }: Frame): string | undefined {
  const [, , , screen = '', row] = path.split('/')
  if (screen === '' || (screen === 'rules' && grant.rule !== undefined && row?.toLowerCase() !== grant.rule))
    return linkTo(homeOf(grant.pages[0] ?? '', grant.rule))
  return sessionOf(path) === id ? undefined : path.replace(/^\/embed\/[^/]+/, base()) + location.search
}

function homeOf(page: string, rule: string | undefined): string {
  return page === 'rules' && rule !== undefined ? `rules/${rule}` : page
}

const names = {
  rules: 'Rules',
  executions: 'Executions',
  events: 'Events',
  decisions: 'Decisions',
  tasks: 'Tasks',
}

function Pages({ path, grant: { pages, rule } }: Frame & { path: string }) {
  if (pages.length < 2) return null
  const shown = path.split('/')[3]
  return (
    <nav class="tabs" aria-label="Pages">
      {pages.map((page) => (
        <a key={page} href={linkTo(homeOf(page, rule))} aria-current={page === shown ? 'page' : undefined}>
          {page === 'rules' && rule ? 'Rule' : names[page]}
        </a>
      ))}
    </nav>
  )
}

function Shown({ path, grant: { pages, rule } }: Frame & { path: string }) {
  const [, , , screen = '', id] = path.split('/')
  const page = pages.find((one) => one === screen)
  if (page === 'rules' && id) return <RuleScreen id={id} key={id} />
  const Screen = page && laterScreens[page]
  return Screen ? (
    <Screen key={page} />
  ) : (
    <Page title="There is no such page">
      <p>
        The address may be wrong. <a href={linkTo(homeOf(pages[0] ?? '', rule))}>Go to the first page</a>
      </p>
    </Page>
  )
}

const reasons = {
  none: 'The page around this one has to open it again.',
  used: 'Its link was used or is too old: a link works once, within five minutes.',
  expired: 'Its time is over.',
  ended: 'It was ended.',
}

/** Until there is a session, or why there is none. Its status is there before its text, or nobody would hear it. */
function Needed() {
  const reason = needed.value
  useEffect(() => {
    if (reason) document.title = 'No session · Automation rules'
  }, [reason])
  return (
    <main class="alone state">
      {reason && <h1>No session</h1>}
      <p role="status">
        {reason ? `${reasons[reason]} Reload the page around this one.` : 'Loading the page…'}
      </p>
    </main>
  )
}
