import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { asked } from '../state/asked.js'
import { useChange } from '../state/use-change.js'
import { DialogForm, type DialogFormProps } from './dialog-form.js'
import { Field } from './field.js'
import { stopAsking, useStopAsking } from './question.js'
import { Select } from './select.js'
import { ShownOnceDialog } from './shown-once.js'

/** What a form reads of the schema of a request: `import schema from 'schema:MemberToPut'`. */
export interface FormSchema {
  properties: Readonly<Record<string, Property>>
  required?: readonly string[]
}

interface Property {
  type?: string | readonly string[]
  enum?: readonly string[]
  items?: Property
  maxLength?: number
  minimum?: number
  maximum?: number
}

/** What the schema does not say of a field, or says in another way. */
export interface FieldText extends Property {
  label?: string
  hint?: ComponentChildren
  placeholder?: string | undefined
  /** Of its choices, in their order. */
  words?: Readonly<Record<string, string>>
  kind?: 'password' | 'url'
  required?: boolean
  spellcheck?: boolean
}

interface Props<Values, Made>
  extends Omit<DialogFormProps, 'submit' | 'close' | 'problem' | 'isBusy' | 'children'> {
  schema: FormSchema
  texts: { readonly [Name in keyof Values]?: FieldText }
  /** It has only the fields with texts. */
  isPart?: boolean
  values: Values
  set: (values: Values) => void
  /** What is read again afterwards. */
  reads: string
  submit: () => PromiseLike<Made>
  /** A refusal, with the words of the form. */
  say?: (problem: string | undefined) => ComponentChildren
  /** What came of it that nobody can read again. */
  shows?: (made: Made) => string | undefined
  /** What that is, in "Copy the link now". */
  noun?: string
  /** What is said afterwards. */
  tell?: (made: Made) => ComponentChildren
  children?: ComponentChildren
}

/** What an `Opener` opens for an admin, to make or change something that the API has a schema of: fields with texts first, then all others. */
export function SchemaForm<Values extends object, Made>(props: Props<Values, Made>) {
  const { schema, texts, isPart, values, set, reads, submit, say, shows, noun, tell, children, ...shown } =
    props
  const { change, problem, isBusy } = useChange(reads)
  const stop = useStopAsking()
  const names = new Set([...Object.keys(texts), ...(isPart ? [] : Object.keys(schema.properties))])
  return (
    <DialogForm
      {...{ ...shown, isBusy }}
      close={stopAsking}
      problem={say ? say(nameFields(problem, texts)) : nameFields(problem, texts)}
      submit={async () => {
        const made = await change(submit)
        if (made === undefined) return
        const [text, told] = [shows?.(made), tell?.(made)]
        if (text === undefined && !told) stop()
        // Also where somebody has closed the form meanwhile: it was made all the same.
        else
          asked.value = (
            <ShownOnceDialog title={shown.title} {...{ text, noun }} close={stopAsking}>
              {told}
            </ShownOnceDialog>
          )
      }}
    >
      {([...names] as (keyof Values & string)[]).map((name) => (
        <SchemaField
          key={name}
          label={name}
          required={schema.required?.includes(name) ?? false}
          {...{ ...schema.properties[name], ...texts[name] }}
          value={values[name]}
          set={(value) => set({ ...values, [name]: value })}
        />
      ))}
      {children}
    </DialogForm>
  )
}

/** A refusal names fields by their labels. */
export function nameFields(problem: string | undefined, texts: object): string | undefined {
  return problem?.replace(/(^|\. )(\w+): /g, (whole, before, name) => {
    const { label } = (texts as Record<string, FieldText | undefined>)[name] ?? {}
    return label ? `${before}${label}: ` : whole
  })
}

/** A text of so many characters is one of several lines. */
const longText = 10_000

/** A field as its kind is typed. A list is typed with commas. */
export function SchemaField(props: FieldText & { value: unknown; set: (value: unknown) => void }) {
  const { label = '', hint, words = {}, type, enum: choices, items, kind, value, set, ...given } = props
  const { minimum: min, maximum: max, ...own } = given
  const isNumber = type === 'integer' || type === 'number'
  // What ends with a comma is on its way to another name, and with a point to another digit.
  const [typed, setTyped] = useState(() =>
    items ? ((value ?? []) as string[]).join(', ') : String(value ?? ''),
  )
  const named = (names: readonly string[]): Record<string, string> => ({
    ...words,
    ...Object.fromEntries(names.map((name) => [name, words[name] ?? name])),
  })
  if (type === 'boolean') return <Check label={label} isOn={value === true} set={set} />
  if (choices) return <Select label={label} value={value as string} options={named(choices)} set={set} />
  if (items?.enum) {
    const chosen = value as readonly string[]
    return (
      <fieldset>
        <legend>{label}</legend>
        {Object.entries(named(items.enum)).map(([one, said]) => (
          <Check
            key={one}
            label={said}
            isOn={chosen.includes(one)}
            set={(isOn) => set(isOn ? [...chosen, one] : chosen.filter((other) => other !== one))}
          />
        ))}
      </fieldset>
    )
  }
  const Control = ((own.maxLength ?? 0) > longText ? 'textarea' : 'input') as 'input'
  return (
    <Field label={label} hint={hint}>
      {(described) => (
        <Control
          {...own}
          {...described}
          {...(Control === 'input' ? { type: isNumber ? 'number' : (kind ?? 'text') } : { rows: 8 })}
          {...(isNumber && { min, max, step: type === 'number' ? 'any' : 1 })}
          autocomplete="off"
          value={items || isNumber ? typed : ((value ?? '') as string)}
          onInput={({ currentTarget: { value: text } }) => {
            setTyped(text)
            if (items) set(text.split(/[\s,]+/).filter((one) => one !== ''))
            else set(isNumber ? (text === '' ? undefined : Number(text)) : text)
          }}
        />
      )}
    </Field>
  )
}

function Check({ label, isOn, set }: { label: string; isOn: boolean; set: (isOn: boolean) => void }) {
  return (
    <label class="inline">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => set(currentTarget.checked)} />{' '}
      {label}
    </label>
  )
}
