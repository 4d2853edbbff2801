/**
 * The files of 45 seconds and more, longest first (`npm test` prints them at its end). Those that mostly wait, for leases, timeouts and
 * slow callers, alternate with those that need a core, so that the files that run side by side leave each other room.
 */
export const longFiles = [
  'test/dist/src/storm.test.js',
  'test/dist/src/mute-database.test.js',
  'apps/console/dist/test/browser.test.js',
  'test/dist/src/crash-points.test.js',
  'test/dist/src/backtest-kills.test.js',
  'test/dist/src/effects-crash.test.js',
  'test/dist/src/storm-of-mute-lines.test.js',
  'test/dist/src/poison-rules.test.js',
  'apps/api/dist/test/security/fuzz.test.js',
  'apps/api/dist/test/security/slow-readers.test.js',
  'test/dist/src/webhook-storm.test.js',
  'packages/client/dist/test/repeats.test.js',
  'packages/launcher/dist/test/servers/services.test.js',
  'test/dist/src/poison.test.js',
  'test/dist/src/rollback-crash.test.js',
  'test/dist/src/fidelity.test.js',
  'apps/worker/dist/test/retention.test.js',
  'packages/launcher/dist/test/product/product.test.js',
  'packages/launcher/dist/test/start.test.js',
  'packages/launcher/dist/test/with-services.test.js',
  'packages/launcher/dist/test/demo/readme.test.js',
  'packages/launcher/dist/test/demo/given-servers.test.js',
  'test/dist/src/servers-away.test.js',
  'test/dist/src/idempotency-crash.test.js',
]
