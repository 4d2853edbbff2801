/**
 * The files of a minute and more, longest first (`npm test` prints them at its end). Those that mostly wait, for leases, timeouts and
 * slow callers, alternate with those that need a core, so that the files that run side by side leave each other room.
 */
export const longFiles = [
  'test/dist/src/storm.test.js',
  'test/dist/src/mute-database.test.js',
  'test/dist/src/effects-crash.test.js',
  'test/dist/src/crash-points.test.js',
  'test/dist/src/storm-of-mute-lines.test.js',
  'test/dist/src/poison-rules.test.js',
  'test/dist/src/webhook-storm.test.js',
  'apps/api/dist/test/security/slow-readers.test.js',
  'apps/console/dist/test/sweep.test.js',
  'test/dist/src/webhook-crash.test.js',
  'test/dist/src/fairness.test.js',
  'test/dist/src/tarpit.test.js',
  'packages/client/dist/test/repeats.test.js',
  'test/dist/src/worker-kills.test.js',
  'test/dist/src/servers-away.test.js',
  'packages/launcher/dist/test/demo/readme.test.js',
  'test/dist/src/poison.test.js',
  'apps/api/dist/test/security/fuzz.test.js',
  'packages/launcher/dist/test/product/product.test.js',
]
