import type { Task } from '@automation/client'
import { showControls } from '../logic/show.js'
import { Chip } from '../parts/chip.js'
import { Due } from '../parts/due.js'
import { History } from '../parts/history.js'
import { Screen } from '../parts/screen.js'
import { Empty } from '../parts/states.js'
import { When } from '../parts/when.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { useRuleNames } from '../state/use-rules.js'
import { TaskDetail } from './task-detail.js'

/** What is to be done, by whom and until when, and which rule says so? */
export function Tasks() {
  const { query, set } = useFilters()
  const { rule = '', execution, id } = query
  const list = useList<Task>(
    ['tasks', rule, execution],
    async (cursor) => {
      const { tasks, nextCursor = null } = await api().tasks.list({
        limit: 50,
        ...(cursor !== undefined && { cursor }),
        ...(rule !== '' && { ruleId: rule }),
        ...(execution !== undefined && { executionId: execution }),
      })
      return { rows: tasks, nextCursor }
    },
    id,
  )
  const { rules, nameOf } = useRuleNames(list.rows.map(({ ruleId }) => ruleId))
  const selected = list.rows.find((task) => task.id === id)
  const isFiltered = rule !== '' || execution !== undefined
  return (
    <Screen title="Tasks" note="A task is what a rule asks a person to do.">
      <search class="filters">
        <label>
          Rule
          <select
            data-filter
            value={rule}
            onChange={({ currentTarget }) => set({ rule: currentTarget.value })}
          >
            <option value="">any</option>
            {rules.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        {execution !== undefined && (
          <Chip remove={{ label: 'Show all', run: () => set({ execution: '' }) }}>one execution</Chip>
        )}
      </search>
      <History
        list={list}
        what="tasks"
        columns={['Task', 'Due', 'For', 'Priority', 'Rule', 'Created']}
        selectedId={id}
        empty={<NoTasks isFiltered={isFiltered} showAll={() => set({ rule: '', execution: '' })} />}
        row={(task) => (
          <>
            <th scope="row">
              <a href={linkTo('tasks', { ...query, id: task.id })}>{showControls(task.title)}</a>
            </th>
            <td class="named" data-label="Due">
              <Due at={task.dueAt} />
            </td>
            <td class="named" data-label="For">
              {task.assigneeId ?? <span class="quiet">nobody</span>}
            </td>
            <td class="named" data-label="Priority">
              {task.priority}
            </td>
            <td data-label="Rule">{nameOf(task.ruleId)}</td>
            <td class="named" data-label="Created">
              <When at={task.createdAt} />
            </td>
          </>
        )}
        detail={
          selected && (
            <TaskDetail task={selected} key={selected.id} nameOf={nameOf} close={() => set({ id: '' })} />
          )
        }
      />
    </Screen>
  )
}

function NoTasks({ isFiltered, showAll }: { isFiltered: boolean; showAll: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No tasks match the filter">
        <button type="button" onClick={showAll}>
          Show all tasks
        </button>
      </Empty>
    )
  return (
    <Empty title="No tasks yet">
      <p>
        A rule with the action “Create a task” makes one when an event matches its conditions.{' '}
        <a href={linkTo('rules')}>The rules</a>
      </p>
    </Empty>
  )
}
