import { splitAddresses } from '../../../logic/editing/split-addresses.js'
import { Icon } from '../../../parts/icon.js'
import { TemplateInput } from '../../../parts/template-input.js'
import { filterOptions, focusSoon, useEditing } from './editing.js'
import { useFault } from './faults.js'

interface Props {
  label: string
  path: string
  /** One address as a text, or a list of them. It stays what it is. */
  value: unknown
  placeholder: string
  change: (value: unknown) => void
  /** Without it one address has to be there. */
  remove?: (() => void) | undefined
}

/** A chip for each address. Only what is pasted is split: what stands in a chip is one address. */
export function AddressChips({ label, path, value, placeholder, change, remove }: Props) {
  const isList = Array.isArray(value)
  const addresses = isList ? value.map(String) : [String(value ?? '')]
  const pathOf = (index: number) => (isList || addresses.length > 1 ? `${path}[${index}]` : path)
  const write = (next: string[], focused: number) => {
    if (next.length === 0 && remove) return remove()
    const isOne = next.length === 1 && !isList
    change(isOne ? next[0] : next)
    focusSoon(isOne ? path : `${path}[${focused}]`)
  }
  const add = (index: number, added: string[] = ['']) =>
    write(addresses.toSpliced(index, 0, ...added), index + added.length - 1)
  return (
    <ul class="chips">
      {addresses.map((address, index) => (
        <AddressChip
          key={index}
          label={index === 0 ? label : `${label} ${index + 1}`}
          path={pathOf(index)}
          address={address}
          placeholder={placeholder}
          change={(next) => change(isList ? addresses.with(index, next) : next)}
          add={() => add(index + 1)}
          paste={(pasted, isReplaced) =>
            write(
              addresses.toSpliced(isReplaced ? index : index + 1, isReplaced ? 1 : 0, ...pasted),
              index + pasted.length - (isReplaced ? 1 : 0),
            )
          }
          remove={
            remove || addresses.length > 1
              ? () => write(addresses.toSpliced(index, 1), Math.max(0, index - 1))
              : undefined
          }
        />
      ))}
      <li>
        <button
          type="button"
          class="chip empty-chip"
          aria-label={`Add an address: ${label}`}
          onClick={() => add(addresses.length)}
        >
          <Icon name="plus" />
        </button>
      </li>
    </ul>
  )
}

const mostPasted = 100

interface ChipProps {
  label: string
  path: string
  address: string
  placeholder: string
  change: (address: string) => void
  add: () => void
  /** @param isReplaced the pasted addresses come in place of this one */
  paste: (addresses: string[], isReplaced: boolean) => void
  remove?: (() => void) | undefined
}

/** Enter adds another address, and Backspace removes an empty one. */
function AddressChip({ label, path, address, placeholder, change, add, paste, remove }: ChipProps) {
  const { suggestions } = useEditing()
  const fault = useFault(path)
  return (
    <li
      onPaste={(event) => {
        const pasted = splitAddresses(event.clipboardData?.getData('text') ?? '')
        // A whole address book would be thousands of chips, of which the service takes fifty.
        if (pasted.length < 2 || pasted.length > mostPasted) return
        event.preventDefault()
        const { selectionStart, selectionEnd, value } = event.target as HTMLInputElement
        paste(pasted, selectionStart === 0 && selectionEnd === value.length)
      }}
      onKeyDown={(event) => {
        const isEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey
        const isErased = event.key === 'Backspace' && address === ''
        if (!(event.target instanceof HTMLInputElement) || !(isEnter || (isErased && remove))) return
        event.preventDefault()
        if (isEnter) add()
        else remove?.()
      }}
    >
      <span class={`chip value-chip ${address === '' ? 'empty-chip' : fault.look}`}>
        <TemplateInput
          label={label}
          path={path}
          value={address}
          change={change}
          look="bare"
          placeholder={placeholder}
          fields={suggestions.fields}
          filters={filterOptions}
          {...fault.own}
        />
        {remove && (
          <button type="button" class="chip-remove" aria-label={`Remove ${label}`} onClick={remove}>
            <Icon name="close" />
          </button>
        )}
      </span>
      {fault.text}
    </li>
  )
}
