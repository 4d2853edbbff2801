import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, lazy, useLocation } from 'preact-iso'
import { Dialog } from './parts/dialog.js'
import { Screen as Page } from './parts/screen.js'
import { Problem } from './parts/states.js'
import { Overview } from './screens/overview.js'
import { SignIn } from './screens/sign-in.js'
import { Shell } from './shell.js'
import { hasEnded, loadMe, me, startProblem, workspaceId } from './state/session.js'
import { linkTo } from './state/use-filters.js'

// Each screen comes when it is first opened; the editor brings the engine, which is larger than all the rest.
const Events = lazy(() => import('./screens/events.js').then(({ Events }) => Events))
const Rules = lazy(() => import('./screens/rules.js').then(({ Rules }) => Rules))
const Executions = lazy(() => import('./screens/executions.js').then(({ Executions }) => Executions))
const Webhooks = lazy(() => import('./screens/webhooks.js').then(({ Webhooks }) => Webhooks))
const Reconciliation = lazy(() =>
  import('./screens/reconciliation.js').then(({ Reconciliation }) => Reconciliation),
)
const Decisions = lazy(() => import('./screens/decisions.js').then(({ Decisions }) => Decisions))
const Tasks = lazy(() => import('./screens/tasks.js').then(({ Tasks }) => Tasks))
const Access = lazy(() => import('./screens/access.js').then(({ Access }) => Access))
const PartsPage = lazy(() => import('./parts-page.js').then(({ PartsPage }) => PartsPage))
const RuleScreen = lazy(() => import('./screens/rule/rule-screen.js').then(({ RuleScreen }) => RuleScreen))

const screens = {
  overview: Overview,
  events: Events,
  executions: Executions,
  decisions: Decisions,
  tasks: Tasks,
  rules: Rules,
  webhooks: Webhooks,
  reconciliation: Reconciliation,
  access: Access,
}

/** Addresses that screens had before. Bookmarks and sent links still have them. */
const moved: Record<string, string> = {
  today: 'overview',
  runs: 'executions',
  books: 'reconciliation',
}

export function App() {
  useEffect(() => {
    void loadMe()
  }, [])
  return (
    <LocationProvider>
      <ErrorBoundary onError={reloadOnce}>
        <Main />
      </ErrorBoundary>
    </LocationProvider>
  )
}

function Main() {
  const { path, route } = useLocation()
  const [, root, named, screen = '', id] = path.split('/')
  const first = me.value?.workspaces[0]?.id
  const target =
    me.value && root !== 'w' && root !== 'parts'
      ? first === undefined
        ? undefined
        : `/w/${first}/overview`
      : undefined
  useEffect(() => {
    if (target !== undefined && root !== 'enter') route(target, true)
  }, [target, root])
  if (root === 'parts') return <PartsPage />
  if (root === 'enter' || me.value === null || (root === 'sign-in' && !me.value)) return <SignIn />
  if (startProblem.value)
    return (
      <main class="alone">
        <Problem error={startProblem.value} retry={() => void loadMe()} />
      </main>
    )
  if (me.value !== undefined && first === undefined) return <NoWorkspace />
  if (named === undefined || root !== 'w') return null
  workspaceId.value = named
  return (
    <Shell screen={screen}>
      {me.value && <Shown screen={screen} id={id} key={named} />}
      {hasEnded.value && (
        <Dialog title="Your session has ended" close={() => {}} isLasting>
          <p>Sign in again. What you typed is kept.</p>
          <SignIn isInside />
        </Dialog>
      )}
    </Shell>
  )
}

function Shown({ screen, id }: { screen: string; id: string | undefined }) {
  const { route } = useLocation()
  const target = Object.hasOwn(moved, screen) ? moved[screen] : undefined
  useEffect(() => {
    if (target !== undefined) route(linkTo(target) + location.search, true)
  }, [target])
  if (target !== undefined) return null
  if (!me.value?.workspaces.some((one) => one.id === workspaceId.value))
    return (
      <Page title="There is no such workspace">
        <p>You are not a member of this workspace, or it does not exist. Choose another one above.</p>
      </Page>
    )
  if (screen === 'rules' && id) return <RuleScreen id={id} key={id} />
  const Screen = Object.hasOwn(screens, screen) ? screens[screen as keyof typeof screens] : undefined
  return Screen ? (
    <Screen key={screen} />
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
        You are signed in as <code>{me.value?.actor}</code>, but you are not a member of any workspace. An
        admin can add you, or you can create one on the command line:
      </p>
      <pre>npm run admin -- workspaces create --name Acme --admin {me.value?.userId ?? 'ada'}</pre>
      <button type="button" onClick={() => void loadMe()}>
        {' '}
        Check again
      </button>
    </main>
  )
}

/** After a deployment the files of the older page are gone: one reload brings the new ones. Drafts are kept. */
function reloadOnce(error: unknown): void {
  const isChunk = /dynamically imported|Importing a module/.test(String(error))
  if (!isChunk || sessionStorage.getItem('reloaded') === location.href) return
  sessionStorage.setItem('reloaded', location.href)
  location.reload()
}
