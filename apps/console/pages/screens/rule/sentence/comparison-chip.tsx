import { phrases } from '@automation/engine'
import { Combobox, type Option } from '../../../parts/combobox.js'
import { focusSoon, vocabulary } from './editing.js'
import { useFault } from './faults.js'

/** The operators of the engine, by each of their names. */
export const operatorsByName: ReadonlyMap<string, (typeof vocabulary.operators)[number]> = new Map(
  vocabulary.operators.flatMap((operator) =>
    [operator.name, ...operator.aliases].map((name) => [name, operator]),
  ),
)

interface Props {
  /** Of the condition. */
  path: string
  operator: string
  /** The names of those that are offered. */
  offered: readonly string[]
  choose: (name: string) => void
  /** Shows more of them. */
  more?: (() => void) | undefined
}

/** `is above` for `greater_than`. */
export function ComparisonChip({ path, operator, offered, choose, more }: Props) {
  const fault = useFault(`${path}.operator`)
  const options: Option[] = offered.map((name) => ({
    value: name,
    text: phrases[name] ?? name.replaceAll('_', ' '),
    hint: operatorsByName.get(name)?.description ?? '',
  }))
  if (more) options.push({ value: '', text: 'all comparisons…', hint: '', more })
  return (
    <>
      <Combobox
        label="Comparison"
        path={`${path}.operator`}
        look={`chip ${fault.look}`}
        isStrict
        value={operatorsByName.get(operator)?.name ?? operator}
        options={options}
        change={choose}
        taken={() => focusSoon(`${path}.value`)}
        {...fault.own}
      />
      {fault.text}
    </>
  )
}
