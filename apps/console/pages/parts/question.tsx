import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
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

/** @returns closes this question, but none that was opened since, and says whether it was open */
export function useStopAsking(): () => boolean {
  const isOpen = useRef(true)
  useEffect(
    () => () => {
      isOpen.current = false
    },
    [],
  )
  return () => {
    const wasOpen = isOpen.current
    if (wasOpen) stopAsking()
    return wasOpen
  }
}

/** Closes the question that the shell shows. */
export function stopAsking(): void {
  asked.value = undefined
}
