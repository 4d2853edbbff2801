export {
  Backtest,
  type BacktestSubject,
  type EventVerdicts,
  type ReportContext,
  type SavedBacktest,
  type TestedDefinition,
  type TestedEvent,
  type TestVerdict,
} from './backtest.js'
export { maxReportBytes } from './fit-report.js'
export { BacktestReport } from './report.js'
