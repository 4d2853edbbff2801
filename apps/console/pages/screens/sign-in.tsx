import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Alert } from '../parts/states.js'
import { TextField } from '../parts/text-field.js'
import { invitation } from '../state/invitation.js'
import { loadMe } from '../state/session.js'

interface Ways {
  hasIdentityProvider: boolean
}

const problems: Record<string, string> = {
  'provider-away': 'The identity provider does not respond. Try again in a moment.',
  refused: 'The identity provider did not sign you in. Try again.',
  'too-many-attempts': 'Too many failed attempts. Wait for a few seconds, then try again.',
  'token-too-large':
    'The token of the identity provider is too large for a cookie. Request fewer claims or groups in it.',
}

/** @param isInside above a page whose session has ended */
export function SignIn({ isInside = false }: { isInside?: boolean }) {
  const { path, query, route } = useLocation()
  const [ways, setWays] = useState<Ways>()
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState(
    Object.hasOwn(problems, query.problem ?? '') ? problems[query.problem ?? ''] : undefined,
  )
  const [isBusy, setBusy] = useState(false)
  /** A link of somebody else: it replaces a session only if the user wants it. */
  const [question, setQuestion] = useState<{ text: string; key: string }>()

  async function enter(way: string, body: object): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    setQuestion(undefined)
    try {
      const response = await fetch(`/session/${way}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (response.ok) {
        setToken('')
        await loadMe()
        if (path === '/enter' || path === '/sign-in') route('/', true)
      } else {
        const { error } = (await response.json()) as { error: string }
        if (response.status === 409 && 'key' in body) setQuestion({ text: error, key: `${body.key}` })
        else setProblem(error)
      }
    } catch {
      setProblem('The console does not respond. Try again in a moment.')
    } finally {
      setBusy(false)
    }
  }

  useEffect(() => {
    const key = location.hash.slice(1)
    if (path === '/enter' && key !== '') {
      // The key works once; it shall not stay in the history either.
      history.replaceState(null, '', '/enter')
      void enter('link', { key })
    }
    fetch('/session').then(
      async (response) => setWays((await response.json()) as Ways),
      () => setProblem('The console does not respond. Try again in a moment.'),
    )
  }, [])

  const next = path.startsWith('/w/') ? `?next=${encodeURIComponent(path + location.search)}` : ''
  const content = (
    <>
      <Alert>{problem}</Alert>
      {invitation.value && <p>You are invited to a workspace. Sign in, then you see which.</p>}
      {path === '/enter' && isBusy && <p role="status">Signing in…</p>}
      {question && (
        <div role="alert" class="notice">
          <p>{question.text}</p>
          <button type="button" class="primary" onClick={() => route('/', true)}>
            Stay signed in
          </button>{' '}
          <button
            type="button"
            onClick={() => void enter('link', { key: question.key, replacesSession: true })}
          >
            Use the link
          </button>
        </div>
      )}
      {ways?.hasIdentityProvider && (
        <p>
          <a class="button primary" href={`/session/oidc${next}`} rel="external" target="_self">
            Sign in with your company’s account
          </a>
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void enter('token', { token })
        }}
      >
        <TextField
          label="Token or API key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={token}
          set={setToken}
        />
        <button type="submit" class={ways?.hasIdentityProvider ? '' : 'primary'} disabled={isBusy}>
          Sign in
        </button>
      </form>
      <p class="quiet">Or open a link that signs you in once. An operator makes one:</p>
      <pre>npm run admin -- console link --user ada</pre>
    </>
  )
  if (isInside) return content
  return (
    <main class="alone card">
      <h1>
        <img src="/icon.svg" alt="" width="28" height="28" /> Automation rules
      </h1>
      {content}
    </main>
  )
}
