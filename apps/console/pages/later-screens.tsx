import type { ComponentType } from 'preact'
import { later } from './parts/later.js'
import { Screen as Page } from './parts/screen.js'

export function screen<Props extends object>(title: string, load: () => Promise<ComponentType<Props>>) {
  const found = later(title.toLowerCase(), load, ({ children }) => <Page title={title}>{children}</Page>)
  return Object.assign(found, { title })
}

// Each screen comes in a file of its own; the editor brings the engine, which is larger than all the rest.
export const RuleScreen = screen('Rule', () =>
  import('./screens/rule/rule-screen.js').then(({ RuleScreen }) => RuleScreen),
)

/** The screens that a frame may have, too. */
export const laterScreens = {
  events: screen('Events', () => import('./screens/events.js').then(({ Events }) => Events)),
  executions: screen('Executions', () =>
    import('./screens/executions.js').then(({ Executions }) => Executions),
  ),
  decisions: screen('Decisions', () => import('./screens/decisions.js').then(({ Decisions }) => Decisions)),
  tasks: screen('Tasks', () => import('./screens/tasks.js').then(({ Tasks }) => Tasks)),
  rules: screen('Rules', () => import('./screens/rules.js').then(({ Rules }) => Rules)),
}
