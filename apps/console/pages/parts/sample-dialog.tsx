import type { EventType, Vocabulary } from '@automation/client'
import { listLongWarnings, readJson } from '@automation/engine'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { describeError, readAgain, useQuery } from '../state/use-query.js'
import { useRuleNames } from '../state/use-rules.js'
import { DialogForm } from './dialog-form.js'
import { Select } from './select.js'
import { Loading, Problem } from './states.js'

/** How many numbers are named that are sent as texts. */
const maxNamed = 5

/** Sends an event with sample data, and opens it. */
export function SampleDialog({ type: wanted, close }: { type?: EventType | undefined; close: () => void }) {
  const { route } = useLocation()
  const vocabulary = useQuery<Vocabulary>({
    key: ['vocabulary'],
    read: () => api().vocabulary(),
    pollMs: false,
  })
  const types = vocabulary.data?.eventTypes ?? []
  const [type, setType] = useState<string | undefined>(wanted)
  // What somebody types stays, whatever is read meanwhile; another type has another example.
  const [typed, setTyped] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  // The newest rule is most likely what somebody wants to try.
  const { rules, areKnown } = useRuleNames()
  const likely = areKnown
    ? ((rules.find(({ isActive }) => isActive) ?? rules[0])?.trigger ?? types[0]?.type)
    : undefined
  const chosen = type ?? likely
  const example = types.find((one) => one.type === chosen)?.example
  // A type of the workspace has no example: its newest event shows what it is like.
  const isUnknown = chosen !== undefined && example !== undefined && Object.keys(example).length === 0
  const newest = useQuery({
    key: isUnknown ? ['newest-sample', chosen] : undefined,
    read: async () => (await api().events.samples(chosen as EventType, { limit: 1 })).events,
    pollMs: false,
  })
  const shown = (isUnknown ? newest.data?.[0]?.data : undefined) ?? example
  const text = typed ?? (shown === undefined ? '' : JSON.stringify(shown, null, 2))

  async function send(): Promise<void> {
    setProblem(undefined)
    setBusy(true)
    try {
      const { value } = readJson(text)
      const run = await api().trigger(chosen as EventType, value as object, { wait: 2 })
      await readAgain()
      close()
      route(linkTo('events', { id: run.id }))
    } catch (error) {
      if (error instanceof SyntaxError) setProblem(`This is not JSON: ${error.message}`)
      else setProblem(error instanceof TypeError ? `${error.message}.` : describeError(error).title)
    } finally {
      setBusy(false)
    }
  }

  return (
    <DialogForm
      title="Send a sample event"
      send="Send"
      note="The active rules for its type run, with all their effects."
      {...{ close, problem, isBusy }}
      submit={send}
    >
      <Select
        label="Type"
        value={chosen ?? ''}
        options={Object.fromEntries(types.map((one) => [one.type, one.type]))}
        set={(next) => {
          setType(next)
          setTyped(undefined)
        }}
      />
      <label>
        Data
        <textarea
          rows={10}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <p class="sub" role="status">
        {warn(text)}
      </p>
      {vocabulary.isPending && <Loading what="the event types" />}
      {vocabulary.error && <Problem error={vocabulary.error} />}
    </DialogForm>
  )
}

/** Says what is sent in another form than it is typed. */
function warn(text: string): string {
  try {
    const warnings = listLongWarnings(readJson(text).longNumbers)
    const fields = warnings.slice(0, maxNamed).map(({ field }) => field)
    return warnings[0] ? `${fields.join(', ')}: ${warnings[0].message}.` : ''
  } catch {
    // It is said when it is sent.
    return ''
  }
}
