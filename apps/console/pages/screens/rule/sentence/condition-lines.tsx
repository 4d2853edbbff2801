import type { Condition } from '@automation/client'
import type { ComponentChildren } from 'preact'
import {
  childPath,
  childrenOf,
  type GroupKind,
  groupKindOf,
  groupKinds,
  isClause,
  makeGroup,
} from '../../../logic/editing/condition-kinds.js'
import { describeCondition } from '../../../logic/editing/describe-condition.js'
import { Combobox } from '../../../parts/combobox.js'
import { Icon } from '../../../parts/icon.js'
import { Menu, type MenuItem } from '../../../parts/menu.js'
import { ClauseChips } from './clause-chips.js'
import { focusSoon, stepOfKey, useEditing } from './editing.js'
import { FaultOf } from './faults.js'
import { JsonChip } from './json-chip.js'

// Without a value: an empty text would be one.
const emptyClause = { field: '', operator: 'equals' } as Condition
const groupOptions = groupKinds.map(({ keyword, words }) => ({ value: keyword, text: words }))

interface ListProps {
  conditions: Condition[]
  path: string
  change: (conditions: Condition[]) => void
  /** Stands before each condition but the first. */
  joint: string
  /** Before the first. */
  begin?: string
  /** Shown at the end of each line. */
  note?: ((index: number) => string | undefined) | undefined
}

/** Conditions of one group, a line each. Nothing needs a mouse. */
export function ConditionLines({ conditions, path, change, joint, begin = '', note }: ListProps) {
  const { removes } = useEditing()
  const pathOf = (index: number) => `${path}[${index}]`
  const move = (index: number, by: number) => {
    const moved = conditions[index]
    if (!moved || index + by < 0 || index + by >= conditions.length) return
    const focused = document.activeElement?.getAttribute('data-path')
    change(conditions.toSpliced(index, 1).toSpliced(index + by, 0, moved))
    // The focus goes with what was moved.
    const to = focused?.replace(pathOf(index), pathOf(index + by))
    if (to) focusSoon(to)
  }
  const add = (condition: Condition, at = conditions.length) => {
    change(conditions.toSpliced(at, 0, structuredClone(condition)))
    const kind = groupKindOf(condition)
    focusSoon(`${kind ? childPath(pathOf(at), kind, 0) : pathOf(at)}.field`)
  }
  const menuOf = (index: number): MenuItem[] => [
    ...(index > 0 ? [{ label: 'Move up', hint: 'Alt ↑', run: () => move(index, -1) }] : []),
    ...(index < conditions.length - 1
      ? [{ label: 'Move down', hint: 'Alt ↓', run: () => move(index, 1) }]
      : []),
    { label: 'Duplicate', icon: 'copy', run: () => add(conditions[index] as Condition, index + 1) },
    ...groupKinds.map((kind) => ({
      label: `Put into "${kind.words}"`,
      run: () =>
        change(conditions.with(index, makeGroup(kind, [conditions[index] as Condition]) as Condition)),
    })),
  ]
  return (
    <>
      <ul class="lines">
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
            <ConditionLine
              condition={condition}
              path={pathOf(index)}
              joint={index === 0 ? begin : joint}
              note={note?.(index)}
              menu={menuOf(index)}
              change={(next) => change(conditions.with(index, next))}
              remove={() => {
                removes(nameOf(condition))
                change(conditions.toSpliced(index, 1))
              }}
            />
          </li>
        ))}
      </ul>
      <div class="line">
        <span class="joint" />
        <div class="row">
          <button type="button" class="plain small" onClick={() => add(emptyClause)}>
            <Icon name="plus" /> Condition
          </button>
          <button type="button" class="plain small" onClick={() => add({ any: [emptyClause] } as Condition)}>
            <Icon name="plus" /> Group
          </button>
        </div>
      </div>
    </>
  )
}

interface LineProps {
  condition: Condition
  path: string
  joint: ComponentChildren
  note?: string | undefined
  menu: MenuItem[]
  change: (condition: Condition) => void
  remove: () => void
}

/** One condition, of any kind. */
export function ConditionLine({ condition, path, joint, note, menu, change, remove }: LineProps) {
  const kind = groupKindOf(condition)
  const name = nameOf(condition)
  return (
    <>
      <fieldset class="line" aria-label={`Condition: ${describeCondition(condition)}`} data-path={path}>
        <span class="joint">{joint}</span>
        <div class="chips">
          {isClause(condition) ? (
            <ClauseChips clause={condition} path={path} change={change} />
          ) : kind ? (
            <GroupChip {...{ condition, kind, path, change }} />
          ) : (
            <JsonChip label={name} path={path} value={condition} change={(next) => change(next as Condition)}>
              {describeCondition(condition)}
            </JsonChip>
          )}
          <FaultOf path={path} />
        </div>
        <span class="line-end">
          {note && <span class="sub count">{note}</span>}
          <Menu label={`More for ${name}`} look="plain icon-button small" items={menu} />
          <button
            type="button"
            class="plain icon-button small"
            aria-label={`Remove ${name}`}
            onClick={remove}
          >
            <Icon name="close" />
          </button>
        </span>
      </fieldset>
      {kind && <GroupLines {...{ condition, kind, path, change, remove }} />}
    </>
  )
}

interface GroupProps {
  condition: Condition
  kind: GroupKind
  path: string
  change: (condition: Condition) => void
}

function GroupChip({ condition, kind, path, change }: GroupProps) {
  return (
    <Combobox
      label="Group"
      path={`${path}.${kind.keyword}`}
      look="chip"
      isStrict
      value={kind.keyword}
      options={groupOptions}
      change={(keyword) => {
        const next = groupKinds.find((one) => one.keyword === keyword)
        const group = next && makeGroup(next, childrenOf(condition, kind))
        if (group) change(group)
      }}
    />
  )
}

function GroupLines({ condition, kind, path, change, remove }: GroupProps & { remove: () => void }) {
  const children = childrenOf(condition, kind)
  if (!Array.isArray(children)) return null
  const write = (list: Condition[]) => {
    const group = makeGroup(kind, list)
    return group === undefined ? remove() : change(group)
  }
  const [only] = children
  return (
    <div class="nested">
      {kind.isSingle && only ? (
        <ConditionLine
          condition={only}
          path={childPath(path, kind, 0)}
          joint=""
          menu={[]}
          change={(next) => write([next])}
          remove={remove}
        />
      ) : (
        <ConditionLines
          conditions={children}
          path={`${path}.${kind.keyword}`}
          joint={kind.joint}
          change={write}
        />
      )}
    </div>
  )
}

/** What a person calls it. */
function nameOf(condition: Condition): string {
  if (isClause(condition)) return `the condition on ${condition.field || 'a field'}`
  return groupKindOf(condition) ? 'the group' : 'the condition in JSON'
}
