import type { ComponentChildren } from 'preact'
import { asked } from '../state/asked.js'
import { Dialog } from './dialog.js'

interface Props {
  /** What would happen, without its question mark: "Revoke the key CI". */
  title: string
  /** What the button says. */
  label: string
  /** What follows from it. */
  children: ComponentChildren
  act: () => unknown
  close?: () => void
  /** Why it did not happen. */
  problem?: string | undefined
  isBusy?: boolean
}

/** Says what follows from what cannot be undone, before it happens. */
export function Question({
  title,
  label,
  children,
  act,
  close = stopAsking,
  problem,
  isBusy = false,
}: Props) {
  return (
    <Dialog title={`${title}?`} close={close}>
      <div>{children}</div>
      <p role="alert" class={problem ? 'notice bad' : 'hidden'}>
        {problem}
      </p>
      <div class="row end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="danger" aria-disabled={isBusy} onClick={() => !isBusy && void act()}>
          {label}
        </button>
      </div>
    </Dialog>
  )
}

/** Closes the question that the shell shows. */
export function stopAsking(): void {
  asked.value = undefined
}
