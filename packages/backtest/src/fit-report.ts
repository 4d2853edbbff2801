import type { BacktestReport } from './report.js'

export const maxReportBytes = 65_536

/** Shortens the lists of long texts until the report fits. Its figures stay. */
export function fitReport(report: BacktestReport): BacktestReport {
  let fitting = report
  for (let length = 32; bytesOf(fitting) > maxReportBytes && length >= 1; length = Math.floor(length / 2))
    fitting = shorten(report, length)
  return fitting
}

function shorten(report: BacktestReport, length: number): BacktestReport {
  return {
    ...report,
    actions: report.actions.map((action) => ({
      ...action,
      faults: action.faults.slice(0, Math.ceil(length / 8)),
      warnings: action.warnings.slice(0, Math.ceil(length / 8)),
    })),
    fields: report.fields.slice(0, length),
    notes: [
      ...report.notes,
      'Lists of fields, faults and warnings are shortened: a report has at most 64 KiB.',
    ],
  }
}

function bytesOf(report: BacktestReport): number {
  return new TextEncoder().encode(JSON.stringify(report)).length
}
