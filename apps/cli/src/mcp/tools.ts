import { ruleSchema, testRules } from './file-tools.js'
import { saveDraft } from './save-draft.js'
import { makeTool, type ToolMaker } from './tool.js'

/** Seconds. Most backtests and differences are done by then. */
const wait = 10

/** All that an assistant can do. What makes rules act stays with people: promotion, activation, deletion, and posting events. */
export const toolMakers: ToolMaker[] = [
  makeTool(
    'list_rules',
    'GET /api/automation-rules',
    'Lists the rules of the workspace, newest first, with their definitions, states and counters.',
  ),
  makeTool(
    'get_rule',
    'GET /api/automation-rules/{id}',
    'Reads one rule with its conditions, actions and counters.',
  ),
  makeTool(
    'rule_vocabulary',
    'GET /api/vocabulary',
    'Says what rules are made of: event types, operators, filters, actions and limits.',
  ),
  ruleSchema,
  makeTool(
    'list_event_types',
    'GET /api/event-types',
    'Lists the event types: those of the catalogue, then those of the workspace.',
  ),
  makeTool(
    'list_event_fields',
    'GET /api/event-types/{name}/fields',
    'Lists the fields that the newest events of a type have, with their kinds and values.',
  ),
  makeTool('list_events', 'GET /api/events', 'Lists events without their data, newest first.'),
  makeTool('get_event', 'GET /api/events/{id}', 'Reads one event: its data, and what each rule did for it.'),
  makeTool(
    'search_events',
    'POST /api/events/search',
    'Finds events whose data matches conditions, newest first. Conditions are those of rules.',
  ),
  makeTool(
    'explain_event',
    'GET /api/events/{id}/why',
    'Explains why each rule matched an event or did not: the conditions that decided it, and the nearest data that would have matched.',
  ),
  makeTool(
    'list_executions',
    'GET /api/executions',
    'Lists executions, newest event first. One execution is one rule that ran for one event.',
  ),
  makeTool(
    'get_execution',
    'GET /api/executions/{id}',
    'Reads one execution: its progress, and the result of each action.',
  ),
  makeTool(
    'list_decisions',
    'GET /api/decisions',
    'Lists what executions wait for a person to decide, newest event first. Only people decide.',
  ),
  makeTool(
    'check_rules',
    'POST /api/automation-rules/check',
    'Finds rules that never match, redundant conditions, duplicate actions and loops: in the given rules, or in those of the workspace.',
  ),
  makeTool(
    'validate_rule',
    'POST /api/automation-rules/validate',
    'Checks one rule as its creation would, and warns of probable mistakes. Saves nothing.',
  ),
  makeTool(
    'dry_run_event',
    'POST /api/automation-rules/trigger/{eventType}',
    'Says what each active rule would do for an event with this data. Nothing happens, and nothing is stored.',
    { sets: { dryRun: true } },
  ),
  makeTool(
    'dry_run_rule',
    'POST /api/automation-rules/{id}/execute',
    'Says what one rule, active or not, would do for this data. Nothing happens, and nothing is stored.',
    { sets: { dryRun: true } },
  ),
  testRules,
  makeTool(
    'get_draft',
    'GET /api/automation-rules/{id}/draft',
    'Reads the draft of a rule, its etag, and what it would have done since it was saved.',
    { wait },
  ),
  saveDraft,
  makeTool(
    'start_backtest',
    'POST /api/automation-rules/backtests',
    'Computes what a rule would have done for past events: the rule as it is, a definition, or both compared. Nothing is executed. If it is not complete, read it with get_backtest.',
    { isReading: false, wait },
  ),
  makeTool(
    'list_backtests',
    'GET /api/automation-rules/backtests',
    'Lists backtests, newest first, without their reports.',
  ),
  makeTool(
    'get_backtest',
    'GET /api/automation-rules/backtests/{id}',
    'Reads the progress of a backtest, and its report so far.',
  ),
]
