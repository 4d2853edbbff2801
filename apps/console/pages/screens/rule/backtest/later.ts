import { lazy } from 'preact-iso'

/** It comes with the first result. */
export const ReportView = lazy(() => import('./report-view.js').then(({ ReportView }) => ReportView))
