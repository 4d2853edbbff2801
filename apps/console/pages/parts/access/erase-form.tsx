import schema from 'schema:ErasureToCreate'
import type { ErasureCounted } from '@automation/client'
import { ApiError } from '@automation/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { countOf } from '../../logic/count-words.js'
import { sayCounted, sayUnfinished } from '../../logic/describe-erasure.js'
import { timeOfId } from '../../logic/format-time.js'
import { linkToExecution } from '../../state/links.js'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { linkTo } from '../../state/use-filters.js'
import { DialogForm } from '../dialog-form.js'
import { Field } from '../field.js'
import { stopAsking, useStopAsking } from '../question.js'
import { type FieldText, nameFields, SchemaField } from '../schema-form.js'
import { When } from '../when.js'

const texts = {
  path: {
    label: 'Path in the data of events',
    hint: 'As in conditions. Each item of a list is looked at.',
    placeholder: 'contact.email',
  },
  value: { label: 'Value', hint: 'The text or number there, exactly. This page does not keep it.' },
} satisfies Record<string, FieldText>

/** How many executions that have not ended it names. */
const maxNamed = 5

/**
 * Asks for a path and a value, says what an erasure would change, asks for the value a second time, and erases it. The value is in this form alone: what
 * comes of it is read by the id of the erasure.
 */
export function EraseForm({ path = '' }: { path?: string }) {
  const { route } = useLocation()
  const { change, problem, isBusy } = useChange('erasures')
  const stop = useStopAsking()
  const [wished, wish] = useState({ path, value: '' })
  // Of what was typed then: another letter makes it another question.
  const [answer, setAnswer] = useState<{ of: object; counted: ErasureCounted }>()
  const [again, setAgain] = useState('')
  const [fault, setFault] = useState<string>()
  const counted = answer?.of === wished ? answer.counted : undefined
  const unfinished = counted && sayUnfinished(counted)
  const isReady = counted !== undefined && unfinished === undefined
  const set = (changed: Partial<typeof wished>) => {
    wish({ ...wished, ...changed })
    setAgain('')
  }
  const count = async () => {
    const found = await change(() => api().developer.erasures.count(wished))
    if (found !== undefined && 'unfinished' in found && 'dryRun' in found)
      setAnswer({ of: wished, counted: found })
  }
  async function erase(): Promise<void> {
    if (again !== wished.value) return setFault('Must be the value above, letter by letter')
    const erased = await change(async () => {
      try {
        return await api().developer.erasures.create(wished)
      } catch (error) {
        // Something began since it was counted: what that is, is counted again.
        if (error instanceof ApiError && error.code === 'erasure_unfinished') return error.code
        throw error
      }
    })
    if (erased === 'erasure_unfinished') return count()
    if (erased === undefined || !('id' in erased)) return
    if (stop()) route(linkTo('access', { tab: 'erasures', id: erased.id }))
  }
  return (
    <DialogForm
      title="Erase a person"
      send={isReady ? 'Erase' : counted ? 'Count again' : 'Count'}
      look={isReady ? 'danger' : 'primary'}
      submit={() => (isReady ? erase() : count())}
      close={stopAsking}
      problem={nameFields(problem, texts)}
      isBusy={isBusy}
    >
      <p>
        One value of a person, such as an email address, becomes <code>[erased]</code> in events and in what
        was made of them. The rows stay. Count first: nothing is erased by that.
      </p>
      {(['path', 'value'] as const).map((name) => (
        <SchemaField
          key={name}
          {...{ ...schema.properties[name], ...texts[name] }}
          required
          spellcheck={false}
          value={wished[name]}
          set={(typed) => set({ [name]: typed as string })}
        />
      ))}
      <div role="status">{counted && <p>{sayCounted(counted)}</p>}</div>
      {counted && unfinished && (
        <Unfinished
          {...{ counted, isBusy }}
          says={unfinished}
          cancel={async () => {
            const { filter } = counted.unfinished
            if (await change(() => api().executions.cancelMany({ filter, dryRun: false }))) await count()
          }}
        />
      )}
      {isReady && (
        <Again
          value={again}
          fault={fault}
          set={(typed) => {
            setAgain(typed)
            setFault(undefined)
          }}
        />
      )}
    </DialogForm>
  )
}

/** What keeps it from beginning: which executions these are, and how they end. */
function Unfinished({
  counted: {
    unfinished: { executions, filter },
  },
  says,
  cancel,
  isBusy,
}: {
  counted: ErasureCounted
  says: string
  cancel: () => unknown
  isBusy: boolean
}) {
  const { ids } = filter
  const named = ids.slice(0, maxNamed)
  return (
    <div class="notice fields" role="alert">
      <p>{says}</p>
      {named.length > 0 && (
        <>
          <p>
            In a new tab:{' '}
            {named.map((id, index) => (
              <span key={id}>
                {index > 0 && ', '}
                <a href={linkToExecution(id)} target="_blank" rel="noopener">
                  execution of <When at={new Date(timeOfId(id)).toISOString()} />
                </a>
              </span>
            ))}
            {executions > named.length && ` and ${countOf(executions - named.length, 'other')}`}
          </p>
          <p>
            What was cancelled cannot be retried, and what it has done stays. An attempt that is in progress
            ends first: count again in a moment.
          </p>
          <button
            type="button"
            class="small danger"
            aria-disabled={isBusy}
            onClick={() => isBusy || cancel()}
          >
            Cancel {executions > ids.length ? `the first ${ids.length}` : countOf(executions, 'execution')}
          </button>
        </>
      )}
    </div>
  )
}

/** What cannot be undone is typed a second time. */
function Again({
  value,
  fault,
  set,
}: {
  value: string
  fault: string | undefined
  set: (typed: string) => void
}) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return (
    <Field label="The value again" hint="It cannot be undone." fault={fault}>
      {(own) => (
        <input
          {...own}
          ref={input}
          required
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
    </Field>
  )
}
