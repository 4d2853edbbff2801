import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Zone } from './logic/format-time.js'
import { Palette } from './palette.js'
import { Dialog } from './parts/dialog.js'
import { places } from './places.js'
import { shortcuts, theme, updates, zone } from './state/preferences.js'
import { me, signOut, workspace, workspaceId } from './state/session.js'
import { linkTo } from './state/use-filters.js'

type Open = 'palette' | 'settings' | 'keys' | undefined

/** What stands around every screen. */
export function Shell({ screen, children }: { screen: string; children: ComponentChildren }) {
  const [open, setOpen] = useState<Open>()
  const { route } = useLocation()
  useKeys(setOpen)
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={linkTo('today')}>
          <img src="/icon.svg" alt="" width="22" height="22" /> Rules
        </a>
        <label class="workspace">
          <span class="hidden">Workspace</span>
          <select
            value={workspaceId.value}
            onChange={({ currentTarget }) => route(`/w/${currentTarget.value}/today`)}
          >
            {me.value?.workspaces.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="find" onClick={() => setOpen('palette')}>
          Find or do… <kbd>{isMac ? '⌘' : 'Ctrl'} K</kbd>
        </button>
        <button type="button" class="plain who" onClick={() => setOpen('settings')}>
          {me.value?.userId ?? 'API key'} <span aria-hidden="true">▾</span>
        </button>
      </header>
      <nav aria-label="Screens">
        {places.map(({ screen: name, label }) => (
          <a key={name} href={linkTo(name)} aria-current={name === screen ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <main id="main">{children}</main>
      {open === 'palette' && <Palette close={() => setOpen(undefined)} />}
      {open === 'settings' && <Settings close={() => setOpen(undefined)} />}
      {open === 'keys' && <Keys close={() => setOpen(undefined)} />}
    </div>
  )
}

const isMac = /Mac|iPhone/.test(navigator.platform)

/** Ctrl K works everywhere; single keys only outside of fields, and not where they are switched off. */
function useKeys(setOpen: (open: Open) => void): void {
  const { route } = useLocation()
  useEffect(() => {
    let goesTo = 0
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setOpen('palette')
        return
      }
      const { target } = event
      const isTyping = target instanceof Element && target.closest('input, textarea, select, dialog') !== null
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || shortcuts.value === 'off') return
      if (event.key === '?') return setOpen('keys')
      if (event.key === '/') {
        event.preventDefault()
        return document.querySelector<HTMLElement>('[data-filter]')?.focus()
      }
      if (event.key === 'g') goesTo = event.timeStamp
      else if (event.timeStamp - goesTo < 1_500) {
        goesTo = 0
        const place = places.find(({ key }) => key === event.key)
        if (place) route(linkTo(place.screen))
      }
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

function Settings({ close }: { close: () => void }) {
  return (
    <Dialog title={me.value?.userId ?? 'API key'} close={close}>
      <p class="quiet">
        {me.value?.userId === null
          ? `You act as an API key: the audit log names it (${me.value.actor}).`
          : `Your role in ${workspace.value?.name ?? 'this workspace'}: ${workspace.value?.role ?? 'none'}`}
      </p>
      <div class="fields">
        <Choice
          label="Colours"
          kept={theme}
          options={{ system: 'as the system', light: 'light', dark: 'dark' }}
        />
        <Choice<Zone> label="Times" kept={zone} options={{ local: 'local', UTC: 'UTC' }} />
        <Choice label="Updates by itself" kept={updates} options={{ on: 'on', off: 'paused' }} />
        <Choice label="Shortcuts of one key" kept={shortcuts} options={{ on: 'on', off: 'off' }} />
      </div>
      <div class="row end">
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </Dialog>
  )
}

function Choice<Value extends string>({
  label,
  kept,
  options,
}: {
  label: string
  kept: { value: Value }
  options: Record<Value, string>
}) {
  return (
    <label>
      {label}
      <select
        value={kept.value}
        onChange={({ currentTarget }) => {
          kept.value = currentTarget.value as Value
        }}
      >
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text as string}
          </option>
        ))}
      </select>
    </label>
  )
}

function Keys({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        <dt>
          <kbd>Ctrl K</kbd>
        </dt>
        <dd>find or do</dd>
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>to the first filter</dd>
        {places.map(({ key, label }) => [
          <dt key={key}>
            <kbd>g</kbd> <kbd>{key}</kbd>
          </dt>,
          <dd key={label}>{label}</dd>,
        ])}
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>this list</dd>
      </dl>
      <p class="quiet">Keys of one letter can be switched off in the menu under your name.</p>
    </Dialog>
  )
}
