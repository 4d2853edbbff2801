import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/**
 * The dialog of a button in a row. The shell shows it at the end of the page: a row may go while its dialog is open, and what holds for
 * a cell does not hold for a dialog.
 */
export const asked = signal<ComponentChildren>(undefined)
