import type { EvaluationTask } from './evaluation-tasks.js'

/** What makes a question cost less: the caller of a check has neither sent data nor written placeholders. */
export const adviceFor: Readonly<Record<EvaluationTask, string>> = {
  dryRun: 'send less data, or use fewer or smaller patterns and placeholders',
  dryRunEvent: 'send less data, or dry-run the rules one by one',
  checkSet: 'check fewer rules at a time',
  findFaults: 'use fewer or smaller patterns',
  findFaultsOfAll: 'import fewer rules at a time',
  explain: 'read the execution without explain',
  whyOfEvent: 'use a smaller limit',
  renderMail: 'send less data, or use fewer placeholders and filters',
  matchEvents: 'use fewer or smaller patterns',
  surveyEvents: 'ask for fewer events',
}
