import { Type } from 'typebox'
import { readAs } from '../../option-readers.js'
import { exampleId } from '../../program.js'
import { type Operation, row } from '../operation.js'

const State = Type.Enum(['active', 'inactive'])

const state = {
  flag: 'state <state>',
  description: 'only active, or only inactive rules',
  read: (text: string) => readAs(State)(text) === 'active',
}

const groupColumns = ['order', 'id', 'name', 'trigger', 'isActive', 'version']

export const ruleOperations: readonly Operation[] = [
  row('rules list', 'GET /api/automation-rules', {
    example: '--trigger LEAD_CREATED --state active',
    options: { eventType: 'trigger', trigger: null, isActive: state },
    columns: ['id', 'name', 'trigger', 'isActive', 'successCount', 'failureCount'],
  }),
  row('rules get', 'GET /api/automation-rules/{id}'),
  row('rules create', 'POST /api/automation-rules', { example: '--body rule.yaml' }),
  row('rules update', 'PATCH /api/automation-rules/{id}', { example: `${exampleId} --name "Hot leads"` }),
  row('rules delete', 'DELETE /api/automation-rules/{id}', {
    asks: 'Delete the rule {id} permanently?',
    says: 'The rule {id} is deleted.',
  }),
  row('rules clone', 'POST /api/automation-rules/{id}/clone'),
  row('rules activate', 'POST /api/automation-rules/{id}/activate'),
  row('rules deactivate', 'POST /api/automation-rules/{id}/deactivate'),
  row('rules versions', 'GET /api/automation-rules/{id}/versions', {
    columns: ['version', 'name', 'createdAt', 'createdBy'],
  }),
  row('rules version', 'GET /api/automation-rules/{id}/versions/{version}', { example: `${exampleId} 2` }),
  row('rules restore', 'POST /api/automation-rules/{id}/versions/{version}/restore', {
    example: `${exampleId} 2`,
  }),
  row('rules validate', 'POST /api/automation-rules/validate', {
    example: '--body rule.yaml',
    onlyReads: true,
  }),
  row('rules execute', 'POST /api/automation-rules/{id}/execute', {
    example: `${exampleId} --data '{"score":95}' --dry-run`,
  }),
  row('rules difference', 'GET /api/automation-rules/{id}/difference'),
  row('rules health', 'GET /api/automation-rules/health'),
  row('rules attention', 'GET /api/automation-rules/attention', {
    columns: ['id', 'name', 'reason', 'since', 'failuresInARow', 'lastError'],
  }),
  row('rules rollouts', 'GET /api/automation-rules/rollouts', { columns: ['id', 'name', 'draft', 'guard'] }),
  row('rules group', 'GET /api/automation-rules/groups/{name}', {
    description:
      'Show the rules of a group in their order. Of the active ones with one trigger, only the first that matches runs.',
    example: 'routing',
    columns: groupColumns,
  }),
  row('rules reorder', 'PUT /api/automation-rules/groups/{name}', {
    description:
      'Put the rules of a group into an order. Name all of them, the first one first: they get the orders 10, 20, and so on.',
    example: `routing ${exampleId}`,
    arguments: ['ruleIds'],
    columns: groupColumns,
  }),
  row('rules schedule', 'GET /api/automation-rules/{id}/schedule', {
    columns: ['scheduledAt', 'localTime', 'clockChange'],
  }),
  row('backtests create', 'POST /api/automation-rules/backtests', {
    example: `--rule ${exampleId} --from 2026-11-01`,
  }),
  row('backtests list', 'GET /api/automation-rules/backtests', {
    columns: ['id', 'ruleId', 'status', 'progress', 'from', 'to', 'createdBy'],
  }),
  row('backtests get', 'GET /api/automation-rules/backtests/{id}', { example: exampleId }),
  row('backtests cancel', 'DELETE /api/automation-rules/backtests/{id}', {
    example: exampleId,
    says: 'The backtest {id} is cancelled.',
  }),
  row('templates list', 'GET /api/email-templates', { columns: ['id', 'name', 'createdAt', 'updatedAt'] }),
  row('templates get', 'GET /api/email-templates/{id}'),
  row('templates create', 'POST /api/email-templates', {
    example: 'welcome --text-file welcome.txt',
    arguments: ['name'],
    files: ['text', 'html'],
  }),
  row('templates update', 'PATCH /api/email-templates/{id}', {
    example: `${exampleId} --html-file welcome.html`,
    files: ['text', 'html'],
  }),
  row('templates delete', 'DELETE /api/email-templates/{id}', {
    asks: 'Delete the email template {id} permanently?',
    says: 'The email template {id} is deleted.',
  }),
  row('templates preview', 'POST /api/email-templates/{id}/preview', { onlyReads: true }),
]
