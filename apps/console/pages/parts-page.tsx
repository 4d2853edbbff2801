import type { EmbedAppearance } from '@automation/client'
import { type ComponentChildren, render } from 'preact'
import { useState } from 'preact/hooks'
import { LocationProvider } from 'preact-iso'
import { iconNames } from './logic/icon-names.js'
import { Badge } from './parts/badge.js'
import { Chip } from './parts/chip.js'
import { Combobox } from './parts/combobox.js'
import { DetailHead } from './parts/detail-head.js'
import { Dialog } from './parts/dialog.js'
import { Field } from './parts/field.js'
import { Icon } from './parts/icon.js'
import { Mark } from './parts/mark.js'
import { Menu } from './parts/menu.js'
import { Popover } from './parts/popover.js'
import { Rows } from './parts/rows.js'
import { Empty, Loading, Problem } from './parts/states.js'
import { Tabs } from './parts/tabs.js'
import { Toasts } from './parts/toasts.js'
import { applyAppearance } from './state/appearance.js'
import { toast } from './state/toasts.js'
import './styles/index.css'
import './styles/parts-page.css'

/** What an embed session may ask for: the ends of each scale, and the colours that are hardest to read. */
const appearances: Record<string, EmbedAppearance> = {
  'As the console': {},
  Compact: { density: 'compact' },
  Square: { radius: 0, accent: '#b3261e', fonts: ['Georgia', 'serif'] },
  Round: { radius: 24, accent: '#0a7d4b' },
  Violet: { accent: '#8b3dff', radius: 12, density: 'compact' },
  Orange: { accent: '#ff6a00' },
  Yellow: { accent: '#ffff00' },
  Blue: { accent: '#0000ff' },
  Grey: { accent: '#808080' },
  White: { accent: '#ffffff' },
  Black: { accent: '#000000' },
}

/** All parts in both colours, for who builds a screen and for the tests. The product has no such page. */
function PartsPage() {
  const [chosen, choose] = useState('As the console')
  return (
    <main class="gallery">
      <div class="spread row">
        <h1>Parts of the console</h1>
        <Tabs
          label="Appearance"
          tabs={Object.fromEntries(Object.keys(appearances).map((name) => [name, name]))}
          chosen={chosen}
          choose={(name) => {
            applyAppearance({ appearance: appearances[name] ?? {} })
            choose(name)
          }}
        />
      </div>
      <Scheme name="light" />
      <Scheme name="dark" />
      <Toasts />
    </main>
  )
}

