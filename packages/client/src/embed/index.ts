import { AutomationRules } from './automation-rules.js'

export { AutomationRules } from './automation-rules.js'
export type { AutomationRulesEvents } from './messages.js'

declare global {
  interface HTMLElementTagNameMap {
    'automation-rules': AutomationRules
  }
}

const { customElements } = globalThis
if (customElements?.get('automation-rules') === undefined)
  customElements?.define('automation-rules', AutomationRules)
