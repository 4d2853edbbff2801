import { later } from '../../../parts/later.js'

/** It comes with the first result. */
export const ReportView = later('the report', () =>
  import('./report-view.js').then(({ ReportView }) => ReportView),
)
