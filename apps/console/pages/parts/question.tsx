import type { ComponentChildren } from 'preact'
import { asked } from '../state/asked.js'
import { DialogForm } from './dialog-form.js'

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
export function Question({ title, label, act, close = stopAsking, ...shown }: Props) {
  return <DialogForm title={`${title}?`} send={label} look="danger" submit={act} close={close} {...shown} />
}

/** Closes the question that the shell shows. */
export function stopAsking(): void {
  asked.value = undefined
}
