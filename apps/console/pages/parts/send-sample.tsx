import type { EventType } from '@automation/client'
import { useState } from 'preact/hooks'
import { may } from '../state/session.js'
import { laterDialog } from './later.js'

/** It brings the reader of numbers. */
export const SampleDialog = laterDialog('Send a sample event', () =>
  import('./sample-dialog.js').then(({ SampleDialog }) => SampleDialog),
)

/** The button of the dialog. */
export function SendSample({ type }: { type?: EventType }) {
  const [isOpen, open] = useState(false)
  if (inFrame && !may('send')) return null
  if (!may('operator'))
    return <p class="quiet">You have read-only access. Operators can send sample events.</p>
  return (
    <>
      <button type="button" class={type === undefined ? 'primary' : ''} onClick={() => open(true)}>
        Send a sample event
      </button>
      {isOpen && <SampleDialog type={type} close={() => open(false)} />}
    </>
  )
}
