import { useEffect } from 'preact/hooks'
import { LocationProvider, useLocation } from 'preact-iso'
import { laterScreens, RuleScreen, screen } from './later-screens.js'
import { Boundary } from './parts/boundary.js'
import { Dialog } from './parts/dialog.js'
import { later } from './parts/later.js'
import { Screen as Page } from './parts/screen.js'
import { askToSignOut } from './parts/sign-out.js'
import { Problem } from './parts/states.js'
import { Overview } from './screens/overview.js'
import { SignIn } from './screens/sign-in.js'
import { Shell } from './shell.js'
import { asked } from './state/asked.js'
import { invitation, takeInvitation } from './state/invitation.js'
import { hasEnded, loadMe, me, startProblem, workspaceId } from './state/session.js'
import { linkTo } from './state/use-filters.js'
import { queries } from './state/use-query.js'

const ownScreens = {
  ...laterScreens,
  webhooks: screen('Webhooks', () => import('./screens/webhooks.js').then(({ Webhooks }) => Webhooks)),
  reconciliation: screen('Reconciliation', () =>
    import('./screens/reconciliation.js').then(({ Reconciliation }) => Reconciliation),
  ),
  access: screen('Access', () => import('./screens/access.js').then(({ Access }) => Access)),
}
const screens = { overview: Overview, ...ownScreens }

const Join = later(
  'the invitation',
  () => import('./screens/join.js').then(({ Join }) => Join),
  ({ children }) => <main class="alone card">{children}</main>,
)

/** The screen of an address, if there is one. */
function findScreen(name: string, id: string | undefined) {
  if (name === 'rules' && id) return RuleScreen
  return Object.hasOwn(screens, name) ? screens[name as keyof typeof screens] : undefined
}

export function App() {
  useEffect(() => {
    takeInvitation()
    addEventListener('hashchange', takeInvitation)
    void loadMe()
    return () => removeEventListener('hashchange', takeInvitation)
  }, [])
  return (
    <LocationProvider>
      <Main />
    </LocationProvider>
  )
}

function Main() {
  const { path, route } = useLocation()
  const [, root, named, screen = '', id] = path.split('/')
  const first = me.value?.workspaces[0]?.id
  // Also once somebody is back from the identity provider.
  const home = invitation.value ? '/join' : first && `/w/${first}/overview`
  const target = me.value && root !== 'w' && home !== path ? home : undefined
  useEffect(() => {
    if (target !== undefined && root !== 'enter') route(target, true)
  }, [target, root])
  const isKnown = Boolean(me.value)
  useEffect(() => {
    if (isKnown) fetchWhenIdle(Object.values(ownScreens))
  }, [isKnown])
  if (root === 'enter' || me.value === null || (root === 'sign-in' && !me.value)) return <SignIn />
  if (startProblem.value)
    return (
      <main class="alone">
        <Problem error={startProblem.value} retry={() => void loadMe()} />
      </main>
    )
  if (me.value && invitation.value && root === 'join')
    return (
      <>
        <Join token={invitation.value} key={invitation.value} />
        {asked.value}
      </>
    )
  // Whom an invitation leads to a workspace is told nothing on the way.
  if (me.value !== undefined && first === undefined && target === undefined) return <NoWorkspace />
  if (named === undefined || root !== 'w') return null
  workspaceId.value = named
  return (
    <Shell screen={screen}>
      <Boundary path={path}>
        {me.value ? <Shown screen={screen} id={id} key={named} /> : <Coming screen={screen} id={id} />}
      </Boundary>
      {hasEnded.value && (
        <Dialog title="Your session has ended" close={() => {}} isLasting>
          <p>Sign in again. What you typed is kept.</p>
          <SignIn isInside />
        </Dialog>
      )}
    </Shell>
  )
}

/** Until the user is known: the file of the screen is asked for meanwhile. */
function Coming({ screen, id }: { screen: string; id: string | undefined }) {
  const found = findScreen(screen, id)
  useEffect(() => {
    if (found && 'fetch' in found) found.fetch().catch(() => {})
  }, [found])
  return found && 'title' in found ? <Page title={found.title}>{null}</Page> : null
}

function Shown({ screen, id }: { screen: string; id: string | undefined }) {
  if (!me.value?.workspaces.some((one) => one.id === workspaceId.value))
    return (
      <Page title="There is no such workspace">
        <p>You are not a member of this workspace, or it does not exist. Choose another one above.</p>
      </Page>
    )
  const Screen = findScreen(screen, id)
  return Screen ? (
    <Screen id={id ?? ''} key={Screen === RuleScreen ? id : screen} />
  ) : (
    <Page title="There is no such page">
      <p>
        The address may be wrong. <a href={linkTo('overview')}>Go to the overview</a>
      </p>
    </Page>
  )
}

function NoWorkspace() {
  return (
    <main class="alone">
      <h1>No workspace yet</h1>
      <p>
        You are signed in as <code>{me.value?.userId ?? me.value?.actor}</code>, but you are not a member of
        any workspace. An admin can add you, or you can create one on the command line:
      </p>
      <pre>npm run admin -- workspaces create --name Acme --admin {me.value?.userId ?? 'ada'}</pre>
      <div class="row">
        <button type="button" onClick={() => void loadMe()}>
          Check again
        </button>
        <button type="button" onClick={() => void askToSignOut()}>
          Sign in as somebody else
        </button>
      </div>
      {asked.value}
    </main>
  )
}

/** The next screen is there when it is asked for, also without a connection. The editor is large, and comes with the first rule. */
function fetchWhenIdle(parts: readonly { fetch: () => Promise<void> }[]): void {
  const [next, ...others] = parts
  if (next === undefined) return
  requestIdleCallback(() => {
    const fetched = queries.isFetching() > 0 ? undefined : next.fetch().catch(() => {})
    if (fetched) void fetched.then(() => fetchWhenIdle(others))
    else setTimeout(() => fetchWhenIdle(parts), 500)
  })
}