function Scheme({ name }: { name: 'light' | 'dark' }) {
  return (
    <div class={`scheme ${name}`}>
      <h2>{name === 'light' ? 'Light' : 'Dark'}</h2>
      <Part title="Icons">
        <div class="row">
          {iconNames.map((icon) => (
            <Icon key={icon} name={icon} />
          ))}
        </div>
      </Part>
      <Pressed />
      <Words />
      <Opened name={name} />
      <Fields name={name} />
      <Lists name={name} />
      <Part title="States of a screen">
        <Empty title="No events in the last 24 hours" icon="events">
          <p>Your programs send events through the API or as signed webhooks.</p>
          <button type="button" class="primary">
            Send a sample event
          </button>
        </Empty>
        <Problem error={new Error('The request failed')} retry={() => {}} />
        <Loading what="rules" rows={3} />
      </Part>
    </div>
  )
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function Pressed() {
  const [tab, setTab] = useState('events')
  return (
    <Part title="Buttons, tabs">
      <div class="row">
        {['primary', '', 'plain', 'danger', 'small'].map((look) => (
          <button key={look} type="button" class={look}>
            {look || 'usual'}
          </button>
        ))}
        <button type="button" disabled>
          disabled
        </button>
        <button type="button" class="plain icon-button" aria-label="Copy">
          <Icon name="copy" />
        </button>
      </div>
      <div class="row">
        <button type="button" role="switch" class="switch" aria-checked="true">
          <span class="knob" aria-hidden="true" />
          on
        </button>
        <label class="inline">
          <input type="checkbox" checked />
          Also past events
        </label>
        <a href="#parts">Executions of the rule</a>
        <button type="button" class="link">
          Clear the filters
        </button>
      </div>
      <p class="notice">
        It is inactive. <a href="#parts">Show its versions</a>
      </p>
      <p class="notice bad">
        It crashed five workers. <a href="#parts">Show the event</a>
      </p>
      <progress value={0.4} aria-label="Progress" />
      <Tabs
        label="Preview"
        tabs={{ events: 'Events', backtest: 'Backtest', findings: 'Findings' }}
        chosen={tab}
        choose={setTab}
      />
    </Part>
  )
}

const states = ['done', 'failed', 'waiting', 'retrying', 'not_matched', 'draft', 'shadow']

function Words() {
  return (
    <>
      <Part title="Chips: a word of a sentence, a filter">
        <div class="row">
          {(['field', 'value', 'empty', 'faulty'] as const).map((kind) => (
            <Chip key={kind} kind={kind} press={() => {}}>
              {kind}
            </Chip>
          ))}
          <Chip icon="filter" remove={{ label: 'Remove the filter of the rule', run: () => {} }}>
            one rule
          </Chip>
        </div>
      </Part>
      <Part title="Badges and states">
        <div class="row">
          {(['none', 'bad', 'wait', 'good'] as const).map((tone) => (
            <Badge key={tone} tone={tone}>
              {tone}
            </Badge>
          ))}
        </div>
        <div class="row">
          {states.map((state) => (
            <Mark key={state} of={state} />
          ))}
        </div>
      </Part>
    </>
  )
}

function Opened({ name }: { name: string }) {
  const [isOpen, open] = useState(false)
  return (
    <Part title="What opens: menu, popover, dialog, toast">
      <div class="row">
        <Menu
          label={`More, ${name}`}
          edge="start"
          look=""
          items={[
            { label: 'Duplicate', icon: 'copy', run: () => toast('Duplicated') },
            { label: 'Executions', icon: 'executions', hint: 12, href: '#parts' },
            {
              label: 'Delete',
              icon: 'trash',
              isDanger: true,
              run: () => toast('Deleted', { undo: () => {} }),
            },
          ]}
        >
          Menu <Icon name="down" />
        </Menu>
        <Popover label={`Due, ${name}`} button="Popover">
          {(close) => (
            <form
              onSubmit={(event) => {
                event.preventDefault()
                close()
              }}
            >
              <Field label="Due in">{(own) => <input {...own} value="24" />}</Field>
              <button type="submit" class="primary">
                Done
              </button>
            </form>
          )}
        </Popover>
        <button type="button" onClick={() => open(true)}>
          Dialog
        </button>
        <button
          type="button"
          onClick={() => toast('The condition is removed', { undo: () => toast('It is back') })}
        >
          Toast
        </button>
      </div>
      {isOpen && (
        <Dialog title="A dialog" close={() => open(false)}>
          <p>For what has to be decided before anything else.</p>
        </Dialog>
      )}
    </Part>
  )
}

function Fields({ name }: { name: string }) {
  const [field, setField] = useState('')
  return (
    <Part title="Fields">
      <Field label="Name" hint="What it is for, in a few words.">
        {(own) => <input {...own} placeholder="Call hot leads" />}
      </Field>
      <Field label="Amount" fault="Must be a number">
        {(own) => <input {...own} value="a lot" />}
      </Field>
      <Field label="Template">
        {(own) => (
          <select {...own}>
            <option>welcome</option>
            <option>reminder</option>
          </select>
        )}
      </Field>
      <Combobox
        label={`Field, ${name}`}
        path="parts"
        value={field}
        change={setField}
        placeholder="A field of the data"
        options={[
          { value: 'score', hint: 'number, such as 80' },
          { value: 'country', hint: 'text, such as DE' },
        ]}
      />
    </Part>
  )
}

const rows = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing'].map((id, index) => ({
  id,
  state: states[index] ?? 'done',
  count: 40 + 31 * index,
}))

function Lists({ name }: { name: string }) {
  return (
    <Part title="Rows: the link in the heading opens the whole row">
      <Rows
        items={rows}
        label={`People, ${name}`}
        columns={['Name', 'State', { number: 'Executions' }, '']}
        selectedId="Grace Hopper"
        row={({ id, state, count }) => (
          <>
            <th scope="row">
              <a href="#parts">{id}</a>
            </th>
            <td>
              <Mark of={state} />
            </td>
            <td class="number">{count}</td>
            <td class="actions-cell">
              <Menu
                label={`More for ${id}, ${name}`}
                look="plain icon-button small"
                items={[{ label: 'Retry', icon: 'retry' }]}
              />
            </td>
          </>
        )}
      />
      <aside class="drawer detail" aria-label={`Details, ${name}`}>
        <DetailHead title="Grace Hopper" what={`the person, ${name}`} close={() => {}} />
        <p>What is selected lies in a drawer above the right side of its list.</p>
      </aside>
    </Part>
  )
}

const root = document.getElementById('app')
if (root) {
  root.textContent = ''
  render(
    <LocationProvider>
      <PartsPage />
    </LocationProvider>,
    root,
  )
}
