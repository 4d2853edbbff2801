import type { Condition } from '@automation/client'
import { Icon } from '../../parts/icon.js'
import { ClauseEditor } from './clause-editor.js'
import { FaultOf } from './field.js'
import type { Suggestions } from './suggestions.js'

export interface EditorProps {
  suggestions: Suggestions
}

const emptyClause = { field: '', operator: 'equals', value: '' } as Condition
const groupWords = { all: 'all of these', any: 'at least one of these', not: 'not' } as const

type ListProps = EditorProps & {
  conditions: Condition[]
  path: string
  change: (conditions: Condition[]) => void
  /** Shown beside each condition. */
  note?: ((index: number) => string | undefined) | undefined
}

/** Conditions of one group, with buttons for all that can be done with them: nothing needs a mouse. */
export function ConditionList({ conditions, path, change, note, suggestions }: ListProps) {
  const replace = (index: number, condition: Condition) => change(conditions.with(index, condition))
  const remove = (index: number) => change(conditions.toSpliced(index, 1))
  const move = (index: number, by: number) => {
    const moved = conditions[index]
    if (!moved || index + by < 0 || index + by >= conditions.length) return
    change(conditions.toSpliced(index, 1).toSpliced(index + by, 0, moved))
    // The focus goes with what was moved.
    const from = document.activeElement?.getAttribute('data-path')
    const to = from?.replace(`${path}[${index}]`, `${path}[${index + by}]`)
    if (to) requestAnimationFrame(() => focusPath(to))
  }
  return (
    <>
      <ul class="conditions">
        {conditions.map((condition, index) => (
          <li
            key={index}
            onKeyDown={(event) => {
              const by = stepOfKey(event)
              if (by === 0) return
              event.preventDefault()
              event.stopPropagation()
              move(index, by)
            }}
          >
            <OneCondition
              condition={condition}
              path={`${path}[${index}]`}
              change={(next) => replace(index, next)}
              remove={() => remove(index)}
              suggestions={suggestions}
            />
            {note?.(index) && <p class="sub">{note(index)}</p>}
          </li>
        ))}
      </ul>
      <div class="row">
        <button type="button" class="small" onClick={() => change([...conditions, { ...emptyClause }])}>
          + Condition
        </button>
        <button
          type="button"
          class="small"
          onClick={() => change([...conditions, { any: [{ ...emptyClause }] }])}
        >
          + Group
        </button>
      </div>
    </>
  )
}

export function focusPath(path: string): void {
  document.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus()
}

/** Alt and an arrow move what has the focus up or down. */
export function stepOfKey({ altKey, key }: KeyboardEvent): -1 | 0 | 1 {
  if (!altKey) return 0
  return key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0
}

type OneProps = EditorProps & {
  condition: Condition
  path: string
  change: (condition: Condition) => void
  remove: () => void
}

function OneCondition({ condition, path, change, remove, suggestions }: OneProps) {
  if (!('all' in condition || 'any' in condition || 'not' in condition))
    return (
      <ClauseEditor
        clause={condition as never}
        path={path}
        change={change}
        remove={remove}
        suggestions={suggestions}
      />
    )
  const group = 'all' in condition ? 'all' : 'any' in condition ? 'any' : 'not'
  const children = groupChildren(condition)
  const write = (kind: keyof typeof groupWords, list: Condition[]) => change(writeGroup(kind, list))
  return (
    <fieldset class="group">
      <legend>
        <select
          aria-label="Group"
          value={group}
          onChange={({ currentTarget }) => write(currentTarget.value as 'all', children)}
        >
          {Object.entries(groupWords).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        <button type="button" class="plain small" aria-label="Remove the group" onClick={remove}>
          <Icon name="close" />
        </button>
      </legend>
      <FaultOf path={path} />
      {group === 'not' ? (
        children.map((child, index) => (
          <OneCondition
            key={index}
            condition={child}
            path={`${path}.not`}
            change={(next) => write('not', [next])}
            remove={remove}
            suggestions={suggestions}
          />
        ))
      ) : (
        <ConditionList
          conditions={children}
          path={`${path}.${group}`}
          suggestions={suggestions}
          change={(list) => (list.length === 0 ? remove() : write(group, list))}
        />
      )}
    </fieldset>
  )
}

function groupChildren(condition: Condition): Condition[] {
  if ('all' in condition) return condition.all as Condition[]
  if ('any' in condition) return condition.any as Condition[]
  return 'not' in condition ? [condition.not as Condition] : []
}

/** `not` has one child: several become a group below it. */
function writeGroup(kind: keyof typeof groupWords, list: Condition[]): Condition {
  if (kind === 'all') return { all: list } as Condition
  if (kind === 'any') return { any: list } as Condition
  const [only] = list
  return { not: list.length === 1 && only ? only : { all: list } } as Condition
}
