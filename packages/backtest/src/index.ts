export {
  Backtest,
  type BacktestSubject,
  type ReportContext,
  type SavedBacktest,
  type TestedDefinition,
} from './backtest.js'
export type { EarlierRule } from './earlier-rules.js'
export type { EventVerdicts, TestedEvent, TestVerdict } from './event-evaluator.js'
export { maxReportBytes } from './fit-report.js'
export { BacktestReport } from './report.js'
