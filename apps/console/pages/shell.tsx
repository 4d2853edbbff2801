import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { KeysDialog, useKeys } from './keys.js'
import { BottomBar, Sidebar } from './navigation.js'
import { Palette } from './palette.js'
import { Dialog } from './parts/dialog.js'
import { stopAsking } from './parts/question.js'
import { Select } from './parts/select.js'
import { SampleDialog } from './parts/send-sample.js'
import { askToSignOut } from './parts/sign-out.js'
import { SuspensionNotice } from './parts/suspension-notice.js'
import { Toasts } from './parts/toasts.js'
import { asked } from './state/asked.js'
import { isConnected } from './state/connection.js'
import { useKeptFocus } from './state/kept-focus.js'
import { shortcuts, theme, updates, zone } from './state/preferences.js'
import { me, workspace } from './state/session.js'

export type Open = 'palette' | 'settings' | 'keys' | 'sample' | undefined

/** What stands around every screen. It is drawn before anything is known of the user. */
export function Shell({ screen, children }: { screen: string; children: ComponentChildren }) {
  const [open, setOpen] = useState<Open>()
  useKeys(setOpen)
  useKeptFocus()
  const { path } = useLocation()
  // A link inside of a question leads away from it.
  useEffect(() => stopAsking, [path])
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar screen={screen} open={setOpen} />
      <main id="main">
        {!isConnected.value && (
          <p class="notice" role="status">
            No connection. What you type is kept.
          </p>
        )}
        <SuspensionNotice />
        {children}
      </main>
      <BottomBar screen={screen} open={setOpen} />
      {open === 'palette' && <Palette close={() => setOpen(undefined)} show={setOpen} />}
      {open === 'sample' && <SampleDialog close={() => setOpen(undefined)} />}
      {open === 'settings' && <Settings close={() => setOpen(undefined)} />}
      {open === 'keys' && <KeysDialog close={() => setOpen(undefined)} />}
      {asked.value}
      <Toasts />
    </div>
  )
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
        <Kept
          label="Colours"
          kept={theme}
          options={{ system: 'as the system', light: 'light', dark: 'dark' }}
        />
        <Kept label="Times" kept={zone} options={{ local: 'local', UTC: 'UTC' }} />
        <Kept label="Auto-refresh" kept={updates} options={{ on: 'on', off: 'paused' }} />
        <Kept label="Single-key shortcuts" kept={shortcuts} options={{ on: 'on', off: 'off' }} />
      </div>
      <div class="row end">
        <button type="button" onClick={() => void askToSignOut()}>
          Sign out
        </button>
      </div>
    </Dialog>
  )
}

function Kept<Value extends string>({
  kept,
  ...select
}: {
  label: string
  kept: { value: Value }
  options: Record<Value, string>
}) {
  const set = (chosen: Value) => {
    kept.value = chosen
  }
  return <Select {...select} value={kept.value} set={set} />
}
