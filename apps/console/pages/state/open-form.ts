import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { host } from './host.js'

interface OpenForm {
  isDirty: boolean
  save: () => Promise<unknown>
  discard: () => void
}

/** The form that is open in a frame: the host saves and discards it. */
export const openForm = /* @__PURE__ */ signal<OpenForm | undefined>(undefined)

export function useOpenForm(form: OpenForm): void {
  openForm.value = form
  useEffect(() => {
    host.say('dirty', { isDirty: form.isDirty })
  }, [form.isDirty])
  useEffect(
    () => () => {
      openForm.value = undefined
    },
    [],
  )
}
